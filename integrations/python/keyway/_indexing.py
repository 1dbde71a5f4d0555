# SPDX-License-Identifier: Apache-2.0
"""Indexing as the array API and NumPy have it: integers, slices of any step, ..., None, masks and lists of indices.

What integers, slices with a positive step and None name is a view. Strides are never negative, so that a slice with a
negative step is a copy, as is what masks and lists of indices gather.
"""

from . import _dtypes as dtypes


def get(tensor, key):
    from . import ops

    view, flipped, gathered = _walk(tensor, key)
    if flipped:
        view = ops.flip(view, flipped)
    if gathered:
        view = ops.find("index.Tensor")(view, gathered)
    return view


def put(tensor, key, value):
    from . import ops

    view, flipped, gathered = _walk(tensor, key)
    number = isinstance(value, (bool, int, float, complex))
    if number and not gathered:
        ops.find("fill_.Scalar")(view, value)
        return
    value = _values(tensor, value)
    if gathered:
        source = ops.flip(view, flipped) if flipped else view
        value = ops.index_put(source, gathered, value)
    elif value.ndim > view.ndim and set(value.shape[: value.ndim - view.ndim]) == {1}:
        value = value.view(value.shape[value.ndim - view.ndim :])
    if flipped:
        value = ops.flip(value.expand(view.shape), flipped)
    view.copy_(value)


def _values(tensor, value):
    from ._tensor import Tensor, tensor as make

    if not isinstance(value, Tensor):
        value = make(value, None if hasattr(value, "__array_interface__") else tensor.dtype, tensor.device)
    return value.to(tensor.device).to(tensor.dtype)


def _walk(tensor, key):
    """The view that the basic parts of a key make; the dimensions of it that are to be flipped; and the index tensors,
    with None where a dimension has none, or [] if there are none."""
    parts = [_part(tensor, part) for part in (key if isinstance(key, tuple) else (key,))]
    used = sum(_consumes(part) for part in parts)
    if used > tensor.ndim:
        raise IndexError(f"{used} indices for a tensor of {tensor.ndim} dimensions")
    dots = [place for place, part in enumerate(parts) if part is ...]
    if len(dots) > 1:
        raise IndexError("an index has one ... at most")
    rest = [slice(None)] * (tensor.ndim - used)
    place = dots[0] if dots else len(parts)
    parts[place : place + len(dots)] = rest
    view, dim, flipped, gathered = tensor, 0, [], []
    for part in parts:
        if part is None:
            view = view.unsqueeze(dim)
        elif isinstance(part, slice):
            view = _slice(view, dim, part, flipped)
        elif isinstance(part, int):
            view = _select(view, dim, part)
            continue
        else:
            if part.dtype is dtypes.bool_ and part.ndim == 0:  # of no dimension: one of length 1 is made for it
                view, part = view.unsqueeze(dim), part.view(1)
            gathered += [None] * (dim - len(gathered)) + [part]
            if part.dtype is dtypes.bool_:
                shape = view.shape[dim : dim + part.ndim]
                if part.shape != shape and all(mine in (0, length) for mine, length in zip(part.shape, shape)):
                    part = gathered[-1] = _nothing(part, shape)
                if part.shape != shape:
                    raise IndexError(f"a mask of shape {part.shape} does not fit dimension {dim} of {view.shape}")
                dim += part.ndim - 1
        dim += 1
    return view, flipped, gathered


def _nothing(mask, shape):
    """A mask without elements, which the standard lets fit any length, chooses nothing."""
    from . import ops

    return ops.full(list(shape), False, dtype=dtypes.bool_, device=mask.device)


def _part(tensor, part):
    """One part of a key: None, ..., a slice, an int, or a tensor of bool or i64 on the tensor's device."""
    from ._tensor import Tensor, tensor as make

    if part is None or part is ... or isinstance(part, slice):
        return part
    if isinstance(part, (list, bool)) or hasattr(part, "__array_interface__"):
        part = make(part, device=tensor.device)
    if isinstance(part, Tensor):
        if part.dtype.kind not in ("bool", "signed", "unsigned"):
            raise IndexError(f"a tensor of {part.dtype} is no index: bool or whole numbers are")
        part = part.to(tensor.device)
        return part if part.dtype is dtypes.bool_ else part.to(dtypes.i64)
    try:
        return part.__index__()
    except (AttributeError, TypeError):
        raise IndexError(f"{type(part).__name__} is no index: ints, slices, ..., None and tensors are") from None


def _consumes(part):
    """How many dimensions of the tensor a part stands for."""
    if part is None or part is ...:
        return 0
    return part.ndim if getattr(part, "dtype", None) is dtypes.bool_ else 1


def _select(view, dim, index):
    length = view.shape[dim]
    if not -length <= index < length:
        raise IndexError(f"index {index} is out of range for dimension {dim} of length {length}")
    return view.select(dim, index)


def _slice(view, dim, part, flipped):
    start, stop, step = part.indices(view.shape[dim])
    if step < 0:
        count = max(0, (stop - start + step + 1) // step)
        start, stop, step = start + (count - 1) * step, start + 1, -step
        flipped.append(dim)
        if count == 0:
            start = stop = 0
    return view if (start, stop, step) == (0, view.shape[dim], 1) else view.slice(dim, start, max(start, stop), step)
