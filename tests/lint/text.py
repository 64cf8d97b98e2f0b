#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""text.py TREE: every source file names its licence; no file names the host of a package registry, or an issue by its
number alone."""
import re

import lint

LICENCE = 'SPDX-License-Identifier: BSD-3-Clause'
SOURCE = re.compile(r'(\.(c|h|in|go|java|rs|py|sh|comp|glsl|cmake|map|pml|awk|yml|yaml)|(^|/)CMakeLists\.txt|^dev|'
                    r'^\.ci/run)$')

# Put together here, so that this file does not name them either.
HOSTS = ['.'.join(parts) for parts in [
    ('pypi', 'org'), ('pythonhosted', 'org'), ('deb', 'debian', 'org'), ('security', 'debian', 'org'),
    ('ftp', 'debian', 'org'), ('snapshot', 'debian', 'org'), ('archive', 'ubuntu', 'com'), ('registry', 'npmjs', 'org'),
    ('crates', 'io'), ('proxy', 'golang', 'org'), ('rubygems', 'org'), ('repo', 'maven', 'apache', 'org'),
    ('nuget', 'org'), ('conda', 'anaconda', 'org'), ('docker', 'io'), ('ghcr', 'io'), ('huggingface', 'co')]]
HOST = re.compile(r'(?<![\w-])(?:[\w-]+\.)*(' + '|'.join(re.escape(h) for h in HOSTS) + r')(?![\w-])', re.I)

ISSUE = re.compile(r'\bissues? #?\d+', re.I)


def check(tree):
    for path in tree.files:
        if SOURCE.search(path) and not any(LICENCE in line for line in tree.lines(path)[:4]):
            yield f'{path}: none of its first lines says "{LICENCE}"'
        for number, line in enumerate(tree.lines(path), 1):
            match = HOST.search(line)
            if match:
                yield f'{path}:{number}: names {match.group(0)}; where packages come from is the machine\'s to say'
            match = ISSUE.search(line)
            if match:
                yield f'{path}:{number}: "{match.group(0)}" tells a reader nothing; say what it was about'


CANARIES = [
    ({'plugin/a.c': '/* hello */\nint a;\n'}, 'SPDX'),
    ({'tests/a.sh': '#!/bin/sh\necho\n'}, 'SPDX'),
    ({'plugin/ops/core/kernels/a.comp': '#version 450\n'}, 'SPDX'),
    ({'dev': '#!/bin/sh\n'}, 'SPDX'),
    ({'examples/a.go': 'package main\n'}, 'SPDX'),
    ({'README.md': f'pip install --index-url https://{HOSTS[0]}/simple x\n'}, 'names ' + HOSTS[0]),
    ({'dev': f'#!/bin/sh\n# {LICENCE}\ncurl http://{HOSTS[2]}/debian\n'}, 'names ' + HOSTS[2]),
    ({'README.md': f'https://files.{HOSTS[1]}/x\n'}, 'names files.' + HOSTS[1]),
    ({'docs/a.md': 'it took 252 s (before ' + 'issue' + ' 4)\n'}, 'tells a reader nothing'),
    ({'docs/a.md': 'what to issue: 4 lists\n'}, None),
    ({'plugin/a.c': f'/* {LICENCE} */\nint a;\n', 'README.md': 'https://www.debian.org and PyPI\n'}, None),
]

if __name__ == '__main__':
    lint.main(check, CANARIES)
