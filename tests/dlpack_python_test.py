#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: dlpack_python_test.py LIBKEYWAY CPU_PLUGIN

Hands tensors of cpu:0 to NumPy, and to PyTorch where it is installed, and takes theirs, by DLPack: versioned and not,
read-only or not, without a copy. Exit status 77 (skipped) without NumPy.
"""
import ctypes
import gc
import sys

try:
    import numpy
except ImportError:
    print("NumPy is not installed: nothing to exchange tensors with")
    sys.exit(77)
try:
    import torch
except ImportError:
    torch = None

VERSIONED, UNVERSIONED = b"dltensor_versioned", b"dltensor"
KW_F32, KDLCPU = 8, 1
python = ctypes.pythonapi
python.PyCapsule_New.restype = ctypes.py_object
python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
python.PyCapsule_GetName.restype = ctypes.c_char_p
python.PyCapsule_GetName.argtypes = [ctypes.py_object]
python.PyCapsule_GetPointer.restype = ctypes.c_void_p
python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]


class Ref(ctypes.Structure):  # kw_tensor_ref
    _fields_ = [("struct_size", ctypes.c_uint32), ("dtype", ctypes.c_uint16), ("rank", ctypes.c_uint8),
                ("reserved", ctypes.c_uint8), ("mem", ctypes.c_void_p), ("offset", ctypes.c_uint64),
                ("numel", ctypes.c_int64), ("alignment", ctypes.c_uint32), ("layout", ctypes.c_uint32),
                ("shape", ctypes.c_int64 * 16), ("strides", ctypes.c_int64 * 16)]


class InitOptions(ctypes.Structure):  # kw_init_options
    _fields_ = [("struct_size", ctypes.c_uint32), ("option_count", ctypes.c_uint32), ("flags", ctypes.c_uint64),
                ("options", ctypes.c_void_p)]


keyway = ctypes.CDLL(sys.argv[1])
keyway.kw_error_message.restype = ctypes.c_char_p
keyway.kw_tensor_describe.restype = ctypes.POINTER(Ref)
keyway.kw_tensor_is_read_only.restype = ctypes.c_bool


def check(status):
    if status != 0:
        sys.exit(keyway.kw_error_message().decode())


def describe(tensor):
    return keyway.kw_tensor_describe(tensor).contents


def address(tensor):
    return describe(tensor).mem + describe(tensor).offset


def to_capsule(tensor, versioned):
    managed = ctypes.c_void_p()
    export = keyway.kw_tensor_to_dlpack if versioned else keyway.kw_tensor_to_dlpack_unversioned
    check(export(tensor, None, ctypes.byref(managed)))
    return python.PyCapsule_New(managed, VERSIONED if versioned else UNVERSIONED, None)


def from_capsule(device, capsule):
    name = python.PyCapsule_GetName(capsule)
    take = keyway.kw_tensor_from_dlpack if name == VERSIONED else keyway.kw_tensor_from_dlpack_unversioned
    tensor = ctypes.c_void_p()
    managed = ctypes.c_void_p(python.PyCapsule_GetPointer(capsule, name))
    check(take(device, managed, ctypes.byref(tensor)))
    used = b"used_" + name
    python.PyCapsule_SetName(capsule, used)
    names.append(used)  # a capsule keeps no copy of its name
    return tensor


names = []


class Exported:
    """What a library's from_dlpack takes."""

    def __init__(self, tensor):
        self.tensor = tensor

    def __dlpack_device__(self):
        return KDLCPU, 0

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        return to_capsule(self.tensor, max_version is not None and max_version[0] >= 1)


def offer(array):
    """The capsules that a library gives: versioned where it knows that, and not."""
    capsules = []
    for arguments in ({"max_version": (1, 0)}, {}):
        try:
            capsules.append(array.__dlpack__(**arguments))
        except (TypeError, BufferError):  # an older library; a read-only array, unversioned
            pass
    return capsules


def test_numpy(device):
    array = numpy.arange(24, dtype=numpy.float32).reshape(4, 6)[1:, ::2]
    for capsule in offer(array):
        tensor = from_capsule(device, capsule)
        ref = describe(tensor)
        assert address(tensor) == array.ctypes.data and ref.dtype == KW_F32
        assert ref.shape[:2] == [3, 3] and ref.strides[:2] == [6, 2], (ref.shape[:2], ref.strides[:2])
        assert not keyway.kw_tensor_is_read_only(tensor)
        back = numpy.from_dlpack(Exported(tensor))
        assert back.ctypes.data == array.ctypes.data and (back == array).all()
        keyway.kw_tensor_release(tensor)
        del tensor
        array[0, 0] += 1  # one memory, whoever looks
        assert back[0, 0] == array[0, 0]
        del back
        gc.collect()
    array.setflags(write=False)
    for capsule in offer(array):
        if python.PyCapsule_GetName(capsule) != VERSIONED:
            continue
        tensor = from_capsule(device, capsule)
        assert keyway.kw_tensor_is_read_only(tensor)
        assert not numpy.from_dlpack(Exported(tensor)).flags.writeable
        keyway.kw_tensor_release(tensor)


def test_torch(device):
    array = torch.arange(24, dtype=torch.float32).reshape(4, 6).t()
    for capsule in offer(array):
        tensor = from_capsule(device, capsule)
        assert address(tensor) == array.data_ptr()
        back = torch.from_dlpack(Exported(tensor))
        assert back.data_ptr() == array.data_ptr() and torch.equal(back, array)
        keyway.kw_tensor_release(tensor)


def main():
    device = ctypes.c_void_p()
    options = InitOptions(ctypes.sizeof(InitOptions), 0, 1, None)  # KW_INIT_NO_DISCOVERY
    check(keyway.kw_init(ctypes.byref(options)))
    check(keyway.kw_plugin_load(sys.argv[2].encode()))
    check(keyway.kw_device_open(b"cpu:0", ctypes.byref(device)))
    test_numpy(device)
    print(f"NumPy {numpy.__version__}: shared both ways")
    if torch:
        test_torch(device)
        print(f"PyTorch {torch.__version__}: shared both ways")
    check(keyway.kw_device_close(device))


main()
