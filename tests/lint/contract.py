#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""contract.py TREE: every function of the public headers states its thread rule, its parameters and its errors.

That is, in the comment right above it: @threads any or @threads owner; one @param line for each parameter, with [in],
[out], [inout] or [owned] where it is a pointer; @errors where it returns a status. What crosses the line of the ABI
has a size that every compiler agrees on: no enum, bool, long, size_t, union or bit-field.
"""
import re

import lint

HEADERS = ['abi/leat/backend.h', 'host-shim/leat/host.h', 'batch/leat/batch.h']

# A function type, a slot of a table, an exported function, or an inline one with its body, with the comment that stands
# above it, if any.
DECLARATION = re.compile(
    r'(?P<comment>/\*\*(?:(?!\*/).)*\*/\s*)?'
    r'(?P<result>^[ \t]*(?!return\b)(?:typedef\s+|LEAT_EXPORT\s+|(?P<inline>static\s+inline\s+))?'
    r'(?:const\s+)?\w+(?:[ \t]+\**|[ \t]*\*+[ \t]*))'
    r'(?:\(\s*\*\s*(?P<slot>\w+)\s*\)|(?P<function>\w+))\s*'
    r'\((?P<parameters>[^()]*)\)\s*(?(inline)\{|;)', re.S | re.M)


def parameters_of(text):
    """Name and whether it is a pointer, for each parameter."""
    for part in text.split(','):
        part = ' '.join(part.split())
        if part and part != 'void':
            yield re.search(r'(\w+)(?:\[\d*\])?$', part).group(1), '*' in part or part.endswith(']')


# In the ABI alone: the other two headers are of libraries that a host links.
UNSIZED = re.compile(r'\b(enum|_?[Bb]ool|long|size_t|union)\b|\w+\s*:\s*\d+\s*;')


def check_declaration(match):
    comment = match.group('comment')
    if not comment:
        yield 'has no comment above it'
        return
    if len(re.findall(r'@threads\s+(?:any|owner)\b', comment)) != 1:
        yield 'lacks "@threads any" or "@threads owner"'
    # The text of each @param reaches to the next tag.
    given = dict(re.findall(r'@param\s+(\w+)\s+((?:(?!@\w).)*)', comment, re.S))
    names = dict(parameters_of(match.group('parameters')))
    for name, pointer in names.items():
        if name not in given:
            yield f'lacks "@param {name}"'
        elif pointer and not re.match(r'\[(in|out|inout|owned)\]', given[name]):
            yield f'lacks [in], [out], [inout] or [owned] after "@param {name}"'
        elif not pointer and given[name].startswith('['):
            yield f'has a tag after "@param {name}", which is no pointer'
    for name in given:
        if name not in names:
            yield f'describes "{name}", which is no parameter'
    if 'int32_t' in match.group('result') and not re.search(r'@errors\s+\S', comment):
        yield 'lacks "@errors"'


def check(tree):
    for header in HEADERS:
        if header not in tree.files:
            continue
        # Preprocessor lines go, so that macros are not taken for declarations.
        text = re.sub(r'^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$', '', tree.text(header), flags=re.M)
        if header.startswith('abi/'):
            for match in UNSIZED.finditer(lint.strip_comments(text)):
                yield f'{header}: "{match.group()}" has no size that all compilers agree on'
        found = 0
        for match in DECLARATION.finditer(text):
            name = match.group('slot') or match.group('function')
            found += 1
            for problem in check_declaration(match):
                yield f'{header}: {name}() {problem}'
        # Each "(*" outside of comments is a declaration that must have been seen.
        slots = len(re.findall(r'\(\s*\*\s*\w+\s*\)\s*\(', lint.strip_comments(text)))
        exported = len(re.findall(r'^(?:LEAT_EXPORT|static\s+inline)\b', lint.strip_comments(text), re.M))
        if found < slots + exported:
            yield f'{header}: {slots + exported} functions are declared, but only {found} could be read'
        if found == 0:
            yield f'{header}: no function found'


def header(comment, declaration):
    return {'abi/leat/backend.h': f'{comment}\n{declaration}\n'}


GOOD = '''/** Does it.
 * @threads any
 * @param a [in] one
 * @param n count
 * @param err [out] error, may be NULL
 * @errors none */'''
SLOT = '  int32_t (*work)(const leat_a *a, uint32_t n, leat_error *err);'

CANARIES = [
    (header(GOOD, SLOT), None),
    (header(GOOD, 'LEAT_EXPORT int32_t work(const leat_a *a, uint32_t n, leat_error *err);'), None),
    (header(GOOD, 'static inline int32_t work(const leat_a *a, uint32_t n, leat_error *err) {\n  return more(a);\n}'),
     None),
    (header('', 'static inline int32_t work(uint32_t n) {\n  return 0;\n}'), 'no comment'),
    (header('', SLOT), 'no comment'),
    (header(GOOD + '\nint other;', SLOT), 'no comment'),
    (header(GOOD.replace('@threads any', ''), SLOT), 'lacks "@threads'),
    (header(GOOD.replace('@threads any', '@threads some'), SLOT), 'lacks "@threads'),
    (header(GOOD.replace('@param n count', ''), SLOT), 'lacks "@param n"'),
    (header(GOOD.replace('[in] ', ''), SLOT), 'after "@param a"'),
    (header(GOOD.replace('[out]', '[outward]'), SLOT), 'after "@param err"'),
    (header(GOOD.replace('n count', 'n [in] count'), SLOT), 'which is no pointer'),
    (header(GOOD.replace('@param n', '@param m'), SLOT), 'describes "m"'),
    (header(GOOD.replace('@errors none', ''), SLOT), 'lacks "@errors"'),
    (header('', 'int nothing;'), 'no function found'),
    (header(GOOD, SLOT + '\n  size_t count;'), '"size_t" has no size'),
    (header(GOOD, SLOT + '\n  enum leat_kind kind;'), '"enum" has no size'),
    (header(GOOD, SLOT + '\n  uint32_t low : 4;'), '"low : 4;" has no size'),
    (header(GOOD, SLOT + '\n  /* no bool, no long */'), None),
    (header(GOOD, '#define SIZE(a) (size_t)(a)\n' + SLOT), None),
    (header(GOOD, SLOT.replace('uint32_t n', 'void (*n)(int)')), 'could be read'),
]

if __name__ == '__main__':
    lint.main(check, CANARIES)
