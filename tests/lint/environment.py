#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""environment.py TREE [LEAT_INFO PLUGIN]: the table of docs/settings.md, and the options of the ONNX Runtime provider,
against the code.

- The table and the code have the same variables. The code reads what stands as a whole string in a C file that calls
  getenv() or one of its kind. The table is the one whose first column is headed "variable".
- Libraries read it by secure_getenv() alone: a set-user-ID program would else let its user name files and code.
- leat-info knows what else is read, by ./dev and the tests: what tests/README.md names and the table does not.
- A row names each word that its variable takes, and the highest number, as plugin/core/config.c has them.
- Each variable of plugin/core/config.c is an option of the ONNX Runtime provider
  (host-shim/onnxruntime/session_options.c), by the name that docs/settings.md promises, and the other way round; both
  take nothing for a value, or neither does.
- With LEAT_INFO: the defaults of the table are those that leat-info shows where nothing is set but $XDG_CACHE_HOME,
  which a default may name. A row of several variables has a default for each, with commas, or one for all. What follows
  a semicolon says where another counts. The variable of the loader is left out: it has a place, not a value.
"""
import json
import os
import re
import subprocess
import sys

import lint

VARIABLE = r'(?:LEAT_[A-Z0-9_]+|FORCE_GRAPH_PATH)'
GETENV = re.compile(r'\b(?:secure_|g_)?getenv\s*\(')
PLAIN_GETENV = re.compile(r'\b(?:g_)?getenv\s*\(')
SETTINGS = 'plugin/core/config.c'
OPTIONS = 'host-shim/onnxruntime/session_options.c'
# Options that are not the variable in lower case without LEAT_: in the provider "Vulkan" says nothing.
KEYS = {'LEAT_VULKAN_DEVICE': 'device'}
INFO = 'tools/leat-info.c'
PAGE = 'docs/settings.md'
TESTS = 'tests/README.md'
# Canaries have this file in place of leat-info's answer.
ANSWER = 'leat-info.json'
CACHE = {'XDG_CACHE_HOME': '/dev/null'}


def read_by_code(tree):
    """Where each variable is read."""
    found = {}
    for path in tree.matching(r'^(batch|plugin|host-shim|conformance|tools|examples)/.*\.(c|h)$'):
        # Mutants are driven by the suite that they test; nobody sets their variables.
        if path.startswith('conformance/mutants/'):
            continue
        text = lint.strip_comments(tree.text(path))
        if GETENV.search(text):
            for name in re.findall(rf'"({VARIABLE})"', text):
                found.setdefault(name, path)
    return found


def check_secure(tree):
    for path in tree.matching(r'^(batch|common|plugin|host-shim)/.*\.(c|h)$'):
        if PLAIN_GETENV.search(lint.strip_comments(tree.text(path))):
            yield f'{path}: a library reads the environment by secure_getenv() alone'


def rows_of(tree):
    """The rows of the table, or None: there is no such table."""
    table = re.search(r'^\|\s*variable\s*\|[^\n]*\n((?:\|[^\n]*\n?)*)', tree.text(PAGE), re.M | re.I)
    return table.group(1) if table else None


def settings_of(tree):
    """The rows of plugin/core/config.c, by variable."""
    rows = lint.strip_comments(tree.text(SETTINGS)).split('{.name = ')[1:] if SETTINGS in tree.files else []
    return {row.split('"')[1]: row for row in rows}


def check_options(tree):
    if OPTIONS not in tree.files:
        return
    settings = settings_of(tree)
    rows = re.findall(r'\{"(\w+)", *"(\w+)", *EFFECT_\w+, *(true|false)\}', lint.strip_comments(tree.text(OPTIONS)))
    for name in sorted(set(settings) - {variable for _, variable, _ in rows}):
        yield f'{OPTIONS}: has no option for {name}, which is a setting of {SETTINGS}'
    for key, name, empty in rows:
        expected = KEYS.get(name, name.removeprefix('LEAT_').lower())
        if name not in settings:
            yield f'{OPTIONS}: option "{key}" is for {name}, which {SETTINGS} does not have'
        elif (empty == 'true') != bool(re.search(r'\.empty = true\b', settings[name])):
            yield f'{OPTIONS}: option "{key}" and {SETTINGS} differ on whether nothing is a value of {name}'
        if key != expected:
            yield f'{OPTIONS}: the option for {name} is "{key}"; docs/settings.md promises "{expected}"'


def check_limits(tree, rows):
    """The variables of plugin/core/config.c: words as .words has them, numbers as .allowed says them."""
    for name, entry in settings_of(tree).items():
        row = '\n'.join(r for r in rows.splitlines() if f'`{name}`' in r.split('|')[1])
        words = re.search(r'\.words = \{([^}]*)\}', entry)
        words = re.findall(r'"([^"]*)"', words.group(1)) if words else []
        for word in words:
            if f'`{word}`' not in row:
                yield f'docs/settings.md: the row of {name} lacks `{word}`'
        for most in re.findall(r'\.allowed = "[^"]*\bto (\d+)', entry):
            if not re.search(rf'\b{most}\b', row):
                yield f'docs/settings.md: the row of {name} does not say that {most} is the most'


def in_table(rows):
    """Defaults by variable, of the table's first two columns."""
    defaults = {}
    for first, second in re.findall(r'^\|([^|]*)\|([^|]*)\|', rows, re.M):
        names = re.findall(rf'`({VARIABLE})`', first)
        values = [v.split(';')[0].strip().strip('`') for v in second.split(',')]
        if len(values) != len(names):
            values = [second.split(';')[0].strip().strip('`')] * len(names)
        defaults.update(zip(names, values))
    return defaults


def check_others(tree, listed):
    """What leat-info holds for no mistake, though no backend reads it."""
    if INFO not in tree.files:
        return
    text = lint.strip_comments(tree.text(INFO))
    known = set(re.findall(VARIABLE, re.search(r'others\[\] = \{([^}]*)\}', text).group(1)))
    told = set(re.findall(rf'\b{VARIABLE}\b', tree.text(TESTS))) - set(listed)
    for name in sorted(told - known):
        yield f'{INFO}: would call {name} a mistake, which {TESTS} names'
    for name in sorted(known - told):
        yield f'{TESTS}: does not name {name}, which {INFO} says is read by ./dev or the tests'


def answer_of(tree, program):
    """What leat-info says where no variable of ours is set, or None: it is not asked."""
    if ANSWER in tree.files:
        return json.loads(tree.text(ANSWER))
    if not program:
        return None
    environment = {n: v for n, v in os.environ.items() if not re.fullmatch(VARIABLE, n)}
    done = subprocess.run([program[0], '--json', '--plugin', program[1]], env={**environment, **CACHE},
                          capture_output=True, text=True, check=False)
    return json.loads(done.stdout)


def check_defaults(listed, settings):
    for name, setting in sorted(settings.items()):
        if setting['reader'] != 'loader' and setting['origin'] != 'default':
            yield f'leat-info: {name} is from "{setting["origin"]}" though it is not set'
        elif setting['reader'] != 'loader' and name in listed:
            expected = listed[name].replace('$XDG_CACHE_HOME', CACHE['XDG_CACHE_HOME'])
            if expected != setting['value']:
                yield f'docs/settings.md: the default of {name} is "{expected}"; leat-info says "{setting["value"]}"'
    for name in sorted(set(listed) - set(settings)):
        # A name without prefix is one more way to set the variable with it.
        if 'LEAT_' + name not in settings:
            yield f'leat-info: says nothing of {name}'


def check_tree(tree, program):
    if PAGE not in tree.files:
        yield 'docs/settings.md: is not there'
        return
    rows = rows_of(tree)
    if rows is None:
        yield 'docs/settings.md: has no table with "variable" at the head of its first column'
        return
    listed = in_table(rows)
    yield from check_secure(tree)
    yield from check_limits(tree, rows)
    yield from check_options(tree)
    read = read_by_code(tree)
    for name in sorted(set(read) - set(listed)):
        yield f'{read[name]}: reads {name}, which docs/settings.md does not list'
    for name in sorted(set(listed) - set(read)):
        yield f'docs/settings.md: lists {name}, which nothing reads'
    yield from check_others(tree, listed)
    answer = answer_of(tree, program)
    if answer is not None:
        yield from check_defaults(listed, answer['settings'])


def case(readme, code, **values):
    """A tree; with values, leat-info shows them, "VALUE ORIGIN READER" each."""
    tree = {PAGE: readme, 'plugin/core/config.c': code}
    if values:
        settings = {n: dict(zip(('value', 'origin', 'reader'), v.split())) for n, v in values.items()}
        tree[ANSWER] = json.dumps({'settings': settings})
    return tree


TABLE = ('## Settings\n| variable | default |\n|---|---|\n| `LEAT_A`, `LEAT_B` | `LEAT_C` |\n'
         '## More\n| `LEAT_D` | |\n')
VALUES = ('| variable | default | meaning |\n|---|---|---|\n| `LEAT_A` | `0`; -1 elsewhere | a |\n'
          '| `LEAT_B`, `LEAT_C` | `1.0`, 0.8 | b |\n| `FORCE_GRAPH_PATH`, `LEAT_FORCE_GRAPH_PATH` | `0` | c |\n')
READS = 'x = secure_getenv(name); "LEAT_A" "LEAT_B" "LEAT_C" "LEAT_FORCE_GRAPH_PATH" "FORCE_GRAPH_PATH"'
LIMITS = ('| variable | default | meaning |\n|---|---|---|\n| `LEAT_A` | 2 | 1 to 8 |\n'
          '| `LEAT_B`, `LEAT_C` | `no` | or `yes` |\n')
LIMITED = ('secure_getenv(name) {.name = "LEAT_A", .allowed = "from 1 to 8"}, '
           '{.name = "LEAT_B", .words = {"no", [1] = "yes"}}, "LEAT_C"')
RIGHT = {'LEAT_A': '0 default backend', 'LEAT_B': '1.0 default backend', 'LEAT_C': '0.8 default backend',
         'LEAT_FORCE_GRAPH_PATH': '0 default backend'}
OTHERS = {**case(TABLE, 'x = secure_getenv("LEAT_A"); "LEAT_B"'), INFO: 'char *others[] = {"LEAT_T", NULL};',
          TESTS: '`LEAT_T=3 LEAT_B=1`'}
SET = case('| variable | default |\n|---|---|\n| `LEAT_VULKAN_DEVICE` | |\n| `LEAT_WAIT_US` | |\n',
           'secure_getenv(name) {.name = "LEAT_VULKAN_DEVICE"}, {.name = "LEAT_WAIT_US", .empty = true}')
OPTION_ROWS = ('{"device", "LEAT_VULKAN_DEVICE", EFFECT_DEVICE, false}, '
               '{"wait_us", "LEAT_WAIT_US", EFFECT_PROCESS, true}')
CANARIES = [
    ({**SET, OPTIONS: OPTION_ROWS}, None),
    ({**SET, OPTIONS: OPTION_ROWS.replace('{"wait_us"', '/* {"wait_us"').replace('true}', 'true} */')},
     'has no option for LEAT_WAIT_US'),
    ({**SET, OPTIONS: OPTION_ROWS.replace('WAIT_US', 'SPIN_US')}, 'is for LEAT_SPIN_US, which'),
    ({**SET, OPTIONS: OPTION_ROWS.replace('"wait_us"', '"wait"')}, 'docs/settings.md promises "wait_us"'),
    ({**SET, OPTIONS: OPTION_ROWS.replace('true', 'false')}, 'whether nothing is a value of LEAT_WAIT_US'),
    (case(TABLE, 'x = secure_getenv(names[i]); "LEAT_A" "LEAT_B" "LEAT_C is bad"'), None),
    (case(TABLE, 'x = secure_getenv("LEAT_A");'), 'lists LEAT_B'),
    (case(TABLE, 'x = secure_getenv("LEAT_A"); "LEAT_B" "FORCE_GRAPH_PATH"'), 'reads FORCE_GRAPH_PATH'),
    (case(TABLE, 'x = getenv(names[i]); "LEAT_A" "LEAT_B"'), 'by secure_getenv() alone'),
    (case(LIMITS, LIMITED), None),
    (case(LIMITS, LIMITED.replace('8', '4')), 'that 4 is the most'),
    (case(LIMITS, LIMITED.replace('yes', 'both')), 'the row of LEAT_B lacks `both`'),
    (case(TABLE, 'x = secure_getenv("LEAT_A"); "LEAT_B" /* "LEAT_Z" */'), None),
    (OTHERS, None),
    ({**OTHERS, TESTS: '`LEAT_T=3` `LEAT_U`'}, 'would call LEAT_U a mistake'),
    ({**OTHERS, TESTS: '`LEAT_A`'}, 'does not name LEAT_T'),
    (case('# Title\n', 'x = secure_getenv("LEAT_A");'), 'has no table'),
    ({'plugin/core/config.c': 'secure_getenv("LEAT_A")'}, 'docs/settings.md: is not there'),
    (case(VALUES, READS, **RIGHT), None),
    (case(VALUES, READS, **{**RIGHT, 'LEAT_A': '-1 default backend'}), 'the default of LEAT_A is "0"'),
    (case(VALUES.replace('`0`; -1', '`$XDG_CACHE_HOME/a`; -1'), READS,
          **{**RIGHT, 'LEAT_A': '/dev/null/a default backend'}), None),
    (case(VALUES.replace('`0`; -1', '`$XDG_CACHE_HOME/a`; -1'), READS,
          **{**RIGHT, 'LEAT_A': '/dev/null/b default backend'}), 'the default of LEAT_A is "/dev/null/a"'),
    (case(VALUES, READS, **{**RIGHT, 'LEAT_C': '1.0 default backend'}), 'the default of LEAT_C is "0.8"'),
    (case(VALUES, READS, **{**RIGHT, 'LEAT_FORCE_GRAPH_PATH': '1 default backend'}), 'says "1"'),
    (case(VALUES, READS, **{**RIGHT, 'LEAT_B': '1.0 environment backend'}), 'LEAT_B is from "environment"'),
    (case(VALUES, READS, **{**RIGHT, 'LEAT_A': '/lib option loader'}), None),
    (case(VALUES, READS, **{n: v for n, v in RIGHT.items() if n != 'LEAT_B'}), 'says nothing of LEAT_B'),
]

if __name__ == '__main__':
    PROGRAM = sys.argv[2:4]
    del sys.argv[2:4]
    lint.main(lambda tree: check_tree(tree, PROGRAM if tree.root == sys.argv[1] else None), CANARIES)
