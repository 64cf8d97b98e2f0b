#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ONNX Runtime's own profile (SessionOptions.enable_profiling) holds what the device did, and when.

usage: profiling.py LIBRARY [--oldest]

LIBRARY is libleat_onnxruntime.so. Each step on the device must be in the profile of the session that asked for it, once
for each Run, in the event of ONNX Runtime that it was recorded in; also with other sessions at work, with LEAT_PROFILE
at the same time, and when nobody ends the profile. With --oldest, ONNX Runtime is the one in the folder of packages
that LEAT_TEST_OLDEST names, which has no place for such events: there must be none, and all else as ever. Exit status:
0 right, 77 no device or no such folder, else not.
"""
import bisect
import collections
import glob
import json
import os
import subprocess
import sys
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper

import on_leat

WIDTH = 8
THREADS = 8
RUNS = 40
DEVICES = []
HAS_HOOKS = tuple(map(int, ort.__version__.split(".")[:2])) >= (1, 25)
# Microseconds. ONNX Runtime cuts to whole ones; and a thread that is stopped while it relates ONNX Runtime's clock to
# Leat's shifts a whole profile.
CUT, SHIFT = 2, 10000


def model(prefix, kinds=("MatMul", "Tanh", "Softmax", "Exp")):
    """Nodes of which each is a kernel of its own, and a node in their middle that Leat leaves to the CPU."""
    nodes, at = [], "x"
    for kind in (*kinds, "Scaler", "Sigmoid"):
        name = f"{prefix}{kind}"
        more = ["weight"] if kind == "MatMul" else []
        attributes = {"domain": "ai.onnx.ml", "offset": [0.0], "scale": [1.0]} if kind == "Scaler" else {}
        nodes.append(helper.make_node(kind, [at, *more], [f"{kind}_out"], name, **attributes))
        at = f"{kind}_out"
    weight = np.random.default_rng(len(prefix)).uniform(-1, 1, (WIDTH, WIDTH)).astype(np.float32)
    graph = helper.make_graph(
        nodes, "profiled", [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", WIDTH])],
        [helper.make_tensor_value_info(at, TensorProto.FLOAT, [None, None])],
        [onnx.numpy_helper.from_array(weight, "weight")])
    made = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 1)], ir_version=8)
    return made.SerializeToString(), [n.name for n in nodes if n.op_type != "Scaler"]


class Profiled(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.count = 0

    def tearDown(self):
        self.folder.cleanup()

    def session(self, data, profile=True, path="force_graph_path"):
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        self.count += 1
        options.profile_file_prefix = os.path.join(self.folder.name, f"session{self.count}")
        options.enable_profiling = profile
        options.add_provider_for_devices(DEVICES, {path: "1"})
        return ort.InferenceSession(data, options, enable_fallback=0)

    def run_all(self, *sessions, threads=THREADS):
        """Runs sessions by turns, from threads, and looks at what they give."""
        def one(number):
            x = np.random.default_rng(number).uniform(-1, 1, (1 + number % 3, WIDTH)).astype(np.float32)
            return x, sessions[number % len(sessions)].run(None, {"x": x})[0]

        with ThreadPoolExecutor(max_workers=threads) as pool:
            return list(pool.map(one, range(RUNS * len(sessions))))

    def check(self, path, names, runs, start_ns):
        """Looks at a profile of so many Runs of a model with such nodes; gives what is of the device."""
        with open(path, encoding="utf-8") as file:
            events = json.load(file)
        steps = [e for e in events if e["cat"] == "Kernel"]
        theirs, outer = collections.defaultdict(list), collections.defaultdict(list)
        for event in events:
            theirs[event["name"], event["ts"]].append(event)
            if event["name"] in ("model_run", "session_initialization"):
                outer[event["tid"]].append(event)
        self.assertEqual(sum(event["name"] == "model_run" for event in events), runs)
        if not HAS_HOOKS:
            self.assertEqual(steps, [])
            return steps
        for each in outer.values():
            each.sort(key=lambda event: event["ts"])
        found = collections.Counter()
        for step in steps:
            arguments = step["args"]
            self.assertLessEqual(abs(step["dur"] - int(arguments["duration_ns"]) / 1000), 1)
            # The event that it was recorded in, by name and time, and the Run around that, which waits for the device.
            began = int(arguments["ort_correlation_id"]) - start_ns // 1000
            around = sum((theirs[arguments["ort_event_name"], began + off] for off in range(-CUT, CUT + 1)), [])
            self.assertTrue(around, step)
            ends = []
            for event in around:
                at = bisect.bisect_right(outer[event["tid"]], event["ts"], key=lambda e: e["ts"])
                ends.append(outer[event["tid"]][at - 1]["ts"] + outer[event["tid"]][at - 1]["dur"])
            self.assertLessEqual(min(e["ts"] for e in around) - SHIFT, step["ts"], step)
            self.assertLessEqual(step["ts"] + step["dur"], max(ends) + SHIFT, step)
            # A node that runs by itself is ONNX Runtime's to name.
            if step["name"] not in ("upload", "download", "copy"):
                found[arguments.get("node_name") or arguments["ort_event_name"].removesuffix("_kernel_time")] += 1
        self.assertEqual(found, {name: runs for name in names})
        self.assertEqual(len({(s["args"]["launch"], s["args"]["step"]) for s in steps}), len(steps))
        return steps

    def end(self, session, names, runs):
        """Ends a profile and looks at it."""
        start_ns = session.get_profiling_start_time_ns()
        return self.check(session.end_profiling(), names, runs, start_ns)

    def test_one_thread_and_eight(self):
        for threads in (1, THREADS):
            for path in ("force_graph_path", "force_direct_path"):
                with self.subTest(threads=threads, path=path):
                    data, names = model("node ")
                    plain, profiled = self.session(data, False, path), self.session(data, True, path)
                    want = self.run_all(plain, threads=threads)
                    got = self.run_all(profiled, threads=threads)
                    for (_, w), (_, g) in zip(want, got):
                        self.assertEqual(w.tobytes(), g.tobytes())
                    self.end(profiled, names, RUNS)
                    # Once a profile has ended, and without one, nothing is written.
                    self.run_all(profiled, plain, threads=threads)
                    self.assertEqual(len(os.listdir(self.folder.name)), self.count // 2)

    def test_sessions_do_not_mix(self):
        sessions, names = [], []
        for number in range(3):
            data, own = model(f"s{number} ")
            sessions.append(self.session(data))
            names.append(own)
        sessions.append(self.session(model("unseen ")[0], False))
        self.run_all(*sessions)
        launches = []
        for session, own in zip(sessions, names):
            steps = self.end(session, own, RUNS)
            launches += {step["args"]["launch"] for step in steps}
            # Those that go on are not disturbed.
            self.run_all(sessions[-1])
        self.assertEqual(len(launches), len(set(launches)))

    def test_a_profile_that_nobody_ends_or_two_do(self):
        data, names = model("n ")
        for times in (0, 2):
            session = self.session(data)
            self.run_all(session)
            start_ns = session.get_profiling_start_time_ns()
            ended = [session.end_profiling() for _ in range(times)]
            del session
            path = glob.glob(os.path.join(self.folder.name, f"session{self.count}*"))
            self.assertEqual(len(path), 1)
            self.assertTrue(times == 0 or ended[0] == path[0])
            self.check(path[0], names, RUNS, start_ns)

    def test_names_that_are_no_json(self):
        """Each line is an event. Those that are ONNX Runtime's have its names as they are in some releases."""
        session = self.session(model('[odd] "quoted" \\ new\nline Ünï€ ')[0])
        self.run_all(session)
        path = session.end_profiling()
        if HAS_HOOKS:
            with open(path, encoding="utf-8") as file:
                steps = [json.loads(line.rstrip(",\n")) for line in file if '"Kernel"' in line]
            names = {step["args"].get("node_name") for step in steps}
            self.assertIn("(odd] 'quoted' / new line Ünï€ Tanh", names)

    def test_profiles_begin_and_end_beside_runs(self):
        """Sessions come, are profiled and go, while threads run another that is profiled all the time."""
        data, names = model("long ")
        long = self.session(data)
        until = time.monotonic() + 2
        short_data, short_names = model("short ")

        def short(_):
            count = 0
            while time.monotonic() < until:
                session = self.session(short_data)
                for number in range(3):
                    session.run(None, {"x": np.full((1, WIDTH), number, np.float32)})
                self.end(session, short_names, 3)
                count += 1
            return count

        def steady(_):
            count = 0
            while time.monotonic() < until:
                long.run(None, {"x": np.ones((2, WIDTH), np.float32)})
                count += 1
            return count

        with ThreadPoolExecutor(max_workers=4) as pool:
            steadies = [pool.submit(steady, n) for n in range(2)]
            shorts = [pool.submit(short, n) for n in range(2)]
            runs = sum(f.result() for f in steadies)
            self.assertGreater(sum(f.result() for f in shorts), 1)
        self.end(long, names, runs)


def run_tests(library):
    ort.set_default_logger_severity(3)
    DEVICES[:] = on_leat.devices(library)
    return 0 if unittest.main(argv=sys.argv[:1], exit=False, verbosity=2).result.wasSuccessful() else 1


def main():
    on_leat.choose_runtime()
    library, *more = sys.argv[1:]
    if more == ["child"]:
        return run_tests(library)
    environment = {**os.environ, "LEAT_FUSIONS_OFF": "all"}
    with tempfile.TemporaryDirectory() as folder:
        for trace in (None, os.path.join(folder, "trace.json")):
            environment.update({"LEAT_PROFILE": trace} if trace else {})
            done = subprocess.run([sys.executable, "-B", __file__, library, "child"], env=environment, check=False)
            if done.returncode != 0:
                return done.returncode
        with open(trace, encoding="utf-8") as file:
            names = {event.get("args", {}).get("node name") for event in json.load(file)["traceEvents"]}
    if not {"node Tanh", "unseen Exp", "short MatMul"} <= names:
        print("the trace of LEAT_PROFILE lacks nodes")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
