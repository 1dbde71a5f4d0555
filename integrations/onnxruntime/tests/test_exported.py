# SPDX-License-Identifier: Apache-2.0
"""Models that PyTorch's own exporter wrote (export.py), whole on a device, beside ONNX Runtime's CPU and what PyTorch itself
computed."""

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import keyway
import numpy
import onnxruntime
import onnxruntime_keyway
import pytest
from test_models import BOUND


def pytest_generate_tests(metafunc):
    folder = metafunc.config.getoption("--exported")
    files = sorted(Path(folder).glob("*.onnx")) if folder else []
    metafunc.parametrize("path", files, ids=[file.stem for file in files], scope="module")


def stored(path):
    """Inputs by name, and PyTorch's outputs."""
    with numpy.load(path.with_suffix(".npz")) as arrays:
        inputs = {name: arrays[name] for name in arrays if name.startswith("in")}
        return inputs, [arrays[f"out{i}"] for i in range(len(arrays) - len(inputs))]


def near(got, wanted):
    assert len(got) == len(wanted)
    for one, other in zip(got, wanted):
        assert one.shape == other.shape and one.dtype == other.dtype
        assert numpy.abs(one - other).max() <= BOUND * numpy.abs(other).max()


class Told(ctypes.Structure):
    """mallinfo2 of the C library."""

    _fields_ = [(name, ctypes.c_size_t) for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost".split()]


mallinfo = ctypes.CDLL(None).mallinfo2
mallinfo.restype = Told


def heap():
    """Bytes that the C library has handed out in this process."""
    told = mallinfo()
    return told.uordblks + told.hblkhd


def of_one(inputs, length):
    """The first of the batch, and of what is known of each layer (rank 4, but for images) the first so many places."""
    first = {name: each[:1] for name, each in inputs.items()}
    return first if len(inputs) == 1 else {name: each[:, :, :length] if each.ndim == 4 else each for name, each in first.items()}


def test_exported(path, device):
    inputs, of_torch = stored(path)
    session = onnxruntime_keyway.session(str(path), device)
    assert {each.device for each in session.placement} == {device}
    near(session.run(None, inputs), of_torch)
    theirs = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    for each in (inputs, of_one(inputs, 4)):
        near(session.run(None, each), theirs.run(None, each))


RUNS = """
import sys
sys.path.insert(0, sys.argv[1])
from test_exported import Path, heap, keyway, onnxruntime_keyway, stored
path, device, rounds, runs = Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5])
onnxruntime_keyway.register()
session = onnxruntime_keyway.session(str(path), device)
inputs, _ = stored(path)
for _ in range(rounds):
    least = min(heap() for _ in range(runs) if session.run(None, inputs))
    stats = keyway.device(device).memory_stats()
    print(least, stats.allocated, stats.held)
"""


def run_apart(path, device, rounds, runs, **environment):
    """In a process of its own: for each round what is on its heap after a run, the least of all, and in the device's memory; and what
    the process says on stderr."""
    command = [sys.executable, "-c", RUNS, Path(__file__).parent, path, device, rounds, runs]
    child = subprocess.run([*map(str, command)], capture_output=True, text=True, env=os.environ | environment)
    assert child.returncode == 0, child.stderr
    return [[int(number) for number in line.split()] for line in child.stdout.splitlines()], child.stderr.splitlines()


def test_runs_leave_nothing_in_memory(path, device):
    """What is kept for threads, or until a few calls release it together, goes up and down, so that the least of many runs counts;
    arrays of the process grow now and then, so that the middle of what is more each round does. A tensor's handle a run is more."""
    rounds, _ = run_apart(path, device, 8, 50)
    grown = sorted(after[0] - before[0] for before, after in zip(rounds, rounds[1:]))
    assert len(rounds) == 8 and grown[3] < 50 * 128, rounds
    assert len({(allocated, held) for _, allocated, held in rounds}) == 1, rounds


def test_runs_give_back_what_they_make(path, device):
    """The validation layer counts it. Devices stay open until the process ends, which it tells as well."""
    _, said = run_apart(path, device, 1, 5, KEYWAY_LAYERS="validation")
    left = [line for line in said if "validation: " in line]
    assert left and all("device-leaked" in line for line in left)
