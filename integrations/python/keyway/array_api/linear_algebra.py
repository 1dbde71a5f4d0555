# SPDX-License-Identifier: Apache-2.0
"""Linear algebra of the main namespace, by mm and bmm."""

import math

from . import complex_numbers
from .common import axis_of, broadcast_shape, cast_all, op
from .elementwise import conj
from .manipulation import broadcast_arrays, broadcast_to, moveaxis


def matmul(x1, x2, /):
    if not getattr(x1, "ndim", 0) or not getattr(x2, "ndim", 0):
        raise ValueError("matmul takes arrays of one dimension or more")
    x1, x2 = cast_all([x1, x2])
    row, column = x1.ndim == 1, x2.ndim == 1
    x1 = x1.unsqueeze(0) if row else x1
    x2 = x2.unsqueeze(1) if column else x2
    if x1.shape[-1] != x2.shape[-2]:
        raise ValueError(f"matrices of shapes {x1.shape} and {x2.shape} have no product")
    result = complex_numbers.matmul(_product, x1, x2) if x1.dtype.kind == "complex" else _product(x1, x2)
    result = result.squeeze(-1) if column else result
    return result.squeeze(-1 if column else -2) if row else result


def _product(x1, x2):
    """Of real matrices, or stacks of them."""
    if x1.ndim == x2.ndim == 2:
        return op("mm")(x1, x2)
    batch = broadcast_shape(x1.shape[:-2], x2.shape[:-2])
    left, right = (
        broadcast_to(x, (*batch, *x.shape[-2:])).reshape((math.prod(batch), *x.shape[-2:])) for x in (x1, x2)
    )
    return op("bmm")(left, right).view((*batch, x1.shape[-2], x2.shape[-1]))


def matrix_transpose(x, /):
    return x.mT


def tensordot(x1, x2, /, *, axes=2):
    if isinstance(axes, int):
        left, right = list(range(x1.ndim - axes, x1.ndim)), list(range(axes))
    else:
        left = [axis_of(each, x1.ndim) for each in axes[0]]
        right = [axis_of(each, x2.ndim) for each in axes[1]]
    lengths = [x1.shape[each] for each in left]
    if lengths != [x2.shape[each] for each in right]:
        raise ValueError(f"axes {left} of {x1.shape} and {right} of {x2.shape} differ in length")
    kept1 = [each for each in range(x1.ndim) if each not in left]
    kept2 = [each for each in range(x2.ndim) if each not in right]
    x1, x2 = cast_all([x1, x2])
    shape = (*(x1.shape[each] for each in kept1), *(x2.shape[each] for each in kept2))
    inner = math.prod(lengths)
    rows, columns = (math.prod(x.shape[each] for each in kept) for x, kept in ((x1, kept1), (x2, kept2)))
    matrix1 = x1.permute(kept1 + left).reshape((rows, inner))
    matrix2 = x2.permute(right + kept2).reshape((inner, columns))
    return matmul(matrix1, matrix2).view(shape)


def vecdot(x1, x2, /, *, axis=-1):
    x1, x2 = cast_all([x1, x2])
    if axis >= 0 or -axis > min(x1.ndim, x2.ndim):
        raise ValueError(f"the axis of vecdot is -1 to -{min(x1.ndim, x2.ndim)}, not {axis}")
    if x1.shape[axis] != x2.shape[axis]:
        raise ValueError(f"axis {axis} has two lengths: {x1.shape} and {x2.shape}")
    x1, x2 = (moveaxis(each, axis, -1) for each in broadcast_arrays(x1, x2))
    return (
        matmul((conj(x1) if x1.dtype.kind == "complex" else x1).unsqueeze(-2), x2.unsqueeze(-1)).squeeze(-1).squeeze(-1)
    )
