# SPDX-License-Identifier: Apache-2.0
"""Golden vectors: reductions and matrix products."""
import math

import torch

from golden import add, any_of, dtype_arg, DTYPES, FLOATS, INTS, of, scalar, tensor

for dtype in FLOATS + INTS + ["bool"]:
    a = any_of(dtype, [2, 3, 4])
    floating = dtype in FLOATS
    if dtype != "bool":
        add("argmax", a)
        add("argmax", a, 1)
        add("argmin", a)
        add("argmin", a, -1, True)
    for op in ["amax", "amin"]:
        add(op, a, [1])
        add(op, a, [0, -1], True)
        add(op, a, [])
    add("sum", a, terms=24)
    add("sum.dim_IntList", a, [1], terms=3)
    add("sum.dim_IntList", a, [0, 2], True, terms=8)
    add("sum.dim_IntList", a, None, terms=24)
    add("sum", a, dtype_arg("f64"), terms=24, ints=True)
    small = tensor(dtype, [2, 3], 0.5, 1.5) if floating else tensor(dtype, [2, 3], 1, 3)
    add("prod", small, terms=6)
    add("prod.dim_int", small, 1, terms=3)
    add("prod.dim_int", small, 0, True, terms=2)
    add("cumsum", a, 1, terms=3)
    add("cumsum", a, -1, terms=4)
    add("any", a)
    add("any.dim", a, 1)
    add("any.dims", a, [0, 2], True)
    add("any", torch.zeros(3, dtype=DTYPES[dtype]))
    if floating:
        add("mean", a, terms=24)
        add("mean.dim", a, [1], terms=3)
        add("mean.dim", a, [0, 2], True, terms=8)
        for op in ["amax", "amin", "argmax", "argmin"]:
            add(op, of(dtype, [1.0, math.nan, 3.0, math.nan]), *([[]] if op[0] == "a" and op[1] == "m" else []))
        add("sum", of(dtype, [math.inf, 1.0, -math.inf]), terms=3)
    else:
        add("mean", a, dtype_arg("f32"), terms=24, ints=True)
for op in ["sum", "prod", "any"]:
    add(op, torch.zeros(0), **({} if op == "any" else {"terms": 1}))
add("mean", torch.zeros(0), terms=1)
add("argmax", of("i32", [3, 7, 7, 1]))
add("argmin", of("i32", [3, 1, 7, 1]))

for dtype in FLOATS + ["i32", "i64", "u8"]:
    m, k, n = 3, 5, 4
    a, b = any_of(dtype, [m, k]), any_of(dtype, [k, n])
    add("mm", a, b, terms=k)
    add("bmm", any_of(dtype, [2, m, k]), any_of(dtype, [2, k, n]), terms=k)
    add("addmm", any_of(dtype, [n]), a, b, terms=k + 1)
    add("addmm", any_of(dtype, [m, n]), a, b, scalar(2), scalar(3), terms=k + 1)
    if dtype in FLOATS:
        add("addmm", any_of(dtype, [m, 1]), a, b, scalar(0.5), scalar(-0.25), terms=k + 1)
    add("mm", any_of(dtype, [2, 0]), any_of(dtype, [0, 3]), terms=1)
add("_int_mm", tensor("i8", [17, 8], -128, 127), tensor("i8", [8, 8], -128, 127))
