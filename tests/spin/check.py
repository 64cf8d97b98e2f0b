#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check.py SPIN CC MODEL [-DNAME=VALUE...]: every state of a model is reached and none is wrong.

Each mistake that the model can be told to make (its first comment says MUTANT=1..N) must be found. Prints the states of
each search. Partial order reduction is left out: it missed a mistake in lru_table.pml, of a thread that counts itself
in too late, whose counter and list head it takes for independent.
"""
import os
import re
import subprocess
import sys
import tempfile

DEPTH = 1000000


def search(spin, compiler, model, defines, folder):
    """States, and what went wrong or None, of a whole search."""
    subprocess.run([spin, *defines, '-a', model], cwd=folder, check=True)
    subprocess.run([compiler, '-O2', '-w', '-DSAFETY', '-DNOREDUCE', '-DCOLLAPSE', '-o', 'pan', 'pan.c'], cwd=folder,
                   check=True)
    told = subprocess.run(['./pan', f'-m{DEPTH}', '-n'], cwd=folder, stdout=subprocess.PIPE, text=True,
                          check=False).stdout
    states, errors = re.search(r'(\d+) states, stored', told), re.search(r'errors: (\d+)', told)
    if not states or not errors or 'max search depth too small' in told:
        sys.exit(f'{model} was not searched to its end:\n{told}')
    wrong = re.search(r'^pan:\d+: (.*)', told, re.M)
    return int(states.group(1)), (wrong.group(1) if wrong else 'an error') if int(errors.group(1)) else None


def main():
    spin, compiler, model, *defines = sys.argv[1:]
    model = os.path.abspath(model)
    with open(model, encoding='utf-8') as file:
        mutants = int(re.search(r'MUTANT=1\.\.(\d+)', file.read()).group(1))
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        for mutant in range(mutants + 1):
            states, wrong = search(spin, compiler, model, [*defines, f'-DMUTANT={mutant}'], folder)
            print(f'{"mistake " + str(mutant) if mutant else "as it is"}: {states} states, {wrong or "nothing wrong"}')
            failed = failed or (wrong is None) == (mutant != 0)
    print(f'{mutants} mistakes, {"see above" if failed else "0 missed"}')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
