#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check the pages against the tree, and run the programs that they show, as a reader would who copies them.

Usage: page.py TREE same                   the programs of docs/c.md and docs/python.md are the files in examples/
       page.py TREE run c BUILD CC         compile docs/c.md's program against BUILD and run it, without and with the
                                       page's other lines of C before its end
       page.py TREE run python BUILD       run docs/python.md's program on BUILD's provider
       page.py TREE run package BUILD      run README.md's Python on the package, put together of TREE and BUILD, on the
                                           device and where there is none

Exit status: 0 right, 1 not, 77 no Vulkan device to run on.
"""
import os
import re
import shutil
import subprocess
import sys

NO_DEVICE = 77
EXAMPLES = {"c": ("docs/c.md", "examples/add.c", "11 22 33 44"),
            "python": ("docs/python.md", "examples/threads.py", "446 of 450 digits read rightly")}
LIBRARIES = "libleat_vulkan.so", "libleat_onnxruntime.so", "libleat_batch.so"


def read(tree, name):
    with open(os.path.join(tree, name), encoding="utf-8") as file:
        return file.read()


def fences(tree, page, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", read(tree, page), re.M | re.S)


def blocks(tree, language):
    """The program of that language on its page, which has a licence line, and the fragments, which have none."""
    page = EXAMPLES[language][0]
    found = fences(tree, page, language)
    programs = [block for block in found if "SPDX-License-Identifier" in block]
    if len(programs) != 1:
        sys.exit(f"{page} has {len(programs)} programs in {language}; there must be one")
    return programs[0], [block for block in found if block not in programs]


def same(tree):
    for language, (page, name, _) in EXAMPLES.items():
        if blocks(tree, language)[0] != read(tree, name):
            sys.exit(f"{page}'s {language} program is not {name}; put the file's text into the page")


def with_fragments(program, fragments):
    """A C program with fragments before its last return, each in braces, and what they include at its top."""
    includes = [line for fragment in fragments for line in re.findall(r"^#include .*\n", fragment, re.M)]
    fragments = [re.sub(r"^#include .*\n", "", fragment, flags=re.M) for fragment in fragments]
    before, after = program.rsplit("\n  return ", 1)
    body = "".join(f"\n  {{\n{fragment}  }}" for fragment in fragments)
    return "".join(includes) + before + body + "\n  return " + after


def need_device(build):
    if subprocess.run([os.path.join(build, "leat-info"), "--check"], stdout=subprocess.DEVNULL,
                      check=False).returncode == 1:
        sys.exit(NO_DEVICE)


def run(tree, language, build, compiler=None):
    need_device(build)
    if language == "package":
        run_package(tree, build)
        return
    program, fragments = blocks(tree, language)
    run_program(tree, language, build, compiler, program)
    # In Python the other lines are about a model of the reader's.
    if language == "c" and fragments:
        run_program(tree, language, build, compiler, with_fragments(program, fragments))


def run_program(tree, language, build, compiler, text):
    _, name, promised = EXAMPLES[language]
    folder = os.path.join(build, "page")
    os.makedirs(folder, exist_ok=True)
    program = os.path.join(folder, os.path.basename(name))
    with open(program, "w", encoding="utf-8") as file:
        file.write(text)
    if language == "c":
        subprocess.run([compiler, "-std=c11", "-Iabi", "-Ihost-shim", program, "-L" + build, "-lleat_host",
                        "-Wl,-rpath," + build, "-o", os.path.join(folder, "add")], cwd=tree, check=True)
        expect([os.path.join(folder, "add")], tree, promised)
    else:
        expect([sys.executable, program, os.path.join(build, "libleat_onnxruntime.so")], tree, promised)


def put_package_together(tree, build, folder):
    """The package for Python in a folder, as if installed, but for the name of a build, which no page asks."""
    package = os.path.join(folder, "onnxruntime_ep_leat")
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(os.path.join(tree, "python", "onnxruntime_ep_leat"), package)
    for library in LIBRARIES:
        shutil.copy(os.path.join(build, library), package)
    with open(os.path.join(package, "_build.py"), "w", encoding="utf-8") as file:
        file.write('VERSION = BUILD_ID = "page"\n')


def run_package(tree, build):
    lines = fences(tree, "README.md", "python")
    promised = re.findall(r"^It prints `(.*?)`\.", read(tree, "README.md"), re.M)
    if len(lines) != 1 or len(promised) != 1:
        sys.exit("README.md must have one block of Python, and one line that begins with: It prints `...`.")
    folder = os.path.join(build, "page", "package")
    put_package_together(tree, build, folder)
    # As promised, on the CPU also where there is no device.
    for driver in {}, {"VK_DRIVER_FILES": "/nowhere.json", "VK_ICD_FILENAMES": "/nowhere.json"}:
        expect([sys.executable, "-c", lines[0]], tree, promised[0], {**os.environ, "PYTHONPATH": folder, **driver})


def expect(command, tree, promised, environment=None):
    told = subprocess.run(command, cwd=tree, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    print(told.stdout, end="")
    if told.returncode != 0 or told.stdout.strip() != promised:
        sys.exit(f"exit status {told.returncode}; wanted 0 and: {promised}")


def main():
    checks = {"same": same, "run": run}
    if len(sys.argv) < 3 or sys.argv[2] not in checks:
        sys.exit(__doc__)
    tree = os.path.abspath(sys.argv[1])
    checks[sys.argv[2]](tree, *sys.argv[3:])


if __name__ == "__main__":
    main()
