# SPDX-License-Identifier: Apache-2.0
"""Statistical functions, and all, any, count_nonzero and diff."""

from .. import _dtypes as dtypes
from . import complex_functions, complex_numbers
from .common import axes_of, axis_of, full_of, op
from .elementwise import not_equal, sqrt, subtract
from .manipulation import concat


def _sum_dtype(x, dtype):
    """Whole numbers and bool are added up as i64."""
    if dtype is not None:
        return dtypes.dtype(dtype)
    return x.dtype if x.dtype.kind in ("float", "complex") else dtypes.i64


def sum(x, /, *, axis=None, dtype=None, keepdims=False):
    dtype, axes = _sum_dtype(x, dtype), axes_of(axis, x.ndim)
    if not axes:
        return x.clone().to(dtype)
    if dtype.kind == "complex":
        return complex_numbers.by_pairs(lambda pairs: op("sum.dim_IntList")(pairs, axes, keepdims))(x.to(dtype))
    return op("sum.dim_IntList")(x, axes, keepdims, dtype=dtype)


def prod(x, /, *, axis=None, dtype=None, keepdims=False):
    dtype, axes = _sum_dtype(x, dtype), axes_of(axis, x.ndim)
    result = x.clone().to(dtype)
    for each in sorted(axes, reverse=True):
        if dtype.kind == "complex":
            result = complex_functions.prod(result, each, keepdims)
        else:
            result = op("prod.dim_int")(result, each, keepdims, dtype=dtype)
    return result


def _extreme(name, x, axis, keepdims):
    axes = axes_of(axis, x.ndim)
    return op(name)(x, axes, keepdims) if axes else x.clone()


def max(x, /, *, axis=None, keepdims=False):
    return _extreme("amax", x, axis, keepdims)


def min(x, /, *, axis=None, keepdims=False):
    return _extreme("amin", x, axis, keepdims)


def mean(x, /, *, axis=None, keepdims=False):
    axes = axes_of(axis, x.ndim)
    if not axes:
        return x.clone()
    if x.dtype.kind == "complex":
        return complex_numbers.by_pairs(lambda pairs: op("mean.dim")(pairs, axes, keepdims))(x)
    return op("mean.dim")(x, axes, keepdims)


def var(x, /, *, axis=None, correction=0.0, keepdims=False):
    axes = axes_of(axis, x.ndim)
    if not axes:  # of one element each: an axis of length 1 is made for it
        return op("var.correction")(x.unsqueeze(0), [0], correction=correction)
    return op("var.correction")(x, axes, correction=correction, keepdim=keepdims)


def std(x, /, *, axis=None, correction=0.0, keepdims=False):
    return sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))


def _cumulative(name, neutral, x, axis, dtype, include_initial):
    if axis is None and x.ndim != 1:
        raise ValueError(f"an array of {x.ndim} dimensions needs an axis")
    axis, dtype = axis_of(-1 if axis is None else axis, x.ndim), _sum_dtype(x, dtype)
    if dtype.kind != "complex":
        result = op(name)(x, axis, dtype=dtype)
    elif name == "cumsum":
        result = complex_numbers.by_pairs(lambda pairs: op(name)(pairs, axis))(x.to(dtype))
    else:
        result = complex_functions.cumprod(x.to(dtype), axis)
    if include_initial:
        shape = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
        result = concat([full_of(shape, neutral, dtype, x.device), result], axis=axis)
    return result


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    return _cumulative("cumsum", 0, x, axis, dtype, include_initial)


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    return _cumulative("cumprod", 1, x, axis, dtype, include_initial)


def _truth(name, x, axis, keepdims):
    axes = axes_of(axis, x.ndim)
    truth = x if x.dtype.kind == "bool" else not_equal(x, 0)
    return op(name)(truth, axes, keepdims) if axes else truth


def all(x, /, *, axis=None, keepdims=False):
    return _truth("all.dims", x, axis, keepdims)


def any(x, /, *, axis=None, keepdims=False):
    return _truth("any.dims", x, axis, keepdims)


def count_nonzero(x, /, *, axis=None, keepdims=False):
    return sum(not_equal(x, 0), axis=axis, keepdims=keepdims)


def diff(x, /, *, axis=-1, n=1, prepend=None, append=None):
    axis = axis_of(axis, x.ndim)
    parts = [each for each in (prepend, x, append) if each is not None]
    x = concat(parts, axis=axis) if len(parts) > 1 else x
    for _ in range(n):
        length = x.shape[axis]
        x = subtract(x.slice(axis, 1, length), x.slice(axis, 0, length - 1 if length else 0))
    return x
