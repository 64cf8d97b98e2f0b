#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write tiny language models as onnxruntime-genai's builder writes them: one of each family, without their weights.

Usage: make.py OUTDIR [NAME...]   (needs onnxruntime-genai 0.18, onnx, onnx-ir, torch, transformers 5, tokenizers)

Each model is a folder OUTDIR/NAME with what the builder wrote but tokenizers and large weights, which weights.py draws
anew. Those in the tree are from here.
"""
import os
import shutil
import sys
import tempfile

import onnx
import tokenizers
import torch
import transformers
from onnxruntime_genai.models import builder

import weights

VOCABULARY = 96
# What all families have. The CPU provider wants heads of a multiple of 16 elements.
COMMON = {"vocab_size": VOCABULARY, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2,
          "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 128, "bos_token_id": 1,
          "eos_token_id": 2, "pad_token_id": 0}
STRETCHED = {"rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0,
             "high_freq_factor": 4.0, "original_max_position_embeddings": 64}
HEAD = {"head_dim": 16}
WINDOW = {"sliding_window": 16}
# By name: the class of the configuration, what it has beside COMMON, the precision, and the builder's options.
FAMILIES = {
    "llama": ("LlamaConfig", {"rope_parameters": STRETCHED}, "fp32", []),
    "llama_int4": ("LlamaConfig", {}, "int4", ["accuracy_level=1"]),
    "mistral": ("MistralConfig", HEAD | WINDOW, "fp32", []),
    "qwen2": ("Qwen2Config", {}, "fp32", []),
    "qwen3": ("Qwen3Config", HEAD, "fp32", []),
    "phi": ("PhiConfig", {"num_attention_heads": 2, "partial_rotary_factor": 0.5}, "fp32", []),
    "phi3": ("Phi3Config", {"original_max_position_embeddings": 128}, "fp32", []),
    "gemma": ("GemmaConfig", HEAD, "fp32", []),
    "gemma2": ("Gemma2Config", HEAD | WINDOW | {"query_pre_attn_scalar": 16}, "fp32", []),
    "gpt_oss": ("GptOssConfig", HEAD | WINDOW | {"num_local_experts": 4, "num_experts_per_tok": 2}, "fp32", []),
    "granite": ("GraniteConfig", {}, "fp32", []),
    "olmo": ("OlmoConfig", {}, "fp32", []),
    "nemotron": ("NemotronConfig", {"num_attention_heads": 2, "head_dim": 32}, "fp32", []),
    "lfm2": ("Lfm2Config", {"layer_types": ["conv", "full_attention"], "block_auto_adjust_ff_dim": False}, "fp32", []),
}


def tokenizer():
    """One that has all tokens; the builder wants to see it, and no test uses it."""
    words = {"<pad>": 0, "<s>": 1, "</s>": 2, "<unk>": 3} | {f"w{n}": n for n in range(4, VOCABULARY)}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="<unk>"))
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, bos_token="<s>", eos_token="</s>",
                                                unk_token="<unk>", pad_token="<pad>")


def write(name, folder):
    """Lets the builder write a model."""
    kind, own, precision, options = FAMILIES[name]
    config = getattr(transformers, kind)(**(COMMON | own))
    torch.manual_seed(5)
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    for parameter in model.parameters():
        if parameter.dim() == 1:  # norms and biases, which are ones and zeros
            parameter.data += torch.empty_like(parameter).uniform_(-0.3, 0.3)
    with tempfile.TemporaryDirectory() as source:
        model.save_pretrained(source)
        tokenizer().save_pretrained(source)
        parsed = builder.parse_extra_options("", source, folder, precision, "cpu", source, options)
        builder.create_model("", source, folder, precision, "cpu", source, **parsed)


def main():
    for name in sys.argv[2:] or FAMILIES:
        folder = os.path.join(sys.argv[1], name)
        os.makedirs(folder, exist_ok=True)
        with tempfile.TemporaryDirectory() as written:
            write(name, written)
            shutil.copy(os.path.join(written, "genai_config.json"), folder)
            model = onnx.load(os.path.join(written, "model.onnx"))
        weights.leave_out(model)
        onnx.save(model, os.path.join(folder, "model.onnx"))


if __name__ == "__main__":
    sys.exit(main())
