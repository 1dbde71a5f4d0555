# SPDX-License-Identifier: Apache-2.0
"""Data types and what they promote to, and what the namespace says of itself."""

from typing import NamedTuple

from .. import _device, _dtypes as dtypes
from .._tensor import Tensor
from .common import KINDS, NAMES, common_dtype, device_of


class finfo_object(NamedTuple):
    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: dtypes.DType


class iinfo_object(NamedTuple):
    bits: int
    max: int
    min: int
    dtype: dtypes.DType


FLOATS = {"f16": (11, 16, -14), "bf16": (8, 128, -126), "f32": (24, 128, -126), "f64": (53, 1024, -1022)}


def _dtype(type):
    return type.dtype if isinstance(type, Tensor) else dtypes.dtype(type)


def astype(x, dtype, /, *, copy=True, device=None):
    dtype = dtypes.dtype(dtype)
    result = x.to(dtype) if device is None else x.to(_device.device(device)).to(dtype)
    return result.clone() if copy and result is x else result


def can_cast(from_, to, /):
    start = _dtype(from_)
    return start is to or (start.kind != "bool" and to.kind != "bool" and _lossless(start, to))


def _lossless(start, to):
    """As the standard's table of promotion has it, which never goes from whole numbers to floats."""
    if (start.kind in ("float", "complex")) != (to.kind in ("float", "complex")):
        return False
    return dtypes.promote(start, to) is to


def finfo(type, /):
    dtype = _dtype(type)
    part = {"c64": dtypes.f32, "c128": dtypes.f64}.get(dtype.name, dtype)
    if part.name not in FLOATS:
        raise TypeError(f"finfo is for floating-point data types, not {dtype}; see iinfo")
    digits, largest, smallest = FLOATS[part.name]
    most = (2.0 - 2.0 ** (1 - digits)) * 2.0 ** (largest - 1)
    return finfo_object(part.itemsize * 8, 2.0 ** (1 - digits), most, -most, 2.0**smallest, part)


def iinfo(type, /):
    dtype = _dtype(type)
    bits = dtype.itemsize * 8
    if dtype.kind == "signed":
        return iinfo_object(bits, 2 ** (bits - 1) - 1, -(2 ** (bits - 1)), dtype)
    if dtype.kind == "unsigned":
        return iinfo_object(bits, 2**bits - 1, 0, dtype)
    raise TypeError(f"iinfo is for whole numbers, not {dtype}; see finfo")


def isdtype(dtype, kind):
    if isinstance(kind, tuple):
        return any(isdtype(dtype, each) for each in kind)
    if isinstance(kind, str):
        if kind not in KINDS:
            raise ValueError(f"{kind!r} is no kind of data types: there are {', '.join(KINDS)}")
        return dtype.kind in KINDS[kind]
    return dtype is kind


def result_type(*arrays_and_dtypes):
    return common_dtype(arrays_and_dtypes)


class __array_namespace_info__:
    """What this namespace can do."""

    def capabilities(self):
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 16}

    def default_device(self):
        return device_of(None)

    def default_dtypes(self, *, device=None):
        return {
            "real floating": dtypes.OF_PYTHON[float],
            "complex floating": dtypes.OF_PYTHON[complex],
            "integral": dtypes.OF_PYTHON[int],
            "indexing": dtypes.OF_PYTHON[int],
        }

    def devices(self):
        return [_device.device(each.name) for each in _device.devices()]

    def dtypes(self, *, device=None, kind=None):
        return {name: each for name, each in NAMES.items() if kind is None or isdtype(each, kind)}
