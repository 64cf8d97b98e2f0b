#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check.py CC MODEL [-DNAME=VALUE...]: every state of a model is reached and none is wrong.

Each mistake that the model can be told to make (its first comment says MUTANT=1..N) must be found. A model whose first
comment says ENDS is searched a second time, for runs that are fair to all of its processes and do not end. Prints the
states of each search. Partial order reduction is left out: it missed a mistake in lru_table.pml, of a thread that
counts itself in too late, whose counter and list head it takes for independent.

Spin is the one that LEAT_TEST_SPIN names, or the machine's; without it the test is skipped (exit status 77).
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

DEPTH = 3000000
# Megabytes that a search may take.
MEMORY = 2000
# How each search is told to the model, compiled and run: what is wrong in a state, a thread that is stuck among them,
# and runs that do not end, for which the model may be smaller (RUNS), as each state counts once for each process.
STATES = ((), ('-DSAFETY',), ())
RUNS = (('-DRUNS',), ('-DNP', '-DNFAIR=3'), ('-l', '-f'))


def search(spin, compiler, model, defines, folder, how):
    """States, and what went wrong or None, of a whole search."""
    told_model, compiled, run = how
    subprocess.run([spin, *defines, *told_model, '-a', model], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([compiler, '-O2', '-w', *compiled, '-DNOREDUCE', '-DCOLLAPSE', f'-DMEMLIM={MEMORY}', '-o', 'pan',
                    'pan.c'], cwd=folder, check=True)
    told = subprocess.run(['./pan', f'-m{DEPTH}', '-n', *run], cwd=folder, stdout=subprocess.PIPE, text=True,
                          check=False).stdout
    states, errors = re.search(r'(\d+) states, stored', told), re.search(r'errors: (\d+)', told)
    wrong = re.search(r'^pan:\d+: (.*?)(?: \(at depth \d+\))?$', told, re.M)
    # What was found before the depth or the memory was at its end is wrong all the same.
    found = states and errors and int(errors.group(1)) and wrong and 'depth too small' not in wrong.group(1)
    if not found and (not states or not errors or 'too small' in told or 'out of memory' in told.lower()):
        sys.exit(f'{model} was not searched to its end:\n{told}')
    return int(states.group(1)), wrong.group(1) if found else None


def judge(spin, compiler, model, defines, ends):
    """States of the searches, up to the one that found something wrong, and what that is or None."""
    total = 0
    with tempfile.TemporaryDirectory() as folder:
        for how in (STATES, RUNS) if ends else (STATES,):
            states, wrong = search(spin, compiler, model, defines, folder, how)
            total += states
            if wrong:
                return total, wrong
    return total, None


def main():
    compiler, model, *defines = sys.argv[1:]
    spin = os.environ.get('LEAT_TEST_SPIN') or shutil.which('spin')
    if not spin:
        print('there is no spin; ./dev check prove brings one')
        return 77
    model = os.path.abspath(model)
    with open(model, encoding='utf-8') as file:
        head = re.search(r'MUTANT=1\.\.(\d+)(.*?)\*/', file.read(), re.S)
    mutants, ends = int(head.group(1)), 'ENDS' in head.group(2)
    wrong_itself, missed = False, 0
    for mutant in range(mutants + 1):
        states, wrong = judge(spin, compiler, model, [*defines, f'-DMUTANT={mutant}'], ends)
        print(f'{"mistake " + str(mutant) if mutant else "as it is"}: {states} states, {wrong or "nothing wrong"}',
              flush=True)
        wrong_itself = wrong_itself or (mutant == 0 and wrong is not None)
        missed += mutant != 0 and wrong is None
    print(f'{os.path.basename(model)}: {mutants} mistakes, {missed} missed')
    return 1 if wrong_itself or missed else 0


if __name__ == '__main__':
    sys.exit(main())
