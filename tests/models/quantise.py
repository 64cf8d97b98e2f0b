#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Write the quantised fixtures, by ONNX Runtime's own quantisation.

Usage: quantise.py OUTDIR   (needs onnx, numpy, onnxruntime and what its quantisation imports: packaging)

OUTDIR/mlp.onnx, three layers with random weights; of it mlp.dynamic.onnx, whose activations are quantised as they come
and whose weights are int8 with scales by column, and mlp.qdq.onnx, with the scales of all tensors in the model; and of
others in OUTDIR bert.dynamic.onnx and resnet.dynamic.onnx, with weights of uint8.
"""
import os
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static

SIZES = (24, 96, 64, 10)


class Batches(CalibrationDataReader):
    """A few inputs of the MLP, from which its ranges are taken."""

    def __init__(self, random):
        self.batches = iter([{"x": random.standard_normal((8, SIZES[0])).astype(np.float32)} for _ in range(4)])

    def get_next(self):
        return next(self.batches, None)


def mlp(random):
    nodes, weights, x = [], [], "x"
    for layer, (rows, columns) in enumerate(zip(SIZES, SIZES[1:])):
        last = layer == len(SIZES) - 2
        numbers = {f"w{layer}": random.standard_normal((rows, columns)) / np.sqrt(rows),
                   f"b{layer}": random.standard_normal(columns) / 4}
        weights += [numpy_helper.from_array(value.astype(np.float32), name) for name, value in numbers.items()]
        for kind, inputs, output in (("MatMul", [x, f"w{layer}"], f"product{layer}"),
                                     ("Add", [f"product{layer}", f"b{layer}"], "y" if last else f"sum{layer}"),
                                     ("Relu", [f"sum{layer}"], f"x{layer}")):
            if not (last and kind == "Relu"):
                nodes.append(helper.make_node(kind, inputs, [output], name=output))
        x = f"x{layer}"
    graph = helper.make_graph(nodes, "mlp", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", SIZES[0]])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", SIZES[-1]])], weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    random = np.random.default_rng(3)

    def path(name):
        return os.path.join(sys.argv[1], name + ".onnx")

    onnx.save(mlp(random), path("mlp"))
    quantize_dynamic(path("mlp"), path("mlp.dynamic"), weight_type=QuantType.QInt8, per_channel=True)
    quantize_static(path("mlp"), path("mlp.qdq"), Batches(random), quant_format=QuantFormat.QDQ,
                    activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8)
    for name in ("bert", "resnet"):
        quantize_dynamic(path(name + ".dynamo"), path(name + ".dynamic"), weight_type=QuantType.QUInt8)


if __name__ == "__main__":
    main()
