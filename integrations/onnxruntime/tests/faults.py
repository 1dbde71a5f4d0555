# SPDX-License-Identifier: Apache-2.0
"""usage: faults.py PLUGIN

Runs a model on the example vendor's device while that fails in the middle, by order (keyway/test.h): an error of its own after the
launch, and the loss of the device. A process of its own, since faults are ordered only in one that began as a test."""

import ctypes
import sys

import keyway
import numpy
import onnxruntime_keyway
from conftest import FLOAT, model, node
from keyway import _library as library

LATE, LOSE = 2, 3


class InitOptions(library.Struct):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("option_count", ctypes.c_uint32),
        ("flags", ctypes.c_uint64),
        ("options", ctypes.c_void_p),
    ]


def order(device, fault, nth):
    function = library._library.kw_device_order_fault
    function.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64]
    assert function(device, fault, nth) == 0, library._library.kw_error_message()


def failed_run(session, x):
    try:
        session.run(None, {"x": x})
    except Exception as error:
        return str(error)
    raise SystemExit("the run went well, though the device failed")


def main():
    assert library._library.kw_init(ctypes.byref(InitOptions(flags=1 << 1))) == 0
    onnxruntime_keyway.register(sys.argv[1])
    layers = model(
        [node("MatMul", "x w", "a"), node("Relu", "a", "b"), node("MatMul", "b w", "y")],
        {"x": (FLOAT, [3, 4])},
        {"y": (FLOAT, [3, 4])},
        {"w": numpy.eye(4, dtype="f4") * 2},
    )
    session, x = onnxruntime_keyway.session(layers, "npu:0"), numpy.ones((3, 4), "f4")
    handle = ctypes.c_void_p()
    assert library._library.kw_device_open(b"npu:0", ctypes.byref(handle)) == 0
    assert (session.run(None, {"x": x})[0] == 4).all()
    order(handle, LATE, 2)
    print("late:", failed_run(session, x))
    assert (session.run(None, {"x": x})[0] == 4).all()
    order(handle, LOSE, 2)
    print("lost:", failed_run(session, x))
    print("after:", failed_run(session, x))
    beside = onnxruntime_keyway.session(layers, "cpu:0")
    assert (beside.run(None, {"x": x})[0] == 4).all()


if __name__ == "__main__":
    main()
