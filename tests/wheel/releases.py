#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Try the wheel with releases of ONNX Runtime, each in a fresh virtual environment, and print a table.

Usage: releases.py WHEEL --here                   the release that this Python imports
       releases.py WHEEL --oldest                 the oldest that Leat claims, in the folder that LEAT_TEST_OLDEST names
       releases.py WHEEL --work DIR [RELEASE...]  each of these, downloaded into DIR by pip; without any, every release
                                                  from the oldest that Leat claims on

WHEEL may be a build folder: a wheel for this machine alone is made of what is in it. LEAT_TEST_WHEEL names a Python
with the packages of python/requirements.txt. What a release needs beside itself comes from this Python.

  check    python -m onnxruntime_ep_leat --check
  tests    the package's own, python -m pytest --pyargs onnxruntime_ep_leat
  by name  whether InferenceSession(..., providers=["LeatExecutionProvider"]) is enough after register(); in releases
           where it is not, sessions are given devices

Exit status: 0 right, 1 not, 77 no Vulkan device, or what a variable must name is not named.
"""
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import venv

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TREE, "tests", "onnx"))
import releases  # noqa: E402 # Its folder has to be known before.

BY_NAME = """
import onnxruntime as ort, onnxruntime_ep_leat as leat, os
ort.set_default_logger_severity(4)
leat.register()
model = os.path.join(os.path.dirname(leat.__file__), "digits.onnx")
session = ort.InferenceSession(model, providers=[leat.get_ep_name()])
print("yes" if session.get_providers()[0] == leat.get_ep_name() else "no")
"""


def packages_of(python):
    told = subprocess.run([python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"], check=True,
                          stdout=subprocess.PIPE, text=True)
    return told.stdout.strip()


def built(build, folder):
    command = ["sh", os.path.join(TREE, "python", "build.sh"), build,
               sysconfig.get_platform().replace("-", "_").replace(".", "_"), folder]
    environment = dict(os.environ, PYTHON=os.environ["LEAT_TEST_WHEEL"])
    return subprocess.run(command, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def environment(folder, wheel, others):
    """A virtual environment with the wheel alone, which also sees the packages in other folders. Its Python."""
    venv.create(folder, with_pip=False)
    python = os.path.join(folder, "bin", "python")
    subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python, "install",
                    "--quiet", "--no-index", "--no-deps", wheel], check=True)
    with open(os.path.join(packages_of(python), "others.pth"), "w", encoding="utf-8") as file:
        file.write("".join(f"{other}\n" for other in others))
    return python


def try_release(python):
    """The release that is imported there, and a word on each column."""
    def run(*arguments):
        # A variable of the caller's, such as PYTHONPATH, might bring in what a person's environment lacks.
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        return subprocess.run([python, *arguments], cwd=os.path.dirname(python), env=clean, text=True, check=False,
                              capture_output=True)

    release = run("-c", "import onnxruntime; print(onnxruntime.__version__)").stdout.strip()
    check = run("-m", "onnxruntime_ep_leat", "--check")
    tests = run("-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs", "onnxruntime_ep_leat")
    counted = re.search(r"^(\d+ .*) in [\d.]+s", tests.stdout, re.M)
    named = run("-c", BY_NAME).stdout.split()[-1:]
    right = check.returncode == 0 and tests.returncode == 0 and "skipped" not in tests.stdout
    if not right:
        print(check.stdout, check.stderr, tests.stdout, tests.stderr, sep="\n")
    row = [release, check.stdout.split(":")[0] or "failed", counted[1] if counted else "failed",
           *(named or ["failed"])]
    return row, right


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    wheel, mode = os.path.abspath(sys.argv[1]), sys.argv[2]
    if "LEAT_TEST_WHEEL" not in os.environ or (mode == "--oldest" and "LEAT_TEST_OLDEST" not in os.environ):
        print("LEAT_TEST_WHEEL or LEAT_TEST_OLDEST names nothing; ./dev unit sets both")
        return releases.NO_DEVICE
    if mode == "--here" and len(sys.argv) == 3:
        folders = [None]
    elif mode == "--oldest" and len(sys.argv) == 3:
        folders = [os.environ["LEAT_TEST_OLDEST"]]
    elif mode == "--work" and len(sys.argv) > 3:
        folders = [releases.download(sys.argv[3], release) for release in sys.argv[4:] or releases.every_release()]
    else:
        sys.exit(__doc__)
    with tempfile.TemporaryDirectory() as work:
        if os.path.isdir(wheel):
            wheel = built(wheel, os.path.join(work, "wheel"))
        common = [packages_of(sys.executable), packages_of(os.environ["LEAT_TEST_WHEEL"])]
        rows, verdicts = [["release", "check", "tests", "by name"]], []
        for number, folder in enumerate(folders):
            others = [os.path.abspath(folder), *common] if folder else common
            python = environment(os.path.join(work, str(number)), wheel, others)
            if not verdicts:
                found = subprocess.run([python, "-m", "onnxruntime_ep_leat", "--devices"], check=False,
                                       stdout=subprocess.PIPE, text=True)
                if found.returncode == 1:
                    print(found.stdout)
                    return releases.NO_DEVICE
            row, right = try_release(python)
            rows.append(row)
            verdicts.append(right)
    releases.print_columns(rows)
    return not all(verdicts)


if __name__ == "__main__":
    sys.exit(main())
