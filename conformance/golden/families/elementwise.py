# SPDX-License-Identifier: Apache-2.0
"""Golden vectors: arithmetic, elementary functions, comparison, moves and factories."""
import math

import torch

from families.activations import gelu_magnitude
from golden import add, any_of, dtype_arg, DTYPES, FLOATS, INTS, of, scalar, specials, tensor

RANGES = {"sqrt": (0, 9), "rsqrt": (0.01, 9), "log": (0.01, 9), "exp": (-9, 9), "sin": (-30, 30), "cos": (-30, 30),
          "tanh": (-4, 4), "sigmoid": (-9, 9), "erf": (-3, 3), "gelu": (-5, 5), "silu": (-9, 9)}

for op in ["sqrt", "rsqrt", "exp", "log", "sin", "cos", "tanh", "sigmoid", "erf"]:
    for dtype in FLOATS:
        add(op, tensor(dtype, [3, 4], *RANGES[op]))
        add(op, specials(dtype))
    add(op, tensor("i32", [5], 1, 9), ints=True)
for op in ["neg", "abs", "relu"]:
    for dtype in FLOATS + INTS:
        add(op, any_of(dtype, [3, 4]))
    for dtype in FLOATS:
        add(op, specials(dtype))
for dtype in FLOATS:
    for approximate in ["none", "tanh"]:
        add("gelu", tensor(dtype, [12], *RANGES["gelu"]), approximate, terms=1,
            magnitude=gelu_magnitude(4 if dtype == "f64" else 0))
    add("silu", tensor(dtype, [12], *RANGES["silu"]))
    add("gelu", of(dtype, [math.inf, -math.inf, math.nan, 0.0]), "none", terms=1, magnitude=gelu_magnitude(0))
for dtype in ["bool"] + INTS + FLOATS:
    add("logical_not", any_of(dtype, [6]))
for dtype in ["bool"] + INTS:
    add("bitwise_not", any_of(dtype, [6]))

for dtype in FLOATS + INTS:
    a, b = any_of(dtype, [2, 3]), any_of(dtype, [3])
    for op in ["add.Tensor", "sub.Tensor"]:
        add(op, a, b, scalar(2), terms=2, magnitude_op="add.Tensor")
        add(op, any_of(dtype, [2, 1]), any_of(dtype, [1, 4]), terms=2, magnitude_op="add.Tensor")
    for op in ["add.Scalar", "sub.Scalar"]:
        add(op, a, scalar(3), scalar(2), terms=2, magnitude_op="add.Scalar")
    add("mul.Tensor", a, b)
    add("mul.Scalar", a, scalar(3))
    for op in ["maximum", "minimum"]:
        add(op, a, b)
    for op in ["eq", "ne", "lt", "le", "gt", "ge"]:
        few = any_of(dtype, [8], -1.2, 1.2).round() if dtype in FLOATS else tensor(dtype, [8], 0, 2)
        add(op + ".Tensor", few, few.flip(0))
        add(op + ".Scalar", few, scalar(1))
    for op in ["logical_and", "logical_or", "logical_xor"]:
        add(op, tensor(dtype, [8], 0, 1.4).round() if dtype in FLOATS else tensor(dtype, [8], 0, 1),
            any_of(dtype, [8]))
    add("clamp", a, scalar(-1), scalar(1))
    add("clamp", a, scalar(0))
    add("clamp", a, None, scalar(1))
    add("clamp.Tensor", a, b, any_of(dtype, [2, 1]))
    add("clamp.Tensor", a, None, b)
    add("where.self", tensor("bool", [2, 3]), a, b)
for dtype in FLOATS:
    a, b = tensor(dtype, [2, 3]), tensor(dtype, [3], 0.5, 2)
    add("add.Tensor", a, b, scalar(-0.5), terms=2)
    add("add.Scalar", a, scalar(1.5), scalar(-0.25), terms=2)
    add("mul.Scalar", a, scalar(-0.375))
    add("div.Tensor", a, b)
    add("div.Scalar", a, scalar(-1.5))
    for mode in [None, "trunc", "floor"]:
        add("div.Tensor_mode", of(dtype, [7, -7, 5.5, -5.5]), of(dtype, [2, 2, -2, 4]), mode)
        add("div.Scalar_mode", of(dtype, [7, -7, 5.5, -5.5]), scalar(2.0), mode)
    add("pow.Tensor_Tensor", tensor(dtype, [6], 0.25, 3), tensor(dtype, [6], -3, 3))
    add("pow.Tensor_Tensor", of(dtype, [-2, -2, 0, 0, 1, math.inf, math.nan, -1]),
        of(dtype, [3, 2, 0, 2, math.nan, -1, 0, math.inf]))
    for exponent in [2, -2, 0.5, 3, 0, 1.25]:
        add("pow.Tensor_Scalar", tensor(dtype, [5], 0.25, 3), scalar(exponent))
    add("pow.Scalar", scalar(2.0), tensor(dtype, [6], -3, 3))
    for op in ["maximum", "minimum"]:
        add(op, specials(dtype)[2:], of(dtype, [1.0]))
        add(op, of(dtype, [math.nan, 1.0, math.nan]), of(dtype, [1.0, math.nan, math.nan]))
for dtype in INTS:
    a, b = tensor(dtype, [6], -9, 9), tensor(dtype, [6], 1, 4)
    add("div.Tensor", a, b, ints=True)
    for mode in ["trunc", "floor"]:
        add("div.Tensor_mode", a, b, mode)
        add("div.Scalar_mode", a, scalar(4), mode)
    add("pow.Tensor_Tensor", tensor(dtype, [6], -3, 3), tensor(dtype, [6], 0, 3))
    add("pow.Tensor_Scalar", tensor(dtype, [6], -3, 3), scalar(3))
    add("pow.Scalar", scalar(2), tensor(dtype, [6], 0, 5))
for dtype in ["bool"] + INTS:
    for op in ["bitwise_and", "bitwise_or", "bitwise_xor"]:
        add(op + ".Tensor", any_of(dtype, [6]), any_of(dtype, [6]))
        add(op + ".Scalar", any_of(dtype, [6]), scalar(True if dtype == "bool" else 5))
add("add.Tensor", of("i8", [127, -128]), of("i8", [1, -1]), terms=2)
add("mul.Tensor", of("i32", [2**31 - 1, -2**31]), of("i32", [2, -1]))
add("add.Tensor", tensor("f32", [4]), tensor("i32", [4], -9, 9), terms=2)
add("mul.Tensor", tensor("bf16", [4]), tensor("f16", [4]))
add("add.Tensor", tensor("f16", [4]), of("f64", 0.75), terms=2)

for to in ["bool"] + INTS + FLOATS + ["c64", "c128"]:
    for source in ["bool"] + INTS + FLOATS:
        add("copy_", torch.zeros(2, 3, dtype=DTYPES[to]), tensor(source, [3], 0, 9), False)
        add("_to_copy", tensor(source, [2, 2], 0, 9), dtype_arg(to))
    add("fill_.Scalar", torch.zeros(3, dtype=DTYPES[to]), scalar(7))
    add("fill_.Tensor", torch.zeros(3, dtype=DTYPES[to]), tensor("i32", [], 1, 9))
    add("full", [2, 3], scalar(7), dtype_arg(to))
for value in [7, 2.5, True]:
    add("full", [2], scalar(value))
add("full", [], scalar(1.5))
add("full", [0, 3], scalar(1))
for args in [(0, 5), (1, 9, 3), (5, -3, -2), (0.0, 1.0, 0.25), (-1.5, 2), (3, 3)]:
    add("arange.start_step", *[scalar(a) for a in args])
for dtype in INTS + FLOATS:
    add("arange.start_step", scalar(0), scalar(7), scalar(2), dtype_arg(dtype))
add("arange.start_step", scalar(0.0), scalar(1.0), scalar(0.125), dtype_arg("f64"))
add("where.self", of("bool", [True, False, True]), of("c64", [1 + 2j, 3j, -1.0]), of("c64", [[5.0, 6 - 1j, 7.0], [0, -2j, 1]]))
add("where.self", of("bool", [True, False]), of("c128", [1 + 2j, 3j]), of("f32", [5.0, 6.0]))
