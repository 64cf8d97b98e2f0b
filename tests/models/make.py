#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write the whole-model fixtures: small networks of known architectures, exported by PyTorch's two exporters.

Usage: make.py OUTDIR [NAME...]   (needs torch, torchvision, transformers, onnx, onnxscript, numpy)

For each architecture: OUTDIR/NAME.dynamo.onnx (torch.export), OUTDIR/NAME.script.onnx (TorchScript) and, for text,
OUTDIR/NAME.attention_mask.npy; all other inputs can be random (input_ids from 1 to 95). Weights are random too: what a
fixture tests is that Leat computes what the CPU provider computes. Each file stays under 300 KB. Those of KEPT are in
the tree; the others are for a wider look by hand.
"""
import argparse
import io
import os
import sys
import warnings

import numpy as np
import onnx
import torch
from torch import nn

LIMIT = 300_000
VOCABULARY = 96
KEPT = ("bert", "gpt2", "resnet", "mobilenet_v3", "vit")


class Wrapped(nn.Module):
    """A Hugging Face model with tensors in, one tensor out."""

    def __init__(self, model, call):
        super().__init__()
        self.model = model
        self.call = call

    def forward(self, *inputs):
        return self.call(self.model, *inputs)


def tokens():
    return torch.randint(1, VOCABULARY, (2, 9))


def text():
    """Token numbers and mask; the second sequence is shorter, so that masking shows."""
    mask = torch.ones(2, 9, dtype=torch.int64)
    mask[1, 6:] = 0
    return {"input_ids": tokens(), "attention_mask": mask}


def pictures(size=32):
    return torch.randn(2, 3, size, size)


def bert():
    from transformers import BertConfig, BertModel
    config = BertConfig(vocab_size=VOCABULARY, hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                        intermediate_size=64, max_position_embeddings=48, attn_implementation="eager")
    model = Wrapped(BertModel(config), lambda m, ids, keep: m(input_ids=ids, attention_mask=keep).last_hidden_state)
    return model, text(), True


def distilbert():
    from transformers import DistilBertConfig, DistilBertForSequenceClassification
    config = DistilBertConfig(vocab_size=VOCABULARY, dim=32, n_layers=2, n_heads=4, hidden_dim=64,
                              max_position_embeddings=48, attn_implementation="eager")
    model = Wrapped(DistilBertForSequenceClassification(config),
                    lambda m, ids, keep: m(input_ids=ids, attention_mask=keep).logits)
    return model, text(), True


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel
    config = GPT2Config(vocab_size=VOCABULARY, n_positions=48, n_embd=32, n_layer=2, n_head=4,
                        attn_implementation="eager")
    model = Wrapped(GPT2LMHeadModel(config),
                    lambda m, ids, keep: m(input_ids=ids, attention_mask=keep, use_cache=False).logits)
    return model, text(), True


def llama():
    from transformers import LlamaConfig, LlamaForCausalLM
    config = LlamaConfig(vocab_size=VOCABULARY, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
                         num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=48,
                         attn_implementation="eager")
    model = Wrapped(LlamaForCausalLM(config),
                    lambda m, ids, keep: m(input_ids=ids, attention_mask=keep, use_cache=False).logits)
    return model, text(), True


def t5_encoder():
    from transformers import T5Config, T5EncoderModel
    config = T5Config(vocab_size=VOCABULARY, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4)
    model = Wrapped(T5EncoderModel(config),
                    lambda m, ids, keep: m(input_ids=ids, attention_mask=keep).last_hidden_state)
    return model, text(), True


def whisper_encoder():
    from transformers import WhisperConfig, WhisperModel
    config = WhisperConfig(vocab_size=VOCABULARY, d_model=32, encoder_layers=2, decoder_layers=1,
                           encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64,
                           decoder_ffn_dim=64, num_mel_bins=16, max_source_positions=24, max_target_positions=16,
                           pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1,
                           attn_implementation="eager")
    model = Wrapped(WhisperModel(config).encoder, lambda m, x: m(x).last_hidden_state)
    return model, {"features": torch.randn(2, 16, 48)}, False


def resnet():
    from transformers import ResNetConfig, ResNetForImageClassification
    config = ResNetConfig(embedding_size=8, hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 2, 1], layer_type="basic",
                          num_labels=10)
    return Wrapped(ResNetForImageClassification(config), lambda m, x: m(x).logits), {"image": pictures(64)}, False


def mobilenet_v3():
    from torchvision.models import mobilenet_v3_small
    model = mobilenet_v3_small(width_mult=0.1, num_classes=10, dropout=0.0)
    # Its own initialisation of the head makes every output nearly nothing.
    for module in model.classifier:
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, std=0.2)
    return model, {"image": pictures(64)}, False


def mobilenet_v2():
    from torchvision.models import MobileNetV2
    settings = [[1, 8, 1, 1], [4, 8, 2, 2], [4, 16, 2, 2]]
    model = MobileNetV2(num_classes=10, width_mult=0.1, inverted_residual_setting=settings)
    return model, {"image": pictures(64)}, False


def efficientnet():
    from torchvision.models.efficientnet import EfficientNet, MBConvConfig
    settings = [MBConvConfig(1, 3, 1, 8, 8, 1, 1.0, 1.0), MBConvConfig(4, 3, 2, 8, 16, 1, 1.0, 1.0),
                MBConvConfig(4, 5, 2, 16, 16, 2, 1.0, 1.0)]
    return EfficientNet(settings, dropout=0.0, num_classes=10, last_channel=64), {"image": pictures(64)}, False


def vit():
    from torchvision.models import VisionTransformer
    model = VisionTransformer(image_size=32, patch_size=8, num_layers=2, num_heads=4, hidden_dim=32, mlp_dim=64,
                              num_classes=10)
    # Its own initialisation of the head is zero, and every output would be.
    nn.init.normal_(model.heads.head.weight, std=0.2)
    return model, {"image": pictures()}, False


def swin():
    from torchvision.models import SwinTransformer
    return SwinTransformer(patch_size=[4, 4], embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=[4, 4],
                           num_classes=10), {"image": pictures()}, False


def convnext():
    from torchvision.models.convnext import CNBlockConfig, ConvNeXt
    settings = [CNBlockConfig(16, 32, 1), CNBlockConfig(32, None, 2)]
    return ConvNeXt(settings, num_classes=10), {"image": pictures()}, False


def densenet():
    from torchvision.models import DenseNet
    model = DenseNet(growth_rate=8, block_config=(2, 2), num_init_features=8, num_classes=10)
    return model, {"image": pictures(64)}, False


def shufflenet():
    from torchvision.models import ShuffleNetV2
    return ShuffleNetV2([1, 2, 1], [8, 16, 32, 64, 64], num_classes=10), {"image": pictures(64)}, False


def unet():
    class Unet(nn.Module):
        """Down, up by interpolation and by transposed shuffling, joined by concatenation."""

        def __init__(self):
            super().__init__()
            self.a = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.GroupNorm(4, 8), nn.SiLU())
            self.b = nn.Sequential(nn.Conv2d(8, 16, 3, stride=2, padding=1), nn.InstanceNorm2d(16), nn.LeakyReLU(0.1))
            self.c = nn.Sequential(nn.Conv2d(16, 16, 3, padding=1), nn.Hardswish())
            self.up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False)
            self.d = nn.Conv2d(24, 3, 1)

        def forward(self, x):
            a = self.a(x)
            return torch.sigmoid(self.d(torch.cat([a, self.up(self.c(self.b(a)))], 1)))
    return Unet(), {"image": pictures()}, False


def encoder_layer():
    layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, norm_first=True, activation="gelu")
    return nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), {"x": torch.randn(2, 9, 32)}, False


ARCHITECTURES = (bert, gpt2, resnet, mobilenet_v3, vit, distilbert, llama, t5_encoder, whisper_encoder, mobilenet_v2,
                 efficientnet, swin, convnext, densenet, shufflenet, unet, encoder_layer)


def stir(model):
    """Random statistics for batch normalisation: its initial ones change nothing and would hide mistakes."""
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.normal_(module.running_mean, std=0.2)
            nn.init.uniform_(module.running_var, 0.5, 1.5)
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.normal_(module.bias, std=0.2)


def export(model, inputs, sequences, dynamo, path):
    """One model by one exporter; batch, and length where there are sequences, stay open."""
    names = list(inputs)
    axes = {0: "batch", 1: "sequence"} if sequences else {0: "batch"}
    if dynamo:
        # *inputs of Wrapped is one tuple; any other model has its inputs one by one.
        shapes = tuple({axis: torch.export.Dim.DYNAMIC for axis in axes} for _ in names)
        proto = torch.onnx.export(model, tuple(inputs.values()), input_names=names, output_names=["output"],
                                  dynamo=True, opset_version=18, verbose=False,
                                  dynamic_shapes=(shapes,) if isinstance(model, Wrapped) else shapes).model_proto
        name_axes(proto, axes)
    else:
        buffer = io.BytesIO()
        torch.onnx.export(model, tuple(inputs.values()), buffer, input_names=names, output_names=["output"],
                          dynamo=False, opset_version=17, dynamic_axes={name: axes for name in names + ["output"]})
        proto = onnx.load_from_string(buffer.getvalue())
    strip(proto)
    onnx.checker.check_model(proto)
    onnx.save(proto, path)


def name_axes(proto, axes):
    """Gives the open dimensions their names; torch.export calls them s21 and the like."""
    names = {}
    for value in proto.graph.input:
        for axis, name in axes.items():
            names[value.type.tensor_type.shape.dim[axis].dim_param] = name
    for value in list(proto.graph.input) + list(proto.graph.output):
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param:
                dim.dim_param = names.get(dim.dim_param, dim.dim_param)
    del proto.graph.value_info[:]


def strip(proto):
    """Drops the exporters' notes, with the paths of this machine in them; they are half of a small file."""
    def clear(message):
        for name in ("doc_string", "metadata_props"):
            if name in message.DESCRIPTOR.fields_by_name:
                message.ClearField(name)
        for field, value in message.ListFields():
            if field.type == field.TYPE_MESSAGE:
                for part in [value] if hasattr(value, "DESCRIPTOR") else value:
                    clear(part)
    clear(proto)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("outdir")
    parser.add_argument("names", nargs="*", metavar="NAME", help="architectures; default: " + " ".join(KEPT))
    arguments = parser.parse_args()
    known = {a.__name__: a for a in ARCHITECTURES}
    unknown = [n for n in arguments.names if n not in known]
    if unknown:
        parser.error(f"unknown architecture {unknown[0]!r}; there are: {' '.join(known)}")
    warnings.simplefilter("ignore")
    os.makedirs(arguments.outdir, exist_ok=True)
    failed = False
    for name in arguments.names or KEPT:
        torch.manual_seed(7)
        model, inputs, sequences = known[name]()
        model.eval()
        stir(model)
        if sequences:
            np.save(os.path.join(arguments.outdir, f"{name}.attention_mask.npy"), inputs["attention_mask"].numpy())
        for dynamo in (True, False):
            path = os.path.join(arguments.outdir, f"{name}.{'dynamo' if dynamo else 'script'}.onnx")
            try:
                export(model, inputs, sequences, dynamo, path)
            except Exception as error:  # every exporter has its own errors, and the next model is to be tried too
                print(f"{path}: not made: {str(error).splitlines()[-1][:200]}", file=sys.stderr)
                failed = True
                continue
            size = os.path.getsize(path)
            print(f"{path}: {size} bytes")
            if size > LIMIT:
                print(f"{path}: over {LIMIT} bytes", file=sys.stderr)
                failed = True
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
