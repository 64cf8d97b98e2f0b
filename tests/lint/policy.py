#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""policy.py TREE: the rules of plugin/policy/ are pure, and its table says what each constant is for.

The comment above a constant of constants.h has "Larger:" (what changes when it grows), "From:" (where the value comes
from) and "Measure:" (what measures it again); constants on lines that follow each other share one. Each is used. No
file of the room includes more of the system than the types, so no rule can have a clock, an environment or an atomic.
A row of tuning.h is of a constant of the table; its field has that one's name, and something reads it. It is measured
by "--tune", which has a row for each in tools/bench/subjects.c.
"""
import re

import lint

ROOM = 'plugin/policy/'
TABLE = ROOM + 'constants.h'
TUNING = ROOM + 'tuning.h'
SUBJECTS = 'tools/bench/subjects.c'
WORDS = ['Larger:', 'From:', 'Measure:']
SYSTEM = {'stdbool.h', 'stdint.h'}


def constants(text):
    """Name, number of the line, and the comment above, of each constant."""
    comment, above = '', ''
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'#define (LEATI_\w+)[ \t]+\S', line)
        if match:
            yield match.group(1), number, above
        elif line.startswith('/*'):
            comment = line
        elif line.startswith(' *'):
            comment += '\n' + line
        else:
            comment = ''
        if not match:
            above = comment


def tunables(tree):
    """Constant and field of each row of tuning.h."""
    return re.findall(r'X\((LEATI_\w+), (\w+), ', tree.text(TUNING)) if TUNING in tree.files else []


def check_tunables(tree, used):
    rows = constants(tree.text(TABLE)) if TABLE in tree.files else []
    table = {name: '--tune' in comment.partition('Measure:')[2] for name, _, comment in rows}
    subjects = set(re.findall(r'\bOF\(\w+, \w+, "(\w+)"', tree.text(SUBJECTS))) if SUBJECTS in tree.files else set()
    for field in sorted(subjects - {field for _, field in tunables(tree)}):
        yield f'{SUBJECTS}: {field} is none of {TUNING}'
    for name, field in tunables(tree):
        if name not in table:
            yield f'{TUNING}: {name} is none of {TABLE}'
        elif not table[name]:
            yield f'{TABLE}: the comment above {name} does not say that "--tune" measures it'
        if field not in subjects:
            yield f'{SUBJECTS}: has no row for {field}'
        if field != name.removeprefix('LEATI_').lower():
            yield f'{TUNING}: the field of {name} is "{field}"'
        if field not in used:
            yield f'{TUNING}: nothing reads {field}'


def check(tree):
    used = ' '.join(lint.strip_comments(tree.text(f)) for f in tree.matching(r'^plugin/.*\.[ch]$')
                    if f not in (TABLE, TUNING))
    used = set(re.findall(r'\w+', used))
    yield from check_tunables(tree, used)
    used |= {name for name, _ in tunables(tree)}
    if TABLE in tree.files:
        for name, number, comment in constants(tree.text(TABLE)):
            for word in WORDS:
                if word not in comment:
                    yield f'{TABLE}:{number}: the comment above {name} has no "{word}"'
            if name not in used:
                yield f'{TABLE}:{number}: nothing uses {name}'
    for path in tree.matching('^' + ROOM):
        for name in re.findall(r'^\s*#\s*include\s*<([^>]+)>', lint.strip_comments(tree.text(path)), re.M):
            if name not in SYSTEM:
                yield f'{path}: includes <{name}>; a rule takes numbers and gives numbers'


GOOD = '/** Lists. Larger: more. From: reasoning.\n * Measure: op. */\n#define LEATI_A 1\n#define LEATI_B 2\n'
TUNED = {TABLE: GOOD.replace('op.', '--tune.'), SUBJECTS: 'OF(ALWAYS, SUMS, "a", 1),\nOF(ALWAYS, SUMS, "b", 1)',
         TUNING: '  X(LEATI_A, a, 0, 8) \\\n  X(LEATI_B, b, 1, 2)\n',
         ROOM + 'a.c': 'int i = t->a + t->b;\n'}
USE = {'plugin/submit/lane.c': 'int i = LEATI_A + LEATI_B;\n'}

CANARIES = [
    ({TABLE: GOOD, **USE}, None),
    ({TABLE: GOOD.replace('From:', 'Of'), **USE}, 'LEATI_A has no "From:"'),
    ({TABLE: GOOD.replace('From:', 'Of'), **USE}, 'LEATI_B has no "From:"'),
    ({TABLE: GOOD.replace('#define LEATI_B', '\n#define LEATI_B'), **USE}, 'LEATI_B has no "Larger:"'),
    ({TABLE: GOOD, 'plugin/submit/lane.c': '/* LEATI_B */\nint i = LEATI_A;\n'}, 'nothing uses LEATI_B'),
    (TUNED, None),
    ({**TUNED, TABLE: GOOD}, 'the comment above LEATI_A does not say'),
    ({**TUNED, TUNING: '  X(LEATI_A, a, 0, 8)\n', **USE}, 'b is none of'),
    ({**TUNED, SUBJECTS: 'OF(ALWAYS, SUMS, "a", 1)'}, 'has no row for b'),
    ({**TUNED, SUBJECTS: TUNED[SUBJECTS].replace('"b"', '"c"')}, 'c is none of'),
    ({**TUNED, ROOM + 'a.c': 'int i = t->a; /* b */\n'}, 'nothing reads b'),
    ({**TUNED, TUNING: '  X(LEATI_A, a, 0, 8) \\\n  X(LEATI_B, c, 1, 2)\n'}, 'the field of LEATI_B is "c"'),
    ({**TUNED, TUNING: '  X(LEATI_A, a, 0, 8) \\\n  X(LEATI_C, c, 1, 2)\n'}, 'LEATI_C is none of'),
    ({ROOM + 'waiting.c': '#include <time.h>\n'}, 'includes <time.h>'),
    ({ROOM + 'waiting.c': '#include <stdint.h>\n'}, None),
]

if __name__ == '__main__':
    lint.main(check, CANARIES)
