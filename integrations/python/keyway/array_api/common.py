# SPDX-License-Identifier: Apache-2.0
"""What the functions of the array API share: axes, numbers beside tensors, and one dtype for all operands."""

from .. import _dtypes as dtypes
from .._device import device as open_device
from .._op import table
from .._settings import settings
from .._tensor import Tensor

NAMES = {
    "bool": dtypes.bool_,
    "int8": dtypes.i8,
    "int16": dtypes.i16,
    "int32": dtypes.i32,
    "int64": dtypes.i64,
    "uint8": dtypes.u8,
    "float32": dtypes.f32,
    "float64": dtypes.f64,
    "complex64": dtypes.c64,
    "complex128": dtypes.c128,
}
KINDS = {
    "bool": ("bool",),
    "signed integer": ("signed",),
    "unsigned integer": ("unsigned",),
    "integral": ("signed", "unsigned"),
    "real floating": ("float",),
    "complex floating": ("complex",),
    "numeric": ("signed", "unsigned", "float", "complex"),
}
RANK = {"bool": 0, "unsigned": 1, "signed": 1, "float": 2, "complex": 3}
RANK_OF_PYTHON = {bool: 0, int: 1, float: 2, complex: 3}
INTS_OF_SIZE = {1: dtypes.i8, 2: dtypes.i16, 4: dtypes.i32, 8: dtypes.i64}

op = table.find


def device_of(device):
    return settings.default_device if device is None else open_device(device)


def dtype_of(dtype, default):
    return default if dtype is None else dtypes.dtype(dtype)


def is_number(x):
    return isinstance(x, (bool, int, float, complex))


def full_of(shape, number, dtype, device):
    """One op: every element the same number."""
    return op("full")(list(shape), number, dtype=dtype, device=device)


def dtype_beside(number, dtype):
    """The dtype of a tensor of `dtype` together with a Python number: the tensor's, unless the number is of a higher
    kind; then ATen's promotion."""
    kind = next(each for each in (bool, int, float, complex) if isinstance(number, each))
    if RANK_OF_PYTHON[kind] <= RANK[dtype.kind]:
        return dtype
    return dtypes.promote(dtype, dtypes.OF_PYTHON[kind])


def common_dtype(operands):
    """Of tensors, dtypes and Python numbers, whatever their shapes. Unlike in ATen, a tensor without dimensions counts
    as any other."""
    found = None
    for each in operands:
        if not is_number(each):
            dtype = each.dtype if isinstance(each, Tensor) else dtypes.dtype(each)
            found = dtype if found is None else dtypes.promote(found, dtype)
    if found is None:
        raise TypeError("one operand at least is a tensor or a dtype")
    for each in operands:
        if is_number(each):
            found = dtype_beside(each, found)
    return found


def cast_all(operands):
    """Tensors of one dtype on one device: Python numbers become tensors without dimensions."""
    operands = [dtypes.python_number(each) for each in operands]
    dtype = common_dtype(operands)
    device = next((each.device for each in operands if isinstance(each, Tensor)), None)
    if device is None:
        raise TypeError("one operand at least is a tensor")
    return [full_of((), each, dtype, device) if is_number(each) else each.to(dtype) for each in operands]


def axis_of(axis, ndim, name="axis"):
    """One axis, from 0 on."""
    axis = axis.__index__()
    if not -ndim <= axis < ndim:
        raise IndexError(f"{name} {axis} is out of range for {ndim} dimensions")
    return axis % ndim


def axes_of(axis, ndim):
    """A list of axes, from 0 on: all for None."""
    if axis is None:
        return list(range(ndim))
    axes = [axis_of(each, ndim) for each in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    if len(set(axes)) != len(axes):
        raise ValueError(f"an axis is named twice in {axis}")
    return axes


def broadcast_shape(*shapes):
    rank = max(map(len, shapes), default=0)
    result = [1] * rank
    for shape in shapes:
        for place, length in enumerate(shape, rank - len(shape)):
            if length != 1 and result[place] not in (1, length):
                raise ValueError(f"shapes {' and '.join(map(str, shapes))} cannot be broadcast to one")
            result[place] = length if length != 1 else result[place]
    return tuple(result)


def host_tensor(numbers, dtype, device):
    """A tensor of numbers that were computed here."""
    from .._tensor import tensor

    return tensor(numbers, dtype, device)
