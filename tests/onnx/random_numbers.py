#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs operators that make random numbers through ONNX Runtime with Leat.

usage: random_numbers.py LIBRARY

LIBRARY is libleat_onnxruntime.so. All nodes must run on Leat, inside of graphs of others. With a seed each Run, session
and thread gives the numbers that Philox 4x32-10 has for it, computed here by NumPy; without one no two Runs give the
same. Mean and deviation are those of the CPU provider's numbers, as far as chance lets them be: each is at most 7.2
deviations of itself off, which one in 10^12 is. Exit status: 0, or 1 if a result is wrong, 77 if there is no device.
"""
import sys
import threading

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

import on_leat

OPSET, IR_VERSION = 17, 8
SHAPE = (64, 1024)
COUNT = SHAPE[0] * SHAPE[1]
DEVIATIONS = 7.2
THREADS, RUNS = 8, 4


def philox(key, blocks, stream=0):
    """The words of so many blocks of a key, in order."""
    words = [np.arange(blocks, dtype=np.uint64), np.zeros(blocks, np.uint64),
             np.full(blocks, stream & 0xffffffff, np.uint64), np.full(blocks, stream >> 32, np.uint64)]
    low, high = key & 0xffffffff, key >> 32
    for _ in range(10):
        first, second = words[0] * np.uint64(0xD2511F53), words[2] * np.uint64(0xCD9E8D57)
        words = [second >> np.uint64(32) ^ words[1] ^ np.uint64(low), second & np.uint64(0xffffffff),
                 first >> np.uint64(32) ^ words[3] ^ np.uint64(high), first & np.uint64(0xffffffff)]
        low, high = (low + 0x9E3779B9) & 0xffffffff, (high + 0xBB67AE85) & 0xffffffff
    return np.stack(words, axis=1).reshape(-1)


def key_of(seed):
    return int(np.float32(seed).view(np.uint32))


def uniform(words):
    return (words >> np.uint64(8)).astype(np.float64) * 2.0 ** -24


def normal(words):
    """Pairs by Box and Muller; radii are of 24 significant bits."""
    fraction, exponent = np.frexp((words[0::2] + 1).astype(np.float64))
    radius = np.sqrt(-2 * np.log(np.ldexp(np.floor(np.ldexp(fraction, 24)), exponent - 24 - 32)))
    angle = 2 * np.pi * (words[1::2] >> np.uint64(6)).astype(np.float64) * 2.0 ** -26
    return np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=1).reshape(-1)


def model_of(op, takes, attributes):
    """y is x + 0 behind the operator, so that it stands inside of a graph."""
    nodes = [helper.make_node("Mul", ["x", "x"], ["square"]),
             helper.make_node(op, ["square"] if takes else [], ["numbers"], **attributes),
             helper.make_node("Sub", ["square", "square"], ["zero"]),
             helper.make_node("Add", ["numbers", "zero"], ["y"])]
    graph = helper.make_graph(nodes, "random", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", SHAPE[1]])],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)],
                             ir_version=IR_VERSION).SerializeToString()


def constants_of(values):
    return [numpy_helper.from_array(value, name) for name, value in values.items()]


def choices_model(op, inputs, kind, outputs, constants, attributes):
    """The operator of x alone."""
    graph = helper.make_graph([helper.make_node(op, inputs, outputs, **attributes)], "random",
                              [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", None])],
                              [helper.make_tensor_value_info(output, kind, None) for output in outputs[:1]],
                              constants_of(constants))
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)],
                             ir_version=IR_VERSION).SerializeToString()


def shares(name, found, expected):
    """Whether values are as frequent as their probabilities say."""
    right = True
    for value, share in expected.items():
        error = np.sqrt(share * (1 - share) / found.size) + 1e-12
        off = abs((found == value).mean() - share) / error
        if off > DEVIATIONS:
            print(f"{name}: {value} is {off:.1f} deviations too frequent or too rare")
            right = False
    return right


def run_in_threads(session, feeds):
    """What each of several Runs of each thread gives."""
    found = []

    def work():
        found.extend([session.run(None, feeds)[0] for _ in range(RUNS)])
    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def moments_agree(name, numbers, mean, deviation, kurtosis):
    error = deviation / np.sqrt(numbers.size)
    variance_error = deviation ** 2 * np.sqrt((kurtosis - 1) / numbers.size)
    off = abs(numbers.mean(dtype=np.float64) - mean) / error
    variance_off = abs(numbers.var(dtype=np.float64) - deviation ** 2) / variance_error
    if off > DEVIATIONS or variance_off > DEVIATIONS:
        print(f"{name}: the mean is {off:.1f} and the variance {variance_off:.1f} deviations off")
        return False
    return True


def main():
    on = on_leat.devices_of_command_line(__doc__)
    seed = 7.5
    words = philox(key_of(seed), COUNT // 4)
    shape = {"shape": list(SHAPE)}
    # Attributes, what they make of standard numbers, mean, deviation and kurtosis.
    cases = [("RandomNormal", False, {**shape, "mean": 3.0, "scale": 0.5}, 3 + 0.5 * normal(words), 3, 0.5, 3),
             ("RandomNormalLike", True, {}, normal(words), 0, 1, 3),
             ("RandomUniform", False, {**shape, "low": -1.0, "high": 1.0}, -1 + 2 * uniform(words), 0, 3 ** -0.5, 1.8),
             ("RandomUniformLike", True, {}, uniform(words), 0.5, 12 ** -0.5, 1.8)]
    x = np.full(SHAPE, 0.5, np.float32)
    checks, wrong = 0, 0

    def check(right, text):
        nonlocal checks, wrong
        checks += 1
        if not right:
            wrong += 1
            print(text)

    for op, takes, attributes, expected, mean, deviation, kurtosis in cases:
        seeded = model_of(op, takes, {**attributes, "seed": seed})
        for at in range(2):
            for found in run_in_threads(on_leat.session(seeded, on), {"x": x}):
                # Rounding of the sum, and float32's of logarithm, root and angle, at numbers of up to 7.
                check(np.abs(found.reshape(-1) - expected).max() < 4e-6, f"{op}: session {at} has other numbers")
        unseeded = model_of(op, takes, attributes)
        numbers = run_in_threads(on_leat.session(unseeded, on), {"x": x})
        numbers += run_in_threads(on_leat.session(unseeded, on), {"x": x})
        check(len({found.tobytes() for found in numbers}) == len(numbers), f"{op}: two Runs gave the same numbers")
        cpu = ort.InferenceSession(unseeded, providers=["CPUExecutionProvider"])
        for name, found in (("Leat", numbers[0]), ("Leat", numbers[-1]), ("CPU", cpu.run(None, {"x": x})[0])):
            check(moments_agree(f"{op} ({name})", found, mean, deviation, kurtosis), f"{op}: wrong distribution")
    # Another number of rows is another plan of the same session, and its numbers are the first ones.
    session = on_leat.session(model_of("RandomNormalLike", True, {"seed": seed}), on)
    for rows in (1, 7, 64, 3):
        found = session.run(None, {"x": x[:rows]})[0]
        right = found.shape == (rows, SHAPE[1]) and np.abs(found.reshape(-1) - normal(words)[:found.size]).max() < 4e-6
        check(right, f"RandomNormalLike: {rows} rows have other numbers")
    # Choices: Bernoulli of 0.3, Multinomial of three classes, Dropout of a quarter.
    classes = np.log(np.tile(np.array([[0.5, 0.125, 0.375]], np.float32), (64, 1)))
    training = {"ratio": np.array(0.25, np.float32), "training": np.array(True)}
    for op, fed, inputs, kind, constants, attributes, expected in (
            ("Bernoulli", np.full(SHAPE, 0.3, np.float32), ["x"], TensorProto.FLOAT, {}, {}, {0: 0.7, 1: 0.3}),
            ("Multinomial", classes, ["x"], TensorProto.INT32, {}, {"sample_size": 1000}, {0: 0.5, 1: 0.125, 2: 0.375}),
            ("Dropout", np.full(SHAPE, 3, np.float32), ["x", "ratio", "training"], TensorProto.FLOAT, training, {},
             {0: 0.25, 4: 0.75})):
        seeds = {"seed": 3 if op == "Dropout" else 3.0}
        seeded = on_leat.session(choices_model(op, inputs, kind, ["y"], constants, {**attributes, **seeds}), on)
        numbers = run_in_threads(seeded, {"x": fed})
        check(len({found.tobytes() for found in numbers}) == 1, f"{op}: numbers of a seed are not always the same")
        model = choices_model(op, inputs, kind, ["y"], constants, attributes)
        numbers = run_in_threads(on_leat.session(model, on), {"x": fed})
        check(len({found.tobytes() for found in numbers}) == len(numbers), f"{op}: two Runs gave the same numbers")
        cpu = ort.InferenceSession(model, providers=["CPUExecutionProvider"]).run(None, {"x": fed})[0]
        check(cpu.shape == numbers[0].shape and cpu.dtype == numbers[0].dtype, f"{op}: another shape or type")
        # ONNX's function, which the CPU provider runs for Bernoulli, has ones where the specification has zeros.
        for name, found in (("Leat", numbers[0]), ("CPU", 1 - cpu if op == "Bernoulli" else cpu)):
            check(shares(f"{op} ({name})", found, expected), f"{op}: wrong shares")
    print(f"{checks} checks, {wrong} wrong")
    sys.exit(wrong != 0)


if __name__ == "__main__":
    main()
