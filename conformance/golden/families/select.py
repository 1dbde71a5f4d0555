# SPDX-License-Identifier: Apache-2.0
"""Golden vectors: selection and sorting."""
import math

import torch

from golden import add, any_of, DTYPES, FLOATS, INTS, of, tensor

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
