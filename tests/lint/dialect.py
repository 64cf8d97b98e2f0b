#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""dialect.py TREE: one dialect of C where clang-format leaves a choice.

The body of if, else, for and while stands in braces; what a loop counts up or down by one is written ++i; endless loops
are for (;;); sizeof has parentheses; a pointer is compared with NULL, in each file where its name is no number's too.
"""
import re

import lint

CHECKED = re.compile(r'^(?!tests/abi/v\d|docs/|examples/).*\.[ch]$')
# In another dialect, from before there was this check: to be brought over and taken out here.
BARE = 'a body without braces'
# A macro that is nothing but heads of loops: the body stands where it is used.
HEADS = re.compile(r'^#define .*\\\n(?:\s*for \(.*\)\s*\\\n)*\s*for \(.*\)$', re.M)
RULES = [
    (re.compile(r'^(?![ \t]*#)[ \t]*(?:\} )?(?:else|(?:else )?(?:if|for) \(.*\))\s*(?:\\)?$', re.M),
     BARE),
    (re.compile(r'\bfor \([^;]*;[^;]*;[^;{}]*\w(?:\+\+|--)[,)]'), 'a loop that counts with i++ or i--; write ++i'),
    (re.compile(r'\bwhile \((?:1|true|TRUE)\)'), 'while (true); write for (;;)'),
    (re.compile(r'\bsizeof [\w*]'), 'sizeof without parentheses'),
]

# What declares a pointer, and what another thing; a name of both is left alone.
POINTER = re.compile(r'\w[ \w]* \*+(?:const |restrict )?(\w+)(?= =|[,;)])')
OTHER = re.compile(r'\b(?:bool|int|unsigned|char|float|double|long|gboolean|guint|gint|\w+_t) (\w+)(?= =|[,;)[])')
LISTED = re.compile(r', (\w+) = ')
BARE_POINTER = 'a pointer that is tested without NULL'


def bare_pointers(code):
    """Where names of pointers are the operand of !, && or ||, or all of a condition."""
    names = set(POINTER.findall(code)) - set(OTHER.findall(code)) - set(LISTED.findall(code))
    for match in re.finditer(r'(?:!|\b(?:if|while) \(|&& |\|\| )(\w+)(?= (?:&&|\|\|)|\)|;)', code):
        if match.group(1) in names:
            yield match.start()


def check(tree):
    for path in tree.files:
        if not CHECKED.match(path):
            continue
        code = HEADS.sub(lambda heads: '\n' * heads.group(0).count('\n'), lint.strip_comments(tree.text(path)))
        for rule, what in RULES:
            for match in rule.finditer(code):
                # A condition of several lines goes on.
                if what == BARE and match.group(0).count('(') != match.group(0).count(')'):
                    continue
                yield f'{path}:{code.count(chr(10), 0, match.start()) + 1}: {what}'
        for at in bare_pointers(code):
            yield f'{path}:{code.count(chr(10), 0, at) + 1}: {BARE_POINTER}'


CANARIES = [
    ({'plugin/a.c': 'void f(void) {\n  if (x)\n    g();\n}\n'}, 'plugin/a.c:2: a body without braces'),
    ({'plugin/a.c': 'void f(void) {\n  if (x) {\n    g();\n  } else\n    h();\n}\n'}, 'a body without braces'),
    ({'tools/a.h': '#define F(x)  \\\n  for (;;)    \\\n    g(x)\n'}, 'a body without braces'),
    ({'tools/a.h': '#define EACH  \\\n  for (;;)    \\\n    for (;;)\nif (y)\n  g();\n'}, 'tools/a.h:4: a body'),
    ({'plugin/a.c': 'for (int i = 0; i < n; i++) {\n'}, 'write ++i'),
    ({'plugin/a.c': 'while (true) {\n'}, 'write for (;;)'),
    ({'plugin/a.c': 'x = sizeof y;\n'}, 'sizeof without parentheses'),
    ({'plugin/a.c': 'void f(int *p) {\n  if (x && !p) {\n'}, 'plugin/a.c:2: a pointer that is tested without NULL'),
    ({'plugin/a.c': 'void f(int *p, bool b) {\n  if (p == NULL && !b) {\n'}, None),
    ({'plugin/a.c': 'for (int i = 0; i < n; ++i) {\n  x[j++] = sizeof(y);\n}\n#if defined(X)\n#else\n#endif\n'}, None),
]

if __name__ == '__main__':
    lint.main(check, CANARIES)
