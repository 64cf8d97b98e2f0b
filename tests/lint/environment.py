#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""environment.py TREE: the README's table of environment variables and the variables that the code reads are the same.

The code reads what stands as a whole string in a C file that calls getenv() or one of its kind. The table is the one
whose first column is headed "variable".
"""
import re

import lint

VARIABLE = r'(?:LEAT_[A-Z0-9_]+|FORCE_GRAPH_PATH)'
GETENV = re.compile(r'\b(?:secure_|g_)?getenv\s*\(')


def read_by_code(tree):
    """Where each variable is read."""
    found = {}
    for path in tree.matching(r'^(plugin|host-shim|conformance|tools|examples)/.*\.(c|h)$'):
        # Mutants are driven by the suite that they test; nobody sets their variables.
        if path.startswith('conformance/mutants/'):
            continue
        text = lint.strip_comments(tree.text(path))
        if GETENV.search(text):
            for name in re.findall(rf'"({VARIABLE})"', text):
                found.setdefault(name, path)
    return found


def in_table(tree):
    """Variables of the table's first column, or None: there is no such table."""
    table = re.search(r'^\|\s*variable\s*\|[^\n]*\n((?:\|[^\n]*\n?)*)', tree.text('README.md'), re.M | re.I)
    if not table:
        return None
    names = set()
    for row in re.findall(r'^\|([^|]*)\|', table.group(1), re.M):
        names.update(re.findall(rf'`({VARIABLE})`', row))
    return names


def check(tree):
    if 'README.md' not in tree.files:
        yield 'README.md: is not there'
        return
    listed = in_table(tree)
    if listed is None:
        yield 'README.md: has no table with "variable" at the head of its first column'
        return
    read = read_by_code(tree)
    for name in sorted(set(read) - listed):
        yield f'{read[name]}: reads {name}, which README.md does not list'
    for name in sorted(listed - set(read)):
        yield f'README.md: lists {name}, which nothing reads'


def case(readme, code):
    return {'README.md': readme, 'plugin/config.c': code}


TABLE = ('## Settings\n| variable | default |\n|---|---|\n| `LEAT_A`, `LEAT_B` | `LEAT_C` |\n'
         '## More\n| `LEAT_D` | |\n')
CANARIES = [
    (case(TABLE, 'x = getenv(names[i]); "LEAT_A" "LEAT_B" "LEAT_C is bad"'), None),
    (case(TABLE, 'x = getenv("LEAT_A");'), 'lists LEAT_B'),
    (case(TABLE, 'x = secure_getenv("LEAT_A"); "LEAT_B" "FORCE_GRAPH_PATH"'), 'reads FORCE_GRAPH_PATH'),
    (case(TABLE, 'x = getenv("LEAT_A"); "LEAT_B" /* "LEAT_Z" */'), None),
    (case('# Title\n', 'x = getenv("LEAT_A");'), 'has no table'),
    ({'plugin/config.c': 'getenv("LEAT_A")'}, 'README.md: is not there'),
]

if __name__ == '__main__':
    lint.main(check, CANARIES)
