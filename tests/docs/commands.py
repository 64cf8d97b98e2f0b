#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run every command that a page shows, in a copy of the tree made of links, as a reader would who has built it.

Usage: commands.py TREE BUILD

A block of sh, c or python is run, unless the line before it is a comment, which a reader does not see:

    <!-- not run: REASON -->
    <!-- run by: TEST -->              a test of ctest that takes the block from the page
    <!-- exit status: 0 77 -->         of each command of the block, one after the other; without it all give 0

A page with a line <!-- no block is run: REASON --> has none that is. The commands of a page run in one shell, in their
order. In the folder are BUILD as build/, the package for Python where Python finds it, examples/demo/digits.onnx as
model.onnx, and pkg-config knows what BUILD installs.

Exit status: 0 right, 1 not, 77 no Vulkan device to run on.
"""
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap

import page

PAGES = ["*.md", "docs/*.md", "examples/**/*.md", "python/*.md", "tests/*.md"]
BLOCK = re.compile(r"^(?P<mark> *<!--[^\n]*-->\n)? *```(?P<language>sh|c|python)\n(?P<text>.*?)^ *```$", re.M | re.S)
MARK = re.compile(r" *<!-- (not run|run by|exit status): (.+) -->\n")
WHOLE_PAGE = re.compile(r"^<!-- no block is run: (.+) -->$", re.M)
TIMEOUT_S = 500


class Wrong(Exception):
    """Something is wrong with a page; the text says what."""


def commands(text):
    """The commands of a block, of one line or of several."""
    found, part = [], ""
    for line in text.splitlines(keepends=True):
        part += line
        whole = not line.endswith("\\\n") and subprocess.run(
            ["sh", "-n"], input=part, text=True, stderr=subprocess.DEVNULL, check=False).returncode == 0
        if whole:
            if re.sub(r"(^|\s)#.*", "", part, flags=re.M).strip():
                found.append(part)
            part = ""
    if part:
        raise Wrong(f"no shell can read this:\n{part}")
    return found


class Reader:
    """A folder like that of a reader who has cloned the tree and built it."""

    def __init__(self, tree, build):
        self.build = build
        self.folder = os.path.join(build, "page", "commands")
        self.tree = os.path.join(self.folder, "tree")
        shutil.rmtree(self.folder, ignore_errors=True)
        for name in os.listdir(tree):
            if name != ".git" and not name.startswith(("build", ".leat-deps")):
                self.link(os.path.join(tree, name), "tree", name)
        for name in os.listdir(build):
            if name != "page":  # this folder is in it
                self.link(os.path.join(build, name), "tree", "build", name)
        self.link(os.path.join(tree, "examples/demo/digits.onnx"), "tree", "model.onnx")
        package = os.path.join(self.folder, "package")
        page.put_package_together(tree, build, package)
        usr = os.path.join(self.folder, "usr")
        subprocess.run(["cmake", "--install", build, "--prefix", usr], stdout=subprocess.DEVNULL, check=True)
        pkgconfig, = glob.glob(os.path.join(usr, "lib*", "**", "pkgconfig"), recursive=True)
        self.script("tree/.leat-deps/python/bin/python", f'exec {shlex.quote(sys.executable)} "$@"')
        self.script("bin/pkg-config", f'exec {shlex.quote(shutil.which("pkg-config"))} '
                    f'--define-variable=prefix={shlex.quote(usr)} "$@"')
        # What drivers have compiled is found, as by a reader who has run the tests.
        caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        self.environment = {**os.environ, "HOME": self.folder, "XDG_CACHE_HOME": caches, "PYTHONPATH": package,
                            "PKG_CONFIG_PATH": pkgconfig,
                            "PATH": os.path.join(self.folder, "bin") + ":" + os.environ["PATH"]}
        for name in "LEAT_DEPS_DIR", "LEAT_PLUGIN_PATH":
            self.environment.pop(name, None)

    def place(self, *names):
        path = os.path.join(self.folder, *names)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def link(self, target, *names):
        os.symlink(target, self.place(*names))

    def script(self, name, text):
        path = self.place(name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(f"#!/bin/sh\n{text}\n")
        os.chmod(path, 0o755)

    def run(self, listed):
        """Runs commands, each with the exit status that it must have."""
        statuses = self.place("statuses")
        # What each prints begins with a separator.
        script = "".join(f"printf '\\036'\n{command}\necho $? >&3\n" for command, _ in listed)
        try:
            said = subprocess.run(["sh", "-c", "exec 3>\"$1\"\neval \"$2\"", "page", statuses, script], cwd=self.tree,
                                  env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=TIMEOUT_S, check=False).stdout
        except subprocess.TimeoutExpired as error:
            said = (error.stdout or b"") + f"\nnot finished after {TIMEOUT_S} s".encode()
        with open(statuses, encoding="utf-8") as file:
            got = [int(line) for line in file]
        said = said.decode(errors="replace").split("\036")
        for number, (command, wanted) in enumerate(listed):
            status = got[number] if number < len(got) else "none"
            if status != wanted:
                raise Wrong(f"exit status {status} instead of {wanted}: {command.strip()}\n{said[number + 1]}")


def tests_of(build):
    """The names of the tests that ctest knows."""
    told = subprocess.run(["ctest", "--test-dir", build, "-N"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return set(re.findall(r"^ *Test +#\d+: (\S+)", told, re.M))


def check(text, reader, tests):
    """Runs what a page shows, and counts its blocks: those that ran, those of other tests, those that are not run, by
    the reason."""
    count = len(BLOCK.findall(text))
    if len(re.findall(r"^ *```(?:sh|c|python)$", text, re.M)) != count:
        raise Wrong("a block has no end")
    for reason in WHOLE_PAGE.findall(text):
        return 0, 0, [reason] * count
    ran, others, reasons, listed = 0, 0, [], []
    for number, block in enumerate(BLOCK.finditer(text)):
        mark = MARK.fullmatch(block["mark"] or "")
        kind, value = mark.groups() if mark else (None, None)
        if block["mark"] and not mark:
            raise Wrong(f"{block['mark'].strip()} before a block is none of the comments that there are")
        if kind == "not run":
            reasons.append(value)
        elif kind == "run by":
            if value not in tests:
                raise Wrong(f"a block is run by {value}, which is no test")
            others += 1
        elif block["language"] == "c":
            raise Wrong(f"this block of C is run by no test:\n{block['text']}")
        else:
            if block["language"] == "sh":
                here = commands(textwrap.dedent(block["text"]))
            else:
                path = reader.place(f"block{number}.py")
                with open(path, "w", encoding="utf-8") as file:
                    file.write(textwrap.dedent(block["text"]))
                here = [f"{shlex.quote(sys.executable)} {shlex.quote(path)}\n"]
            wanted = [int(status) for status in value.split()] if kind else [0] * len(here)
            if len(wanted) != len(here):
                raise Wrong(f"{len(wanted)} exit statuses for {len(here)} commands:\n{block['text']}")
            listed += zip(here, wanted)
            ran += 1
    if listed:
        reader.run(listed)
    return ran, others, reasons


FENCE = "```"
CANARIES = [
    (f"{FENCE}sh\ntrue\n{FENCE}\n", None),
    (f"{FENCE}sh\nfalse\ntrue  # not seen\n{FENCE}\n", "exit status 1 instead of 0: false"),
    (f"<!-- exit status: 0 3 -->\n{FENCE}sh\nx=3\nsh -c \\\n  'exit 3'\n{FENCE}\n"
     f"{FENCE}sh\ntest $x = 3\n{FENCE}\n", None),
    (f"<!-- exit status: 0 -->\n{FENCE}sh\ntrue\ntrue\n{FENCE}\n", "1 exit statuses for 2 commands"),
    (f"{FENCE}sh\nexit 0\n{FENCE}\n", "exit status none"),
    (f"{FENCE}sh\nwhile\n{FENCE}\n", "no shell can read"),
    (f"{FENCE}sh\nbuild/leat-nothing --version\n{FENCE}\n", "exit status 127"),
    (f"{FENCE}python\nimport onnxruntime_ep_leat\nopen('model.onnx')\n{FENCE}\n", None),
    (f"{FENCE}python\nimport nothing_of_this_name\n{FENCE}\n", "No module named"),
    (f"{FENCE}c\nint x;\n{FENCE}\n", "is run by no test"),
    (f"<!-- run by: docs.commands -->\n{FENCE}c\nint x;\n{FENCE}\n", None),
    (f"<!-- run by: docs.nothing -->\n{FENCE}c\nint x;\n{FENCE}\n", "which is no test"),
    (f"<!-- not run: it would fail -->\n{FENCE}sh\nfalse\n{FENCE}\n", None),
    (f"<!-- not run -->\n{FENCE}sh\ntrue\n{FENCE}\n", "none of the comments"),
    (f"{FENCE}sh\ntrue\n", "has no end"),
    (f"- in a list\n\n  {FENCE}sh\n  false\n  {FENCE}\n", "exit status 1 instead of 0: false"),
    (f"<!-- no block is run: they would fail -->\n{FENCE}sh\nfalse\n{FENCE}\n{FENCE}c\nint x;\n{FENCE}\n", None),
    (f"<!-- no block is run -->\n\n{FENCE}sh\nfalse\n{FENCE}\n", "exit status 1 instead of 0: false"),
]


def missed(reader, tests):
    """Canaries that the check gets wrong."""
    for text, expected in CANARIES:
        try:
            check(text, reader, tests)
            found = None
        except Wrong as wrong:
            found = str(wrong)
        if (found is None) != (expected is None) or expected is not None and expected not in found:
            yield f"canary missed: {text!r}: wanted {expected!r}, got {found!r}"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    tree, build = map(os.path.abspath, sys.argv[1:])
    page.need_device(build)
    reader, tests = Reader(tree, build), tests_of(build)
    wrong = list(missed(reader, tests))
    totals = [0, 0, 0]
    pages = sorted(path for pattern in PAGES for path in glob.glob(pattern, root_dir=tree, recursive=True))
    for name in pages:
        try:
            ran, others, reasons = check(page.read(tree, name), reader, tests)
        except Wrong as error:
            wrong.append(f"{name}: {error}")
            continue
        if ran or others or reasons:
            print(f"{name}: {ran} run, {others} by other tests, {len(reasons)} not run" +
                  "".join(f"\n    not run: {reason}" for reason in dict.fromkeys(reasons)))
        totals = [a + b for a, b in zip(totals, (ran, others, len(reasons)))]
    print("blocks: {} run, {} by other tests, {} not run".format(*totals))
    if wrong:
        sys.exit("\n".join(wrong))


if __name__ == "__main__":
    main()
