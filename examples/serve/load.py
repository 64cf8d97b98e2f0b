#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Load for one of the servers: clients that each send one request after the other, over a connection that they keep.

Every answer is compared with what ONNX Runtime's CPU provider gives for the image. Prints a JSON object: answers, wrong
ones, errors by kind, answers a second, and latencies in milliseconds. --plot draws each answer over time (SVG or PNG).

Exit status: 0 every answer is right, and there are some, whatever the errors; 1 not.
"""
import argparse
import collections
import http.client
import json
import random
import sys
import threading
import time
import urllib.parse

import numpy as np

import command_line
import digits

# Two devices sum in different orders: scores differ by parts of their largest of the order of 1e-6.
TOLERANCE = 1e-4
# A client that is refused or finds no server waits, and no longer than this, whatever it was told.
PAUSE_MAX_S = 1.0


class Load:
    """Clients that run until they are stopped, and what became of their requests."""

    def __init__(self, url, clients, timeout=30):
        self.url, self.timeout = urllib.parse.urlsplit(url), timeout
        self.images, self.scores = digits.heldout()
        self.lock = threading.Lock()  # guards the three below
        self.answers = []  # pairs of seconds: when it was asked, after the start, and how long it took
        self.errors = collections.defaultdict(list)  # when, after the start, for each kind
        self.wrong = []  # texts
        self.stopped = threading.Event()
        self.threads = [threading.Thread(target=self._client, args=(seed,)) for seed in range(clients)]
        self.start = time.monotonic()
        for thread in self.threads:
            thread.start()

    def stop(self):
        """Stops the clients, each after its last request, and gives how many seconds they ran."""
        self.stopped.set()
        for thread in self.threads:
            thread.join()
        return time.monotonic() - self.start

    def _client(self, seed):
        choice = random.Random(seed)
        connection = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=self.timeout)
        while not self.stopped.is_set():
            index = choice.randrange(len(self.images))
            began = time.monotonic()
            error, pause = self._ask(connection, index)
            with self.lock:
                if error:
                    self.errors[error].append(began - self.start)
                else:
                    self.answers.append((began - self.start, time.monotonic() - began))
            self.stopped.wait(pause)
        connection.close()

    def _ask(self, connection, index):
        """One request: the kind of error or none, and the seconds to wait before the next."""
        try:
            connection.request("POST", "/classify", json.dumps({"image": self.images[index, 0].tolist()}),
                               {"Content-Type": "application/json"})
            response = connection.getresponse()
            body = response.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()  # The next request opens it again.
            return type(error).__name__, PAUSE_MAX_S / 10
        if response.status != 200:
            told = response.getheader("Retry-After", "")
            return f"status {response.status}", min(float(told), PAUSE_MAX_S) if told.isdecimal() else 0
        fault = self._fault(body, index)
        if fault:
            with self.lock:
                self.wrong.append(f"image {index}: {fault}: {body[:300]!r}")
        return None, 0

    def _fault(self, body, index):
        """What is wrong with an answer, or nothing."""
        want = self.scores[index]
        try:
            answer = json.loads(body)
            got = np.array(answer["scores"], np.float64)
            digit = answer["digit"]
        except (ValueError, TypeError, KeyError) as error:
            return f"{type(error).__name__}: {error}"
        if got.shape != want.shape or not np.abs(got - want).max() <= TOLERANCE * np.abs(want).max():
            return "other scores than the CPU's"
        return None if digit == want.argmax() else "another digit than the CPU's"


def summary(load, seconds):
    """What became of a load's requests, for json.dumps()."""
    latencies = np.array([took for _, took in load.answers]) * 1e3
    marks = dict(zip(("p50", "p90", "p99", "max"), np.percentile(latencies, (50, 90, 99, 100)).round(2).tolist())) \
        if len(latencies) else {}
    return {"clients": len(load.threads), "seconds": round(seconds, 2), "answers": len(latencies),
            "wrong": len(load.wrong), "errors": {kind: len(times) for kind, times in sorted(load.errors.items())},
            "answers_per_second": round(len(latencies) / seconds, 1), "latency_ms": marks}


def plot(load, path):
    """Draws each answer's latency over the time when it was asked for, and where errors were."""
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(9, 4), layout="constrained")
    if load.answers:
        asked, took = np.array(load.answers).T
        axes.plot(asked, took * 1e3, ".", markersize=3, label=f"{len(took)} answers", rasterized=True)
        axes.set_yscale("log")
    for kind, times in sorted(load.errors.items()):
        axes.plot(times, [0.02] * len(times), "|", markersize=12, transform=axes.get_xaxis_transform(),
                  label=f"{len(times)} × {kind}")
    axes.set(xlabel="seconds", ylabel="latency, ms")
    axes.grid(alpha=0.3)
    axes.legend(loc="upper right")
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


def read_options(arguments=None):
    """The options of a command line, which is that of the process if none is given."""
    parser = argparse.ArgumentParser(description="Sends images of digits to a server, and checks each answer.")
    parser.add_argument("url", nargs="?", type=command_line.http_url, default="http://127.0.0.1:8000")
    parser.add_argument("--clients", type=command_line.whole(1, 1024), default=8)
    parser.add_argument("--seconds", type=command_line.seconds(), default=10)
    parser.add_argument("--plot", metavar="FILE", help="draw the latencies into this file (.svg, .png)")
    return parser.parse_args(arguments)


def main():
    options = read_options()
    load = Load(options.url, options.clients)
    load.stopped.wait(options.seconds)
    told = summary(load, load.stop())
    print(json.dumps(told, indent=2))
    if options.plot:
        plot(load, options.plot)
    for fault in load.wrong[:10]:
        print("wrong answer:", fault, file=sys.stderr)
    return 1 if load.wrong or not told["answers"] else 0


if __name__ == "__main__":
    sys.exit(main())
