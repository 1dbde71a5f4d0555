# SPDX-License-Identifier: Apache-2.0
"""Golden vectors: sums and other reductions of what indices send to one place."""
from golden import add, any_of, FLOATS, of, scalar

for dtype in ["bool", "u8", "i32", "i64"] + FLOATS:
    x, src = any_of(dtype, [3, 2]), any_of(dtype, [4, 2])
    index = of("i64", [[0, 1], [0, 0], [0, 1], [1, 1]])
    add("scatter_add", x, 0, index, src, terms=5)
    add("scatter_add", x, -1, of("i64", [[1, 1, 0], [0, 0, 0]]), any_of(dtype, [2, 3]), terms=4)
    for reduce in ["sum", "prod", "mean", "amax", "amin"]:
        if reduce == "mean" and dtype == "bool":
            continue
        terms = None if reduce in ("amax", "amin") else 7
        add("scatter_reduce.two", x, 0, index, src, reduce, True, terms=terms)
        add("scatter_reduce.two", x, 0, index, src, reduce, False, terms=terms)
    add("index_add", x, 0, of("i64", [2, 0, 2]), any_of(dtype, [3, 2]), scalar(True if dtype == "bool" else 1), terms=4)
    if dtype != "bool":
        add("index_add", x, 1, of("i32", [1, 1]), any_of(dtype, [3, 2]), scalar(-2), terms=4)
    if dtype in FLOATS:
        add("index_add", x, 1, of("i64", [0]), any_of(dtype, [3, 1]), scalar(0.5), terms=3)
