# SPDX-License-Identifier: Apache-2.0
"""Golden vectors: softmax and normalisation."""
import math

import torch

from golden import add, FLOATS, of, tensor


def softmax_magnitude(x, dim, *_):
    """exp is off by |x - max| units, the quotient by the terms of the sum."""
    spread = (x - x.amax(dim, True)).abs()
    return [torch.softmax(x, dim) * (spread + spread.amax(dim, True) + 8)]


def log_softmax_magnitude(x, dim, *_):
    spread = (x - x.amax(dim, True)).abs()
    return [spread + math.log(max(x.shape[dim], 1)) + 8 + torch.zeros_like(x)]


def norm_dims(x, shape):
    return list(range(x.dim() - len(shape), x.dim()))


def layer_norm_magnitude(x, shape, weight, bias, eps):
    dims = norm_dims(x, shape)
    mean = x.abs().mean(dims, True)
    variance = x.var(dims, unbiased=False, keepdim=True)
    rstd = (variance + eps).rsqrt()
    scale = (x.abs() + mean) * rstd
    relative = 8 + (mean * rstd) ** 2  # how much of rstd is left after cancellation
    out = scale * (weight.abs() if weight is not None else 1) * relative + (bias.abs() if bias is not None else 0)
    return [out, mean, rstd * relative]


def rms_norm_magnitude(x, shape, weight=None, eps=None):
    dims = norm_dims(x, shape)
    rms = (x.square().mean(dims, True) + (eps or 0)).rsqrt()
    return [x.abs() * rms * (weight.abs() if weight is not None else 1) * 8]


for dtype in FLOATS:
    x = tensor(dtype, [3, 4, 5], -4, 4)
    for dim in [0, 1, -1]:
        add("_softmax", x, dim, False, terms=x.shape[dim], magnitude=softmax_magnitude)
        add("_log_softmax", x, dim, False, terms=x.shape[dim], magnitude=log_softmax_magnitude)
    w, b = tensor(dtype, [4, 5]), tensor(dtype, [4, 5])
    for weight in [None, w]:
        for bias in [None, b]:
            add("native_layer_norm", x, [4, 5], weight, bias, 1e-5, terms=20, magnitude=layer_norm_magnitude)
        for eps in [1e-6, 0.5]:
            add("rms_norm", x, [4, 5], weight, eps, terms=20, magnitude=rms_norm_magnitude)
    add("native_layer_norm", x, [5], w[0], b[0], 0.125, terms=5, magnitude=layer_norm_magnitude)
    add("rms_norm", x, [5], w[0], terms=5, magnitude=rms_norm_magnitude)
    add("_softmax", of(dtype, [[1.0, math.inf], [math.nan, 0.0], [-math.inf, -math.inf], [-math.inf, 2.0]]), 1, False,
        terms=2, magnitude=softmax_magnitude)
