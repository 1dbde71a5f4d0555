# SPDX-License-Identifier: Apache-2.0
"""Golden vectors: the rest of the elementary functions, rounding, remainders and shifts."""
import math

import torch

from golden import add, any_of, FLOATS, INTS, of, scalar, specials, tensor

RANGES = {"acos": (-1, 1), "acosh": (1, 9), "asin": (-1, 1), "asinh": (-4, 4), "atan": (-9, 9), "atanh": (-0.99, 0.99),
          "sinh": (-4, 4), "cosh": (-4, 4), "tan": (-30, 30), "log1p": (-0.9, 9), "expm1": (-4, 4), "log2": (0.01, 9),
          "log10": (0.01, 9), "exp2": (-9, 9), "reciprocal": (0.1, 9)}

for op, limits in RANGES.items():
    for dtype in FLOATS:
        add(op, tensor(dtype, [3, 4], *limits))
        add(op, specials(dtype))
        add(op, of(dtype, [1e-3, -1e-3, 1.0, -1.0, 0.5, -0.5]))
    add(op, tensor("i32", [5], 1, 9), ints=True)
    add(op, of("bool", [True, False]), ints=True)
for dtype in FLOATS:
    add("atan2", tensor(dtype, [2, 4]), tensor(dtype, [4]))
    add("atan2", specials(dtype), specials(dtype).flip(0))
    add("atan2", of(dtype, [0.0, -0.0, 0.0, -0.0, 1.0, -1.0]), of(dtype, [-1.0, -1.0, 1.0, 1.0, 0.0, -0.0]))
add("atan2", tensor("i32", [5], -9, 9), tensor("i32", [5], 1, 9), ints=True)

for op in ["ceil", "floor", "round", "trunc"]:
    for dtype in FLOATS:
        add(op, tensor(dtype, [12], -9, 9))
        add(op, of(dtype, [-2.5, -1.5, -0.5, -0.25, 0.5, 1.5, 2.5, 3.0]))
        add(op, specials(dtype))
    for dtype in INTS:
        add(op, any_of(dtype, [5]))
for dtype in FLOATS:
    for decimals in [0, 1, 2, -1, 3]:
        add("round.decimals", tensor(dtype, [12], -90, 90), decimals, terms=1,
            magnitude=lambda x, _, s=10.0 ** -decimals: [6 * (torch.round(x / s) * s).abs()])
    add("round.decimals", of(dtype, [0.5, 1.5, -2.5, math.inf, math.nan]), 0, terms=1,
        magnitude=lambda x, _: [torch.zeros_like(x)])
for op in ["sign", "isinf", "isnan"]:
    for dtype in FLOATS:
        add(op, any_of(dtype, [6]))
        add(op, specials(dtype))
    for dtype in INTS + ["bool"]:
        add(op, any_of(dtype, [6]))

for dtype in FLOATS:
    for op in ["fmod", "remainder"]:
        add(op + ".Tensor", tensor(dtype, [3, 4], -9, 9), tensor(dtype, [4]))
        add(op + ".Tensor", of(dtype, [7, -7, 7, -7, 6, -6]), of(dtype, [4, 4, -4, -4, 3, 3]))
        add(op + ".Tensor", specials(dtype), of(dtype, [3.0]))
        add(op + ".Tensor", of(dtype, [3.0, -3.0, 0.0, 1.0]), of(dtype, [math.inf, math.inf, math.inf, math.nan]))
        add(op + ".Scalar", tensor(dtype, [6], -9, 9), scalar(-2.5))
        add(op + ".Scalar", tensor(dtype, [6], -9, 9), scalar(2))
    add("remainder.Scalar_Tensor", scalar(7.5), tensor(dtype, [6], -3, 3))
for dtype in INTS:
    a, b = tensor(dtype, [6], -9, 9), tensor(dtype, [6], 1, 4)
    for op in ["fmod", "remainder"]:
        add(op + ".Tensor", a, b)
        add(op + ".Tensor", of(dtype, [5, 7, 9]), of(dtype, [3, 4, 100]))
        add(op + ".Scalar", a, scalar(4))
    add("remainder.Scalar_Tensor", scalar(7), b)
    for op in ["bitwise_left_shift", "bitwise_right_shift"]:
        add(op + ".Tensor", a, tensor(dtype, [6], 0, 9))
        add(op + ".Tensor", of(dtype, [1, 3, 100, 100]), of(dtype, [6, 7, 1, 64]))
        add(op + ".Tensor_Scalar", a, scalar(3))
        add(op + ".Tensor_Scalar", a, scalar(70))
for op in ["fmod", "remainder"]:
    add(op + ".Tensor", of("i8", [-128, 7, -7, -7]), of("i8", [-1, -4, 4, -4]))
    add(op + ".Tensor", tensor("f32", [4], -9, 9), tensor("i32", [4], 1, 4))
for op in ["bitwise_left_shift", "bitwise_right_shift"]:
    for dtype in ["i8", "i16", "i32", "i64"]:
        add(op + ".Tensor", of(dtype, [-1, -5, -100, 5, -5]), of(dtype, [7, 1, -1, -1, 63]))
