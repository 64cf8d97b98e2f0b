#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Check README.md against the tree, and run the programs that it shows, as a reader would who copies them.

Usage: page.py TREE same                   the programs on the page are the files in examples/
       page.py TREE links                  what the pages link to is there
       page.py TREE run c BUILD CC         compile the page's C program against BUILD and run it, without and with the
                                       page's other lines of C before its end
       page.py TREE run python BUILD       run the page's Python program on BUILD's provider

Exit status: 0 right, 1 not, 77 no Vulkan device to run on.
"""
import os
import re
import subprocess
import sys

NO_DEVICE = 77
EXAMPLES = {"c": ("examples/add.c", "11 22 33 44"), "python": ("examples/threads.py", "446 of 450 digits read rightly")}


def read(tree, name):
    with open(os.path.join(tree, name), encoding="utf-8") as file:
        return file.read()


def blocks(tree, language):
    """The program of that language on the page, which has a licence line, and the fragments, which have none."""
    found = re.findall(rf"^```{language}\n(.*?)^```$", read(tree, "README.md"), re.M | re.S)
    programs = [block for block in found if "SPDX-License-Identifier" in block]
    if len(programs) != 1:
        sys.exit(f"README.md has {len(programs)} programs in {language}; there must be one")
    return programs[0], [block for block in found if block not in programs]


def same(tree):
    for language, (name, _) in EXAMPLES.items():
        if blocks(tree, language)[0] != read(tree, name):
            sys.exit(f"README.md's {language} program is not {name}; put the file's text into the page")


def links(tree):
    broken = []
    for page in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "tests/README.md", "docs/verification.md",
                 "docs/benchmarks.md", "docs/internals.md", "docs/concurrency.md", "docs/adding-an-operator.md",
                 "docs/python.md"):
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", read(tree, page)):
            if not os.path.exists(os.path.join(tree, os.path.dirname(page), target)):
                broken.append(f"{page}: {target}")
    if broken:
        sys.exit("links that lead nowhere:\n" + "\n".join(broken))


def with_fragments(program, fragments):
    """A C program with fragments before its last return, each in braces."""
    before, after = program.rsplit("\n  return ", 1)
    return before + "".join(f"\n  {{\n{fragment}  }}" for fragment in fragments) + "\n  return " + after


def run(tree, language, build, compiler=None):
    program, fragments = blocks(tree, language)
    run_program(tree, language, build, compiler, program)
    if fragments:
        run_program(tree, language, build, compiler, with_fragments(program, fragments))


def run_program(tree, language, build, compiler, text):
    if subprocess.run([os.path.join(build, "leat-info"), "--check"], stdout=subprocess.DEVNULL,
                      check=False).returncode == 1:
        sys.exit(NO_DEVICE)
    folder = os.path.join(build, "page")
    os.makedirs(folder, exist_ok=True)
    program = os.path.join(folder, os.path.basename(EXAMPLES[language][0]))
    with open(program, "w", encoding="utf-8") as file:
        file.write(text)
    if language == "c":
        subprocess.run([compiler, "-std=c11", "-Iabi", "-Ihost-shim", program, "-L" + build, "-lleat_host",
                        "-Wl,-rpath," + build, "-o", os.path.join(folder, "add")], cwd=tree, check=True)
        command = [os.path.join(folder, "add")]
    else:
        command = [sys.executable, program, os.path.join(build, "libleat_onnxruntime.so")]
    told = subprocess.run(command, cwd=tree, stdout=subprocess.PIPE, text=True, check=False)
    print(told.stdout, end="")
    if told.returncode != 0 or told.stdout.strip() != EXAMPLES[language][1]:
        sys.exit(f"exit status {told.returncode}; wanted 0 and: {EXAMPLES[language][1]}")


def main():
    checks = {"same": same, "links": links, "run": run}
    if len(sys.argv) < 3 or sys.argv[2] not in checks:
        sys.exit(__doc__)
    tree = os.path.abspath(sys.argv[1])
    checks[sys.argv[2]](tree, *sys.argv[3:])


if __name__ == "__main__":
    main()
