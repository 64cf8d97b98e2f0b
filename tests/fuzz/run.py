#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""run.py BUILD JOBS [SECONDS|corpus [TARGET...]]: fuzzes the plugin by the programs of BUILD, JOBS at once.

Without SECONDS each target makes its share of 10^4 executions, from the corpus in the tree and with a seed, always the
same but for what threads and the driver add; with it, new ones for so many seconds each, and what reaches new code is
kept beside BUILD's programs, where the next run finds it. Before that the canary of each target, whose plugin is wrong
in one place, must be reported within as many executions. What is found is told with the file that shows it again.

`corpus` writes the corpora in the tree anew, from what was kept and what is there: a line of hexadecimal digits for
each input, a few kilobytes for each target.
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile
from typing import NamedTuple

HERE = os.path.dirname(os.path.abspath(__file__))
# Bytes of an input at most: longer ones take longer and do the same.
LENGTH = 600
# Bytes of the inputs of a target that are in the tree, about.
ROOM = 3000
# Seconds that one input may take, on a machine that does other things too.
PATIENCE = 120


class Target(NamedTuple):
    program: str
    executions: int     # of 10^4
    driver: str = 'null'  # '': the machine's

    @property
    def name(self):
        return self.program if self.driver else f'{self.program} on the device'


# On the device every new kernel is compiled, which takes a hundred times as long as all else.
TARGETS = (Target('query', 2200), Target('dlpack', 2600), Target('files', 1400), Target('calls', 1000),
           Target('operators', 2000), Target('graphs', 600),
           Target('operators', 160, ''), Target('graphs', 40, ''))
assert sum(target.executions for target in TARGETS) == 10**4


class Result(NamedTuple):
    target: Target
    executions: int
    seconds: float
    failed: bool
    text: str


def environment(build, target):
    told = dict(os.environ, LEAT_CACHE_DIR='', UBSAN_OPTIONS='print_stacktrace=1',
                # Mesa's compiler keeps what it allocates, and a driver is not unloaded.
                ASAN_OPTIONS=f'detect_leaks={int(bool(target.driver))}')
    if not target.driver:
        # What reads outside of a tensor ends the process.
        told['LEAT_MEMORY_GUARD'] = 'pages'
    else:
        told.update(LD_LIBRARY_PATH=os.path.join(build, 'nulldriver'), NULLDRIVER_STRICT='1')
        # What says to programs for any driver that nothing is computed.
        if target.program in ('operators', 'graphs'):
            told['NULLDRIVER_MODE'] = 'eager'
    return told


def fuzz(build, target, suffix, folders, limit):
    """Runs one program of libFuzzer: its exit status and what it says."""
    findings = os.path.join(build, 'fuzz', 'findings', '')
    os.makedirs(findings, exist_ok=True)
    command = [os.path.join(build, f'fuzz-{target.program}{suffix}'), f'-max_len={LENGTH}', '-len_control=0',
               f'-timeout={PATIENCE}', f'-report_slow_units={PATIENCE}', '-rss_limit_mb=4096', '-print_final_stats=1',
               f'-artifact_prefix={findings}{target.program}{suffix}-', *limit, *folders]
    done = subprocess.run(command, env=environment(build, target), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors='replace', check=False)
    return done.returncode, done.stdout


def corpus_of(build, target):
    """A folder with the inputs that are in the tree, no more than half of the target's executions."""
    folder = os.path.join(build, 'fuzz', 'seeds', target.name)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    with open(os.path.join(HERE, 'corpus', f'{target.program}.txt'), encoding='ascii') as file:
        lines = file.readlines()
        for number, line in enumerate(lines[::1 + 2 * len(lines) // target.executions]):
            with open(os.path.join(folder, f'{number:03}'), 'wb') as seed:
                seed.write(bytes.fromhex(line))
    return folder


def kept_of(build, target):
    folder = os.path.join(build, 'fuzz', 'kept', target.name)
    os.makedirs(folder, exist_ok=True)
    return folder


def reached_first(control):
    """From what a merge notes: for each input how many places it was the first to reach, of those that came before it,
    which are no longer."""
    with open(control, encoding='utf-8') as file:
        lines = file.read().splitlines()
    names = lines[2:2 + int(lines[0])]
    places = dict.fromkeys(names, 0)
    for line in lines[2 + len(names):]:
        kind, number, *reached = line.split()
        if kind == 'COV':
            places[names[int(number)]] += len(reached)
    return places


def renew_corpus(build, target):
    """Inputs that reach most for their length, so many as there is room for."""
    with tempfile.TemporaryDirectory() as work:
        control, merged = os.path.join(work, 'control'), os.path.join(work, 'merged')
        os.makedirs(merged)
        status, text = fuzz(build, target, '', [merged, kept_of(build, target), corpus_of(build, target)],
                            ['-merge=1', f'-merge_control_file={control}'])
        if status != 0:
            sys.exit(f'{target.name}: the corpus cannot be merged\n{text[-3000:]}')
        inputs = []
        for name, places in reached_first(control).items():
            with open(name, 'rb') as file:
                inputs.append((places, file.read()))
    inputs.sort(key=lambda one: (-one[0] / (len(one[1]) + 1), one[1]))
    chosen, room = [], ROOM
    for places, one in inputs:
        if places != 0 and len(one) <= room:
            chosen.append(one)
            room -= len(one)
    with open(os.path.join(HERE, 'corpus', f'{target.program}.txt'), 'w', encoding='ascii') as file:
        file.writelines(one.hex() + '\n' for one in sorted(chosen, key=lambda one: (len(one), one)))
    print(f'{target.name}: {len(chosen)} of {len(inputs)} inputs, {ROOM - room} bytes')


def check_canary(build, target):
    """Nothing, or why the target is blind."""
    status, text = fuzz(build, target, '-canary', [corpus_of(build, target)],
                        [f'-runs={target.executions}', '-seed=56'])
    reported = status != 0 and re.search(r'^fuzz: |AddressSanitizer|runtime error|: status |random\.c:\d+|^fail', text,
                                         re.M)
    return None if reported else f'{target.name}: the canary is not reported (exit status {status})\n{text[-3000:]}'


def run(build, target, seconds):
    seeds = corpus_of(build, target)
    if seconds is None:
        status, text = fuzz(build, target, '', [seeds], [f'-runs={target.executions}', '-seed=56'])
    else:
        status, text = fuzz(build, target, '', [kept_of(build, target), seeds], [f'-max_total_time={seconds}'])
    made = re.search(r'stat::number_of_executed_units: (\d+)', text)
    took = re.search(r'Done \d+ runs in (\d+) second', text)
    interesting = [line for line in text.splitlines() if not re.match(r'#\d+|\tNEW_FUNC|INFO:|stat::', line)]
    return Result(target, int(made.group(1)) if made else 0, float(took.group(1)) if took else 0, status != 0,
                  '\n'.join(interesting[-60:]))


def main():
    build, jobs = os.path.abspath(sys.argv[1]), int(sys.argv[2])
    renews = sys.argv[3:4] == ['corpus']
    seconds = int(sys.argv[3]) if len(sys.argv) > 3 and not renews else None
    wanted = [target for target in TARGETS if target.program in sys.argv[4:] or len(sys.argv) < 5]
    if not wanted:
        sys.exit(f"there is no target '{' '.join(sys.argv[4:])}'; "
                 f'there are {", ".join(dict.fromkeys(target.program for target in TARGETS))}')
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        if renews:
            list(pool.map(lambda target: renew_corpus(build, target),
                          [target for target in wanted if target.driver]))
            return
        blind = [why for why in pool.map(lambda target: check_canary(build, target),
                                         [target for target in wanted if target.driver]) if why]
        for why in blind:
            print(why)
        results = list(pool.map(lambda target: run(build, target, seconds), wanted))
    for result in results:
        print(f'{result.target.name}: {result.executions} executions in {result.seconds:.0f} s'
              + (', FOUND something:' if result.failed else ''))
        if result.failed:
            print(result.text)
    failed = sum(result.failed for result in results)
    print(f'{sum(result.executions for result in results)} executions, {failed} targets with findings, '
          f'{sum(target.driver != "" for target in wanted) - len(blind)} canaries reported')
    sys.exit(1 if failed or blind else 0)


if __name__ == '__main__':
    main()
