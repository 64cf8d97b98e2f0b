#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check.py TREE TEST.litmus: the memory orders of the C code are strong enough for what they are for.
check.py TREE --all: each order of the C code that is not relaxed is in a test, or in others.txt with a reason.

A litmus test is a few threads with the atomic operations of an argument of docs/concurrency.md. herd7 looks at every
execution that C11 allows, by two models of it: RC11 ("Repairing Sequential Consistency in C/C++11", PLDI 2017), and C11
with a partial order of sequentially consistent operations ("Overhauling SC Atomics in C11 and OpenCL", POPL 2016),
which lets loads and stores pass each other that RC11 keeps apart. What `exists` describes must not occur, and no two
accesses to plain memory may race. Compilers map C11's orders to x86_64 and to aarch64 so that no more is allowed there.

Above each operation stands a comment that says where it comes from, so that C and the tests stay one:

- `FILE: TEXT`, a line of C. TEXT stands in FILE, once, or N times if ` xN` follows, and its first order is that of the
  operation or a stronger one. Of a mutex, to lock is to acquire, and to unlock is to release.
- `use N`: the lines with that number of each use that the test's first comment lists behind a `-`.
- `assumed of WHOM`: of somebody else's code, which is taken as it stands.

Then the order of each operation (of all that come from the same place) is made weaker by a step, but for what is
assumed. That must be noticed, so a test has the weakest orders that will do.

herd7 is the one that LEAT_TEST_HERD names, or the machine's; without it the test is skipped (exit status 77).
"""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
from typing import NamedTuple

FOLDERS = ('plugin', 'common', 'batch', 'host-shim')
MODELS = ('rc11.cat', 'c11_partialSC.cat')
ORDER = re.compile(r'memory_order_(\w+)')
LINE = re.compile(r'(?:(\d+) )?(\S+\.[ch]): (.*?)(?: x(\d+))?')
MUTEX = {'leati_mutex_lock(': 'acquire', 'leati_mutex_unlock(': 'release'}
# The orders that are the next weaker ones, of loads, of stores, of fences, and of what loads and stores.
WEAKER = {
    'load': {'seq_cst': ('acquire',), 'acquire': ('relaxed',)},
    'store': {'seq_cst': ('release',), 'release': ('relaxed',)},
    'thread_fence': {'seq_cst': ('acq_rel',), 'acq_rel': ('acquire', 'release')},
    None: {'seq_cst': ('acq_rel',), 'acq_rel': ('acquire', 'release'), 'acquire': ('relaxed',),
           'release': ('relaxed',)},
}


class Line(NamedTuple):
    """A line of C."""
    file: str
    text: str
    count: int

    @classmethod
    def read(cls, text):
        """The number of the operation, or None, and the line; None: the text is none."""
        found = LINE.fullmatch(text.strip().removesuffix(' *)'))
        return found and (found[1] and int(found[1]), cls(found[2], found[3], int(found[4] or 1)))

    def order(self):
        """Its first order."""
        return next((order for call, order in MUTEX.items() if call in self.text), None) or ORDER.search(self.text)[1]


def code_of(tree, file):
    """A file of C, with one space for each piece of white space."""
    with open(os.path.join(tree, file), encoding='utf-8') as opened:
        return ' '.join(opened.read().split())


class Test:
    """A litmus test: its lines; by where an operation comes from, the numbers of its lines; and its uses."""

    def __init__(self, path):
        with open(path, encoding='utf-8') as file:
            self.lines = file.read().split('\n')
        self.found, self.uses, source = {}, [], None
        for number, line in enumerate(self.lines):
            comment = re.match(r' *// (.*)', line)
            if line.startswith('   - '):
                self.uses.append([])
            elif self.uses and Line.read(line):
                self.uses[-1].append(Line.read(line))
            elif comment:
                source = comment[1]
            elif ORDER.search(line):
                if not source or len(ORDER.findall(line)) != 1:
                    sys.exit(f'{path}:{number + 1}: where does this operation come from?')
                self.found.setdefault(source, []).append(number)
                source = None

    def lines_of_c(self, source):
        """What an operation stands for, in each use."""
        if source.startswith('assumed of '):
            return []
        used = re.fullmatch(r'use (\d+)', source)
        if not used:
            return [Line.read(source)[1]]
        chosen = [[line for number, line in use if number == int(used[1])] for use in self.uses]
        if not all(chosen):
            sys.exit(f'a use has no line for: {source}')
        return [line for lines in chosen for line in lines]


def is_in(tree, line, needed):
    """Whether C has this line, as often as it should, with this order or a stronger one."""
    orders = {line.order()}
    while orders and needed not in orders:
        orders = {weaker for order in orders for weaker in WEAKER[None].get(order, ())}
    return bool(orders) and code_of(tree, line.file).count(line.text) == line.count


def weaker_orders(operation):
    """The next weaker orders that an operation may have."""
    kind = re.search(r'atomic_(load|store|thread_fence)?', operation)[1]
    return WEAKER[kind].get(ORDER.search(operation)[1], ())


def outcome(herd, lines, folder):
    """What goes wrong, or None."""
    test = os.path.join(folder, 'test.litmus')
    with open(test, 'w', encoding='utf-8') as file:
        file.write('\n'.join(lines))
    for model in MODELS:
        told = subprocess.run([herd, '-model', model, test], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False).stdout
        seen = re.search(r'^Observation \S+ (Never|Sometimes|Always) (\d+) (\d+)$', told, re.M)
        if not seen or seen[2] == seen[3] == '0':
            sys.exit(f'herd7 does not run this:\n{told}')
        if seen[1] != 'Never':
            return f'it occurs by {model}'
        if re.search(r'^(Flag|Undef)', told, re.M):
            return f'accesses race by {model}'
    return None


def judge(tree, path):
    """Whether a test holds, and notices each weaker order."""
    herd = os.environ.get('LEAT_TEST_HERD') or shutil.which('herd7')
    if not herd:
        print('there is no herd7; ./dev check prove brings one')
        return 77
    test = Test(path)
    weakened = missed = others = 0
    with tempfile.TemporaryDirectory() as folder:
        wrong = outcome(herd, test.lines, folder)
        print(f'as it is: {wrong or "nothing wrong"}')
        for source, numbers in test.found.items():
            needed = {ORDER.search(test.lines[number])[1] for number in numbers}
            for line in test.lines_of_c(source):
                if not all(is_in(tree, line, order) for order in needed):
                    print(f'{line.file} does not have this {line.count} times, or has a weaker order: {line.text}')
                    others += 1
            assumed = source.startswith('assumed of ')
            for order in () if assumed else weaker_orders(test.lines[numbers[0]]):
                changed = list(test.lines)
                for number in numbers:
                    changed[number] = ORDER.sub(f'memory_order_{order}', changed[number])
                noticed = outcome(herd, changed, folder)
                weakened += 1
                missed += noticed is None
                print(f'{order} in {source}: {noticed or "nothing wrong"}')
    print(f'{os.path.basename(path)}: {max(1, len(test.uses))} uses, {weakened} weaker orders, {missed} missed; '
          f'{others} lines that C does not have')
    return 1 if wrong or missed or others else 0


def is_covered(code, place, texts):
    """Whether an order of C lies in one of the texts."""
    return any(code.find(text, max(0, place - len(text) + 1), place + len(text)) >= 0 for text in texts)


def look_at_all(tree):
    """Whether each order is accounted for, in tests of the tree or in others.txt."""
    here, texts, status, count = os.path.join(tree, 'tests/litmus'), {}, 0, 0
    with open(os.path.join(here, 'others.txt'), encoding='utf-8') as file:
        lines = {found[1] for found in map(Line.read, file) if found}
    for path in glob.glob(os.path.join(here, '*.litmus')):
        test = Test(path)
        lines |= {line for source in test.found for line in test.lines_of_c(source) if 'canary' not in path}
    for line in sorted(lines):
        texts.setdefault(line.file, set()).add(line.text)
        if code_of(tree, line.file).count(line.text) != line.count:
            print(f'{line.file} does not have this {line.count} times: {line.text}')
            status = 1
    for folder in FOLDERS:
        for path in sorted(glob.glob(os.path.join(tree, folder, '**/*.[ch]'), recursive=True)):
            file = os.path.relpath(path, tree)
            code = code_of(tree, file)
            for found in re.finditer(r'memory_order_(?!relaxed)', code):
                count += 1
                if not is_covered(code, found.start(), texts.get(file, ())):
                    print(f'{file}: what is this order for? A test says it, or others.txt: '
                          f'{code[max(0, found.start() - 80):found.end() + 20]}')
                    status = 1
    print(f'{count} orders that are not relaxed')
    return status


def main():
    tree, test = sys.argv[1:]
    return look_at_all(tree) if test == '--all' else judge(tree, test)


if __name__ == '__main__':
    sys.exit(main())
