#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""check.py ROOT [-DNAME... -IFOLDER...] HARNESS.c...: nothing that a harness asserts of the real sources can be wrong.

A harness is a file of functions prove_...(void), each of which calls functions of a source that it includes, for all
values of what it leaves open. CBMC unrolls the loops, says if it has not unrolled them to their end, and looks for
values with which an assertion fails, an access leaves its object, a pointer dangles or a sum of signed numbers
overflows. The comment in front of such a function says what holds, and:

  UNWIND 9              rounds of its loops at most (else 8),
  LOOPS function.0:24   and of one of them, by its number in a function
  CHECKS --some-check   what CBMC looks for beyond the above
  SMALLER FILE: `these words` become `those words`
                        a source with a smaller array in it than the real one, so that its end comes within the rounds
  MISTAKE FILE: `these words` become `those words`
                        a source with a mistake in it, which must be found; there is one at least

Prints what was checked of each and what is found of each mistake, then the number of all. CBMC is the one that
LEAT_TEST_CBMC names, or the machine's; without it the test is skipped (exit status 77).
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

# Folders of ROOT that its sources include from.
FOLDERS = ('plugin', 'plugin/ops', 'host-shim', 'batch', 'tools', 'abi', '.')
ALWAYS = ('--bounds-check', '--pointer-check', '--signed-overflow-check', '--div-by-zero-check',
          '--undefined-shift-check', '--unwinding-assertions', '--drop-unused-functions')
# Seconds of the processor that one search may take.
SECONDS = 300


class Harness:
    """A function that proves something, and what its comment says."""

    def __init__(self, path, name, comment):
        words = ' '.join(' '.join(re.sub(r'^\s*\*', '', line) for line in comment.split('\n')).split())
        self.path, self.name = path, name
        self.unwind = (re.findall(r'UNWIND (\d+)', words) or ['8'])[0]
        self.loops = [word for some in re.findall(r'LOOPS((?: \w+\.\d+:\d+)+)', words) for word in some.split()]
        self.checks = [check for some in re.findall(r'CHECKS((?: --[a-z-]+)+)', words) for check in some.split()]
        self.smaller, self.mistakes = (re.findall(mark + r' (\S+): `([^`]*)` becomes? `([^`]*)`', words)
                                       for mark in ('SMALLER', 'MISTAKE'))
        if not self.mistakes or len(self.smaller + self.mistakes) != words.count('SMALLER') + words.count('MISTAKE'):
            sys.exit(f'{path}: {name} has no mistake, or one that is not understood')


def harnesses_of(path):
    with open(path, encoding='utf-8') as file:
        text = file.read()
    found = re.findall(r'/\*((?:(?!\*/).)*)\*/\nvoid (prove_\w+)\(void\)', text, re.S)
    if not found or len(found) != len(re.findall(r'^void prove_', text, re.M)):
        sys.exit(f'{path}: each prove_...() needs a comment right in front of it, and there must be one')
    return [Harness(path, name, comment) for comment, name in found]


def change(root, folder, source, old, new):
    """Writes a source with other words in it where it is found before the right one, or changes it once more."""
    path = os.path.join(folder, source)
    with open(path if os.path.exists(path) else os.path.join(root, source), encoding='utf-8') as file:
        text = file.read()
    # The comment may have broken the line elsewhere.
    pattern = r'\s+'.join(re.escape(word) for word in old.split())
    wrong, count = re.subn(pattern, lambda _: new, text)
    if count != 1:
        sys.exit(f'{source} has `{old}` {count} times')
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(wrong)


def search(cbmc, root, options, harness, mistake):
    """How many properties were checked, and what is wrong or None."""
    with tempfile.TemporaryDirectory() as folder:
        for words in harness.smaller + ([mistake] if mistake else []):
            change(root, folder, *words)
        includes = [f'-I{os.path.join(base, inner)}' for inner in FOLDERS for base in (folder, root)
                    if os.path.isdir(os.path.join(base, inner))]
        done = subprocess.run(['sh', '-c', f'ulimit -t {SECONDS}; exec "$@"', 'sh', cbmc, *includes, *options, *ALWAYS,
                               *harness.checks, '--unwind', harness.unwind, '--unwindset', ','.join(harness.loops),
                               '--function', harness.name,
                               *(['--stop-on-fail'] if mistake else []), harness.path],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    told = done.stdout
    # What has no body returns anything and does nothing, which proves something else.
    missing = sorted(set(re.findall(r'no body for \w+ (\S+)', told)))
    if missing or done.returncode not in (0, 10):
        sys.exit(f'{harness.path}: {harness.name} was not searched: '
                 + (f'there is no {", ".join(missing)}' if missing else told[-3000:]))
    count = re.search(r'\*\* \d+ of (\d+) failed', told)
    wrong = re.search(r'Violated property:\n.*? function (\S+) .*\n\s*(.*)\n', told) or \
        re.search(r'function (\S+)\n(?:.*\n)*?\[\S+\] (.*): FAILURE', told)
    return int(count.group(1)) if count else 0, f'{wrong.group(1)}(): {wrong.group(2)}' if done.returncode else None


def judge(cbmc, root, options, harness):
    """Searches a harness as it is and with each of its mistakes. Checks, mistakes missed, and whether it fails."""
    checks, wrong = search(cbmc, root, options, harness, None)
    lines = [f'{harness.name}: {checks} checks, {wrong or "nothing wrong"}']
    missed = 0
    for mistake in harness.mistakes:
        _, found = search(cbmc, root, options, harness, mistake)
        missed += found is None
        lines.append(f'  {mistake[0]}: `{mistake[2]}`: {found or "MISSED"}')
    print('\n'.join(lines), flush=True)
    return checks, missed, wrong is not None


def main():
    root, *rest = sys.argv[1:]
    cbmc = os.environ.get('LEAT_TEST_CBMC') or shutil.which('cbmc')
    if not cbmc:
        print('there is no cbmc; ./dev check cbmc brings one')
        return 77
    options = [word for word in rest if word.startswith('-')]
    harnesses = [harness for path in rest if not path.startswith('-') for harness in harnesses_of(path)]
    begin = time.monotonic()
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        judged = list(pool.map(lambda harness: judge(cbmc, root, options, harness), harnesses))
    used = os.times()
    print(f'{len(harnesses)} harnesses, {sum(checks for checks, _, _ in judged)} checks, '
          f'{sum(len(harness.mistakes) for harness in harnesses)} mistakes, {sum(missed for _, missed, _ in judged)} '
          f'missed, {time.monotonic() - begin:.0f} seconds, {used.children_user + used.children_system:.0f} of '
          'processors')
    return 1 if any(missed or wrong for _, missed, wrong in judged) else 0


if __name__ == '__main__':
    sys.exit(main())
