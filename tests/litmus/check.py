#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check.py TREE TEST.litmus: the memory orders of the C code are strong enough for what they are for.

A litmus test is a few threads with the atomic operations of an argument of docs/concurrency.md. herd7 looks at every
execution that C11 allows, by two models of it: RC11 ("Repairing Sequential Consistency in C/C++11", PLDI 2017), and C11
with a partial order of sequentially consistent operations ("Overhauling SC Atomics in C11 and OpenCL", POPL 2016),
which lets loads and stores pass each other that RC11 keeps apart. What `exists` describes must not occur, and no two
accesses to plain memory may race. Compilers map C11's orders to x86_64 and to aarch64 so that no more is allowed there.

Above each operation stands a comment that says where it comes from, so that C and the tests stay one:

- `FILE: TEXT`, a line of C: TEXT must stand in FILE, and its first order be that of the operation or a stronger one.
  Of a mutex, to lock is to acquire, and to unlock is to release.
- `use N`: the N-th such line of each of the uses that the test's first comment lists, each behind a `-`.
- `assumed of WHOM`: of somebody else's code, with the weakest order that it can have.

Then the order of each operation (of all that come from the same line) is made weaker by a step, but for what is
assumed. That must be noticed, so a test has the weakest orders that will do.

herd7 is the one that LEAT_TEST_HERD names, or the machine's; without it the test is skipped (exit status 77).
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

MODELS = ('rc11.cat', 'c11_partialSC.cat')
ORDER = re.compile(r'memory_order_(\w+)')
LINE = re.compile(r'(\S+\.[ch]): (.*)')
# The orders that are the next weaker ones, of loads, of stores, of fences, and of what loads and stores.
WEAKER = {
    'load': {'seq_cst': ('acquire',), 'acquire': ('relaxed',)},
    'store': {'seq_cst': ('release',), 'release': ('relaxed',)},
    'thread_fence': {'seq_cst': ('acq_rel',), 'acq_rel': ('acquire', 'release')},
    None: {'seq_cst': ('acq_rel',), 'acq_rel': ('acquire', 'release'), 'acquire': ('relaxed',),
           'release': ('relaxed',)},
}


def weaker_orders(operation):
    """The next weaker orders that an operation may have."""
    kind = re.search(r'atomic_(load|store|thread_fence)?', operation).group(1)
    return WEAKER[kind].get(ORDER.search(operation).group(1), ())


def with_order(operation, order):
    """The operation with that order."""
    return ORDER.sub(f'memory_order_{order}', operation)


def read(test):
    """The lines of a test; by what an operation comes from, the numbers of its lines; and the lines of each use."""
    with open(test, encoding='utf-8') as file:
        lines = file.read().split('\n')
    uses, found, source = [], {}, None
    for number, line in enumerate(lines):
        comment = re.match(r' *// (.*)', line)
        if line.startswith('   - '):
            uses.append([])
        elif uses and LINE.match(line.strip()):
            uses[-1].append(LINE.match(line.strip().removesuffix(' *)')).groups())
        elif comment:
            source = comment.group(1)
        elif ORDER.search(line):
            if not source or len(ORDER.findall(line)) != 1:
                sys.exit(f'{test}:{number + 1}: where does this operation come from?')
            found.setdefault(source, []).append(number)
            source = None
    return lines, found, uses


def lines_of_c(source, uses):
    """The lines of C that an operation stands for, as FILE and TEXT."""
    used = re.fullmatch(r'use (\d+)', source)
    return [use[int(used.group(1)) - 1] for use in uses] if used else [LINE.fullmatch(source).groups()]


def is_in(tree, file, text, operation):
    """Whether C has this line, and the order of the operation or a stronger one."""
    with open(os.path.join(tree, file), encoding='utf-8') as code:
        there = text in ' '.join(code.read().split())
    mutex = {'leati_mutex_lock(': ['acquire'], 'leati_mutex_unlock(': ['release']}
    orders = next((orders for call, orders in mutex.items() if call in text), ORDER.findall(text)[:1])
    while orders and ORDER.search(operation).group(1) not in orders:
        orders = [weaker for order in orders for weaker in WEAKER[None].get(order, ())]
    return there and orders != []


def outcome(herd, lines, folder):
    """What goes wrong, or None."""
    test = os.path.join(folder, 'test.litmus')
    with open(test, 'w', encoding='utf-8') as file:
        file.write('\n'.join(lines))
    for model in MODELS:
        told = subprocess.run([herd, '-model', model, test], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False).stdout
        seen = re.search(r'^Observation \S+ (Never|Sometimes|Always) (\d+) (\d+)$', told, re.M)
        if not seen or seen.group(2) == seen.group(3) == '0':
            sys.exit(f'herd7 does not run this:\n{told}')
        if seen.group(1) != 'Never':
            return f'it occurs by {model}'
        if re.search(r'^(Flag|Undef)', told, re.M):
            return f'accesses race by {model}'
    return None


def main():
    tree, test = sys.argv[1:]
    herd = os.environ.get('LEAT_TEST_HERD') or shutil.which('herd7')
    if not herd:
        print('there is no herd7; ./dev check prove brings one')
        return 77
    lines, found, uses = read(test)
    weakened = missed = others = 0
    with tempfile.TemporaryDirectory() as folder:
        wrong = outcome(herd, lines, folder)
        print(f'as it is: {wrong or "nothing wrong"}')
        for source, numbers in found.items():
            if source.startswith('assumed of '):
                continue
            for file, text in lines_of_c(source, uses):
                if not all(is_in(tree, file, text, lines[number]) for number in numbers):
                    print(f'{file} does not have this, or has a weaker order: {text}')
                    others += 1
            for order in weaker_orders(lines[numbers[0]]):
                changed = list(lines)
                for number in numbers:
                    changed[number] = with_order(changed[number], order)
                noticed = outcome(herd, changed, folder)
                weakened += 1
                missed += noticed is None
                print(f'{order} in {source}: {noticed or "nothing wrong"}')
    print(f'{os.path.basename(test)}: {max(1, len(uses))} uses, {weakened} weaker orders, {missed} missed; '
          f'{others} lines that C does not have')
    return 1 if wrong or missed or others else 0


if __name__ == '__main__':
    sys.exit(main())
