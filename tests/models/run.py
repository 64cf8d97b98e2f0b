#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run one fixture through leat-run from several threads, and require right outputs and a share of nodes on Leat.

Usage: run.py LEAT-RUN MODEL.onnx SESSIONS SHARE      (SHARE: part of the nodes that must run on Leat, 0 to 1)

Exit status: 0 right, 1 not, 77 no Vulkan device.
"""
import json
import os
import subprocess
import sys

THREADS = 8
RUNS = 4
NO_DEVICE = 77


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    program, model, sessions, share = sys.argv[1:]
    command = [program, model, "--json", "--threads", str(THREADS), "--sessions", sessions, "--runs", str(RUNS)]
    mask = model.rsplit(".", 2)[0] + ".attention_mask.npy"
    if os.path.exists(mask):
        command += ["--input", "attention_mask=" + mask, "--range", "input_ids=1:95"]
    else:
        command += ["--dim", "batch=2"]
    info = os.path.join(os.path.dirname(program), "leat-info")
    if subprocess.run([info, "--check"], stdout=subprocess.DEVNULL, check=False).returncode == 1:
        return NO_DEVICE
    told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    print(" ".join(command))
    if told.returncode != 0:
        print(told.stdout)
        print(f"leat-run ended with status {told.returncode}")
        return 1
    figures = json.loads(told.stdout)["models"][0]
    nodes = {provider: n["count"] for provider, n in figures["nodes"].items()}
    mine = nodes.get("LeatExecutionProvider", 0) / sum(nodes.values())
    print(f"{figures['outputs_compared']} outputs compared, worst error {figures['worst_error']}, nodes {nodes}, "
          f"{100 * mine:.0f} % on Leat")
    for provider, n in figures["nodes"].items():
        print(f"  {provider}: {n['operators']}")
    if mine < float(share):
        print(f"fewer nodes on Leat than {100 * float(share):.0f} %")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
