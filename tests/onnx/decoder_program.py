#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""tools/bench/decoder.py writes the same tokens with Leat from one thread and from two, and in float32 those of ONNX
Runtime's CPU provider, and refuses numbers with which there is nothing to measure.

usage: decoder_program.py LIBRARY
Exit status: 0, or 1 if something is wrong, 77 if there is no device.
"""
import json
import os
import subprocess
import sys
import tempfile

import on_leat

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools", "bench", "decoder.py")


def run(status, *arguments):
    """What the program prints for each row."""
    done = subprocess.run([sys.executable, "-B", PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False)
    if done.returncode != status:
        sys.exit(f"{' '.join(arguments)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def main():
    on_leat.devices_of_command_line(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        for weights in "float32", "int4":
            run(0, "make", folder, "--size", "tiny", "--room", "40", "--weights", weights)
            steps = ("--prompt", "9", "--tokens", "24", "--repeat", "2")
            told = run(0, "run", folder, sys.argv[1], "--threads", "1,2", *steps)
            # In float16 two tokens may be as likely as each other.
            expected = run(0, "run", folder, "cpu", *steps)[0]["first"] if weights == "float32" else told[0]["first"]
            if [row["threads"] for row in told] != [1, 2] or any(row["first"] != expected for row in told):
                sys.exit(f"{weights}: {told}; the CPU provider writes {expected}")
        for wrong in ("--prompt", "0"), ("--tokens", "1"), ("--repeat", "0"), ("--threads", "0"), ("--prompt", "-3"):
            run(2, "run", folder, sys.argv[1], *wrong)
        run(2, "make", folder, "--room", "0")


if __name__ == "__main__":
    main()
