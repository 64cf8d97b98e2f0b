#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run a command, and end those of its children that hang.

Usage: watch.py SECONDS COMMAND...

The command is ctest or another that runs tests as its children. A child hangs when it, and all that it has started,
have used less than a hundredth of SECONDS of processor time for SECONDS; it is told what it was at, and killed. How
slow the machine is does not matter. Exit status: the command's.
"""
import os
import signal
import subprocess
import sys
import threading
import time

# Of the time in which a child must move.
LOOKS = 20
STANDSTILL = 0.01
TICKS = os.sysconf('SC_CLK_TCK')


def processes():
    """Each process: its parent, and its processor seconds with those of the children that it has waited for."""
    found = {}
    for name in os.listdir('/proc'):
        if name.isdigit():
            try:
                with open(f'/proc/{name}/stat', encoding='utf-8', errors='replace') as file:
                    # Behind the name, which may have brackets of its own: proc(5).
                    words = file.read().rsplit(')', 1)[1].split()
            except OSError:
                continue  # it has ended
            found[int(name)] = (int(words[1]), sum(map(int, words[11:15])) / TICKS)
    return found


def descendants(all_processes, root):
    """A process and what it has started, as far as their parents live."""
    family, added = [root], True
    while added:
        added = [pid for pid, (parent, _) in all_processes.items() if parent in family and pid not in family]
        family += added
    return [pid for pid in family if pid in all_processes]


def text_of(pid, file):
    try:
        with open(f'/proc/{pid}/{file}', 'rb') as opened:
            return opened.read().replace(b'\0', b' ').decode(errors='replace').strip()
    except OSError:
        return '?'


class Watch:
    """Looks at the children of a process until it is told that the process has ended."""

    def __init__(self, root, seconds):
        self.root, self.seconds = root, seconds
        self.moved = {}  # by child: when it last moved, and its processor seconds then
        self.ended = threading.Event()

    def look(self, now):
        all_processes = processes()
        children = [pid for pid, (parent, _) in all_processes.items() if parent == self.root]
        for child in children:
            family = descendants(all_processes, child)
            used = sum(all_processes[pid][1] for pid in family)
            when, before = self.moved.get(child, (now, used))
            # What a member that has ended had used may be gone from the sum.
            if abs(used - before) >= self.seconds * STANDSTILL:
                when, before = now, used
            self.moved[child] = (when, before)
            if now - when >= self.seconds:
                self.end(family)
        self.moved = {child: seen for child, seen in self.moved.items() if child in children}

    def end(self, family):
        print(f'watch.py: next to no processor time in {self.seconds:g} s, so it hangs and is ended:', flush=True)
        for pid in family:
            print(f'  {pid} {text_of(pid, "cmdline")}: {text_of(pid, "wchan")}', flush=True)
        for pid in family:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def run(self):
        while not self.ended.wait(self.seconds / LOOKS):
            self.look(time.monotonic())


def main():
    seconds, *command = sys.argv[1:]
    with subprocess.Popen(command) as process:
        watch = Watch(process.pid, float(seconds))
        thread = threading.Thread(target=watch.run, daemon=True)
        thread.start()
        # Ctrl-C reaches the command too, which then ends by itself.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        status = process.wait()
        watch.ended.set()
        thread.join()
    sys.exit(status if status >= 0 else 128 - status)


if __name__ == '__main__':
    main()
