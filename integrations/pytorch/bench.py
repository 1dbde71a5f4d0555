# SPDX-License-Identifier: Apache-2.0
"""usage: bench.py [DEVICE] [--instructions [--limit RATIO]]

What a call costs beside PyTorch's own op on its CPU: tensors of 2 x 2, one thread, microseconds, the best of ten rounds
that take turns. Work is enqueued and waited for once a round. DEVICE is a Keyway name; default: cpu.

  --instructions  instead of time the instructions that the process executes for a call, Python's included: the same on
                  every machine with this processor's features, however busy it is. Needs valgrind and a C compiler
  --limit RATIO   with --instructions: ends with 1 where a call takes more than RATIO times PyTorch's
"""

import argparse
import ctypes
import glob
import os
import re
import subprocess
import sys
import tempfile
import time

import torch

CALLS = {
    "x + x": lambda x: x + x,
    "x * 2.0": lambda x: x * 2.0,
    "x.add_(x)": lambda x: x.add_(x),
    "relu(x)": torch.relu,
    "x.sum()": torch.sum,
    "x.mm(x)": lambda x: x.mm(x),
    "x.view(4)": lambda x: x.view(4),
    "empty_like(x)": torch.empty_like,
}
PYTORCH = "PyTorch CPU"

ROUNDS, COUNT = 10, 5000
WARM, COUNTED = 100, 300  # calls before instructions are counted, and while they are


def tensor_on(side):
    """A tensor there, and what waits for work on it. Nothing of Keyway's is loaded for PyTorch's own CPU."""
    if side == PYTORCH:
        return torch.zeros(2, 2), lambda: None
    import torch_keyway

    return torch.zeros(2, 2, device=torch_keyway.register(side)), torch.keyway.synchronize


def repeat(call, x, wait, count):
    for _ in range(count):
        call(x)
    wait()


# ---- Time --------------------------------------------------------------------------------------------------------------


def microseconds(call, x, wait):
    start = time.perf_counter()
    repeat(call, x, wait, COUNT)
    return (time.perf_counter() - start) / COUNT * 1e6


def measure(sides):
    """By call: the best of each side."""
    tensors = [tensor_on(side) for side in sides]
    return {
        name: [min(rounds) for rounds in zip(*([microseconds(call, *t) for t in tensors] for _ in range(ROUNDS)))]
        for name, call in CALLS.items()
    }


# ---- Instructions ------------------------------------------------------------------------------------------------------


def run_counted(side, marks):
    """What a process under callgrind does."""
    marks = ctypes.CDLL(marks)
    x, wait = tensor_on(side)
    for name, call in CALLS.items():
        repeat(call, x, wait, WARM)
        marks.count_start()
        repeat(call, x, wait, WARM)  # while callgrind sees the code for the first time
        marks.count_start()
        repeat(call, x, wait, COUNTED)
        marks.count_stop(name.encode())


def count_side(side, folder, marks):
    out = os.path.join(folder, side.replace(" ", "_"))
    valgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={out}"]
    subprocess.run(
        [*valgrind, sys.executable, __file__, side, "--counted", marks], check=True, stderr=subprocess.DEVNULL
    )
    counts = {}
    for path in glob.glob(out + ".*"):
        text = open(path, encoding="utf-8", errors="replace").read()
        name = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.M)
        total = re.search(r"^(?:summary|totals): (\d+)", text, re.M)
        if name and total:
            counts[name[1]] = int(total[1]) / COUNTED
    return counts


def count(sides):
    with tempfile.TemporaryDirectory() as folder:
        marks = os.path.join(folder, "marks.so")
        source = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bench_marks.c")
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", marks, source], check=True)
        both = [count_side(side, folder, marks) for side in sides]
    return {name: [counts[name] for counts in both] for name in CALLS}


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n", maxsplit=1)[0].removeprefix("usage: "), description=__doc__)
    parser.add_argument("device", nargs="?", default="cpu")
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--limit", type=float, default=float("inf"))
    parser.add_argument("--counted", help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.counted:
        run_counted(options.device, options.counted)
        return 0
    sides = PYTORCH, options.device
    figures = (count if options.instructions else measure)(sides)
    digits = 0 if options.instructions else 2
    print(f"{'':14}  {PYTORCH}  {options.device:>9}  ratio")
    for name, (cpu, own) in figures.items():
        print(f"{name:14}  {cpu:11.{digits}f}  {own:9.{digits}f}  {own / cpu:5.3f}")
    past = [name for name, (cpu, own) in figures.items() if own / cpu > options.limit]
    for name in past:
        print(f"bench.py: {name} takes more than {options.limit} times PyTorch's instructions", file=sys.stderr)
    return 1 if past else 0


if __name__ == "__main__":
    sys.exit(main())
