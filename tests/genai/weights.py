# SPDX-License-Identifier: BSD-3-Clause
"""Large weights of a model that are not kept with it: what they are says the model, their elements are drawn."""
import os
import zlib

import numpy as np
import onnx

FILE = "weights"
KEPT = 1024  # elements


def leave_out(model):
    """Takes the elements of large weights out of a model; what is computed from positions stays."""
    offset = 0
    for tensor in model.graph.initializer:
        size = len(tensor.raw_data)
        if np.prod(tensor.dims) <= KEPT or "cache" in tensor.name:
            continue
        tensor.ClearField("raw_data")
        tensor.data_location = onnx.TensorProto.EXTERNAL
        del tensor.external_data[:]
        for key, value in (("location", FILE), ("offset", str(offset)), ("length", str(size))):
            tensor.external_data.add(key=key, value=value)
        offset += size


def drawn(tensor, salt):
    """Elements of a weight, which follow from its name and the salt. They are so wide that sums of their products with
    numbers about 1 are about 1 too, and tokens differ by more than rounding."""
    numbers = np.random.default_rng(zlib.crc32((tensor.name + salt).encode()))
    kind = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type)
    if np.issubdtype(kind, np.integer):
        return numbers.integers(0, 256, tuple(tensor.dims)).astype(kind)
    return (numbers.standard_normal(tuple(tensor.dims)) * tensor.dims[0] ** -0.5).astype(kind)


def draw(folder, salt=""):
    """Writes what the model in a folder wants; with another salt other numbers."""
    model = onnx.load(os.path.join(folder, "model.onnx"), load_external_data=False)
    with open(os.path.join(folder, FILE), "wb") as file:
        for tensor in model.graph.initializer:
            if tensor.data_location == onnx.TensorProto.EXTERNAL:
                file.write(drawn(tensor, salt).tobytes())
