# SPDX-License-Identifier: Apache-2.0
"""Golden vectors: Fourier transforms."""
import math

import torch

from golden import add, tensor


def bound(x, dims, normalization, sizes, result):
    """As the op reference states it, in eps, for each part of the result. sizes: of what is transformed together."""
    n = math.prod(sizes)
    total = (x.real.abs() + x.imag.abs() if x.is_complex() else x.abs()).sum(dims, keepdim=True)
    scale = [1, 1 / math.sqrt(n), 1 / n][normalization] * (8 + 6 * math.log2(max(n, 2)))
    parts = 2 if result.is_complex() else 1
    return [(total * scale).expand(result.shape).unsqueeze(-1).expand(*result.shape, parts)]


def r2c_bound(x, dims, normalization, onesided):
    result = torch.ops.aten._fft_r2c(x, dims, normalization, onesided)
    return bound(x, dims, normalization, [x.shape[d] for d in dims], result)


def c2r_bound(x, dims, normalization, last):
    result = torch.ops.aten._fft_c2r(x, dims, normalization, last)
    return bound(2 * x, dims, normalization, [result.shape[d] for d in dims], result)


def c2c_bound(x, dims, normalization, forward):
    return bound(x, dims, normalization, [x.shape[d] for d in dims], x)


for real, whole in [("f32", torch.complex64), ("f64", torch.complex128)]:
    def numbers(*shape):
        return torch.complex(tensor("f64", list(shape)), tensor("f64", list(shape))).to(whole)

    for normalization in [0, 1, 2]:
        flag = normalization != 1
        add("_fft_r2c", tensor(real, [7]), [0], normalization, True, terms=1, magnitude=r2c_bound)
        add("_fft_r2c", tensor(real, [4, 3]), [0, 1], normalization, flag, terms=1, magnitude=r2c_bound)
        add("_fft_c2c", numbers(6), [0], normalization, flag, terms=1, magnitude=c2c_bound)
        add("_fft_c2r", numbers(3), [0], normalization, 4, terms=1, magnitude=c2r_bound)
    add("_fft_r2c", tensor(real, [8]), [0], 0, False, terms=1, magnitude=r2c_bound)
    add("_fft_r2c", tensor(real, [2, 6]), [1], 0, True, terms=1, magnitude=r2c_bound)
    add("_fft_c2c", numbers(5, 2), [0], 0, False, terms=1, magnitude=c2c_bound)
    add("_fft_c2c", numbers(2, 3, 2), [1, 2], 0, True, terms=1, magnitude=c2c_bound)
    add("_fft_c2r", numbers(4), [0], 0, 7, terms=1, magnitude=c2r_bound)
    add("_fft_c2r", numbers(3, 4), [0, 1], 2, 6, terms=1, magnitude=c2r_bound)
    add("_fft_c2c", numbers(3), [], 0, True, terms=1, magnitude=c2c_bound)
