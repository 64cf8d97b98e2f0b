#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""names.py TREE: a name means one thing, so that a search for it finds one thing.

No two headers have the same file name, but for the ABI's that tests/abi/ has frozen. No function that files share, no
type and no macro `leati_...` is defined in two folders of ROOMS; a test may define a function again, in whose place it
stands.
"""
import os
import re

import lint

ROOMS = ('batch', 'common', 'conformance', 'host-shim', 'plugin', 'tools')
FROZEN = r'^tests/abi/v\d'
# In a file that is formatted, what begins in the first column is not inside of anything.
FUNCTION = re.compile(r'^(?!static|typedef|#|\s)[^\n;={]*?\b(leati_\w+)\([^;{]*\{', re.M)
TYPE = re.compile(r'\b(?:struct|union|enum) (leati_\w+) \{|^\} (leati_\w+);', re.M)
MACRO = re.compile(r'^#define (LEATI_\w+)', re.M)


def check(tree):
    headers = {}
    for path in tree.matching(r'\.h$'):
        if not re.search(FROZEN, path):
            headers.setdefault(os.path.basename(path), []).append(path)
    for paths in headers.values():
        if len(paths) > 1:
            yield f'{" and ".join(paths)} have the same name'
    rooms = {}
    for path in tree.matching(rf'^({"|".join(ROOMS)})/.*\.[ch]$'):
        text = lint.strip_comments(tree.text(path))
        for pattern in (FUNCTION, TYPE, MACRO):
            for found in pattern.finditer(text):
                name = next(filter(None, found.groups()))
                rooms.setdefault(name, {}).setdefault(path.split('/')[0], path)
    for name, paths in rooms.items():
        if len(paths) > 1:
            yield f'{" and ".join(sorted(paths.values()))} both define {name}'


def both(here, there):
    return {'plugin/core/a.c': here, 'host-shim/onnxruntime/b.c': there}


CALLED = 'void f(void) {\n  leati_a();\n}\n'

CANARIES = [
    ({'plugin/core/gate.h': '', 'tools/gate.h': ''}, 'plugin/core/gate.h and tools/gate.h have the same name'),
    ({'abi/leat/backend.h': '', 'tests/abi/v1_0/leat/backend.h': ''}, None),
    (both('void leati_a(void) {\n}\n', 'int *leati_a(int b,\n             int c) {\n}\n'), 'both define leati_a'),
    (both('void leati_a(void) {\n}\n', 'static int leati_b(void) {\n}\n' + CALLED), None),
    (both('void leati_a(void);\n', 'void leati_a(void) {\n}\n'), None),
    (both('typedef struct leati_a {\n} leati_a;\n', 'struct leati_a {\n};\n'), 'both define leati_a'),
    (both('typedef struct {\n} leati_a;\n', 'typedef enum leati_a {\n} leati_a;\n'), 'both define leati_a'),
    (both('#define LEATI_A 1\n', '#define LEATI_A 2\n'), 'both define LEATI_A'),
    (both('#define LEATI_A 1\n', '/* #define LEATI_A */\n#define LEATI_AB LEATI_A\n'), None),
    ({'plugin/core/a.c': 'void leati_a(void) {\n}\n', 'tests/a.c': 'void leati_a(void) {\n}\n'}, None),
]

if __name__ == '__main__':
    lint.main(check, CANARIES)
