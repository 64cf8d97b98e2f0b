#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs ONNX's published node tests through ONNX Runtime with Leat.

usage: node_tests.py --library libleat_onnxruntime.so [--filter TEXT] [--at-least N] [--verbose]

The cases and their expected outputs come from the onnx package. A case counts as
  whole    every node of the graph ran on Leat,
  part     some did, the rest on the CPU provider,
  cpu      none did,
  n/a      ONNX Runtime's CPU provider cannot load or run the model, or gives another answer than the case expects and
           Leat gives the CPU provider's; or the answer follows from random numbers, which are NumPy's in the case
           (random_numbers.py looks at Leat's).
A case of a newer operator set than ONNX Runtime knows all of runs as one of set 25, if the CPU provider loads that.
An answer of Leat that is neither the case's nor the CPU provider's is wrong. Exit status: 0, or 1 if a case is wrong or
crashed or fewer than N are whole, 2 on bad use, 77 if there is no device.
"""
import argparse
import collections
import json
import os
import pickle
import subprocess
import sys
import tempfile
import warnings

CASES_PER_PROCESS = 300
SECONDS_PER_PROCESS = 600
NO_DEVICE = 77
EARLIER_SET = 25
# Transforms some of whose elements cancel: what the case expects of these is the rounding of another order of sums, and
# the CPU provider fails them. They are compared by the largest element, of which 10 terms round 2^-24 each, and their
# factors and the scale as much again.
CANCELLED = {"test_dft_inverse": 20 * 2.0**-24, "test_dft_inverse_opset19": 20 * 2.0**-24}
RANDOM = {"test_training_dropout" + rest for rest in ("", "_default", "_default_mask", "_mask")}


def load_cases(text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases

        cases = collect_testcases(None)
    return [case for case in cases if text in case.name]


def array(value):
    """The value as an array if it is a tensor of numbers, else None."""
    import numpy as np
    import onnx

    if isinstance(value, onnx.TensorProto):
        value = onnx.numpy_helper.to_array(value)
    if isinstance(value, (np.ndarray, np.generic)):
        value = np.asarray(value)
        return None if value.dtype.kind in "OUS" else value
    return None


def same(left, right, rtol, atol):
    import numpy as np

    if len(left) != len(right):
        return False
    for a, b in zip(left, right):
        a, b = np.asarray(a), np.asarray(b)
        if a.shape != b.shape or a.dtype != b.dtype:
            return False
        if a.dtype.kind in "fc" or a.dtype.kind == "V":
            if not np.allclose(a.astype(np.float64), b.astype(np.float64), rtol=rtol, atol=atol, equal_nan=True):
                return False
        elif not np.array_equal(a, b):
            return False
    return True


def earlier(model):
    """The model as one of an earlier operator set."""
    import onnx

    older = onnx.ModelProto()
    older.CopyFrom(model)
    for operators in older.opset_import:
        if operators.domain == "":
            operators.version = min(operators.version, EARLIER_SET)
    return older


class Runner:
    def __init__(self, library):
        import onnxruntime as ort

        self.ort = ort
        ort.set_default_logger_severity(4)
        ort.register_execution_provider_library("leat", library)
        self.devices = [d for d in ort.get_ep_devices() if d.ep_name == "LeatExecutionProvider"][:1]
        if not self.devices:
            print("node_tests.py: no Leat device", file=sys.stderr)
            sys.exit(NO_DEVICE)

    def outputs(self, model, feeds, leat):
        """Outputs, and how many nodes ran on Leat and elsewhere."""
        options = self.ort.SessionOptions()
        options.log_severity_level = 4
        # The graph as published: a fused or folded graph would test something else.
        options.graph_optimization_level = self.ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.add_session_config_entry("session.record_ep_graph_assignment_info", "1")
        if leat:
            options.add_provider_for_devices(self.devices, {})
        session = self.ort.InferenceSession(model.SerializeToString(), options)
        on_leat = elsewhere = 0
        for part in session.get_provider_graph_assignment_info():
            count = len(part.get_nodes())
            if part.ep_name == "LeatExecutionProvider":
                on_leat += count
            else:
                elsewhere += count
        return session.run(None, feeds), on_leat, elsewhere

    def run(self, case):
        """One of the words of the module's description, or wrong, with a remark."""
        names = [i.name for i in case.model.graph.input]
        data = case.data_sets[0]
        inputs, expected = [array(v) for v in data[0]], [array(v) for v in data[1]]
        if any(v is None for v in inputs + expected):
            return "n/a", "not tensors of numbers"
        feeds = dict(zip(names, inputs))
        model = case.model
        try:
            on_cpu, _, _ = self.outputs(model, feeds, False)
        except Exception as problem:
            try:
                model = earlier(model)
                on_cpu, _, _ = self.outputs(model, feeds, False)
            except Exception:
                return "n/a", str(problem).splitlines()[0][:150]
        try:
            got, on_leat, elsewhere = self.outputs(model, feeds, True)
        except Exception as problem:
            return "wrong", "fails with Leat alone: " + str(problem)[:300]
        where = "whole" if elsewhere == 0 and on_leat else "part" if on_leat else "cpu"
        atol = max(case.atol, CANCELLED[case.name] * abs(expected[0]).max()) if case.name in CANCELLED else case.atol
        if same(got, expected, case.rtol, atol):
            return where, ""
        if same(got, on_cpu, case.rtol, case.atol):
            return ("n/a" if where == "whole" else where), "the CPU provider gives the same other answer"
        if case.name in RANDOM and [(a.shape, a.dtype) for a in got] == [(a.shape, a.dtype) for a in expected]:
            return "n/a", "random numbers"
        return (where if where == "cpu" else "wrong"), "ran %s on Leat; another answer" % where


def work(arguments):
    runner = Runner(arguments.library)
    with open(arguments.cases, "rb") as file:
        cases = pickle.load(file)
    for number in range(arguments.first, min(arguments.last, len(cases))):
        case = cases[number]
        print("START " + json.dumps([number, case.name]), flush=True)
        word, remark = runner.run(case)
        print("CASE " + json.dumps([case.name, word, remark]), flush=True)


def slice_command(arguments, first, last):
    return [sys.executable, os.path.abspath(__file__), "--library", arguments.library, "--cases", arguments.cases,
            "--first", str(first), "--last", str(last)]


def run_slice(arguments, first, last, results):
    """Runs cases [first, last) in a process of their own. Returns where to go on: behind a case that killed it."""
    try:
        done = subprocess.run(slice_command(arguments, first, last), capture_output=True, text=True,
                              timeout=SECONDS_PER_PROCESS)
        output, errors, status = done.stdout, done.stderr, "status %d" % done.returncode
        if done.returncode == 0:
            status = ""
    except subprocess.TimeoutExpired as late:
        output, errors, status = (late.stdout or b"").decode(), "", "no end within %d s" % SECONDS_PER_PROCESS
    running = None
    for line in output.splitlines():
        if line.startswith("START "):
            running = json.loads(line[6:])
        elif line.startswith("CASE "):
            name, word, remark = json.loads(line[5:])
            results[name] = (word, remark)
            running = None
    if running:
        results[running[1]] = ("crash", status)
        return running[0] + 1
    if status:
        print(errors[-2000:], file=sys.stderr)
        results["cases %d to %d" % (first, last)] = ("crash", status)
    return last


def run_all(arguments, cases):
    """What each case came to, by name; None if there is no device. Collecting the cases takes as long as running
    hundreds of them, so the processes that run them read them from a file."""
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        arguments.cases = os.path.join(folder, "cases")
        with open(arguments.cases, "wb") as file:
            pickle.dump(cases, file)
        if subprocess.run(slice_command(arguments, 0, 0), check=False).returncode == NO_DEVICE:
            return None
        at = 0
        while at < len(cases):
            at = run_slice(arguments, at, min(at + CASES_PER_PROCESS, len(cases)), results)
            if sys.stderr.isatty():
                print("\r%d of %d" % (at, len(cases)), end="", file=sys.stderr)
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libleat_onnxruntime.so")
    parser.add_argument("--filter", default="", help="only cases whose name has this text")
    parser.add_argument("--at-least", type=int, default=0, help="cases that must run wholly on Leat")
    parser.add_argument("--verbose", action="store_true", help="one line per case")
    parser.add_argument("--cases", help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=-1, help=argparse.SUPPRESS)
    parser.add_argument("--last", type=int, default=-1, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.library = os.path.abspath(arguments.library)
    if not os.path.exists(arguments.library):
        parser.error("there is no %s" % arguments.library)
    if arguments.first >= 0:
        work(arguments)
        return 0
    cases = load_cases(arguments.filter)
    if not cases:
        parser.error("no case has \"%s\" in its name" % arguments.filter)
    results = run_all(arguments, cases)
    if results is None:
        return NO_DEVICE
    totals = collections.Counter(word for word, _ in results.values())
    for name, (word, remark) in sorted(results.items()):
        if arguments.verbose or word in ("wrong", "crash"):
            print("%-6s %s  %s" % (word, name, remark))
    words = ("whole", "part", "cpu", "n/a", "wrong", "crash")
    print("%d cases: " % len(cases) + ", ".join("%d %s" % (totals[word], word) for word in words))
    if totals["wrong"] or totals["crash"] or totals["whole"] < arguments.at_least:
        print("FAILED: none may be wrong or crash, and at least %d must be whole" % arguments.at_least)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
