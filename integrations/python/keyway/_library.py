# SPDX-License-Identifier: Apache-2.0
"""libkeyway by ctypes: where it lies, the layouts of keyway.h, and its functions, which raise where they fail.

The names are those of the headers without their kw_: keyway/keyway.h and keyway/interop.h say what each does. ctypes
gives up the interpreter's lock during every call, so that threads wait for devices side by side.
"""

import ctypes
import os
from ctypes import (
    CFUNCTYPE,
    POINTER,
    c_bool,
    c_char,
    c_char_p,
    c_double,
    c_int32,
    c_int64,
    c_size_t,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)
from pathlib import Path

from . import _errors as errors

MAX_RANK = 16
DTYPE_NONE = 0xFFFF
WAIT_FOREVER = 2**64 - 1

TAG_NONE, TAG_TENSOR, TAG_TENSOR_LIST, TAG_INT, TAG_INT_LIST, TAG_FLOAT = range(6)
TAG_BOOL, TAG_STRING, TAG_SCALAR, TAG_DTYPE, TAG_GENERATOR = range(6, 11)
SCALAR_BOOL, SCALAR_I64, SCALAR_F64, SCALAR_C128 = range(4)


class Struct(ctypes.Structure):
    """A struct that begins with struct_size, which is set from the start."""

    def __init__(self, *arguments, **fields):
        super().__init__(*arguments, **fields)
        self.struct_size = ctypes.sizeof(self)


class DtypeMask(ctypes.Structure):
    _fields_ = [("bits", c_uint64 * 2)]

    def __contains__(self, number):
        return number < 128 and bool(self.bits[number // 64] >> number % 64 & 1)


class TensorRef(Struct):
    _fields_ = [
        ("struct_size", c_uint32),
        ("dtype", c_uint16),
        ("rank", c_uint8),
        ("reserved", c_uint8),
        ("mem", c_void_p),
        ("offset", c_uint64),
        ("numel", c_int64),
        ("alignment", c_uint32),
        ("layout", c_uint32),
        ("shape", c_int64 * MAX_RANK),
        ("strides", c_int64 * MAX_RANK),
    ]


class ValueUnion(ctypes.Union):
    _fields_ = [
        ("pointer", c_void_p),  # tensor, tensors, ints, s, generator
        ("i", c_int64),
        ("f", c_double),
        ("b", c_bool),
        ("dtype", c_uint16),
        ("c", c_double * 2),
    ]


class Value(ctypes.Structure):
    _anonymous_ = ["u"]
    _fields_ = [("tag", c_uint16), ("kind", c_uint16), ("count", c_uint32), ("u", ValueUnion)]


class Option(ctypes.Structure):
    _fields_ = [("key", c_char_p), ("value", c_char_p)]


class DeviceInfo(Struct):
    _fields_ = [
        ("struct_size", c_uint32),
        ("type", c_uint32),
        ("flags", c_uint64),
        ("compute_units", c_uint32),
        ("reserved", c_uint32),
        ("name", c_char * 64),
        ("vendor", c_char * 64),
        ("driver_version", c_char * 64),
        ("stable_id", c_char * 64),
        ("parent_id", c_char * 64),
        ("total_memory", c_uint64),
        ("max_alloc", c_uint64),
        ("mem_alignment", c_uint32),
        ("offset_alignment", c_uint32),
        ("flush_subnormal", DtypeMask),
    ]


class DeviceEntry(Struct):
    _fields_ = [
        ("struct_size", c_uint32),
        ("plugin", c_uint32),
        ("name", c_char * 80),
        ("qualified_name", c_char * 144),
        ("info", POINTER(DeviceInfo)),
    ]


class AttributeUnion(ctypes.Union):
    _fields_ = [("i", c_int64), ("f", c_double), ("b", c_bool), ("s", c_char_p)]


class Attribute(Struct):
    _anonymous_ = ["u"]
    _fields_ = [("struct_size", c_uint32), ("type", c_uint32), ("u", AttributeUnion)]


class MemoryStats(Struct):
    _fields_ = [
        ("struct_size", c_uint32),
        ("reserved", c_uint32),
        ("allocated", c_uint64),
        ("allocated_peak", c_uint64),
        ("held", c_uint64),
        ("held_peak", c_uint64),
        ("live", c_uint64),
        ("allocations", c_uint64),
        ("plugin_allocs", c_uint64),
        ("plugin_frees", c_uint64),
        ("oom_retries", c_uint64),
        ("oom_failures", c_uint64),
    ]


class Counters(Struct):
    _fields_ = [
        ("struct_size", c_uint32),
        ("reserved", c_uint32),
        ("launches", c_uint64),
        ("decomposed", c_uint64),
        ("fallbacks", c_uint64),
        ("modules_built", c_uint64),
        ("modules_cached", c_uint64),
        ("build_ns", c_uint64),
        ("bytes_to_device", c_uint64),
        ("bytes_to_host", c_uint64),
    ]


class PluginReport(Struct):
    _fields_ = [
        ("struct_size", c_uint32),
        ("reached", c_uint32),
        ("status", c_int32),
        ("abi_version", c_uint32),
        ("device_count", c_uint32),
        ("kernel_count", c_uint32),
        ("path", c_char_p),
        ("reason", c_char_p),
        ("key", c_char_p),
        ("vendor", c_char_p),
        ("version", c_char_p),
        ("description", c_char_p),
        ("build", c_char_p),
        ("sanitizer", c_char_p),
        ("load_ns", c_uint64),
        ("native", c_uint64),
        ("options", c_void_p),
        ("option_count", c_uint32),
        ("reserved", c_uint32),
        ("opened", c_uint32),
        ("isolated", c_uint32),
        ("trust", c_char_p),
    ]


class OpInfo(Struct):
    _fields_ = [
        ("struct_size", c_uint32),
        ("level", c_uint32),
        ("name", c_char_p),
        ("schema", c_char_p),
        ("dtypes", DtypeMask),
        ("arg_count", c_uint32),
        ("result_count", c_uint32),
        ("max_ulp", c_double),
        ("comparator", c_char_p),
        ("decomposition", c_char_p),
        ("counted", c_bool),
        ("pointwise", c_bool),
        ("reserved", c_uint8 * 6),
        ("absolute", c_double),
        ("growth", c_double),
    ]


class ArgInfo(Struct):
    _fields_ = [
        ("struct_size", c_uint32),
        ("list_size", c_uint32),
        ("flags", c_uint64),
        ("tag", c_uint16),
        ("reserved", c_uint16 * 3),
        ("name", c_char_p),
        ("default_value", Value),
    ]


class GeneratorState(Struct):
    _fields_ = [("struct_size", c_uint32), ("algorithm", c_uint32), ("seed", c_uint64), ("offset", c_uint64)]


Handle = c_void_p
Out = POINTER(c_void_p)
Ints = POINTER(c_int64)

# What gives a kw_status, with its arguments: a failure raises.
CHECKED = {
    "plugin_load": [c_char_p],
    "plugin_count": [POINTER(c_uint32)],
    "plugin_get_report": [c_uint32, POINTER(PluginReport)],
    "device_count": [POINTER(c_uint32)],
    "device_get_entry": [c_uint32, POINTER(DeviceEntry)],
    "device_open_with": [c_char_p, POINTER(Option), c_uint32, Out],
    "device_close": [Handle],
    "device_rename": [c_char_p, c_char_p],
    "device_get_info": [Handle, POINTER(DeviceInfo)],
    "device_attribute": [Handle, c_char_p, POINTER(Attribute)],
    "device_synchronize_for": [Handle, c_uint64],
    "device_set_wait_limit": [Handle, c_uint64],
    "device_get_counters": [Handle, POINTER(Counters)],
    "memory_get_stats": [Handle, POINTER(MemoryStats)],
    "memory_get_usage": [Handle, POINTER(c_uint64), POINTER(c_uint64)],
    "memory_reset_peak": [Handle],
    "memory_trim": [Handle],
    "stream_create": [Handle, Out],
    "stream_destroy": [Handle],
    "stream_synchronize_for": [Handle, c_uint64],
    "stream_wait_event": [Handle, Handle],
    "event_create": [Handle, Out],
    "event_destroy": [Handle],
    "event_record": [Handle, Handle],
    "event_synchronize_for": [Handle, c_uint64],
    "event_elapsed": [Handle, Handle, POINTER(c_uint64)],
    "graph_begin": [Handle],
    "graph_end": [Handle, Out],
    "graph_launch": [Handle, Handle],
    "graph_destroy": [Handle],
    "tensor_create_on": [Handle, c_uint16, c_uint32, Ints, Out],
    "tensor_write": [Handle, c_void_p],
    "tensor_read": [Handle, c_void_p],
    "tensor_to": [Handle, Handle, Out],
    "tensor_set_constant": [Handle, c_bool],
    "tensor_from_file": [Handle, c_char_p, Out],
    "tensor_view": [Handle, c_uint32, Ints, Out],
    "tensor_as_strided": [Handle, c_uint32, Ints, Ints, c_int64, Out],
    "tensor_reinterpret": [Handle, c_uint16, c_uint32, Ints, Ints, c_uint64, Out],
    "tensor_expand": [Handle, c_uint32, Ints, Out],
    "tensor_permute": [Handle, c_uint32, Ints, Out],
    "tensor_transpose": [Handle, c_int64, c_int64, Out],
    "tensor_select": [Handle, c_int64, c_int64, Out],
    "tensor_slice": [Handle, c_int64, c_int64, c_int64, c_int64, Out],
    "tensor_squeeze": [Handle, c_int64, Out],
    "tensor_unsqueeze": [Handle, c_int64, Out],
    "tensor_diagonal": [Handle, c_int64, c_int64, c_int64, Out],
    "tensor_view_as_real": [Handle, Out],
    "tensor_view_as_complex": [Handle, Out],
    "tensor_format": [Handle, c_char_p, c_size_t],
    "tensor_to_dlpack": [Handle, Handle, Out],
    "tensor_to_dlpack_unversioned": [Handle, Handle, Out],
    "tensor_from_dlpack": [Handle, c_void_p, Out],
    "tensor_from_dlpack_unversioned": [Handle, c_void_p, Out],
    "op_get_info": [Handle, POINTER(OpInfo)],
    "op_get_arg": [Handle, c_uint32, POINTER(ArgInfo)],
    "op_call": [Handle, Handle, POINTER(Value), c_uint32, POINTER(c_void_p), c_uint32],
    "generator_create": [Handle, c_uint64, Out],
    "generator_seed": [Handle, c_uint64],
    "generator_get_state": [Handle, POINTER(GeneratorState)],
    "generator_set_state": [Handle, POINTER(GeneratorState)],
    "math_mode_set": [c_uint32],
    "autocast_set": [c_uint16, POINTER(c_uint16)],
}

# What else there is: result and arguments.
PLAIN = {
    "version": (c_char_p, []),
    "error_message": (c_char_p, []),
    "error_clear": (None, []),
    "status_name": (c_char_p, [c_int32]),
    "stage_name": (c_char_p, [c_uint32]),
    "dtype_promote": (c_uint16, [c_uint16, c_uint16]),
    "device_name": (c_char_p, [Handle]),
    "stream_default": (Handle, [Handle]),
    "stream_query": (c_int32, [Handle]),
    "event_query": (c_int32, [Handle]),
    "tensor_release": (None, [Handle]),
    "tensor_retain": (None, [Handle]),
    "tensor_describe": (POINTER(TensorRef), [Handle]),
    "tensor_device": (Handle, [Handle]),
    "tensor_is_read_only": (c_bool, [Handle]),
    "tensor_is_constant": (c_bool, [Handle]),
    "op_find": (Handle, [c_char_p]),
    "op_count": (c_uint32, []),
    "op_at": (Handle, [c_uint32]),
    "op_result_alias": (c_int32, [Handle, c_uint32]),
    "op_support": (c_uint32, [Handle, Handle, c_uint16]),
    "op_fallbacks": (c_uint64, [Handle, Handle]),
    "generator_default": (Handle, [Handle]),
    "generator_destroy": (None, [Handle]),
    "math_mode_get": (c_uint32, []),
    "math_mode_name": (c_char_p, [c_uint32]),
    "deterministic_set": (None, [c_bool]),
    "deterministic_get": (c_bool, []),
    "autocast_get": (c_uint16, []),
    "fallback_set": (None, [c_uint32]),
    "fallback_get": (c_uint32, []),
}


def open_library():
    """KEYWAY_LIBRARY names a libkeyway.so; otherwise the one in this package, or the system's."""
    bundled = Path(__file__).parent / "lib" / "libkeyway.so.1"
    place = os.environ.get("KEYWAY_LIBRARY") or (str(bundled) if bundled.exists() else "libkeyway.so.1")
    try:
        return ctypes.CDLL(place)
    except OSError as error:
        raise ImportError(
            f"keyway: {place} cannot be opened: {error}. Install the wheel, which brings it, or set KEYWAY_LIBRARY to "
            "the libkeyway.so of an installation"
        ) from None


_library = open_library()


def _check(status, function, arguments):
    if status:
        errors.raise_status(status, _library.kw_error_message().decode(errors="replace"))
    return status


def _declare(name, result, arguments, check=None):
    try:
        function = getattr(_library, f"kw_{name}")
    except AttributeError:
        raise ImportError(
            f"keyway: this libkeyway ({_library._name}) has no kw_{name}: it is older than the package. Install the "
            "library of the same version"
        ) from None
    function.restype, function.argtypes = result, arguments
    if check:
        function.errcheck = check
    globals()[name] = function


for _name, _arguments in CHECKED.items():
    _declare(_name, c_int32, _arguments, _check)
for _name, (_result, _arguments) in PLAIN.items():
    _declare(_name, _result, _arguments)


def int64s(numbers):
    """Whole numbers as the library takes lists of them."""
    return (c_int64 * len(numbers))(*numbers)


def made(function, *arguments):
    """The object that a function gives by its last argument."""
    handle = c_void_p()
    function(*arguments, ctypes.byref(handle))
    return handle.value


def filled(struct, function, *arguments):
    """A struct as a function fills it, which takes it last."""
    values = struct()
    function(*arguments, ctypes.byref(values))
    return values


def text(value):
    """A C string, perhaps NULL, as str."""
    return value.decode(errors="replace") if value else ""


Deleter = CFUNCTYPE(None, c_void_p)
