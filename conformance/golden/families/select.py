# SPDX-License-Identifier: Apache-2.0
"""Golden vectors: selection and sorting."""
import math

import torch

from golden import add, any_of, DTYPES, FLOATS, INTS, of, scalar, tensor


def dims_of(x, dim):
    return dim if dim else list(range(x.dim()))


def count_of(x, dim):
    return math.prod(x.shape[d] for d in dims_of(x, dim))


def var_magnitude(x, dim=None, correction=None, keepdim=False):
    """The variance times the terms of its sum, and what a mean that is off by an element's rounding does to it."""
    correction = 1 if correction is None else correction.value if hasattr(correction, "value") else int(correction)
    n = count_of(x, dim)
    variance = torch.ops.aten.var.correction(x, dims_of(x, dim), correction=correction, keepdim=keepdim)
    mean = x.abs().mean(dims_of(x, dim), keepdim)
    return [variance * (n + 6) + 2 * (n + 1) * mean * variance.sqrt(), (n + 1) * mean]


def logsumexp_magnitude(x, dim, keepdim=False):
    x = x.to(torch.float64)
    spread = (x - x.amax(dims_of(x, dim), True)).abs().amax(dims_of(x, dim), keepdim)
    return [spread + count_of(x, dim) + 8 + x.logsumexp(dims_of(x, dim), keepdim).abs()]


for dtype in FLOATS + INTS + ["bool"]:
    x = tensor(dtype, [3, 4], -1.4, 1.4)
    add("nonzero", torch.where(x.to(torch.float32).abs() < 0.7, torch.zeros_like(x), x))
    add("nonzero", of(dtype, 1))
    add("nonzero", of(dtype, 0))
    add("nonzero", torch.zeros(2, 0, dtype=DTYPES[dtype]))
add("nonzero", of("f32", [0.0, -0.0, math.nan, -math.inf, 1e-45]))

for dtype in FLOATS + INTS + ["bool"]:
    x = any_of(dtype, [2, 3, 4])
    for op in ["max", "min"]:
        add(op, x)
        add(f"{op}.dim", x, 1)
        add(f"{op}.dim", x, -1, True)
        add(f"{op}.dim", of(dtype, 1), 0)
    if dtype in FLOATS:
        for op in ["max", "min"]:
            add(op, of(dtype, [1.0, math.nan, 3.0]))
            add(f"{op}.dim", of(dtype, [[1.0, math.nan, 3.0, math.nan], [2.0, 5.0, 5.0, -7.0]]), 1)
    add("all", x)
    add("all", torch.ones(3, dtype=DTYPES[dtype]))
    add("all.dim", x, 1)
    add("all.dims", x, [0, 2], True)
    add("all.dims", x, [])
    small = tensor(dtype, [2, 5], 0.5, 1.5) if dtype in FLOATS else tensor(dtype, [2, 5], 1, 3)
    add("cumprod", small, 1, terms=5)
    add("cumprod", small, 0, terms=2)
add("all", torch.zeros(0))
add("all", of("f32", [math.nan, 1.0]))
add("all", of("f32", [-0.0, 1.0]))
for op in ["max.dim", "min.dim"]:
    add(op, of("i32", [[3, 7, 7, 3]]), 1)
add("cumprod", of("i64", [2**40, 2**40, 3]), 0, terms=3)

for dtype in FLOATS:
    x = any_of(dtype, [2, 3, 4])
    for correction in [None, scalar(0), scalar(1), scalar(2.5)]:
        add("var.correction", x, [1], correction, terms=1, magnitude=var_magnitude)
        add("var_mean.correction", x, [0, 2], correction, True, terms=1, magnitude=var_magnitude)
    add("var.correction", x, None, scalar(24), terms=1, magnitude=var_magnitude)
    add("var.correction", x, None, scalar(30), terms=1, magnitude=var_magnitude)
    add("var.dim", x, [2], terms=1, magnitude=var_magnitude)
    add("var.dim", x, [-1, 0], False, True, terms=1, magnitude=var_magnitude)
    add("var.correction", of(dtype, [[3.0], [-1.0]]), [1], terms=1, magnitude=var_magnitude)
    add("var.correction", of(dtype, [[3.0, math.inf], [math.nan, 1.0]]), [1], terms=1, magnitude=var_magnitude)
    add("logsumexp", x, [1], terms=1, magnitude=logsumexp_magnitude)
    add("logsumexp", x, [0, 2], True, terms=1, magnitude=logsumexp_magnitude)
    add("logsumexp", of(dtype, [[1.0, math.inf], [-math.inf, math.inf], [-math.inf, -math.inf], [-math.inf, 2.0],
                                [math.nan, 1.0]]), [1], terms=1, magnitude=logsumexp_magnitude)
    add("logsumexp", of(dtype, [200.0, 210.0]), [0], terms=1, magnitude=logsumexp_magnitude)
for dtype in INTS + ["bool"]:
    add("logsumexp", any_of(dtype, [3, 4]), [1], ints=True, terms=1, magnitude=logsumexp_magnitude)
add("var.correction", torch.zeros(2, 0), [1], terms=1, magnitude=lambda *_: [torch.zeros(2)])
add("logsumexp", torch.zeros(2, 0), [1], terms=1, magnitude=lambda *_: [torch.zeros(2)])

for dtype in ["c64", "c128"] + FLOATS + INTS + ["bool"]:
    x = torch.arange(12).reshape(3, 4).to(DTYPES[dtype])
    mask = of("bool", [[1, 0, 0, 1], [0, 0, 0, 0], [0, 1, 1, 1]])
    add("masked_select", x, mask)
    add("masked_select", x, mask[0])
    add("masked_select", x[0], mask)
    add("masked_select", x, of("bool", False))
    add("masked_scatter", x, mask, -torch.ones_like(x) if dtype != "bool" else ~x)
    add("masked_scatter", x[0], mask, torch.ones(7, dtype=DTYPES[dtype]))
    add("masked_scatter", x, of("bool", [True, False, False, True]), torch.ones(3, 2, dtype=DTYPES[dtype]))

for dtype in FLOATS + INTS + ["bool"]:
    x = any_of(dtype, [3, 7])
    add("sort", x)
    add("sort", x, 0, True)
    for stable in [None, True]:
        add("sort.stable", x, stable, 1)
        add("sort.stable", x, stable, -2, True)
    add("sort", of(dtype, 1), 0)
    if dtype in FLOATS:
        odd = of(dtype, [0.0, math.nan, -math.inf, -0.0, 2.0, math.inf, -1.0, math.nan, 0.0])
        add("sort.stable", odd, True, 0)
        add("sort.stable", odd, True, 0, True)
        add("topk", odd, 3)
        add("topk", odd, 2, 0, False)
    if dtype != "bool":  # in ties the library takes any
        distinct = torch.tensor([[5, 1, 4, 0, 3, 2], [0, 7, 2, 9, 4, 6]]).to(DTYPES[dtype])
        add("topk", distinct, 2)
        add("topk", distinct, 6, 1, False)
        add("topk", distinct, 1, 0)
        add("topk", distinct, 0)
        add("topk", of(dtype, 3), 1)

for dtype in FLOATS + INTS:
    rows = of(dtype, [[1, 2, 2, 5, 8], [0, 3, 3, 3, 4]])
    x = of(dtype, [[2, 0, 9], [3, 5, 1]])
    sorter = torch.tensor([[4, 1, 0, 2, 3], [1, 4, 2, 3, 0]])
    mixed = torch.empty_like(rows).scatter_(1, sorter, rows)
    for right, side in [(False, None), (True, None), (False, "left"), (False, "right"), (True, "right")]:
        add("searchsorted.Tensor", rows, x, False, right, side)
        add("searchsorted.Tensor", mixed, x, right, right, side, sorter)
    add("searchsorted.Tensor", rows[0], x, True)
    add("searchsorted.Tensor", rows[1], of(dtype, 3), False, True)
    add("searchsorted.Tensor", rows[:, :0], x)
    if dtype in FLOATS:  # a NaN in the sequence the library does not order
        line = of(dtype, [-math.inf, -1.0, -0.0, 0.0, 0.5, math.inf])
        odd = of(dtype, [math.nan, -math.inf, math.inf, 0.0, -0.0, 0.25])
        add("searchsorted.Tensor", line, odd)
        add("searchsorted.Tensor", line, odd, False, True)
