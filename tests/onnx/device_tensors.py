#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run examples/decode.py and look in its trace that its state never leaves the device between Runs.

A state that left the device would show as a copy to the host. The other way proves nothing: where the host sees the
device's memory it writes small tensors directly, which no trace shows.

Usage: device_tensors.py LIBRARY [--oldest]
With --oldest, ONNX Runtime is the one in the folder of packages that LEAT_TEST_OLDEST names. Exit status: 0 right,
1 not, 77 no Vulkan device, or no folder for --oldest.
"""
import json
import os
import subprocess
import sys
import tempfile

import on_leat

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = os.path.join(TREE, "examples", "decode.py")
RUNS = 33  # one of the encoder, 32 of the decoder


def main():
    on_leat.choose_runtime()
    environment = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        environment["LEAT_PROFILE"] = os.path.join(folder, "trace.json")
        done = subprocess.run([sys.executable, PROGRAM, sys.argv[1]], env=environment, capture_output=True, text=True)
        print(done.stdout + done.stderr)
        if "no Vulkan device" in done.stderr:
            return on_leat.SKIPPED
        if done.returncode != 0:
            return 1
        with open(environment["LEAT_PROFILE"], encoding="utf-8") as file:
            trace = json.load(file)
    events = trace["traceEvents"] if isinstance(trace, dict) else trace
    launches = sorted((event for event in events if event["ph"] == "b"), key=lambda event: event["ts"])
    names = [event["name"] for event in launches]
    # What sessions copy while they are made comes before the first Run.
    after = names[names.index("graph"):] if "graph" in names else names
    wanted = ["graph"] * RUNS + ["download"]
    if after != wanted:
        print(f"{RUNS} launches and one copy to the host were expected after the first Run; the trace has {after}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
