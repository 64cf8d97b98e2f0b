#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run jobs of jobs.py by ./dev, and print a table of them.

Usage: run_jobs.py TREE test           what everybody runs before a change goes in
       run_jobs.py TREE check [JOB...] the jobs beyond it; without names those that have not passed for this tree
       run_jobs.py TREE ci BEGUN       test, then the jobs that the change can break and one more, in half an hour
                                       after the time BEGUN (date +%s)
       run_jobs.py TREE known [JOB...] whether there are these jobs

Each job is a process of its own, so that one that fails does not end the others. Processor seconds are those of all
processes that a job has waited for. Kernels are those that the driver has compiled, which Mesa keeps in
MESA_SHADER_CACHE_DIR (build/shaders), where the next job finds them: none are counted on other drivers.
"""
import json
import os
import resource
import subprocess
import sys
import time
from typing import NamedTuple

import jobs

# What ./dev test may take beyond set-up and build: processor seconds.
TEST_MAX = 450
# What .ci/run may take, and what is left of that for the table and for jobs that take longer than they did: seconds.
CI_MAX, CI_RESERVE = 1800, 120
# How far back a change is looked for where nothing says what landed before it.
CI_COMMITS = 60


class Row(NamedTuple):
    """How a job went."""
    name: str
    verdict: str  # passed, FAILED, or why it did not run to its end
    wall: float
    used: float   # processor seconds
    kernels: int

    def text(self):
        return f'{self.name:<12} {self.verdict:<8} {self.wall:6.0f} s {self.used:8.0f} s {self.kernels:8}'


HEAD = f'{"job":<12} {"verdict":<8} {"wall":>8} {"processor":>10} {"kernels":>8}'


def kernels():
    """How many kernels the driver has compiled and kept."""
    folder = os.environ['MESA_SHADER_CACHE_DIR']
    # Beside them lie an index and what marks the folder's age.
    return sum(len(name) >= 38 for _, _, names in os.walk(folder) for name in names)


def run(name, command, limit=None):
    """Runs a command as a job. None where it did not end within `limit` seconds."""
    print(f'== job: {name}', flush=True)
    begin, before, compiled = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN), kernels()
    # In a session of its own, so that all of it can be ended.
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=limit is not None) as process:
        try:
            verdict = 'FAILED' if process.wait(limit) else 'passed'
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.wait()
            verdict = 'stopped'
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Row(name, verdict, time.monotonic() - begin,
               after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, kernels() - compiled)


def command_of(tree, name):
    dev = os.path.join(tree, 'dev')
    return [dev, 'unit', f'--job={name}'] if name == 'test' or jobs.BY_NAME[name].tests else [dev, name]


def print_table(rows):
    print('\n' + HEAD)
    for row in rows:
        print(row.text())
    print(flush=True)


def test(tree):
    """The job `test`. Its rows."""
    rows = [run('build', [os.path.join(tree, 'dev'), 'build'])]
    if rows[0].verdict == 'passed':
        rows.append(run('test', command_of(tree, 'test')))
    print_table(rows)
    if len(rows) == 2:
        print(f'beyond set-up and build: {rows[1].used:.0f} of {TEST_MAX} processor seconds')
    return rows


class State:
    """What has passed for this tree, in the build folder."""

    def __init__(self, tree):
        self.path = os.path.join(tree, 'build', 'check.json')
        build_id = ['sh', os.path.join(tree, 'cmake', 'build_id.sh'), tree]
        self.tree = subprocess.run(build_id, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        try:
            with open(self.path, encoding='utf-8') as file:
                told = json.load(file)
        except (OSError, ValueError):
            told = {}
        self.rows = {}
        if told.get('tree') == self.tree:
            self.rows = {name: Row(*row) for name, row in told['rows'].items()}

    def passed(self, name):
        return name in self.rows and self.rows[name].verdict == 'passed'

    def keep(self, row):
        self.rows[row.name] = row
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(self.path + '.new', 'w', encoding='utf-8') as file:
            json.dump({'tree': self.tree, 'rows': self.rows}, file, indent=1)
        os.replace(self.path + '.new', self.path)


def check(tree, names):
    state = State(tree)
    for name in names or jobs.NAMES:
        if not names and state.passed(name):
            print(f'== job: {name} has passed for this tree; ./dev check {name} runs it again')
            continue
        state.keep(run(name, command_of(tree, name)))
    print_table([state.rows[name] for name in jobs.NAMES if name in state.rows])
    left = [name for name in jobs.NAMES if not state.passed(name)]
    print(f'not passed for {state.tree}: {" ".join(left)}' if left else f'every job has passed for {state.tree}')
    return all(state.passed(name) for name in names or jobs.NAMES)


# ---- What a change can break -----------------------------------------------------------------------------------------


def git(tree, *words):
    """What git prints, or None where it fails."""
    done = subprocess.run(['git', '-C', tree, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                          check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def base_of(tree):
    """What the change is against: what LEAT_CI_BASE names, else where it left origin's branch, else, as in a clone of
    this branch alone, so many commits back that it began before. None: nothing says so, and everything is new."""
    named = os.environ.get('LEAT_CI_BASE')
    head = git(tree, 'rev-parse', 'HEAD')
    branches = [named] if named else ['origin/HEAD', 'origin/main', 'origin/master']
    for branch in branches:
        base = git(tree, 'merge-base', 'HEAD', branch)
        if base and base != head:
            return base
    return git(tree, 'rev-parse', '--verify', f'HEAD~{CI_COMMITS}')


def changed_files(tree):
    """The files that differ from the base, or None for all."""
    base = base_of(tree)
    if base is None:
        return None
    print(f'== the change is what differs from {base[:12]}', flush=True)
    told = git(tree, 'diff', '--name-only', base)
    new = git(tree, 'ls-files', '--others', '--exclude-standard')
    return None if told is None or new is None else told.splitlines() + new.splitlines()


def jobs_of_change(tree):
    """The jobs that the change can break, and one more. The hash of HEAD says which one, and which comes first: if
    there is no time for all, another change leaves out others."""
    files = changed_files(tree)
    broken = list(jobs.NAMES) if files is None else jobs.broken_by(files)
    others = [name for name in jobs.NAMES if name not in broken]
    turn = int(git(tree, 'rev-parse', 'HEAD') or '0', 16)
    first = turn % len(broken) if broken else 0
    return broken[first:] + broken[:first] + ([others[turn % len(others)]] if others else [])


def ci(tree, begun):
    rows = test(tree)
    if any(row.verdict != 'passed' for row in rows):
        print('left out, because ./dev test failed: ' + ' '.join(jobs.NAMES))
        return False
    chosen = jobs_of_change(tree)
    # How slow this machine is today: what the same work took where the table's seconds are from.
    slowness = max(1.0, rows[1].wall / (TEST_MAX / 2))
    left_out = {name: 'the change cannot break it' for name in jobs.NAMES if name not in chosen}
    for name in chosen:
        left = CI_MAX - CI_RESERVE - (time.time() - begun)
        if jobs.BY_NAME[name].seconds * slowness > left:
            left_out[name] = f'it takes {jobs.BY_NAME[name].seconds * slowness:.0f} s, and {left:.0f} s are left'
            continue
        rows.append(run(name, command_of(tree, name), left + CI_RESERVE / 2))
        if rows[-1].verdict == 'stopped':
            left_out[name] = 'it did not end in what was left of the half hour'
    print_table(rows)
    print('left out, so this run says nothing of it; ./dev check runs it:' if left_out else 'nothing was left out')
    for name, why in left_out.items():
        print(f'  {name:<12} {why}; {jobs.BY_NAME[name].what}')
    return all(row.verdict != 'FAILED' for row in rows)


def known(names):
    unknown = [name for name in names if name not in jobs.NAMES]
    for name in unknown:
        print(f"./dev: there is no job '{name}' to check; there are: {' '.join(jobs.NAMES)}", file=sys.stderr)
    return not unknown


def main():
    tree, lane, *names = sys.argv[1:]
    # On every Mesa files that can be counted.
    os.environ.setdefault('MESA_SHADER_CACHE_DIR', os.path.join(tree, 'build', 'shaders'))
    os.environ['MESA_DISK_CACHE_MULTI_FILE'] = '1'
    right = {'test': lambda: all(row.verdict == 'passed' for row in test(tree)), 'check': lambda: check(tree, names),
             'ci': lambda: ci(tree, int(names[0])), 'known': lambda: known(names)}[lane]()
    sys.exit(0 if right else 1)


if __name__ == '__main__':
    main()
