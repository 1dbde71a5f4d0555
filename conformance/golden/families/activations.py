# SPDX-License-Identifier: Apache-2.0
"""Golden vectors: more activations, their backward ops, fused arithmetic, fills and copies.

The magnitudes are those that Keyway's op reference states as bounds, for the values of the case.
"""
import math

import torch

from golden import add, any_of, dtype_arg, DTYPES, FLOATS, INTS, of, scalar, specials, tensor


def numbers(*values):
    return [v.value for v in values]


def elu_magnitude(x, *given):
    alpha, scale, input_scale = numbers(*given)
    return [6 * torch.ops.aten.elu(x, alpha, scale, input_scale).abs()]


def softplus_magnitude(x, *given):
    beta, threshold = numbers(*given)
    return [torch.ops.aten.softplus(x, beta, threshold).abs() * (10 + (x * beta).abs())]


def addcdiv_magnitude(x, a, b, value):
    return [x.abs() + 4 * (value.value * a / b).abs()]


def lerp_magnitude(x, end, weight):
    weight = weight if isinstance(weight, torch.Tensor) else torch.tensor(weight.value)
    return [2 * (1 + weight.abs()) * (x.abs() + end.abs())]


def tanh_backward_magnitude(grad, y):
    return [grad.abs() * (y * y + 2 * (1 - y * y).abs())]


def gelu_argument(x):
    """Of the sigmoid that the tanh form is x times."""
    return 2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)


def density(x):
    return torch.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def gelu_magnitude(own):
    """own: what the library's f64 is off itself, where it is no more exact than what is judged: 1 + erf cancels."""
    def magnitude(x, approximate):
        value, u = torch.ops.aten.gelu(x, approximate=approximate).abs(), gelu_argument(x)
        if approximate == "none":
            return [18 * value + x * x * density(x) + own]
        return [value * (14 + 4 * u.abs() * torch.sigmoid(-u)) + own]
    return magnitude


def gelu_backward_magnitude(own):
    def magnitude(grad, x, approximate):
        if approximate == "none":
            return [grad.abs() * (18 * torch.special.ndtr(x) + x.abs() * density(x) * (8 + x * x) + own)]
        u = gelu_argument(x)
        s, rest, rise = torch.sigmoid(u), torch.sigmoid(-u), 2 * math.sqrt(2 / math.pi) * (1 + 3 * 0.044715 * x * x)
        share = 4 * u.abs() * s * rest + x.abs() * s * rest * rise * (32 + 4 * u.abs())
        return [grad.abs() * (14 * s + share + own)]
    return magnitude


def silu_backward_magnitude(grad, x):
    s = torch.sigmoid(x)
    return [grad.abs() * (12 * s * (1 + x.abs() * (1 - s)) + 4 * s * x.abs().clamp(max=20) + 4e-28)]


def elu_backward_magnitude(grad, alpha, scale, input_scale, is_result, x):
    alpha, scale, input_scale = numbers(alpha, scale, input_scale)
    value = torch.ops.aten.elu_backward(grad, alpha, scale, input_scale, is_result, x).abs()
    return [(grad * input_scale * alpha * scale).abs() + 2 * value if is_result
            else value * (6 + (x.nan_to_num() * input_scale).abs())]


def softplus_backward_magnitude(grad, x, *given):
    beta, threshold = numbers(*given)
    return [torch.ops.aten.softplus_backward(grad, x, beta, threshold).abs() * (12 + (x * beta).abs()) + grad.abs()]


for dtype in FLOATS:
    x = tensor(dtype, [3, 4], -5, 5)
    for limits in [(-1, 1), (0, 6), (-2.5, 0.125), (1, -1)]:
        add("hardtanh", x, *map(scalar, limits))
    add("hardtanh", specials(dtype), scalar(-1), scalar(1))
    for slope in [0.0078125, 0.25, -0.5, 0]:
        add("leaky_relu", x, scalar(slope))
    add("leaky_relu", specials(dtype), scalar(0.5))
    for factors in [(1, 1, 1), (1.5, 2.0, 0.5), (-1, 1, 2)]:
        add("elu", x, *map(scalar, factors), terms=1, magnitude=elu_magnitude)
    add("elu", specials(dtype), scalar(1), scalar(1), scalar(1), terms=1, magnitude=elu_magnitude)
    for parameters in [(1, 20), (2, 20), (0.5, 1.5)]:
        add("softplus", x, *map(scalar, parameters), terms=1, magnitude=softplus_magnitude)
    add("softplus", specials(dtype), scalar(1), scalar(20), terms=1, magnitude=softplus_magnitude)
    add("hardswish", x)
    add("hardswish", of(dtype, [-3.0, 3.0, 5.0, -5.0, -0.5, 0.0, math.nan, -math.inf, math.inf]))
    for pair in [(0, 0), (1, 20), (0.125, -1.5)]:
        add("threshold", x, *map(scalar, pair))
    add("threshold", specials(dtype), scalar(-1), scalar(7))

    a, b = tensor(dtype, [4]), tensor(dtype, [3, 1], 0.5, 2)
    for value in [1, -0.5, 3]:
        add("addcmul", x, a, b, scalar(value), terms=2)
        add("addcdiv", x, a, b, scalar(value), terms=1, magnitude=addcdiv_magnitude)
    add("addcdiv", of(dtype, [1, 1, 1, math.inf]), of(dtype, [1, -1, 0, -1]), of(dtype, [0, 0, 0, 0]), scalar(1), terms=1,
        magnitude=addcdiv_magnitude)
    for weight in [0, 0.25, 0.5, 0.75, 1, -0.5, 2]:
        add("lerp.Scalar", x, a, scalar(weight), terms=1, magnitude=lerp_magnitude)
    add("lerp.Tensor", x, a, tensor(dtype, [3, 4], -1, 2), terms=1, magnitude=lerp_magnitude)
    for weight in [0.25, 0.75]:
        add("lerp.Scalar", of(dtype, [1.0, math.inf, 1.0, math.nan]), of(dtype, [math.inf, math.inf, 1.0, 1.0]),
            scalar(weight), terms=1, magnitude=lerp_magnitude)
for dtype in INTS:
    x = any_of(dtype, [6])
    add("hardtanh", x, scalar(0), scalar(6))
    add("threshold", x, scalar(2), scalar(7))
    add("addcmul", x, any_of(dtype, [6]), any_of(dtype, [6]), scalar(2), terms=2)
add("addcmul", of("i8", [100, -100]), of("i8", [100, 7]), of("i8", [3, 100]), scalar(1), terms=2)
add("addcmul", tensor("f32", [4]), tensor("i32", [4], -9, 9), tensor("f16", [4]), scalar(1), terms=2)

for dtype in ["bool"] + INTS + FLOATS:
    x = any_of(dtype, [2, 3])
    add("masked_fill.Scalar", x, tensor("bool", [3]), scalar(1))
    add("masked_fill.Scalar", any_of(dtype, [3]), tensor("bool", [2, 1]), scalar(0))
    add("masked_fill.Tensor", x, tensor("bool", [2, 3]), of("i32", 7))
    add("masked_fill.Tensor", x, tensor("bool", [2, 1]), of("f64", 1.0))
for dtype in ["bool"] + INTS + FLOATS + ["c64", "c128"]:
    x = torch.zeros(2, 3, dtype=DTYPES[dtype])
    add("full_like", x, scalar(7))
    add("full_like", x, scalar(7), dtype_arg("f32"))
    add("fill.Scalar", x, scalar(7))
    add("clone", tensor("f32", [2, 3], -9, 9).to(DTYPES[dtype]))
    for source in ["bool", "u8", "i32", "f16", "f64"]:
        add("copy", x, tensor(source, [3], 0, 9), False)

for dtype in FLOATS:
    grad, x = tensor(dtype, [3, 4]), tensor(dtype, [3, 4], -5, 5)
    add("sigmoid_backward", grad, tensor(dtype, [3, 4], 0, 1))
    add("sigmoid_backward", grad[0], of(dtype, [0, 1, 0.5, math.nan]))
    add("tanh_backward", grad, tensor(dtype, [3, 4], -1, 1), terms=1, magnitude=tanh_backward_magnitude)
    add("tanh_backward", grad[0], of(dtype, [1, -1, 0, math.nan]), terms=1, magnitude=tanh_backward_magnitude)
    for approximate in ["none", "tanh"]:
        magnitude = gelu_backward_magnitude(10 if dtype == "f64" else 0)
        add("gelu_backward", grad, x, approximate, terms=1, magnitude=magnitude)
        add("gelu_backward", grad[0], of(dtype, [0, math.inf, -math.inf, math.nan]), approximate, terms=1,
            magnitude=magnitude)
    add("silu_backward", grad, x, terms=1, magnitude=silu_backward_magnitude)
    add("silu_backward", grad[0], of(dtype, [0, math.inf, -math.inf, 60]), terms=1, magnitude=silu_backward_magnitude)
    few = of(dtype, [[-1, 0, 1, math.nan]])
    for threshold in [0, 1, -2.5]:
        add("threshold_backward", grad, x, scalar(threshold))
    add("threshold_backward", grad, few, scalar(0))
    for slope in [0.25, 0.0078125]:
        for is_result in [False, True]:
            add("leaky_relu_backward", grad, x, scalar(slope), is_result)
    add("leaky_relu_backward", grad, few, scalar(-0.5), False)
    for factors in [(1, 1, 1), (1.5, 2.0, 0.5)]:
        for is_result in [False, True]:
            add("elu_backward", grad, *map(scalar, factors), is_result, x / 4, terms=1, magnitude=elu_backward_magnitude)
            add("elu_backward", grad, *map(scalar, factors), is_result, few, terms=1, magnitude=elu_backward_magnitude)
    for limits in [(-1, 1), (0, 6)]:
        add("hardtanh_backward", grad, x, *map(scalar, limits))
        add("hardtanh_backward", grad, few, *map(scalar, limits))
    for parameters in [(1, 20), (2, 20), (0.5, 1.5)]:
        add("softplus_backward", grad, x, *map(scalar, parameters), terms=1, magnitude=softplus_backward_magnitude)
for dtype in INTS:
    add("threshold_backward", any_of(dtype, [6]), any_of(dtype, [6]), scalar(2))
