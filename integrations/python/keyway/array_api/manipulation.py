# SPDX-License-Identifier: Apache-2.0
"""Functions that move elements: views wherever they can be."""

from .._tensor import Tensor
from .common import axes_of, axis_of, broadcast_shape, cast_all, host_tensor, op


def broadcast_to(x, /, shape):
    if broadcast_shape(x.shape, shape) != tuple(shape):
        raise ValueError(f"shape {x.shape} cannot be broadcast to {tuple(shape)}")
    return x.expand(tuple(shape))


def broadcast_arrays(*arrays):
    shape = broadcast_shape(*(each.shape for each in arrays))
    return [broadcast_to(each, shape) for each in arrays]


def concat(arrays, /, *, axis=0):
    arrays = cast_all(list(arrays))
    if axis is None:
        return op("cat")([each.reshape(-1) for each in arrays], 0)
    axis = axis_of(axis, arrays[0].ndim)
    others = {(*each.shape[:axis], *each.shape[axis + 1 :]) for each in arrays}
    if len(others) > 1:
        raise ValueError(f"arrays side by side differ in other dimensions than {axis}: {[a.shape for a in arrays]}")
    return op("cat")(arrays, axis)


def stack(arrays, /, *, axis=0):
    arrays = list(arrays)
    if len({each.shape for each in arrays}) > 1:
        raise ValueError(f"stack takes arrays of one shape, not {[each.shape for each in arrays]}")
    axis = axis_of(axis, arrays[0].ndim + 1)
    return concat([each.unsqueeze(axis) for each in arrays], axis=axis)


def unstack(x, /, *, axis=0):
    axis = axis_of(axis, x.ndim)
    return tuple(x.select(axis, place) for place in range(x.shape[axis]))


def expand_dims(x, /, axis=0):
    return x.unsqueeze(axis_of(axis, x.ndim + 1))


def squeeze(x, /, axis):
    axes = axes_of(axis, x.ndim)
    long = [each for each in axes if x.shape[each] != 1]
    if long:
        raise ValueError(f"axis {long[0]} has length {x.shape[long[0]]}: only those of length 1 can be left out")
    for each in sorted(axes, reverse=True):
        x = x.squeeze(each)
    return x


def permute_dims(x, /, axes):
    axes = axes_of(tuple(axes), x.ndim)
    if len(axes) != x.ndim:
        raise ValueError(f"{x.ndim} dimensions have a place each, not {len(axes)}")
    return x.permute(axes)


def moveaxis(x, source, destination, /):
    source, destination = axes_of(source, x.ndim), axes_of(destination, x.ndim)
    if len(source) != len(destination):
        raise ValueError("each axis to be moved has one destination")
    order = [each for each in range(x.ndim) if each not in source]
    for place, each in sorted(zip(destination, source)):
        order.insert(place, each)
    return x.permute(order)


def flip(x, /, *, axis=None):
    return op("flip")(x, axes_of(axis, x.ndim))


def roll(x, /, shift, *, axis=None):
    if axis is None:
        return op("roll")(x.reshape(-1), [shift], [0]).view(x.shape)
    shifts = list(shift) if isinstance(shift, (tuple, list)) else [shift]
    axes = [axis_of(each, x.ndim) for each in (axis if isinstance(axis, (tuple, list)) else (axis,))]
    if len(shifts) == 1:
        shifts *= len(axes)
    return op("roll")(x, shifts, axes)


def reshape(x, /, shape, *, copy=None):
    if copy is False:
        return x.view(x._whole(tuple(shape)))
    result = x.reshape(tuple(shape))
    return result.clone() if copy else result


def repeat(x, repeats, /, *, axis=None):
    if axis is None:
        x, axis = x.reshape(-1), 0
    axis = axis_of(axis, x.ndim)
    if isinstance(repeats, Tensor):
        counts = repeats.tolist()
        counts = counts if isinstance(counts, list) else [counts]
        counts = counts * x.shape[axis] if len(counts) == 1 else counts
        if len(counts) != x.shape[axis]:
            raise ValueError(f"{len(counts)} counts for {x.shape[axis]} entries")
        places = [place for place, count in enumerate(counts) for _ in range(count)]
        return op("index_select")(x, axis, host_tensor(places, "i64", x.device))
    shape = (*x.shape[: axis + 1], repeats, *x.shape[axis + 1 :])
    whole = (*x.shape[:axis], x.shape[axis] * repeats, *x.shape[axis + 1 :])
    return x.unsqueeze(axis + 1).expand(shape).contiguous().view(whole)


def tile(x, repetitions, /):
    repetitions = (1,) * (x.ndim - len(repetitions)) + tuple(repetitions)
    return op("repeat")(x, list(repetitions))
