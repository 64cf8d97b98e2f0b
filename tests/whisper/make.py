#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write a tiny Whisper with random weights as onnxruntime.transformers exports it: those of the tree are from here.

Usage: make.py OUTDIR   (needs onnxruntime, onnx, torch, and transformers 4.52: the exporter fails with 5)

OUTDIR/encoder.onnx and decoder.onnx, by `--no_beam_search_op`; shared.onnx, the decoder with caches of full length and
scores of its cross attention, by `--provider cuda --use_decoder_masked_mha --output_cross_qk` too; beam_search.onnx,
both in WhisperBeamSearch.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import onnxruntime.transformers
import torch
import transformers

FRAMES = 48  # of sound; the encoder gives half as many positions
SHARED = ["--provider", "cuda", "--use_decoder_masked_mha", "--output_cross_qk"]
# Which file is which of what a call of the exporter writes.
EXPORTS = ((["--no_beam_search_op"], {"encoder": "encoder_fp32", "decoder": "decoder_fp32"}),
           (["--no_beam_search_op", *SHARED], {"shared": "decoder_fp32"}),
           ([], {"beam_search": "beamsearch"}))
MARKS = ["<|endoftext|>", "<|startoftranscript|>", "<|translate|>", "<|transcribe|>", "<|startoflm|>", "<|nospeech|>",
         "<|notimestamps|>", "<|0.00|>"]
END, BEGIN, VOCABULARY = 26, 27, 48
SPECIAL = {"pad_token_id": END, "bos_token_id": END, "eos_token_id": END, "decoder_start_token_id": BEGIN}


def write_source(folder):
    """The model, and a tokenizer of letters and marks, which the exporter wants to see."""
    config = transformers.WhisperConfig(
        vocab_size=VOCABULARY, num_mel_bins=8, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, d_model=16,
        max_source_positions=FRAMES // 2, max_target_positions=32, begin_suppress_tokens=None, suppress_tokens=None,
        **SPECIAL)
    torch.manual_seed(0)
    model = transformers.WhisperForConditionalGeneration(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "encoder.embed_positions" not in name:
                wide = 1.0 if "positions" in name else 0.4
                parameter.add_(torch.empty_like(parameter).uniform_(-0.3, 0.3) if parameter.ndim == 1
                               else torch.empty_like(parameter).normal_(0, wide) - parameter)
    model.generation_config = transformers.GenerationConfig(max_length=32, **SPECIAL)
    model.save_pretrained(folder)
    transformers.WhisperFeatureExtractor(feature_size=8).save_pretrained(folder)
    words = [chr(ord("a") + n) for n in range(END)] + MARKS
    words += [f"<|{n}|>" for n in range(len(words), VOCABULARY)]
    files = {"vocab.json": {word: n for n, word in enumerate(words)}, "normalizer.json": {},
             "tokenizer_config.json": {"tokenizer_class": "WhisperTokenizer", "unk_token": MARKS[0],
                                       "bos_token": MARKS[0], "eos_token": MARKS[0],
                                       "additional_special_tokens": MARKS[1:]}}
    for name, content in files.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            json.dump(content, file)
    with open(os.path.join(folder, "merges.txt"), "w", encoding="utf-8") as file:
        file.write("#version: 0.2\n")


def export(arguments):
    """What a process of its own does: the exporter, whose sound has 3,000 frames where nobody says another number."""
    root = os.path.dirname(onnxruntime.transformers.__file__)
    sys.path[:0] = [os.path.join(root, "models", "whisper"), root]
    import convert_to_onnx
    import whisper_inputs
    for function in vars(whisper_inputs).values():
        if getattr(function, "__defaults__", None):
            function.__defaults__ = tuple(FRAMES if value == 3000 else value for value in function.__defaults__)
    convert_to_onnx.main(arguments)


def main():
    if "--export" in sys.argv:
        return export(sys.argv[2:])
    os.makedirs(sys.argv[1], exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        source = os.path.join(scratch, "tiny")
        os.mkdir(source)
        write_source(source)
        for options, files in EXPORTS:
            written = os.path.join(scratch, next(iter(files)))
            # It may fail behind what is taken here: to verify beam search and to write a third model of jump times it
            # wants more packages.
            subprocess.run([sys.executable, os.path.abspath(__file__), "--export", "-m", source, "--output", written,
                            "--optimize_onnx", "--overwrite", *options], cwd=scratch, check=False,
                           env=os.environ | {"HF_HUB_OFFLINE": "1"})
            for name, suffix in files.items():
                shutil.move(os.path.join(written, f"tiny_{suffix}.onnx"), os.path.join(sys.argv[1], f"{name}.onnx"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
