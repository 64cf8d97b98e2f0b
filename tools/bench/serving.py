#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""One HTTP server, one model, and the providers that can run it in turn: answers a second and latencies under load.

Usage: serving.py MODEL [--providers leat,cuda,cpu] [--gpus 1,2] [--processes 1,4] [--batch 1,8] [--clients 16,64] ...

A row is a provider, a way (http, or direct: no HTTP, the server's threads ask their own session), a number of GPUs, of
server processes for each, of threads of each that run the session, and of requests of a batch at most. Rows come in
drawn order, --rounds times. Server number i has a session of its own on GPU i modulo the number of them, and a port of
its own; the clients are spread evenly over the ports, as a balancer would do. Where --batch lets them, requests that
wait go together: a thread that becomes free takes what is there. Providers differ only in how the session is opened.

The server is uvicorn and Starlette, with httptools and uvloop where they are installed. The body of a request is the
bytes of the model's inputs, one after the other, for one index of the first axis; the answer is that of the first
output in float32, or, of one with three axes, its mean over the second (an embedding of its tokens). Inputs of whole
numbers are drawn below --below, others from a normal distribution, and those with "mask" in their name are ones.

leat needs its library (--library, or $LEAT_SO), cuda a package onnxruntime-gpu, which serves for all three.

Prints a JSON object for each measurement, and a table (to stderr) at the end. Every --check-every-th answer is compared
with the CPU provider's. Exit status: 0; 1 an answer was wrong, a request failed, or a server did; 2 bad use.
"""
import argparse
import collections
import contextlib
import datetime
import http.client
import importlib.util
import itertools
import json
import multiprocessing
import os
import platform
import random
import statistics
import sys
import time

import numpy as np

from serving_load import PATIENCE_S, client_process
from serving_server import PROVIDERS, Failed, prepare, server_process

WAYS = ("http", "direct")
# How long a session may take to open.
OPEN_S = 120


# ---- Processes and their times -----------------------------------------------------------------------------------


def guarded_process(target, arguments, pipe):
    try:
        target(*arguments, pipe)
    except Failed as error:
        pipe.send({"failed": str(error)})
    except Exception as error:
        pipe.send({"failed": f"{type(error).__name__}: {error}"})


class Team:
    """Processes that are started together, each with a pipe. Leaving it ends them, however they are."""

    def __init__(self, name, target, arguments):
        self.name, self.pipes, self.processes = name, [], []
        # A process that has been forked can use neither Vulkan nor CUDA of the one that it is of.
        context = multiprocessing.get_context("spawn")
        for each in arguments:
            here, there = context.Pipe()
            process = context.Process(target=guarded_process, args=(target, each, there))
            process.start()
            there.close()  # So that the end of the process is seen here.
            self.pipes.append(here)
            self.processes.append(process)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.join()

    def send(self, what):
        for pipe in self.pipes:
            with contextlib.suppress(OSError):  # Of one that is gone, receive() says so.
                pipe.send(what)

    def receive(self, seconds):
        """What each of them has to say within so many seconds."""
        until, heard = time.monotonic() + seconds, []
        for pipe, process in zip(self.pipes, self.processes):
            try:
                if not pipe.poll(max(0, until - time.monotonic())):
                    raise Failed(f"a {self.name} said nothing for {seconds:.0f} s")
                heard.append(pipe.recv())
            except (EOFError, OSError):
                process.join(PATIENCE_S)
                raise Failed(f"a {self.name} ended with exit code {process.exitcode}") from None
            if "failed" in heard[-1]:
                raise Failed(f"a {self.name}: {heard[-1]['failed']}")
        return heard

    def cpu_s(self):
        """Processor time that they have had. One that is gone has none."""
        ticks = 0
        for process in self.processes:
            with contextlib.suppress(OSError), open(f"/proc/{process.pid}/stat", encoding="ascii") as file:
                fields = file.read().rpartition(")")[2].split()
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def end(self):
        """Tells them to end, and expects that they do so in order."""
        self.send("end")
        until = time.monotonic() + PATIENCE_S
        for process in self.processes:
            process.join(max(0, until - time.monotonic()))
            if process.exitcode != 0:
                state = "goes on" if process.exitcode is None else f"ended with exit code {process.exitcode}"
                raise Failed(f"a {self.name} {state} when told to end")


def window(options, teams):
    """Has the last of the teams run for a warm-up and a window; gives the cores that each has used in the window."""
    begin = time.monotonic() + options.warmup
    end = begin + options.seconds
    teams[-1].send((begin, end))
    time.sleep(max(0, begin - time.monotonic()))
    before = [team.cpu_s() for team in teams], time.monotonic()
    time.sleep(max(0, end - time.monotonic()))
    after = [team.cpu_s() for team in teams], time.monotonic()
    return [round((b - a) / (after[1] - before[1]), 2) for a, b in zip(before[0], after[0])]


# ---- Rows --------------------------------------------------------------------------------------------------------


def summary(options, tallies):
    """The figures of tallies, latencies in milliseconds."""
    latencies = np.concatenate([np.frombuffer(tally["latencies"]) for tally in tallies]) * 1e3
    errors = sum((tally["errors"] for tally in tallies), collections.Counter())
    marks = np.percentile(latencies, (50, 99, 100), method="inverted_cdf").round(3).tolist() if len(latencies) else []
    return {"answers": len(latencies), "answers_per_second": round(len(latencies) / options.seconds, 1),
            "latency_ms": dict(zip(("p50", "p99", "max"), marks)), "errors": dict(errors),
            "checked": sum(tally["checked"] for tally in tallies), "wrong": sum(tally["wrong"] for tally in tallies),
            "worst": max(tally["worst"] for tally in tallies)}


def batches_of(ports):
    """Requests that each of the servers has run, and batches."""
    counts = []
    for port in ports:
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)) as connection:
            connection.request("GET", "/batches")
            counts.append(json.load(connection.getresponse()))
    return np.array(counts)


def measure_clients(options, work, servers, ports, count):
    """One number of clients on servers that run."""
    groups = [range(first, count, options.client_processes) for first in range(options.client_processes)]
    before = batches_of(ports)
    with Team("client", client_process, [(options, work, group, ports) for group in groups if group]) as clients:
        clients.receive(OPEN_S)
        cores = window(options, [servers, clients])
        heard = clients.receive(2 * PATIENCE_S)
    answered, batches = (batches_of(ports) - before).T.tolist()
    return {**summary(options, sum(heard, [])), "server_cores": cores[0], "client_cores": cores[1],
            "answered_by_server": answered,
            "rows_per_batch": round(sum(answered) / sum(batches), 2) if any(batches) else None}


def measure(options, work, row):
    """Measurements of a row: one for each number of clients, or one without HTTP."""
    direct = row["way"] == "direct"
    pending = [None] if direct else random.sample(options.clients, len(options.clients))
    begun = time.monotonic()
    try:
        with Team("server", server_process,
                  [(options, row, index, work) for index in range(row["gpus"] * row["processes"])]) as servers:
            told = servers.receive(OPEN_S)
            row = {**row, "devices": [each["device"] for each in told], "opened_s": round(time.monotonic() - begun, 2)}
            while pending:
                if direct:
                    cores = window(options, [servers])
                    got = {**summary(options, sum(servers.receive(2 * PATIENCE_S), [])), "server_cores": cores[0]}
                else:
                    got = measure_clients(options, work, servers, [each["port"] for each in told], pending[0])
                yield {**row, "clients": pending.pop(0), **got}
            servers.end()
    except (Failed, OSError, http.client.HTTPException) as error:
        yield {**row, "clients": pending[0] if pending else None, "failed": str(error)}


def is_right(told):
    return not ("failed" in told or told["wrong"] or told["errors"]) and told["answers"] > 0


ROW = ("provider", "way", "gpus", "processes", "threads", "batch")
HEADS = (*ROW, "clients", "answers/s", "p50 ms", "p99 ms", "longest", "rows/batch", "cores", "clients' cores", "errors",
         "wrong")


def line_of(key, rounds):
    """A line of the table: medians of the rounds, lowest and highest rate, and sums of what went wrong."""
    named = ["-" if part is None else str(part) for part in key]
    good = [told for told in rounds if told.get("answers")]
    errors = sum((collections.Counter(told.get("errors")) for told in rounds), collections.Counter())
    errors += collections.Counter("failed" if "failed" in told else "without an answer"
                                  for told in rounds if not told.get("answers"))
    ills = [", ".join(f"{count} {kind}" for kind, count in errors.items()) or "0",
            str(sum(told.get("wrong", 0) for told in rounds))]
    if not good:
        return named + ["-"] * (len(HEADS) - len(named) - len(ills)) + ills

    def median(values):
        values = list(values)
        return "-" if None in values else f"{statistics.median(values):.2f}"

    rates = [told["answers_per_second"] for told in good]
    return named + [f"{statistics.median(rates):,.0f} ({min(rates):,.0f} to {max(rates):,.0f})",
                    median(told["latency_ms"]["p50"] for told in good),
                    median(told["latency_ms"]["p99"] for told in good),
                    f"{max(told['latency_ms']['max'] for told in good):.2f}",
                    *(median(told.get(name) for told in good) for name in ("rows_per_batch", "server_cores",
                                                                           "client_cores")),
                    *ills]


def table(measured):
    rounds = collections.defaultdict(list)
    for told in measured:
        rounds[tuple(told[name] for name in (*ROW, "clients"))].append(told)

    def order(key):
        return [part or 0 for part in key[2:]], WAYS.index(key[1]), PROVIDERS.index(key[0])

    lines = [HEADS, ["---"] * len(HEADS), *(line_of(key, rounds[key]) for key in sorted(rounds, key=order))]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def about(options):
    """What was used, for the first line."""
    import onnxruntime as ort
    server = None
    if "http" in options.way:
        import uvicorn
        server = " ".join(["uvicorn", uvicorn.__version__, *filter(importlib.util.find_spec, ("uvloop", "httptools"))])
    return {"tool": "serving.py", "date": datetime.datetime.now(datetime.timezone.utc).isoformat(),
            "python": platform.python_version(), "onnxruntime": ort.__version__, "server": server,
            "cores": len(os.sched_getaffinity(0)), "options": {**vars(options), "inputs": [
                (name, np.dtype(kind).name, shape) for name, kind, shape in options.inputs]}}


def rows_of(options):
    for key in itertools.product(options.providers, options.way, options.gpus, options.processes, options.threads,
                                 options.batch):
        row = dict(zip(ROW, key))
        # The CPU has no more of them.
        if row["provider"] != "cpu" or row["gpus"] == options.gpus[0]:
            yield row


def run(options):
    """Prints measurements. True where all of them are right."""
    work = prepare(options)
    print(json.dumps(about(options)), flush=True)
    rows = list(rows_of(options))
    random.seed(options.seed)
    measured = []
    for number in range(options.rounds):
        for row in random.sample(rows, len(rows)):
            for told in measure(options, work, row):
                measured.append({"round": number, **told})
                print(json.dumps(measured[-1]), flush=True)
    print(table(measured), file=sys.stderr)
    return all(map(is_right, measured))


# ---- The command line --------------------------------------------------------------------------------------------


def number(kind, low, high):
    def parse(text):
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not low <= value <= high:
            raise argparse.ArgumentTypeError(f'"{text}" is not a number from {low} to {high}')
        return value
    return parse


def several(parse):
    def parse_all(text):
        found = [parse(part) for part in text.split(",")]
        if len(set(found)) != len(found):
            raise argparse.ArgumentTypeError(f'"{text}" has something twice')
        return found
    return parse_all


def word(*allowed):
    def parse(text):
        if text not in allowed:
            raise argparse.ArgumentTypeError(f'there is no "{text}"; there are {", ".join(allowed)}')
        return text
    return parse


def size_of_axis(text):
    name, _, size = text.partition("=")
    if not name or not size.isdecimal() or int(size) == 0:
        raise argparse.ArgumentTypeError(f'"{text}" is not like sequence=64')
    return name, int(size)


def read_options(arguments=None):
    parser = argparse.ArgumentParser(description="Answers a second of one HTTP server by the provider of its model.")
    cores = len(os.sched_getaffinity(0))

    def several_of(name, parse, default, text, metavar="N[,N...]"):
        parser.add_argument(name, type=several(parse), default=[default], metavar=metavar, help=f"{text} ({default})")

    def one_of(name, kind, low, high, default, text):
        parser.add_argument(name, type=number(kind, low, high), default=default, metavar="N",
                            help=f"{text} ({default})")

    parser.add_argument("model", help="an .onnx file, such as minilm_rows.onnx of: ort_eps.py make DIR minilm_rows")
    several_of("--providers", word(*PROVIDERS), "leat", ", ".join(PROVIDERS), "NAME[,NAME]")
    parser.add_argument("--library", default=os.environ.get("LEAT_SO"), metavar="FILE",
                        help="libleat_onnxruntime.so ($LEAT_SO)")
    several_of("--way", word(*WAYS), "http", ", ".join(WAYS), "NAME[,NAME]")
    several_of("--gpus", number(int, 1, 64), 1, "that servers use")
    several_of("--processes", number(int, 1, 64), 1, "servers for each GPU")
    several_of("--threads", number(int, 1, 256), 8, "of a server, that run the model")
    several_of("--batch", number(int, 1, 1024), 1, "requests that may go together")
    several_of("--clients", number(int, 1, 4096), 32, "in all, each with one request at a time")
    one_of("--client-processes", int, 1, 64, min(8, max(1, cores // 4)), "that the clients are in")
    one_of("--seconds", float, 0.05, 600, 2, "of each measurement")
    one_of("--warmup", float, 0, 600, 1, "seconds of load before it")
    one_of("--rounds", int, 1, 1000, 3, "of all rows")
    parser.add_argument("--size", type=size_of_axis, action="append", default=[], metavar="NAME=N",
                        help="of an axis that the model leaves open")
    one_of("--requests", int, 1, 65536, 64, "that differ")
    one_of("--below", int, 1, 2 ** 31, 30000, "whole numbers of inputs are")
    one_of("--check-every", int, 1, 2 ** 31, 16, "answers, one is compared")
    # Providers sum in different orders: MiniLM's answers differ by some 1e-6 of the largest value.
    one_of("--tolerance", float, 0, 1, 1e-4, "part of an answer's largest value by which it may differ")
    one_of("--seed", int, 0, 2 ** 32 - 1, 1, "of requests and orders")
    options = parser.parse_args(arguments)
    options.size = dict(options.size)
    if "leat" in options.providers and not os.path.isfile(options.library or ""):
        parser.error(f"--library: {options.library or 'nothing given, and LEAT_SO is not set'}; leat needs the path of "
                     "libleat_onnxruntime.so")
    missing = [name for name in ("uvicorn", "starlette") if not importlib.util.find_spec(name)]
    if "http" in options.way and missing:
        parser.error(f"this Python has no {' and no '.join(missing)}, which --way http needs")
    return options


def main():
    options = read_options()
    try:
        right = run(options)
    except Failed as error:
        print(f"serving.py: {error}", file=sys.stderr)
        return 2
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
