# SPDX-License-Identifier: Apache-2.0
"""Golden vectors: joining and indexing."""
import torch

from golden import add, any_of, FLOATS, of, scalar, tensor

for dtype in ["bool", "u8", "i32", "i64"] + FLOATS:
    x = any_of(dtype, [4, 5])
    for kind in ["i64", "i32"]:
        add("index_select", x, 1, of(kind, [4, 0, 0, 2]))
        add("embedding", x, of(kind, [[3, 0], [1, 1]]))
    add("gather", x, 0, of("i64", [[0, 3, 1], [2, 2, 0]]))
    add("gather", x, -1, of("i64", [[4, 0], [1, 1], [3, 2]]))
    add("scatter.src", x, 1, of("i64", [[4, 0], [1, 2]]), any_of(dtype, [2, 3]))
    add("scatter.value", x, 0, of("i64", [[3, 0, 1]]), scalar(1))
    add("index.Tensor", x, [of("i64", [0, -1, 2])])
    add("index.Tensor", x, [of("i64", [[0], [2]]), of("i64", [1, -5, 4])])
    add("index.Tensor", x, [None, of("i64", [[1, 1], [0, 3]])])
    add("index.Tensor", any_of(dtype, [2, 3, 4]), [of("i64", [0, 1]), None, of("i64", [3, 0])])
    add("index_put", x, [of("i64", [0, 3])], any_of(dtype, [5]), False)
    add("index_put", x, [of("i64", [0, 3, -2]), of("i64", [4, 1, 0])], any_of(dtype, [3]), False)
    rows, all_of = of("bool", [1, 0, 1, 1]), of("bool", [[1, 0, 0, 1, 0], [0] * 5, [1] * 5, [0, 1, 0, 0, 0]])
    add("index.Tensor", x, [rows])
    add("index.Tensor", x, [all_of])
    add("index.Tensor", x, [rows, of("i64", [2, 0, -1])])
    add("index_put", x, [all_of], any_of(dtype, [8]), False)
    add("index_put", x, [rows], any_of(dtype, [5]), False)
    if dtype != "bool":
        add("index_put", x, [of("i64", [1, 1, 2])], any_of(dtype, [3, 5]), True, terms=3)
    add("cat", [any_of(dtype, [2, 3]), any_of(dtype, [1, 3]), any_of(dtype, [0, 3])], 0)
    add("cat", [any_of(dtype, [2, 3]), any_of(dtype, [2, 1])], -1)
add("cat", [tensor("i32", [2], 0, 9), tensor("f32", [2]), tensor("u8", [1], 0, 9)], 0)
add("cat", [torch.zeros(0), tensor("f32", [2, 2])], 0)
