#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares determinants and inverses with NumPy's LAPACK.

usage: linalg_tests.py LIBRARY

LIBRARY is libleat_onnxruntime.so. Factors L and U are exact for a matrix that is off by no more than (n + 4) u |L||U|
(Higham, "Accuracy and Stability of Numerical Algorithms", 9.3, for u the spacing of the type at 1), so
- an inverse X leaves no more than 3 (n + 4) u |L||U||X| of A X - I: the factors' error and those of two solutions;
- a determinant is off, relative to itself, by the sum of the errors of A times the elements of the transposed inverse,
  and by n products. Second-order terms are taken for as much again.
A singular matrix has the determinant 0, and no number in its inverse. Exit status: 0, or 1 if a result is wrong, 77 if
there is no device.
"""
import sys

import numpy as np
from onnx import helper

import on_leat

SHAPES = ((5, 1, 1), (4, 2, 3, 3), (3, 31, 31), (2, 64, 64), (100, 100), (2, 193, 193))
WHOLE = ((2, 2), (8, 8), (33, 33))  # of singular matrices


def model(operator, kind, rank):
    domain = "com.microsoft" if operator == "Inverse" else ""
    dims = [f"d{d}" for d in range(rank)]
    code = helper.np_dtype_to_tensor_dtype(np.dtype(kind))
    graph = helper.make_graph([helper.make_node(operator, ["x"], ["y"], domain=domain)], operator,
                              [helper.make_tensor_value_info("x", code, dims)],
                              [helper.make_tensor_value_info("y", code, None)])
    sets = [helper.make_opsetid("", 22), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=sets, ir_version=10).SerializeToString()


def products(a):
    """|L||U| of a matrix, with the rows where A has them."""
    lu, order = a.astype(np.float64), np.arange(len(a))
    for k in range(len(a)):
        pivot = k + np.argmax(np.abs(lu[k:, k]))
        lu[[k, pivot]], order[[k, pivot]] = lu[[pivot, k]], order[[pivot, k]]
        lu[k + 1:, k] /= lu[k, k]
        lu[k + 1:, k + 1:] -= np.outer(lu[k + 1:, k], lu[k, k + 1:])
    made = np.abs(np.tril(lu, -1) + np.eye(len(a))) @ np.abs(np.triu(lu))
    back = np.empty_like(made)
    back[order] = made
    return back


def wrong_inverse(a, x, unit):
    left = np.abs(a @ x - np.eye(len(a)))
    return bool((left > 3 * (len(a) + 4) * unit * (products(a) @ np.abs(x)) + np.finfo(np.float32).tiny).any())


def wrong_determinant(a, y, unit):
    exact = np.linalg.det(a)
    relative = (len(a) + 4) * unit * (products(a) * np.abs(np.linalg.inv(a).T)).sum() + len(a) * unit
    return bool(abs(y - exact) > 2 * relative * abs(exact))


def main():
    on = on_leat.devices_of_command_line(__doc__)
    numbers, wrong, tried = np.random.default_rng(1), 0, 0
    for kind in (np.float32, np.float64):
        unit = float(np.finfo(kind).eps)
        for operator, check in (("Det", wrong_determinant), ("Inverse", wrong_inverse)):
            for shape in SHAPES:
                # So that determinants are about 1: that of random numbers is sqrt(n!) times their deviation to the n.
                x = (numbers.uniform(-1, 1, shape) * np.sqrt(3 * np.e / shape[-1])).astype(kind)
                y = on_leat.session(model(operator, kind, x.ndim), on).run(None, {"x": x})[0]
                matrices = x.reshape(-1, *shape[-2:]).astype(np.float64)
                results = y.reshape(len(matrices), -1).astype(np.float64)
                for a, result in zip(matrices, results):
                    tried += 1
                    if check(a, result[0] if operator == "Det" else result.reshape(a.shape), unit):
                        wrong += 1
                        print(f"{operator} of {shape} {np.dtype(kind)}: beyond its bound")
            for shape in WHOLE:
                x = np.ones(shape, kind)
                y = on_leat.session(model(operator, kind, 2), on).run(None, {"x": x})[0]
                tried += 1
                if (y != 0).any() if operator == "Det" else np.isfinite(y).any():
                    wrong += 1
                    print(f"{operator} of ones, {shape} {np.dtype(kind)}: {y}")
    print(f"{tried} matrices, {wrong} wrong results")
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
