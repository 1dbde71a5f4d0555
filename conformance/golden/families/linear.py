# SPDX-License-Identifier: Apache-2.0
"""Golden vectors: linear layers with packed, scaled or sparse weights. Each is unpacked by what its form means, then
multiplied by the library."""
import torch

from golden import DTYPES, add, compose, dtype_arg, of, random, tensor

HALVES = ["f16", "bf16", "f32"]
F8 = ["f8e4m3fn", "f8e5m2"]


def column(scale):
    return scale.double().reshape(-1, 1) if scale.dim() else scale.double()


def end(product, bias, out_dtype):
    return (product if bias is None else product + bias.double()).to(DTYPES[out_dtype])


def magnitude(x, w, scale, bias):
    """Of a sum of products that are rounded, and its end."""
    roundings = 2 * x.shape[1] + 16
    return [(x.abs() @ w.abs().t()) * scale * roundings + (2 * bias.double().abs() if bias is not None else 0)]


@compose("keyway::int8_linear")
@compose("keyway::f8_linear")
def scaled(x, w, x_scale, w_scale, bias=None, out_dtype="f32"):
    return end(torch.nn.functional.linear(x.double(), w.double()) * column(x_scale) * w_scale.double(), bias, out_dtype)


def scaled_magnitude(x, w, x_scale, w_scale, bias=None, out_dtype="f32"):
    return magnitude(x.double(), w.double(), column(x_scale).abs() * w_scale.double().abs(), bias)


def unpack_int4(w, scales, zeros):
    nibbles = torch.stack([w & 15, w >> 4], 2).reshape(w.shape[0], -1).double()
    group = nibbles.shape[1] // scales.shape[1]
    wide = lambda t: t.double().repeat_interleave(group, 1)
    return nibbles, wide(scales), wide(zeros)


@compose("keyway::int4_linear")
def int4(x, w, scales, zeros, bias=None):
    nibbles, scale, zero = unpack_int4(w, scales, zeros)
    return end(torch.nn.functional.linear(x.double(), (nibbles - zero) * scale), bias, NAMED[x.dtype])


def int4_magnitude(x, w, scales, zeros, bias=None):
    nibbles, scale, zero = unpack_int4(w, scales, zeros)
    return magnitude(x.double(), (nibbles + zero.abs()) * scale, 1, bias)


NAMED = {DTYPES[name]: name for name in ["f16", "bf16", "f32", "f64"]}


def unpack_sparse(values, meta, columns):
    dense = torch.zeros(values.shape[0], columns, dtype=torch.float64)
    for row in range(values.shape[0]):
        for v in range(values.shape[1]):
            nibble = int(meta[row, v // 4]) >> (4 * (v // 2 % 2))
            dense[row, v // 2 * 4 + (nibble >> (2 * (v % 2)) & 3)] += values[row, v].double()
    return dense


@compose("keyway::sparse24_linear")
def sparse24(x, values, meta, bias=None):
    dense = unpack_sparse(values, meta, x.shape[1])
    return end(torch.nn.functional.linear(x.double(), dense), bias, NAMED[x.dtype])


def sparse24_magnitude(x, values, meta, bias=None):
    return magnitude(x.double(), unpack_sparse(values, meta, x.shape[1]), 1, bias)


@compose("keyway::sparse24_compress")
def compress(x):
    fours = x.double().abs().reshape(x.shape[0], -1, 4)
    places = torch.sort(torch.sort(fours, stable=True, dim=2, descending=True).indices[:, :, :2], 2).values
    values = torch.gather(x.reshape(x.shape[0], -1, 4), 2, places).reshape(x.shape[0], -1)
    nibbles = places[:, :, 0] | places[:, :, 1] << 2
    if nibbles.shape[1] % 2:
        nibbles = torch.nn.functional.pad(nibbles, (0, 1))
    return values, (nibbles[:, 0::2] | nibbles[:, 1::2] << 4).to(torch.uint8)


@compose("keyway::bsr_linear")
def bsr(x, crow, col, values, bias=None):
    rows = (crow.shape[0] - 1) * values.shape[1]
    dense = torch.sparse_bsr_tensor(crow, col, values.double(), (rows, x.shape[1])).to_dense()
    return end(torch.nn.functional.linear(x.double(), dense), bias, NAMED[x.dtype])


def bsr_magnitude(x, crow, col, values, bias=None):
    rows = (crow.shape[0] - 1) * values.shape[1]
    dense = torch.sparse_bsr_tensor(crow, col, values.double(), (rows, x.shape[1])).to_dense()
    return magnitude(x.double(), dense, 1, bias)


@compose("keyway::int4_pack")
def pack(x):
    return x[..., 0::2] & 15 | (x[..., 1::2] & 15) << 4


def bytes_of(shape, high=256):
    return torch.from_numpy(random.randint(0, high, shape)).to(torch.uint8)


def scaled_cases(op, x, w):
    add(op, x, w, of("f32", 0.05), of("f32", 0.5), terms=1, magnitude=scaled_magnitude)
    scales = of("f32", [0.1, 0.02, 1.5, 0.7, 0.01])
    add(op, x, w, of("f32", [0.3, 0.011, 2]), scales, tensor("f32", [5]), terms=1, magnitude=scaled_magnitude)
    for out in ["f16", "bf16"]:
        add(op, x, w, of("f32", 0.013), scales, tensor(out, [5]), dtype_arg(out), terms=1, magnitude=scaled_magnitude)


def signed(shape):
    return torch.from_numpy(random.randint(-128, 128, shape)).to(torch.int8)


scaled_cases("keyway::int8_linear", signed([3, 7]), signed([5, 7]))
for a in F8:
    for b in F8:
        scaled_cases("keyway::f8_linear", tensor(a, [3, 7], -8, 8), tensor(b, [5, 7], -2, 2))

for dtype in HALVES:
    x = tensor(dtype, [3, 8])
    for groups in [1, 2, 4]:
        bias = None if groups == 2 else tensor(dtype, [5])
        add("keyway::int4_linear", x, bytes_of([5, 4]), tensor(dtype, [5, groups], 0.1, 1), tensor(dtype, [5, groups], 0, 15),
            bias, terms=1, magnitude=int4_magnitude)
    for columns in [4, 8, 12]:
        weights = tensor(dtype, [5, columns], -4, 4)
        add("keyway::sparse24_compress", weights)
        values, meta = compress(weights)
        bias = None if columns == 8 else tensor(dtype, [5])
        add("keyway::sparse24_linear", tensor(dtype, [3, columns]), values, meta, bias, terms=1, magnitude=sparse24_magnitude)
    add("keyway::sparse24_compress", of(dtype, [[1, -1, 1, 1, 0, 0, 0, 0, 2, 3, -3, 2, 0, 1, 0, -1]]))
    for index in ["i32", "i64"]:
        add("keyway::bsr_linear", x, of(index, [0, 2, 2, 3]), of(index, [0, 3, 1]), tensor(dtype, [3, 3, 2]),
            tensor(dtype, [9]) if index == "i32" else None, terms=1, magnitude=bsr_magnitude)

for shape in [[2, 6], [8], [2, 3, 4]]:
    add("keyway::int4_pack", bytes_of(shape))
    add("keyway::int4_pack", bytes_of(shape, 16))
