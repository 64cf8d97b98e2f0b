#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares operators on Leat alone with the CPU provider, on calls drawn at random.

usage: drawn_calls.py LIBRARY

LIBRARY is libleat_onnxruntime.so. A drawn call says how far two results of it may be apart: both are off from the exact
one by at most so many roundings, u = 2^-23 (float64: 2^-52) each, of numbers no larger than it names. Exit status: 0,
or 1 if a result is wrong or a kind of call had none that both ran, 77 if there is no device.
"""
import sys

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

import on_leat

ROUNDS = 24
KINDS = {np.dtype(np.float32): 2.0**-23, np.dtype(np.float64): 2.0**-52}


def largest(*arrays):
    return max(float(np.abs(array).max(initial=0)) for array in arrays)


def running(draw):
    """CumSum and CumProd: a rounding by element, of the sum of all magnitudes or of the product itself."""
    kind = draw.choice([np.float32, np.float64, np.int32, np.int64])
    shape = tuple(draw.integers(1, 7, draw.integers(1, 4)))
    x = (draw.uniform(-2, 2, shape) if np.dtype(kind).kind == "f" else draw.integers(-9, 9, shape)).astype(kind)
    axis = int(draw.integers(-x.ndim, x.ndim))
    name = draw.choice(["CumSum", "CumProd"])
    attributes = {"exclusive": int(draw.integers(2)), "reverse": int(draw.integers(2))}
    size = x.shape[axis] * largest(x) if name == "CumSum" else max(1, largest(x)) ** x.shape[axis]
    return name, 26, attributes, [x, np.int64(axis)], 2 * x.shape[axis] * size


def scatter_elements(draw):
    """A rounding by update of an element: of the sum of their magnitudes, or of the product itself."""
    shape = list(draw.integers(1, 7, draw.integers(1, 4)))
    axis = int(draw.integers(len(shape)))
    x = draw.uniform(-1.5, 1.5, shape).astype(np.float32)
    size, shape[axis] = shape[axis], int(draw.integers(1, 12))
    updates = draw.uniform(-1.5, 1.5, shape).astype(np.float32)
    reduction = str(draw.choice(["add", "mul", "min", "max"]))
    steps = shape[axis] + 1
    bound = 2 * steps * (steps * 1.5 if reduction == "add" else 1.5**steps)
    return ("ScatterElements", 18, {"axis": axis, "reduction": reduction},
            [x, draw.integers(-size, size, shape), updates], bound)


def scatter_nd(draw):
    """As ScatterElements."""
    shape = list(draw.integers(1, 5, draw.integers(1, 4)))
    tuple_size, rows = int(draw.integers(1, len(shape) + 1)), int(draw.integers(1, 9))
    indices = np.stack([draw.integers(-n, n, rows) for n in shape[:tuple_size]], axis=1)
    reduction = str(draw.choice(["add", "mul", "min", "max"]))
    x = draw.uniform(-1.5, 1.5, shape).astype(np.float32)
    updates = draw.uniform(-1.5, 1.5, [rows, *shape[tuple_size:]]).astype(np.float32)
    bound = 2 * (rows + 1) * ((rows + 1) * 1.5 if reduction == "add" else 1.5 ** (rows + 1))
    return "ScatterND", 18, {"reduction": reduction}, [x, indices, updates], bound


def resize(draw):
    """Coordinates up to 20 are off by four roundings, times the filter's slope of at most 6, along two dimensions; some
    10 roundings in polynomials of numbers up to 48 and in sums are less."""
    images = [1, int(draw.integers(1, 4))]
    shape, sizes = [*images, *draw.integers(1, 20, 2)], [*images, *draw.integers(1, 20, 2)]
    x = draw.uniform(-1, 1, shape).astype(np.float32)
    mode = str(draw.choice(["linear", "cubic"]))
    attributes = {"mode": mode, "antialias": int(draw.integers(2)) if mode == "cubic" else 1,
                  "coordinate_transformation_mode": str(draw.choice(["half_pixel", "align_corners",
                                                                     "pytorch_half_pixel", "asymmetric"]))}
    if mode == "cubic":
        attributes["cubic_coeff_a"] = float(draw.choice([-0.75, -0.5]))
        if attributes["antialias"] == 0:
            attributes["exclude_outside"] = int(draw.integers(2))
    return "Resize", 19, attributes, [x, None, None, np.array(sizes, np.int64)], 2 * 4 * 20 * 6 * 2


def lp_pool(draw):
    """A window of nine powers: eight roundings each, one for each sum, and those of a root."""
    x = draw.uniform(-2, 2, [1, 2, *draw.integers(4, 9, 2)]).astype(np.float32)
    attributes = {"kernel_shape": [3, 3], "p": int(draw.integers(1, 5)),
                  "strides": [int(n) for n in draw.integers(1, 3, 2)], "pads": [int(n) for n in draw.integers(0, 2, 4)]}
    return "LpPool", 18, attributes, [x], 2 * (8 + 9 + 8) * 18


def col2im(draw):
    """A sum of at most nine numbers."""
    image, block = draw.integers(3, 8, 2), draw.integers(1, 4, 2)
    strides, pads = draw.integers(1, 3, 2), draw.integers(0, 2, 4)
    places = (image + pads[:2] + pads[2:] - block) // strides + 1
    x = draw.uniform(-1, 1, [2, 3 * int(np.prod(block)), int(np.prod(places))]).astype(np.float32)
    return ("Col2Im", 18, {"strides": [int(n) for n in strides], "pads": [int(n) for n in pads]},
            [x, image.astype(np.int64), block.astype(np.int64)], 2 * 9 * 9)


def affine_grid(draw):
    """Four products of places that are off by three roundings."""
    dimensions = int(draw.integers(2, 4))
    theta = draw.uniform(-2, 2, [2, dimensions, dimensions + 1]).astype(np.float32)
    size = np.array([2, 1, *draw.integers(2, 8, dimensions)], np.int64)
    return "AffineGrid", 20, {"align_corners": int(draw.integers(2))}, [theta, size], 2 * 4 * (3 + 4) * 2


def window(draw):
    """A polynomial of the square of a sine, whose angle is off by three roundings, and the CPU provider's cosines."""
    name = draw.choice(["HannWindow", "HammingWindow", "BlackmanWindow"])
    return name, 17, {"periodic": int(draw.integers(2))}, [np.array(draw.integers(2, 500), np.int64)], 64


def model(name, version, attributes, inputs):
    """The first input, and indices and updates, are fed; the others are constants of the model."""
    names = ["" if value is None else f"x{number}" for number, value in enumerate(inputs)]
    fed = {key: value for number, (key, value) in enumerate(zip(names, inputs))
           if value is not None and (number == 0 or (name.startswith("Scatter") and number < 3))}
    constants = [numpy_helper.from_array(np.asarray(value), key) for key, value in zip(names, inputs)
                 if value is not None and key not in fed]
    kind = helper.np_dtype_to_tensor_dtype(inputs[0].dtype)
    made_kind = TensorProto.FLOAT if name.endswith("Window") else kind
    graph = helper.make_graph(
        [helper.make_node(name, names, ["y"], **attributes)], name,
        [helper.make_tensor_value_info(key, TensorProto.INT64 if value.dtype == np.int64 else kind, value.shape)
         for key, value in fed.items()],
        [helper.make_tensor_value_info("y", made_kind, None)], constants)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", version)], ir_version=10)
    return made.SerializeToString(), fed


def is_wrong(got, expected, roundings):
    if got.shape != expected.shape or got.dtype != expected.dtype:
        return True
    if got.dtype.kind != "f":
        return not np.array_equal(got, expected)
    return bool((np.abs(got.astype(np.float64) - expected) > roundings * KINDS[got.dtype]).any())


def main():
    on = on_leat.devices_of_command_line(__doc__)
    wrong = 0
    for kind in (running, scatter_elements, scatter_nd, resize, lp_pool, col2im, affine_grid, window):
        draw, ran = np.random.default_rng(1), 0
        for _ in range(ROUNDS):
            name, version, attributes, inputs, roundings = kind(draw)
            made, fed = model(str(name), version, attributes, inputs)
            try:
                expected = ort.InferenceSession(made, providers=["CPUExecutionProvider"]).run(None, fed)[0]
            except Exception as problem:
                if "NOT_IMPLEMENTED" not in str(problem) and "not implemented" not in str(problem).lower():
                    raise
                continue
            got = on_leat.session(made, on).run(None, fed)[0]
            ran += 1
            if is_wrong(got, expected, roundings):
                wrong += 1
                apart = np.abs(got.astype(np.float64) - expected).max() if got.shape == expected.shape else np.inf
                print(f"{name} {attributes} of {[getattr(x, 'shape', None) for x in inputs]}: {apart:g} apart, "
                      f"{roundings * KINDS.get(got.dtype, 0):g} is expected")
        print(f"{kind.__name__}: {ran} calls")
        wrong += ran == 0
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
