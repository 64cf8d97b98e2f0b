#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""members.py HEADER: prints a header's structs and their members, as lines STRUCT(name) and MEMBER(struct, member)."""
import re
import sys


def strip_comments(text):
    return re.sub(r'/\*.*?\*/', ' ', text, flags=re.S)


def member_names(declaration):
    """Names that one declaration (without its semicolon) declares."""
    function = re.search(r'\(\s*\*\s*(\w+)\s*\)', declaration)
    if function:
        return [function.group(1)]
    first, *others = declaration.split(',')
    names = []
    for part in [first, *others]:
        part = re.sub(r'\[[^\]]*\]', '', part).strip()
        name = re.search(r'(\w+)$', part)
        if not name:
            raise ValueError('cannot read the member: ' + declaration)
        names.append(name.group(1))
    return names


def structs(text):
    for match in re.finditer(r'typedef\s+struct\s+\w+\s*\{(.*?)\n\}\s*(\w+)\s*;', strip_comments(text), re.S):
        declarations = [' '.join(d.split()) for d in match.group(1).split(';')]
        yield match.group(2), [n for d in declarations if d for n in member_names(d)]


def main():
    if len(sys.argv) != 2:
        sys.exit('usage: members.py HEADER')
    with open(sys.argv[1], encoding='utf-8') as file:
        found = list(structs(file.read()))
    if not found:
        sys.exit(f'{sys.argv[1]}: no struct found')
    for name, members in found:
        print(f'STRUCT({name})')
        for member in members:
            print(f'MEMBER({name}, {member})')


if __name__ == '__main__':
    main()
