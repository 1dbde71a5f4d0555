# SPDX-License-Identifier: Apache-2.0
"""Searching, sorting, indexing and set functions."""

from typing import NamedTuple

from .. import _dtypes as dtypes
from .._tensor import Tensor
from . import statistical
from .common import axis_of, broadcast_shape, cast_all, full_of, host_tensor, op
from .elementwise import add, imag, less, not_equal, real, subtract, where
from .manipulation import broadcast_to, concat


def _arg(name, x, axis, keepdims):
    if axis is None:
        result = op(name)(x, None)
        return result.view((1,) * x.ndim) if keepdims else result
    return op(name)(x, axis_of(axis, x.ndim), keepdims)


def argmax(x, /, *, axis=None, keepdims=False):
    return _arg("argmax", x, axis, keepdims)


def argmin(x, /, *, axis=None, keepdims=False):
    return _arg("argmin", x, axis, keepdims)


def nonzero(x, /):
    if x.ndim == 0:
        raise ValueError("nonzero takes an array of one dimension or more")
    places = op("nonzero")(not_equal(x, 0) if x.dtype.kind == "complex" else x)
    return tuple(places.select(1, axis).contiguous() for axis in range(x.ndim))


def searchsorted(x1, x2, /, *, side="left", sorter=None):
    if side not in ("left", "right"):
        raise ValueError(f"side is 'left' or 'right', not {side!r}")
    if sorter is not None:
        x1 = op("index_select")(x1, 0, sorter.to(dtypes.i64))
    x1, x2 = cast_all([x1, x2])
    return op("searchsorted.Tensor")(x1, x2, right=side == "right")


def _sorted(x, axis, descending, stable):
    return op("sort.stable")(x, stable=stable, dim=axis_of(axis, x.ndim), descending=descending)


def sort(x, /, *, axis=-1, descending=False, stable=True):
    return _sorted(x, axis, descending, stable)[0]


def argsort(x, /, *, axis=-1, descending=False, stable=True):
    return _sorted(x, axis, descending, stable)[1]


def take(x, indices, /, *, axis=None):
    if axis is None and x.ndim != 1:
        raise ValueError(f"take needs the axis of an array of {x.ndim} dimensions")
    axis = 0 if axis is None else axis_of(axis, x.ndim)
    return op("index.Tensor")(x, [None] * axis + [indices.to(dtypes.i64)])


def take_along_axis(x, indices, /, *, axis=-1):
    axis = axis_of(axis, x.ndim)
    indices = indices.to(dtypes.i64)
    indices = where(less(indices, 0), add(indices, x.shape[axis]), indices)
    shape = broadcast_shape(*((*each.shape[:axis], 1, *each.shape[axis + 1 :]) for each in (x, indices)))
    x, indices = (broadcast_to(each, (*shape[:axis], each.shape[axis], *shape[axis + 1 :])) for each in (x, indices))
    return op("gather")(x, axis, indices)


# ---- Sets


class unique_all_result(NamedTuple):
    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class unique_counts_result(NamedTuple):
    values: Tensor
    counts: Tensor


class unique_inverse_result(NamedTuple):
    values: Tensor
    inverse_indices: Tensor


def _ordered(x):
    """Equal ones side by side, and the places where they come from. Complex ones by their parts."""
    if x.dtype.kind != "complex":
        return _sorted(x, 0, False, True)
    places = argsort(imag(x))
    places = take(places, argsort(take(real(x), places)))
    return take(x, places), places


def _groups(x):
    """The elements in order, the places where they come from, and a mask of those that differ from the one before: each
    NaN does."""
    ordered, places = _ordered(x.reshape(-1))
    if x.size == 0:
        return ordered, places, full_of((0,), True, dtypes.bool_, x.device)
    first = full_of((1,), True, dtypes.bool_, x.device)
    return ordered, places, concat([first, not_equal(ordered[1:], ordered[:-1])])


def _counts(new):
    starts = op("nonzero")(new).select(1, 0)
    end = host_tensor([new.size], dtypes.i64, new.device)
    return subtract(concat([starts[1:], end[: starts.size]]), starts)


def _inverse(x, places, new):
    if x.size == 0:
        return places.view(x.shape)
    group = subtract(statistical.cumulative_sum(new.to(dtypes.i64)), 1)
    return op("scatter.src")(places, 0, places, group).view(x.shape)


def unique_all(x, /):
    ordered, places, new = _groups(x)
    return unique_all_result(ordered[new], places[new], _inverse(x, places, new), _counts(new))


def unique_counts(x, /):
    ordered, _, new = _groups(x)
    return unique_counts_result(ordered[new], _counts(new))


def unique_inverse(x, /):
    ordered, places, new = _groups(x)
    return unique_inverse_result(ordered[new], _inverse(x, places, new))


def unique_values(x, /):
    ordered, _, new = _groups(x)
    return ordered[new]
