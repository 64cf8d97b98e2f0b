#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""programs.py PROGRAM TREE: runs flake8, shellcheck or clang-format over every file of the tree that it understands."""
import re
import shutil
import subprocess
import sys

import lint


def run(tree, command, files):
    """Lines that a program prints about files, or one line that says that it failed without a word."""
    if not files:
        return
    done = subprocess.run([*command, *files], cwd=tree.root, capture_output=True, text=True, check=False)
    printed = (done.stdout + done.stderr).splitlines()
    if done.returncode:
        yield from printed or [f'{command[0]} failed with exit code {done.returncode}']


def flake8(tree):
    # The same line length as in C. W503 and W504 contradict each other.
    command = [sys.executable, '-m', 'flake8'] if not shutil.which('flake8') else ['flake8']
    yield from run(tree, [*command, '--isolated', '--max-line-length=120', '--extend-ignore=W503,W504'],
                   tree.matching(r'\.py$'))


def shellcheck(tree):
    scripts = [f for f in tree.files if f.endswith('.sh') or re.match(r'#!\s*/bin/(ba)?sh\b', tree.text(f)[:20])]
    yield from run(tree, ['shellcheck', '--format=gcc'], scripts)


def clang_format_name():
    """Formats differ between versions, so it is the one that Debian 12 has."""
    for name in ('clang-format-14', 'clang-format'):
        if shutil.which(name):
            version = subprocess.run([name, '--version'], capture_output=True, text=True, check=True).stdout
            if re.search(r'version 14\.', version):
                return name
    return None


def clang_format(tree):
    # A frozen header keeps the bytes it was released with.
    files = [f for f in tree.matching(r'\.(c|h)$') if not re.match(r'tests/abi/v\d', f)]
    reported = set()
    for line in run(tree, [clang_format_name(), '--style=file', '--dry-run', '-Werror'], files):
        match = re.match(r'(\S+?):\d+:\d+: error:', line)
        if match and match.group(1) not in reported:
            reported.add(match.group(1))
            yield f'{match.group(1)}: is not formatted; ./dev format does it'
        elif not match and line.endswith('exit code 1'):
            yield line


STYLE = 'BasedOnStyle: Google\n'
PROGRAMS = {
    'flake8': (flake8, 'apt-get install flake8', [
        ({'a.py': 'import os\n'}, 'F401'),
        ({'a.py': 'x = 1;\n'}, 'E703'),
        ({'a.py': 'x = 1\n'}, None)]),
    'shellcheck': (shellcheck, 'apt-get install shellcheck', [
        ({'a.sh': '#!/bin/sh\nrm $1\n'}, 'SC2086'),
        ({'dev': '#!/bin/sh\nif [ $1 == x ]; then :; fi\n'}, 'SC2086'),
        ({'a.sh': '#!/bin/sh\nrm "$1"\n'}, None)]),
    'clang-format': (clang_format, 'apt-get install clang-format-14', [
        ({'.clang-format': STYLE, 'a.c': 'int  a ;\n'}, 'is not formatted'),
        ({'.clang-format': STYLE, 'a.h': 'int a;\n', 'tests/abi/v1_0/b.h': 'int  b ;\n'}, None)]),
}


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in PROGRAMS:
        print(f'usage: programs.py {"|".join(PROGRAMS)} TREE', file=sys.stderr)
        sys.exit(2)
    name = sys.argv.pop(1)
    check, install, canaries = PROGRAMS[name]
    if name == 'clang-format':
        present = clang_format_name() is not None
    elif name == 'flake8':
        present = shutil.which('flake8') or subprocess.run(
            [sys.executable, '-m', 'flake8', '--version'], capture_output=True, check=False).returncode == 0
    else:
        present = shutil.which(name)
    if not present:
        print(f'{name} is not installed: {install}')
        sys.exit(1)
    lint.main(check, canaries)


if __name__ == '__main__':
    main()
