#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""ray_serve_test.py TREE BUILD: the scenes of examples/serve/scenarios.py in short, with two replicas, each on the
device of its own number among the GPUs that Ray is told of; where the second is not there, they share the first.

LEAT_TEST_RAY is a Python with the packages of examples/serve/ray_requirements.txt.
Exit status: 0 right, 1 not, 77 no Vulkan device, or no such Python.
"""
import json
import os
import subprocess
import sys
import tempfile

TREE, BUILD = map(os.path.abspath, sys.argv[1:])
sys.path.insert(0, os.path.join(TREE, "tests", "docs"))
import drivers  # noqa: E402 # page's folder has to be known before.
import page  # noqa: E402

TIMEOUT_S = 420


def main():
    if not os.environ.get("LEAT_TEST_RAY"):
        print("LEAT_TEST_RAY names no Python; ./dev unit sets it")
        sys.exit(page.NO_DEVICE)
    page.need_device(BUILD)
    package = os.path.join(BUILD, "ray_serve", "package")
    page.put_package_together(TREE, BUILD, package)
    # Ray keeps logs, sockets, whose paths must be short, and a token for its processes.
    with tempfile.TemporaryDirectory(prefix="leat-ray-", ignore_cleanup_errors=True) as folder:
        environment, there = drivers.several(
            os.environ["LEAT_TEST_RAY"],
            {**os.environ, "PYTHONPATH": package, "HOME": folder, "RAY_TMPDIR": folder}, folder)
        devices = "0,1" if there > 1 else "0,0"
        print(f"replicas on devices {devices}", flush=True)
        done = subprocess.run([os.environ["LEAT_TEST_RAY"], "-B", os.path.join(TREE, "examples/serve/scenarios.py"),
                               "--gpus", "2", "--device", devices, "--clients", "1", "--seconds", "0.3"],
                              env=environment, timeout=TIMEOUT_S, check=False, stdout=subprocess.PIPE, text=True)
    print(done.stdout)
    if done.returncode:
        sys.exit(done.returncode)
    told = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    used = {scene["scene"]: ",".join(scene["devices"]) for scene in told}
    if used != {"restart": devices, "kill": devices}:
        sys.exit(f"the replicas' devices are {used}")


if __name__ == "__main__":
    main()
