#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""circles.py TREE NM BUILD SEEDED OBJECTS...: no file of a shipped library or program needs another
one that needs it too, on whatever way, and none needs one of a room that it may not include (includes.py). Reads the
symbols of object files, and #include lines.

OBJECTS is a file for each library with the objects that it was built of in the build tree BUILD, one a line; SEEDED is
one with objects that need each other in a circle, which must be found.

By includes a noun needs another: a .c file with its header, "plugin/core/sync". A header without a .c file of its own
stands for what it includes.

circles.txt lists the exceptions, one a line: "FROM -> TO: reason", two .c files or two nouns. Such a link is taken for
none; one that closes no circle and climbs to no room must go from the list.
"""
import os
import re
import subprocess
import sys

import includes
import lint

EXCEPTIONS = 'tests/lint/circles.txt'
# What a tree that is a canary has instead of objects.
SYMBOLS = 'symbols'


def source_of(build, path):
    """The source of an object by its path relative to the root of the tree. CMake writes ".." as "__"."""
    folder, inside = re.fullmatch(r'(.*)/CMakeFiles/[^/]+\.dir/(.*)\.o', os.path.relpath(path, build)).groups()
    return os.path.normpath(os.path.join(folder, *('..' if part == '__' else part for part in inside.split('/'))))


def read_symbols(nm, build, listed):
    """Lines "SOURCE: NAME KIND" of the objects that a file lists."""
    with open(listed, encoding='utf-8') as opened:
        objects = sorted(set(opened.read().split()))
    done = subprocess.run([nm, '-A', '-P', *objects], check=True, capture_output=True, text=True)
    lines = [line.split(': ', 1) for line in done.stdout.splitlines()]
    return '\n'.join(f'{source_of(build, path)}: {symbol}' for path, symbol in lines)


def links_of(symbols):
    """The names by which one file of a library needs another, by the pair."""
    defined, needed = {}, []
    for line in symbols.splitlines():
        source, name, kind = re.match(r'(\S+): (\S+) (\S)', line).groups()
        if kind == 'U':
            needed.append((source, name))
        elif kind.isupper():
            defined[name] = source
    links = {}
    for source, name in needed:
        if name in defined:
            links.setdefault((source, defined[name]), set()).add(name)
    return links


def includes_of(tree):
    """The headers that one noun includes of another, by the pair."""
    files = set(tree.files)
    named = {}
    for path in tree.matching(r'^(?!tests/).*\.[ch]$'):
        text = lint.strip_comments(tree.text(path))
        found = re.findall(r'^\s*#\s*include\s*["<]([^">]+)[">]', text, re.M)
        named[path] = {target for target in (includes.resolve(files, path, name) for name in found) if target}

    def nouns_behind(path, seen):
        """Nouns that need code, which a file includes, with the header of each."""
        for target in named.get(path, set()) - seen:
            seen.add(target)
            noun = os.path.splitext(target)[0]
            if noun + '.c' in files:
                yield noun, target
            else:
                yield from nouns_behind(target, seen)

    links = {}
    for path in named:
        start = os.path.splitext(path)[0]
        for noun, header in nouns_behind(path, set()):
            if noun != start:
                links.setdefault((start, noun), set()).add(os.path.basename(header))
    return links


def circles_of(pairs):
    """The sets of more than one file that all reach each other."""
    after = {}
    for start, end in pairs:
        after.setdefault(start, set()).add(end)
        after.setdefault(end, set())
    reached = {}
    for file in after:
        reached[file], rest = set(), [file]
        while rest:
            for other in after[rest.pop()] - reached[file]:
                reached[file].add(other)
                rest.append(other)
    found = {frozenset(o for o in reached[f] if f in reached[o]) | {f} for f in after}
    return sorted(sorted(c) for c in found if len(c) > 1)


def climbs(pair):
    start, end = (includes.room_of(file) for file in pair)
    return start != end and end not in includes.MAY_INCLUDE.get(start, [end])


def read_exceptions(tree):
    """The reasons by the pair, and what is wrong with the list."""
    reasons, wrong = {}, []
    for number, line in enumerate(tree.lines(EXCEPTIONS) if EXCEPTIONS in tree.files else [], 1):
        match = re.fullmatch(r'(\S+) -> (\S+): (\S.*)', line)
        if match:
            reasons[match.group(1), match.group(2)] = match.group(3)
        elif line and not line.startswith('#'):
            wrong.append(f'{EXCEPTIONS}:{number}: is no "FROM -> TO: reason"')
    return reasons, wrong


def describe(pair, names):
    shown = sorted(names)
    more = f' and {len(shown) - 4} more' if len(shown) > 4 else ''
    return f'{pair[0]} -> {pair[1]}: {", ".join(shown[:4])}{more}'


def report(links, excepted, may_climb):
    """What is wrong with links, but for those that are excepted."""
    kept = [pair for pair in links if pair not in excepted]
    for circle in circles_of(kept):
        inside = [describe(p, links[p]) for p in sorted(kept) if p[0] in circle and p[1] in circle]
        yield '\n  '.join([f'circle of {len(circle)} files: {", ".join(circle)}', *inside])
    for pair in sorted(kept):
        if not may_climb and climbs(pair):
            start, end = (includes.room_of(file) for file in pair)
            yield f'{describe(pair, links[pair])}: {start} must not need {end}'
    for pair in sorted(excepted):
        if pair not in links:
            yield f'{EXCEPTIONS}: {pair[0]} does not need {pair[1]}; take the line out'
        elif (may_climb or not climbs(pair)) and not any(set(pair) <= set(c) for c in circles_of([*kept, pair])):
            yield f'{EXCEPTIONS}: {pair[0]} -> {pair[1]} closes no circle; take the line out'


def check(tree, libraries):
    links = {}
    for symbols in libraries or [tree.text(file) for file in tree.files if file == SYMBOLS]:
        for pair, names in links_of(symbols).items():
            links.setdefault(pair, set()).update(names)
    excepted, wrong = read_exceptions(tree)
    yield from wrong
    of_objects = {pair for pair in excepted if pair[0].endswith('.c')}
    yield from report(links, of_objects, False)
    # Which room may include which, includes.py says.
    yield from report(includes_of(tree), set(excepted) - of_objects, True)


# Two files of the base that need each other, and one of another room.
CALLS = ('plugin/core/a.c: a T\nplugin/core/a.c: b U\n'
         'plugin/core/b.c: b T\nplugin/core/b.c: malloc U\nplugin/core/b.c: a t\n')
CIRCLE = CALLS + 'plugin/core/b.c: a U\n'
THIRD = CALLS + 'plugin/core/b.c: c U\nplugin/core/c.c: c D\nplugin/core/c.c: a U\n'
UP = CALLS + 'plugin/core/b.c: s U\nplugin/streams/s.c: s T\n'
NOUNS = {'plugin/core/a.c': '#include "core/a.h"\n#include "core/b.h"\n', 'plugin/core/a.h': '/* #include "c.h" */\n',
         'plugin/core/b.h': '#include "core/a.h"\n'}
REASON = 'plugin/core/b.c -> plugin/core/a.c: because\n'

CANARIES = [
    ({SYMBOLS: CALLS}, None),
    ({SYMBOLS: CIRCLE}, 'circle of 2 files: plugin/core/a.c, plugin/core/b.c'),
    ({SYMBOLS: CIRCLE}, 'plugin/core/b.c -> plugin/core/a.c: a'),
    ({SYMBOLS: THIRD}, 'circle of 3 files: plugin/core/a.c, plugin/core/b.c, plugin/core/c.c'),
    ({SYMBOLS: CIRCLE, EXCEPTIONS: '# Why.\n\n' + REASON}, None),
    ({SYMBOLS: THIRD, EXCEPTIONS: REASON}, 'circle of 3 files'),
    ({SYMBOLS: CALLS, EXCEPTIONS: REASON}, 'plugin/core/b.c does not need plugin/core/a.c; take'),
    ({SYMBOLS: CALLS, EXCEPTIONS: 'plugin/core/a.c -> plugin/core/b.c: because\n'}, 'closes no circle'),
    ({SYMBOLS: CIRCLE, EXCEPTIONS: 'plugin/core/b.c -> plugin/core/a.c\n'}, 'is no "FROM'),
    ({SYMBOLS: UP}, 'plugin/core/ must not need plugin/streams/'),
    ({SYMBOLS: UP, EXCEPTIONS: 'plugin/core/b.c -> plugin/streams/s.c: because\n'}, None),
    ({SYMBOLS: 'plugin/backend.c: s U\nplugin/streams/s.c: s T\n'}, None),
    # The first noun needs the second by its .c file, that the first by its header; b.h has no code to need.
    ({**NOUNS, 'plugin/core/b.c': ''}, 'circle of 2 files: plugin/core/a, plugin/core/b'),
    ({**NOUNS, 'plugin/core/b.c': ''}, 'plugin/core/a -> plugin/core/b: b.h'),
    (NOUNS, None),
    # By a header between them, which stands for what it includes.
    ({**NOUNS, 'plugin/core/b.c': '', 'plugin/core/a.c': '#include "core/c.h"\n',
      'plugin/core/c.h': '#include "b.h"\n'},
     'circle of 2 files: plugin/core/a, plugin/core/b'),
    ({**NOUNS, 'plugin/core/b.c': '', EXCEPTIONS: 'plugin/core/a -> plugin/core/b: because\n'}, None),
    ({**NOUNS, EXCEPTIONS: 'plugin/core/a -> plugin/core/b: because\n'}, 'plugin/core/a does not need plugin/core/b'),
]


def main():
    nm, build, seeded, *listed = sys.argv[2:]
    del sys.argv[2:]
    canary = ({SYMBOLS: read_symbols(nm, build, seeded)},
              'circle of 2 files: tests/lint/circle_a.c, tests/lint/circle_b.c')
    libraries = [read_symbols(nm, build, one) for one in listed]
    lint.main(lambda tree: check(tree, libraries if tree.root == sys.argv[1] else None), [*CANARIES, canary])


if __name__ == '__main__':
    main()
