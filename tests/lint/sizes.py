#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""sizes.py TREE: no C file of plugin/, host-shim/, batch/ and common/ over 700 lines, and no function there over 80.

What reads better whole says so, with the reason: in the file's head comment, or in the comment right above the
function,

    /* ... Reads better whole: the cases of one switch, each a line. */

to_be_split.txt, beside this file, names what has no such reason and is too long as yet: a line "path" or "path:
function" each. An exception of either kind that is not needed fails too. Lines are those of the file, blank ones and
comments included; a function's are those from its name's line to its last brace, as clang-format lays them out.
"""
import re

import lint

FILE_LINES, FUNCTION_LINES = 700, 80
PHRASE = 'Reads better whole:'

LIST = 'tests/lint/to_be_split.txt'


def functions(text):
    """Name, first line and number of lines of each function; lines count from 0."""
    start, header = None, ''
    for number, line in enumerate(lint.strip_comments(text).splitlines()):
        if line.startswith('}'):
            if start is not None and header.endswith('{'):
                yield re.search(r'(\w+)\s*\(', header).group(1), start, number - start + 1
            start, header = None, ''
        elif not header.endswith('{'):
            if start is None and re.match(r'[A-Za-z_]', line):
                start, header = number, ''
            if start is not None:
                header = (header + ' ' + line).strip()
                # A declaration or a variable; what has a body with "=" before it is a variable too.
                if header.endswith(';') or (header.endswith('{') and not re.match(r'[^={]*\)\s*\{$', header)):
                    start, header = None, ''


def comment_above(lines, number):
    """The comment that ends in the line before."""
    first = number
    if first > 0 and lines[first - 1].rstrip().endswith('*/'):
        first -= 1
        while first > 0 and '/*' not in lines[first]:
            first -= 1
    while first > 0 and lines[first - 1].startswith('//'):
        first -= 1
    return ' '.join(lines[first:number])


def head_comment(text):
    """All comments before the first line of code."""
    return re.match(r'(?:\s|/\*.*?\*/|//[^\n]*)*', text, re.S).group(0)


def reason(comment):
    """Whether a comment says why, in some words. Its lines may break within the phrase."""
    words = re.sub(r'[\s*/]+', ' ', comment)
    return PHRASE in words and len(words.split(PHRASE, 1)[1].split()) >= 3


def judge(where, what, size, limit, comment, excused):
    if size > limit and not reason(comment) and where not in excused:
        yield (f'{where}: {size} lines; {what} has {limit} at most. Split it by job, or say in its comment why not: '
               f'"{PHRASE} ..."')
    if size <= limit and PHRASE in re.sub(r'[\s*/]+', ' ', comment):
        yield f'{where}: {size} lines need no exception; take "{PHRASE}" out'
    if where in excused and (size <= limit or reason(comment)):
        yield f'{where}: needs no exception; take it out of {LIST}'


def check(tree):
    excused = {line for line in tree.lines(LIST) if line and line[0] != '#'} if LIST in tree.files else set()
    seen = set()
    for path in tree.matching(r'^(batch|plugin|host-shim|common)/.*\.[ch]$'):
        text = tree.text(path)
        lines = text.splitlines()
        seen.add(path)
        yield from judge(path, 'a file', len(lines), FILE_LINES, head_comment(text), excused)
        for name, start, size in functions(text):
            where = f'{path}: {name}'
            seen.add(where)
            yield from judge(where, 'a function', size, FUNCTION_LINES, comment_above(lines, start), excused)
    for where in sorted(excused - seen):
        yield f'{where}: is not there; take it out of {LIST}'


def of_lines(count, head=''):
    return head + 'int x;\n' * (count - head.count('\n'))


def function(lines, above='', parameters='int a'):
    return f'int y;\n{above}static int f({parameters}) {{\n' + '  a();\n' * (lines - 2) + '}\n'


WHY = '/* All of it. Reads better whole: the steps of one thing, in\n * their order. */\n'
SPLIT = 'int g(void) {\n' + '  a();\n' * 30 + '}\n\n' + 'int h(int b,\n      int c) {\n' + '  a();\n' * 60 + '}\n'
TABLE = 'static const int table[] = {\n' + '    1,\n' * 90 + '};\n\nstruct s {\n' + '  int a;\n' * 90 + '};\n'
CANARIES = [
    ({'plugin/a.c': of_lines(701)}, 'plugin/a.c: 701 lines; a file has 700'),
    ({'plugin/streams/a.h': of_lines(701)}, 'a file has 700'),
    ({'host-shim/onnxruntime/a.c': of_lines(701)}, 'a file has 700'),
    ({'common/a.c': of_lines(700)}, None),
    ({'conformance/a.c': of_lines(900)}, None),
    ({'plugin/a.c': of_lines(800, WHY)}, None),
    ({'plugin/a.c': of_lines(800, '/* Reads better whole: */\n')}, 'a file has 700'),
    ({'plugin/a.c': of_lines(700, WHY)}, 'need no exception'),
    ({'plugin/a.c': function(81)}, 'plugin/a.c: f: 81 lines; a function has 80'),
    ({'plugin/a.c': function(80)}, None),
    ({'plugin/a.c': function(81, parameters='int a,\n             int b')}, 'plugin/a.c: f: 82 lines'),
    ({'plugin/a.c': function(81, WHY)}, None),
    ({'plugin/a.c': function(81, WHY + '\n')}, 'a function has 80'),
    ({'plugin/a.c': function(80, WHY)}, 'need no exception'),
    ({'plugin/a.c': WHY + function(81)}, 'a function has 80'),
    ({'plugin/a.c': SPLIT + TABLE}, None),
    ({'plugin/a.c': SPLIT + TABLE + function(81)}, 'plugin/a.c: f: 81 lines'),
    ({'plugin/a.c': of_lines(701), LIST: '# Why.\nplugin/a.c\n'}, None),
    ({'plugin/a.c': function(81), LIST: 'plugin/a.c: f\n'}, None),
    ({'plugin/a.c': function(81), LIST: 'plugin/a.c\n'}, 'a function has 80'),
    ({'plugin/a.c': of_lines(700), LIST: 'plugin/a.c\n'}, 'needs no exception'),
    ({'plugin/a.c': of_lines(701, WHY), LIST: 'plugin/a.c\n'}, 'needs no exception'),
    ({'plugin/b.c': of_lines(10), LIST: 'plugin/a.c\n'}, 'plugin/a.c: is not there'),
]

if __name__ == '__main__':
    lint.main(check, CANARIES)
