# SPDX-License-Identifier: Apache-2.0
"""Models that PyTorch's own exporter wrote (export.py), whole on a device, beside ONNX Runtime's CPU and what PyTorch itself
computed."""

import ctypes
import gc
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
    here, held, used = keyway.device(device), [], []
    gc.collect()
    here.trim_memory()  # what other tests have left is cut into pieces, which are counted, too
    for _ in range(6):
        used.append(min(heap() for _ in range(50) if session.run(None, inputs)))
        held.append((here.memory_stats().allocated, here.memory_stats().held))
    assert len(set(held)) == 1
    # Handles are counted below. Of what else there is on the heap, arrays of the process grow now and then, and what threads keep goes
    # up and down, by tens of KB: hence the least of many times, and a KB a run.
    assert used[5] - used[1] < 4 * 50 * 1024


RUNS = """
import sys
sys.path.insert(0, sys.argv[3])
from test_exported import Path, onnxruntime_keyway, stored
onnxruntime_keyway.register()
session = onnxruntime_keyway.session(sys.argv[1], sys.argv[2])
for _ in range(5):
    session.run(None, stored(Path(sys.argv[1]))[0])
"""


def test_runs_give_back_what_they_make(path, device):
    """The validation layer counts it. Devices stay open until the process ends, which it tells as well."""
    child = subprocess.run([sys.executable, "-c", RUNS, path, device, Path(__file__).parent], capture_output=True, text=True,
                           env=os.environ | {"KEYWAY_LAYERS": "validation"})
    assert child.returncode == 0, child.stderr
    left = [line for line in child.stderr.splitlines() if "validation: " in line]
    assert left and all("device-leaked" in line for line in left)
