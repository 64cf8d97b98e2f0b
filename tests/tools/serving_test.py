#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""serving_test.py TREE BUILD: tools/bench/serving.py measures Leat and the CPU, by HTTP and without; wrong answers,
lost ones, refused options and processes that fail are noticed, the last three by scenes in this process.

LEAT_TEST_SERVE is a Python with the packages of examples/serve/requirements.txt.
Exit status: 0 right, 1 not, 77 no Vulkan device, or no such Python.
"""
import argparse
import asyncio
import contextlib
import io
import json
import os
import subprocess
import sys
import time

TREE, BUILD = map(os.path.abspath, sys.argv[1:3])
BENCH = os.path.join(TREE, "tools", "bench")
MODELS = os.path.join(TREE, "tests", "tools", "models")
LIBRARY = os.path.join(BUILD, "libleat_onnxruntime.so")
WAIT_S = 120


def expect(right, *what):
    if not right:
        sys.exit("wrong: " + " ".join(map(str, what)))


# ---- The program, in processes of its own ------------------------------------------------------------------------


def measure(status, model, *options):
    """What serving.py prints for each measurement, and its table."""
    done = subprocess.run(
        [sys.executable, "-B", os.path.join(BENCH, "serving.py"), os.path.join(MODELS, model), "--library", LIBRARY,
         "--rounds", "1", "--threads", "1", "--batch", "4", "--check-every", "1", *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=WAIT_S, check=False)
    expect(done.returncode == status, "exit status", done.returncode, done.stdout, done.stderr)
    first, *told = map(json.loads, done.stdout.splitlines())
    expect(first["tool"] == "serving.py" and first["options"]["row_axis"] == "batch", first)
    return told, done.stderr


def check_program(devices):
    told, table = measure(0, "mlp.onnx", "--providers", "leat,cpu", "--gpus", str(devices), "--clients", "24",
                          "--client-processes", "2", "--seconds", "0.5", "--warmup", "0.1")
    expect(sorted(one["provider"] for one in told) == ["cpu", "leat"], told)
    for one in told:
        expect(one["checked"] >= one["answers"] > 0 and one["wrong"] == 0 and one["errors"] == {}, one)
        expect(one["answers_per_second"] == round(one["answers"] / 0.5, 1), one)
        expect(0 < one["latency_ms"]["p50"] <= one["latency_ms"]["p99"] <= one["latency_ms"]["max"], one)
        # Twelve clients and more for each thread fill its batches.
        expect(2 < one["rows_per_batch"] <= 4 and one["server_cores"] > 0, one)
        expect(len(one["answered_by_server"]) == devices and min(one["answered_by_server"]) > 0, one)
        expect(len(one["devices"]) == len(set(one["devices"])) or one["provider"] == "cpu", one)
        expect(f"| {one['provider']} | http | {devices} | 1 | 1 | 4 | 24 | " in table, table)
    # What stands in a row depends on the rows beside it: answers of batches are wrong.
    told, table = measure(1, "crowd.onnx", "--providers", "cpu", "--way", "http,direct", "--seconds", "0.2",
                          "--warmup", "0")
    expect(sorted(one["way"] for one in told) == ["direct", "http"] and all(one["wrong"] for one in told), told)
    expect(all(f"| {one['wrong']} |" in table for one in told), table)


# ---- Scenes ------------------------------------------------------------------------------------------------------


def check_options(serving):
    def refused(text, *options):
        said = io.StringIO()
        try:
            with contextlib.redirect_stderr(said):
                serving.prepare(serving.read_options([*options, "--library", LIBRARY]))
        except serving.Failed as error:
            said.write(str(error))
        except SystemExit as end:
            expect(end.code == 2, options, end.code)
        expect(text in said.getvalue(), options, "is not refused with:", text, "but:", said.getvalue())

    model = os.path.join(MODELS, "mlp.onnx")
    refused('"0" is not a number from 1 to 64', model, "--gpus", "0")
    refused('"x" is not a number from 1 to 256', model, "--threads", "8,x")
    refused('"nan" is not a number from 0.05', model, "--seconds", "nan")
    refused('"8,8" has something twice', model, "--clients", "8,8")
    refused('there is no "gpu"; there are leat, cuda, cpu', model, "--providers", "gpu")
    refused('"batch" is not like sequence=64', model, "--size", "batch")
    refused("none.onnx", os.path.join(MODELS, "none.onnx"))
    refused("takes no batches", os.path.join(MODELS, "four.onnx"), "--batch", "2")
    refused("input x is a tensor(string)", os.path.join(MODELS, "text.onnx"))
    refused("give it: --size length=N", os.path.join(MODELS, "words.onnx"))
    with contextlib.redirect_stderr(io.StringIO()) as said:
        try:
            serving.read_options([model, "--library", "none.so"])
        except SystemExit as end:
            expect(end.code == 2 and "--library: none.so; leat needs" in said.getvalue(), said.getvalue())
    options = serving.read_options([os.path.join(MODELS, "words.onnx"), "--size", "length=3", "--below", "100",
                                    "--library", LIBRARY, "--requests", "5"])
    requests, answers = serving.prepare(options)
    expect(len(requests) == len(answers) == 5 and {len(one) for one in requests} == {3 * 8 + 3 * 4}, requests)
    expect(options.row_axis == "batch" and len(answers[0]) == 8 * 4, options, answers)


def reply(body, status="200 OK"):
    return b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n" % (status.encode(), len(body)) + body


async def check_clients(load):
    """A client against a server that answers as it is told, and then no more."""
    import numpy as np
    right, none = (np.array(values, np.float32).tobytes() for values in ([2, -4], [2, np.nan]))
    near, far = (np.array([2, -4 + 4 * part], np.float32).tobytes() for part in (0.5e-4, 2e-4))
    script = [[reply(right)], [reply(right)[:9], reply(right)[9:50], reply(right)[50:]], [reply(near)], [reply(far)],
              [reply(none)], [reply(right[:4])], [reply(b"", "500 no")], [reply(right)[:-3], None],
              [b"HTTP/1.1 200 OK\r\n\r\n"], [None], [reply(right)], []]
    asked = []

    async def answer(reader, writer):
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while script:
                head = await reader.readuntil(b"\r\n\r\n")
                asked.append((head, await reader.readexactly(3)))
                for part in script.pop(0):
                    if part is None:
                        writer.close()
                        return
                    writer.write(part)
                    await asyncio.sleep(0.01)
            await reader.read()

    class Pipe:
        told = []
        send = told.append

        @staticmethod
        def recv():
            return time.monotonic() - 1, time.monotonic() + 3

    load.PATIENCE_S = 0.2
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        options = argparse.Namespace(check_every=1, tolerance=1e-4, seed=1)
        await load.drive(options, ([b"abc"], [right]), [0], [port], Pipe)
    tally = Pipe.told[-1][0]
    expect(all(b"POST /embed HTTP/1.1\r\n" in head and body == b"abc" for head, body in asked), asked)
    expect(dict(tally["errors"]) == {"status 500": 1, "connection lost": 3, "no answer in 0.2 s": 1}, tally)
    expect((tally["checked"], tally["wrong"], len(tally["latencies"])) == (7, 3, 7), tally)


def check_window(load):
    tally = load.Tally(argparse.Namespace(check_every=3, tolerance=0), [bytes(4)])
    tally.begin, tally.end = 10, 11
    for now in 9.9, 10, 10.5, 11:
        tally.answer(0, 9, now, bytes(4))
    expect(tally.told() == {"latencies": tally.latencies, "errors": {}, "checked": 2, "wrong": 0, "worst": 0}
           and list(tally.latencies) == [1, 1.5], tally.told())


def die(_):
    os._exit(3)


def refuse(_):
    raise ValueError("no such thing")


def end_badly(pipe):
    pipe.send({})
    pipe.recv()
    os._exit(4)


def check_processes(serving):
    for target, text in ((die, "a server ended with exit code 3"), (refuse, "a server: ValueError: no such thing"),
                         (end_badly, "a server ended with exit code 4 when told to end")):
        try:
            with serving.Team("server", target, [()]) as team:
                team.receive(WAIT_S)
                team.end()
        except serving.Failed as error:
            expect(str(error) == text, error)
        else:
            expect(False, text, "was not noticed")


def main():
    if len(sys.argv) == 3:
        sys.path[:0] = [os.path.join(TREE, "tests", part) for part in ("docs", "serve")]
        import drivers
        import page
        if not os.environ.get("LEAT_TEST_SERVE"):
            print("LEAT_TEST_SERVE names no Python; ./dev unit sets it")
            sys.exit(page.NO_DEVICE)
        page.need_device(BUILD)
        folder = os.path.join(BUILD, "serving")
        page.put_package_together(TREE, BUILD, os.path.join(folder, "package"))
        environment, there = drivers.several(
            os.environ["LEAT_TEST_SERVE"], {**os.environ, "PYTHONPATH": os.path.join(folder, "package")}, folder)
        done = subprocess.run([os.environ["LEAT_TEST_SERVE"], "-B", __file__, TREE, BUILD, str(min(there, 2))],
                              env=environment, check=False)
        sys.exit(done.returncode)
    sys.path.insert(0, BENCH)
    import serving
    import serving_load
    check_options(serving)
    check_window(serving_load)
    asyncio.run(check_clients(serving_load))
    check_processes(serving)
    check_program(int(sys.argv[3]))


if __name__ == "__main__":
    main()
