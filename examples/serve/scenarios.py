#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What clients of ray_serve.py see while replicas come and go, on a Ray of this process's own.

    restart   every replica is replaced by one of a new version, one after the other
    kill      a replica gets SIGKILL; Ray Serve starts another

Prints what load.py prints for each, and draws it with --plot. Exit status: 0 no answer was wrong, a restart has cost no
request, and a kill none but those that the replica had; 1 not.
"""
import argparse
import http.client
import json
import os
import signal
import socket
import sys
import time

from ray import serve

import command_line
import load
import ray_serve

# How long anything may take here.
WAIT_S = 90


def replicas(port, wanted, generation):
    """The replicas' devices by process, as soon as there are so many and all of a generation."""
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        found = {}
        # The proxy chooses among replicas at random, so some are asked several times.
        for _ in range(8 * wanted):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=WAIT_S)
            try:
                connection.request("GET", "/replica")
                told = json.loads(connection.getresponse().read())
                found[told["process"]] = told["generation"], told["device"]
            except (OSError, http.client.HTTPException, ValueError, KeyError):
                pass  # A replica that goes; it is no load that is counted.
            finally:
                connection.close()
        if len(found) == wanted and {which for which, _ in found.values()} == {generation}:
            return {process: device for process, (_, device) in found.items()}
        time.sleep(0.2)
    raise SystemExit(f"not {wanted} replicas of generation {generation} after {WAIT_S} s, but {found}")


def restart(options):
    before = replicas(options.port, options.replicas, "1")
    ray_serve.deploy({**vars(options), "generation": "2"})
    after = replicas(options.port, options.replicas, "2")
    stayed = before.keys() & after.keys()
    return after, f"processes {stayed} were not replaced" if stayed else ""


def kill(options):
    before = replicas(options.port, options.replicas, "2")
    victim = min(before)
    os.kill(victim, signal.SIGKILL)
    until = time.monotonic() + WAIT_S
    while time.monotonic() < until:
        after = replicas(options.port, options.replicas, "2")
        if victim not in after:
            return after, ""
    return after, f"process {victim} was not replaced"


def under_load(scene, options, allowed):
    """Runs a scene under load, prints what became of it and which devices the replicas have after it, and says whether
    that is right."""
    running = load.Load(f"http://127.0.0.1:{options.port}", options.clients)
    try:
        running.stopped.wait(options.seconds)
        after, fault = scene(options)
        running.stopped.wait(options.seconds)
    finally:
        seconds = running.stop()  # Its threads would keep the process.
    told = load.summary(running, seconds)
    print(json.dumps({"scene": scene.__name__, "devices": sorted(map(str, after.values())), **told}), flush=True)
    if options.plot:
        load.plot(running, f"{options.plot}-{scene.__name__}.svg")
    faults = running.wrong[:5] + [fault] * bool(fault)
    if sum(told["errors"].values()) > allowed:
        faults.append(f"more than {allowed} requests were lost: {told['errors']}")
    if not told["answers"]:
        faults.append("there was no answer")
    for text in faults:
        print(f"{scene.__name__}: {text}", file=sys.stderr)
    return not faults


def too_late(*_):
    raise SystemExit(f"not finished after {4 * WAIT_S} s")


def main():
    parser = argparse.ArgumentParser(description="Restarts and kills replicas under load.")
    parser.add_argument("--replicas", type=command_line.whole(1, 1024), default=2)
    parser.add_argument("--gpus", type=command_line.whole(0, 1024),
                        help="how many Ray shall count with, one for a replica")
    parser.add_argument("--device", default="", help="indices or UUIDs, in the order of Ray's numbers for GPUs")
    parser.add_argument("--clients", type=command_line.whole(1, 1024), default=4)
    parser.add_argument("--seconds", type=command_line.seconds(), default=5,
                        help="of load before and after what happens")
    parser.add_argument("--plot", metavar="PREFIX", help="draw latencies into PREFIX-restart.svg and PREFIX-kill.svg")
    options = parser.parse_args()
    with socket.create_server(("127.0.0.1", 0)) as free:
        options.port = free.getsockname()[1]
    signal.signal(signal.SIGALRM, too_late)
    signal.alarm(4 * WAIT_S)  # Ray has waits of its own.
    options.replica_gpus = 1 if ray_serve.start(options.port, options.gpus) else 0
    try:
        ray_serve.deploy(vars(options))
        # A client has one request at a time, so a replica that dies cannot have more than there are clients.
        right = [under_load(restart, options, 0), under_load(kill, options, options.clients)]
    finally:
        serve.shutdown()
    return 0 if all(right) else 1


if __name__ == "__main__":
    sys.exit(main())
