#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""analyse.py TREE BUILD JOBS: clang's thread-safety analysis over the C files that have locks.

The files are those of plugin/, host-shim/, batch/ and common/ that BUILD compiles, with its folders and definitions.
pthread_locks.h is put in front of each. Prints how many files and functions' promises there are.
"""
import concurrent.futures
import json
import os
import re
import shlex
import subprocess
import sys

OURS = r'(plugin|host-shim|batch|common)/.*\.c$'
CLANG = ('clang', '-fsyntax-only', '-Wno-everything', '-Wthread-safety', '-Wno-thread-safety-attributes',
         '-DLEAT_ANALYSE_LOCKS')
# What an annotation is, but for the definitions of the macros.
PROMISE = r'(?<!define )\bLEATI_(TAKES|TRIES|GIVES|HOLDS|LACKS|GUARDED_BY)\('
ESCAPE = r'(?<!define )\bLEATI_(UNANALYSED\b|ASSUMES\()'


def commands(tree, build):
    """The analysis of each file, by its path in the tree."""
    told = subprocess.run(['ninja', '-C', build, '-t', 'compdb'], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = {}
    for entry in json.loads(told):
        path = os.path.relpath(os.path.join(entry['directory'], entry['file']), tree)
        if not re.match(OURS, path) or path in found:
            continue
        words = shlex.split(entry['command'])
        kept = [word for before, word in zip(words, words[1:])
                if re.match('-[ID]|-std=|-isystem', word) or before == '-isystem']
        found[path] = [*CLANG, '-include', os.path.join(tree, 'tests', 'tsa', 'pthread_locks.h'), '-I', tree, *kept,
                       os.path.join(tree, path)]
    return found


def analyse(command, folder):
    """What clang says of a file; a file that it cannot read ends the analysis."""
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode:
        sys.exit(done.stdout)
    return done.stdout


def count(tree, files, pattern):
    """How often a pattern is in the analysed folders' files and headers."""
    folders = sorted({os.path.dirname(file) for file in files})
    return sum(len(re.findall(pattern, open(os.path.join(tree, folder, name), encoding='utf-8').read()))
               for folder in folders for name in os.listdir(os.path.join(tree, folder)) if name.endswith(('.c', '.h')))


def main():
    tree, build, jobs = sys.argv[1:]
    files = commands(tree, build)
    canary = os.path.join(tree, 'tests', 'tsa', 'canary.c')
    with open(canary, encoding='utf-8') as opened:
        wrong = [number for number, line in enumerate(opened.read().split('\n'), 1) if '/* wrong */' in line]
    base = files['plugin/core/sync.c'][:-1]
    told = analyse([*base, canary], build)
    missed = [number for number in wrong if f'canary.c:{number}:' not in told]
    if missed or not wrong:
        sys.exit(f'{canary} is wrong in lines of which clang says nothing: {missed}\n{told}')
    with concurrent.futures.ThreadPoolExecutor(int(jobs)) as pool:
        said = ''.join(pool.map(lambda command: analyse(command, build), files.values()))
    print(said, end='')
    warnings = said.count('warning:')
    print(f'{len(files)} files, {count(tree, files, PROMISE)} promises of functions, '
          f'{count(tree, files, ESCAPE)} escapes with their reasons, {warnings} warnings; '
          f'of {len(wrong)} wrong lines 0 missed')
    return 1 if warnings else 0


if __name__ == '__main__':
    sys.exit(main())
