# SPDX-License-Identifier: Apache-2.0
"""Golden vectors: pools."""
import math

import torch

from golden import add, compose, DTYPES, FLOATS, NAMES, of, tensor

aten = torch.ops.aten


@compose("avg_pool3d")
def avg_pool3d(x, *numbers):
    """The library has no kernel of its own for 16 bits."""
    narrow = x.dtype in (torch.float16, torch.bfloat16)
    return aten.avg_pool3d(x.float() if narrow else x, *numbers).to(x.dtype)


def in_f32(op):
    """The library's gradients know neither 16 bits everywhere nor indices in i32."""
    @compose(op)
    def backward(grad, x, *rest):
        narrow = x.dtype in (torch.float16, torch.bfloat16)
        function = getattr(aten, op)
        rest = [r.long() if isinstance(r, torch.Tensor) else r for r in rest]
        return function(grad.float(), x.float(), *rest).to(x.dtype) if narrow else function(grad, x, *rest)


for op in ["avg_pool", "max_pool", "_adaptive_avg_pool", "adaptive_max_pool"]:
    for end in ["2d", "3d"]:
        in_f32(op + end + ("_with_indices" if op == "max_pool" else "") + "_backward")


def name(kind, dims):
    if kind == "adaptive_avg":
        return "adaptive_avg_pool1d" if dims == 1 else f"_adaptive_avg_pool{dims}d"
    return f"{kind}_pool{dims}d" + ("_with_indices" if kind == "max" else "")


# kernel_size, stride, padding, dilation, ceil_mode for three dimensions; those of fewer take the last ones
WINDOWS = [([2, 3, 2], [2, 3, 2], [0, 0, 0], [1, 1, 1], False),
           ([3, 3, 3], [1, 1, 2], [1, 1, 1], [1, 1, 1], False),
           ([2, 2, 3], [2, 2, 2], [1, 1, 1], [1, 2, 1], True),
           ([2, 3, 3], [3, 2, 2], [0, 1, 0], [2, 1, 2], True)]
OUTPUTS = [[2, 2, 3], [1, 1, 1], [4, 3, 7]]


def absolute(op, rest, override):
    """The average of absolute values, by the absolute divisor."""
    def magnitude(x, *_):
        numbers = [*rest, abs(override)] if override else rest
        return [getattr(aten, op)(x.abs(), *numbers)]
    return magnitude


def coarse(dtype, shape, low=-2.0, high=2.0):
    """Multiples of 1/16."""
    return (tensor(dtype, shape, 16 * low, 16 * high).double().round() / 16).to(DTYPES[dtype])


def gradient(op, x, dims, rest, forward, indices, **how):
    """Of a gradient with the shape of `forward`; twice the terms that meet in one element."""
    grad = coarse(NAMES[x.dtype], list(forward.shape))
    add(op + "_backward", grad, x, *rest, *([indices.to(torch.int32 if dims == 3 else torch.int64)]
                                            if indices is not None else []), terms=2 * 27, **how)


def average_gradients(x, dims):
    op = name("avg", dims)
    for kernel, stride, padding, _, ceil in WINDOWS[2:] if x.dtype.itemsize == 2 or dims == 3 else WINDOWS:
        for counts, override in [(True, None), (False, None), (False, -3)]:
            rest = [kernel[3 - dims:], stride[3 - dims:], padding[3 - dims:], ceil, counts]

            def magnitude(grad, x, *_):
                numbers = [*rest, abs(override) if override else None]
                return [getattr(aten, op + "_backward")(grad.abs(), x, *numbers)]
            forward = getattr(aten, op)(x.double(), *rest, override)
            gradient(op, x, dims, [*rest, override], forward, None, magnitude=magnitude)


def other_gradients(x, dims):
    for numbers in WINDOWS[:2] if x.dtype.itemsize == 2 else WINDOWS:
        rest = [n[3 - dims:] for n in numbers[:4]] + [numbers[4]]
        gradient(name("max", dims), x, dims, rest, *getattr(aten, name("max", dims))(x, *rest))
    for output in OUTPUTS:
        rest = output[3 - dims:]
        gradient(name("adaptive_max", dims), x, dims, [], *getattr(aten, name("adaptive_max", dims))(x, rest))
        forward = getattr(aten, name("adaptive_avg", dims))(x.double(), rest)
        gradient(name("adaptive_avg", dims), x, dims, [], forward, None)


def average(x, dims):
    for kernel, stride, padding, _, ceil in WINDOWS[-2:] if x.dtype.itemsize == 2 else WINDOWS:
        terms = math.prod(kernel[3 - dims:]) + 4  # the division, and where divisors are not exact
        for counts in [True, False]:
            for override in [None] if dims == 1 else [None, -3]:
                rest = [kernel[3 - dims:], stride[3 - dims:], padding[3 - dims:], ceil, counts]
                op = name("avg", dims)
                add(op, x, *rest, *([] if dims == 1 else [override]), terms=terms,
                    magnitude=absolute(op, rest, override))


def maximum(x, dims):
    for numbers in WINDOWS:
        lists = [n[3 - dims:] for n in numbers[:4]]
        add(name("max", dims), x, *lists, numbers[4])
    add(name("max", dims), x, [2] * dims)


def adaptive(x, dims):
    for output in OUTPUTS:
        rest = output[3 - dims:]
        add(name("adaptive_avg", dims), x, rest, terms=64)
        add(name("adaptive_max", dims), x, rest)


for dims in [1, 2, 3]:
    sizes = [3, 4, 5][3 - dims:]
    for dtype in FLOATS:
        batched, single = coarse(dtype, [2 if dims < 3 else 1, 1, *sizes]), coarse(dtype, [1, *sizes])
        average(batched, dims)
        maximum(batched, dims)
        adaptive(batched, dims)
        add(name("avg", dims), single, [2] * dims, terms=8 + 4)
        adaptive(single, dims)
        if dims > 1:
            average_gradients(batched[:1], dims)
            other_gradients(batched[:1], dims)
            other_gradients(single, dims)
        few = tensor(dtype, [1, *sizes], -1, 1).round()  # equal ones
        maximum(few, dims)
    for dtype in ["u8", "i8", "i16", "i32", "i64"]:
        maximum(tensor(dtype, [1, 1, *sizes], -9, 9), dims)

low = -math.inf
for dtype in FLOATS:
    x = of(dtype, [[low, low, math.nan, math.nan, 1.0, 7.0, 0.0, -0.0]])
    add("max_pool1d_with_indices", x, [3], [1], [1], [1], False)
    add("adaptive_max_pool1d", x, [3])
    add("avg_pool1d", x, [2], [2], [0], False, True, terms=6)
    add("avg_pool1d", x, [3], [1], [1], False, True, terms=7)
    add("adaptive_avg_pool1d", x, [3], terms=7)
    add("max_pool2d_with_indices", x.reshape(1, 2, 4), [2, 3], [1, 1], [1, 1], [1, 1], False)
