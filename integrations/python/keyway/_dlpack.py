# SPDX-License-Identifier: Apache-2.0
"""DLPack: the capsules by which libraries of one process hand each other tensors without a copy."""

import ctypes
import gc
import sys
import threading

from . import _library as library
from ._library import made

CPU, EXT = 1, 12
HOST_KINDS = (1, 3, 11, 13)  # memory that the host reaches: kDLCPU, its pinned and managed kin
VERSION = (1, 1)
VERSIONED, UNVERSIONED = b"dltensor_versioned", b"dltensor"
USED = {VERSIONED: b"used_dltensor_versioned", UNVERSIONED: b"used_dltensor"}  # a capsule keeps no copy of its name

_new = ctypes.pythonapi.PyCapsule_New
_new.restype, _new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_is = ctypes.pythonapi.PyCapsule_IsValid
_is.restype, _is.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]
_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
_rename = ctypes.pythonapi.PyCapsule_SetName
_rename.restype, _rename.argtypes = ctypes.c_int, [ctypes.py_object, ctypes.c_char_p]


class Version(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32)]


class DLTensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("dtype", ctypes.c_uint32),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    ]


class Versioned(ctypes.Structure):
    """A DLManagedTensorVersioned."""

    _fields_ = [
        ("version", Version),
        ("manager", ctypes.c_void_p),
        ("deleter", library.Deleter),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    ]


class Unversioned(ctypes.Structure):
    """A DLManagedTensor."""

    _fields_ = [("tensor", DLTensor), ("manager", ctypes.c_void_p), ("deleter", library.Deleter)]


IS_COPIED = 2
ONLY_HERE = 2  # references: the list, and getrefcount itself


# Capsules that went out and may not have been taken. They have no destructor: Python code in one would run while an
# exception is on its way, whenever a library refuses a capsule, and lose it. What only this list still holds is ended
# with the next export, or when garbage is collected.
_out = []
_sweeping = threading.Lock()


def _sweep(phase="stop", info=None):
    if phase != "stop" or not _sweeping.acquire(blocking=False):
        return
    try:
        held = [place for place in range(len(_out)) if sys.getrefcount(_out[place]) <= ONLY_HERE]
        for place in reversed(held):
            _end(_out.pop(place))
    finally:
        _sweeping.release()


def _end(capsule):
    for name, layout in ((VERSIONED, Versioned), (UNVERSIONED, Unversioned)):
        if _is(capsule, name):
            address = _pointer(capsule, name)
            layout.from_address(address).deleter(address)


gc.callbacks.append(_sweep)


def export(tensor, versioned, copied):
    """The tensor in a capsule, after all work that uses it."""
    if versioned:
        address = made(library.tensor_to_dlpack, tensor._handle, None)
        if copied:
            Versioned.from_address(address).flags |= IS_COPIED
    else:
        try:
            address = made(library.tensor_to_dlpack_unversioned, tensor._handle, None)
        except ValueError as error:  # read-only memory, which that form cannot tell
            raise BufferError(str(error)) from None
    _sweep()
    capsule = _new(address, VERSIONED if versioned else UNVERSIONED, None)
    _out.append(capsule)
    return capsule


def place(device):
    """(type, index) of the device's memory, as DLPack numbers them."""
    if not hasattr(device, "_dlpack_place"):
        try:
            device._dlpack_place = (device.attribute("dlpack_device_type"), device.attribute("dlpack_device_id"))
        except (LookupError, RuntimeError):
            device._dlpack_place = _place_of_memory(device)
    return device._dlpack_place


def _place_of_memory(device):
    """By what an export says."""
    from ._tensor import empty

    shown = _shown(empty((1,), device=device))
    return shown.device_type, shown.device_id


def _shown(tensor):
    """What an export says of a tensor, after all work that uses it."""
    address = made(library.tensor_to_dlpack, tensor._handle, None)
    managed = Versioned.from_address(address)
    shown = DLTensor.from_buffer_copy(managed.tensor)
    managed.deleter(address)
    return shown


class HostMemory:
    """A tensor in host memory as NumPy takes it, of whatever version: by __array_interface__."""

    def __init__(self, tensor, typestr):
        shown, size = _shown(tensor), tensor.dtype.itemsize
        self.tensor = tensor  # which NumPy's array keeps alive through this object
        self.__array_interface__ = {
            "version": 3,
            "typestr": typestr,
            "shape": tensor.shape,
            "strides": tuple(stride * size for stride in tensor.strides),
            "data": (shown.data + shown.byte_offset, tensor.is_read_only),
        }


def take(source, device, may_copy=False):
    """A tensor on what `source`, which has __dlpack__, exports. Memory of Keyway's own comes back on its own device;
    other memory must be the host's, and one that `device` can use where it lies."""
    from ._device import Device
    from ._tensor import Tensor

    capsule = _offer(source)
    name = VERSIONED if _is(capsule, VERSIONED) else UNVERSIONED
    function = library.tensor_from_dlpack if name == VERSIONED else library.tensor_from_dlpack_unversioned
    address = _pointer(capsule, name)
    kind, _ = source.__dlpack_device__()
    # Private memory does not say whose it is: the library refuses all but its own device's.
    candidates = [device] if kind in HOST_KINDS else [device, *list(Device._open.values())]
    reason = None
    for each in candidates:
        try:
            tensor = Tensor._own(made(function, each._handle, address), each)
        except RuntimeError as error:
            reason = reason or error
            continue
        _rename(capsule, USED[name])
        return tensor
    if may_copy and kind in HOST_KINDS:
        return _copied(source, device)
    raise BufferError(str(reason)) from None


def _copied(source, device):
    from ._device import device as open_device

    host = open_device("cpu:0")
    if host == device:
        raise BufferError(f"{device} cannot use this memory")
    return take(source, host)


def _offer(source):
    try:
        return source.__dlpack__(max_version=VERSION)
    except TypeError:  # a library from before DLPack 1.0
        return source.__dlpack__()
