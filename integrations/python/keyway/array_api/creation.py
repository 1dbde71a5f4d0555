# SPDX-License-Identifier: Apache-2.0
"""Creation functions. Without `device`, tensors are made on keyway.settings.default_device."""

import math

from .. import _dtypes as dtypes, _tensor as tensor
from .._tensor import Tensor
from .common import device_of, dtype_of, full_of, host_tensor, is_number, op
from .manipulation import broadcast_to


def _shape(shape):
    return tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)


def _number_dtype(number):
    number = dtypes.python_number(number)
    if not is_number(number):
        raise TypeError(f"a number fills a tensor, not {type(number).__name__}; see asarray and broadcast_to")
    return dtypes.OF_PYTHON[next(kind for kind in (bool, int, float, complex) if isinstance(number, kind))]


def arange(start, /, stop=None, step=1, *, dtype=None, device=None):
    if stop is None:
        start, stop = 0, start
    whole = all(isinstance(each, int) for each in (start, stop, step))
    dtype = dtype_of(dtype, dtypes.i64 if whole else dtypes.f32)
    if step == 0:
        raise ValueError("arange needs a step other than 0")
    if (stop - start) / step <= 0:
        return tensor.empty((0,), dtype, device)
    return op("arange.start_step")(start, stop, step, dtype=dtype, device=device_of(device))


def asarray(obj, /, *, dtype=None, device=None, copy=None):
    if isinstance(obj, Tensor):
        result = obj if device is None else obj.to(device_of(device))
        result = result if dtype is None else result.to(dtypes.dtype(dtype))
        if result is not obj and copy is False:
            raise ValueError("another dtype or device needs a copy")
        return obj.clone() if copy and result is obj else result
    if copy is not True and hasattr(obj, "__dlpack__"):
        shared = _shared(obj, dtype, device)
        if shared is not None:
            return shared
    if copy is False:
        raise ValueError(f"a tensor of what {type(obj).__name__} holds needs a copy")
    return tensor.tensor(obj, dtype, device_of(device))


def _shared(obj, dtype, device):
    """A tensor on the memory of another library's array, if it can be shared as it is."""
    try:
        shared = tensor.from_dlpack(obj, device=device_of(device), copy=False)
    except (BufferError, RuntimeError, TypeError):
        return None
    return shared if dtype is None or shared.dtype is dtypes.dtype(dtype) else None


def empty(shape, *, dtype=None, device=None):
    return tensor.empty(_shape(shape), dtype_of(dtype, dtypes.f32), device)


def empty_like(x, /, *, dtype=None, device=None):
    return tensor.empty(x.shape, dtype_of(dtype, x.dtype), device or x.device)


def eye(n_rows, n_cols=None, /, *, k=0, dtype=None, device=None):
    n_cols = n_rows if n_cols is None else n_cols
    result = zeros((n_rows, n_cols), dtype=dtype, device=device)
    if -n_rows < k < n_cols:
        op("fill_.Scalar")(result.diagonal(k), 1)
    return result


def full(shape, fill_value, *, dtype=None, device=None):
    dtype = dtype_of(dtype, _number_dtype(fill_value))
    return full_of(_shape(shape), fill_value, dtype, device_of(device))


def full_like(x, /, fill_value, *, dtype=None, device=None):
    return full_of(x.shape, fill_value, dtype_of(dtype, x.dtype), device or x.device)


def linspace(start, stop, /, num, *, dtype=None, device=None, endpoint=True):
    if num < 0:
        raise ValueError(f"linspace makes 0 numbers or more, not {num}")
    parts = num - 1 if endpoint else num
    step = (stop - start) / parts if parts else math.nan
    numbers = [start + place * step if place else start for place in range(num)]
    if endpoint and num > 1:
        numbers[-1] = stop
    dtype = dtype_of(dtype, dtypes.f32)
    if dtype.kind in ("signed", "unsigned"):
        numbers = [int(number) for number in numbers]
    return host_tensor(numbers, dtype, device_of(device))


def meshgrid(*arrays, indexing="xy"):
    if indexing not in ("xy", "ij"):
        raise ValueError(f"indexing is 'xy' or 'ij', not {indexing!r}")
    swap = indexing == "xy" and len(arrays) > 1
    places = list(range(len(arrays)))
    if swap:
        places[:2] = 1, 0
    shape = [0] * len(arrays)
    for place, array in zip(places, arrays):
        shape[place] = array.size
    grids = []
    for place, array in zip(places, arrays):
        own = [1] * len(arrays)
        own[place] = array.size
        grids.append(broadcast_to(array.reshape(own), tuple(shape)).contiguous())
    return grids


def ones(shape, *, dtype=None, device=None):
    return full_of(_shape(shape), 1, dtype_of(dtype, dtypes.f32), device_of(device))


def ones_like(x, /, *, dtype=None, device=None):
    return full_like(x, 1, dtype=dtype, device=device)


def zeros(shape, *, dtype=None, device=None):
    return full_of(_shape(shape), 0, dtype_of(dtype, dtypes.f32), device_of(device))


def zeros_like(x, /, *, dtype=None, device=None):
    return full_like(x, 0, dtype=dtype, device=device)


def tril(x, /, *, k=0):
    return op("tril")(x, k)


def triu(x, /, *, k=0):
    return op("triu")(x, k)
