#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the golden vectors: what an independent library says each op gives.

usage: make_golden.py [DIRECTORY]        (default: the folder `vectors` beside this file)

Needs the packages torch, numpy and randomgen. Ops are called through torch.ops.aten by the names and argument order that
Keyway's op table has. Shape and dtype of a result are those of the call itself. The values of floating-point results come
from the same call with every floating-point input widened to f64, so that they are the exact answer for all narrower
dtypes; `magnitude` (the same call on absolute values) and `terms` are what error bounds of sums grow with. Random ops are
computed here from randomgen's Philox 4x32-10 words by the rules of Keyway's op reference. golden_test reads the files.
"""
import json
import math
import pathlib
import sys

import numpy as np
import torch
from randomgen import Philox

DTYPES = {
    "bool": torch.bool, "u8": torch.uint8, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32,
    "i64": torch.int64, "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
    "c64": torch.complex64, "c128": torch.complex128,
}
NAMES = {v: k for k, v in DTYPES.items()}
FLOATS = ["f16", "bf16", "f32", "f64"]
INTS = ["u8", "i8", "i16", "i32", "i64"]
random = np.random.RandomState(20260101)


# ---- Inputs ----------------------------------------------------------------------------------------------------------

def tensor(dtype, shape, low=-2.0, high=2.0):
    """Values in [low, high], rounded to the dtype."""
    values = random.uniform(low, high, shape)
    if dtype == "bool":
        values = values > (low + high) / 2
    elif dtype in INTS:
        values = np.rint(np.clip(values, 0 if dtype == "u8" else -128, 127))
    return torch.from_numpy(np.asarray(values)).to(DTYPES[dtype])


def of(dtype, values):
    return torch.tensor(values, dtype=DTYPES[dtype])


def specials(dtype):
    """Zeros, infinities, NaN, the largest and the smallest numbers of a float dtype."""
    info = torch.finfo(DTYPES[dtype])
    return of(dtype, [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, info.max, -info.max, info.tiny,
                      info.smallest_normal / 4, -info.smallest_normal / 4])


def any_of(dtype, shape, low=-2.0, high=2.0):
    """Values that make sense for the dtype: wider for integers."""
    return tensor(dtype, shape, low, high) if dtype in FLOATS else tensor(dtype, shape, -9, 9)


# ---- Cases -----------------------------------------------------------------------------------------------------------

class Value:
    """An argument with a type that Python cannot tell."""

    def __init__(self, kind, value):
        self.kind, self.value = kind, value


def scalar(value):
    return Value("scalar", value)


def dtype_arg(name):
    return Value("dtype", name)


cases = {}


def schema_of(op):
    base, _, overload = op.partition(".")
    return getattr(getattr(torch.ops.aten, base), overload or "default")


def call(op, args):
    """Positional arguments as Keyway has them; ATen wants keyword-only ones by name."""
    function = schema_of(op)
    plain = [DTYPES[a.value] if isinstance(a, Value) and a.kind == "dtype" else a.value if isinstance(a, Value) else a
             for a in args]
    positional, named = [], {}
    for formal, actual in zip((a for a in function._schema.arguments if a.name not in
                               ("layout", "device", "pin_memory", "memory_format")), plain):
        if formal.kwarg_only:
            named[formal.name] = actual
        else:
            positional.append(actual)
    result = function(*positional, **named)
    return list(result) if isinstance(result, (tuple, list)) else [result]


def widened(value, ints):
    if isinstance(value, torch.Tensor):
        narrow = value.dtype.is_floating_point or (ints and not value.dtype.is_complex)
        return value.to(torch.float64) if narrow else value.clone()
    if isinstance(value, list):
        return [widened(v, ints) for v in value]
    if isinstance(value, Value) and value.kind == "dtype" and value.value in FLOATS:
        return dtype_arg("f64")
    return value


def absolute(value):
    if isinstance(value, torch.Tensor) and value.dtype not in (torch.bool, torch.uint8):
        return value.abs()
    if isinstance(value, list):
        return [absolute(v) for v in value]
    if isinstance(value, Value) and value.kind == "scalar" and not isinstance(value.value, bool):
        return scalar(abs(value.value))
    return value


def number(value):
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return value if abs(value) < 2**53 else str(value)
    if math.isnan(value) or math.isinf(value):
        return str(value)
    return value


def encode_tensor(t, data=None):
    flat = (t if data is None else data).resolve_conj().reshape(-1)
    if flat.dtype.is_complex:
        flat = torch.view_as_real(flat).reshape(-1)
    values = flat.tolist()
    return {"dtype": NAMES[t.dtype], "shape": list(t.shape), "data": [number(v) for v in values]}


def encode(value):
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return {"float": number(value)}
    if isinstance(value, Value):
        if value.kind == "scalar" and isinstance(value.value, float):
            return {"scalar": {"float": number(value.value)}}
        return {value.kind: number(value.value) if value.kind == "scalar" and not isinstance(value.value, bool)
                else value.value}
    if isinstance(value, torch.Tensor):
        return encode_tensor(value)
    if all(isinstance(v, int) for v in value):
        return {"ints": value}
    return {"tensors": [encode(v) for v in value]}


def add(op, *args, ints=False, terms=None, magnitude=None, magnitude_op=None):
    """One case. ints: integer tensors count as numbers to be widened too. terms: of a sum; magnitude: a function of the
    widened arguments, where the op on absolute values does not serve."""
    args = list(args)
    encoded = [encode(a) for a in args]
    wide_args = [widened(a, ints) for a in args]
    results = call(op, [a.clone() if isinstance(a, torch.Tensor) else a for a in args])
    wide = call(op, wide_args)
    case = {"args": encoded, "outs": []}
    for index, (result, exact) in enumerate(zip(results, wide)):
        if op == "native_layer_norm" and index > 0 and result.dtype != torch.float64:
            result = result.to(torch.float32)  # mean and rstd; the library's own CPU kernel keeps them narrow
        values = exact if result.dtype.is_floating_point else result
        case["outs"].append(encode_tensor(result, values))
    if terms is not None:
        fresh = [widened(a, ints) for a in args]
        bounds = magnitude(*fresh) if magnitude else call(magnitude_op or op, [absolute(a) for a in fresh])
        for out, bound in zip(case["outs"], bounds):
            out["magnitude"] = [number(v) for v in bound.to(torch.float64).reshape(-1).tolist()]
        case["terms"] = terms
    cases.setdefault(op, []).append(case)


# ---- Elementwise -----------------------------------------------------------------------------------------------------

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
        add("gelu", tensor(dtype, [12], *RANGES["gelu"]), approximate)
    add("silu", tensor(dtype, [12], *RANGES["silu"]))
    add("gelu", of(dtype, [math.inf, -math.inf, math.nan, 0.0]), "none")
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


# ---- Reductions ------------------------------------------------------------------------------------------------------

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


# ---- Norms and softmax -----------------------------------------------------------------------------------------------

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


# ---- Indexing --------------------------------------------------------------------------------------------------------

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
    if dtype != "bool":
        add("index_put", x, [of("i64", [1, 1, 2])], any_of(dtype, [3, 5]), True, terms=3)
    add("cat", [any_of(dtype, [2, 3]), any_of(dtype, [1, 3]), any_of(dtype, [0, 3])], 0)
    add("cat", [any_of(dtype, [2, 3]), any_of(dtype, [2, 1])], -1)
add("cat", [tensor("i32", [2], 0, 9), tensor("f32", [2]), tensor("u8", [1], 0, 9)], 0)
add("cat", [torch.zeros(0), tensor("f32", [2, 2])], 0)


# ---- Random numbers --------------------------------------------------------------------------------------------------

def words(seed, offset, count, part=0):
    """Element i is lane i % 4 of block (offset + i / 4, part)."""
    result = []
    for block in range((count + 3) // 4):
        counter = ((offset + block) % 2**64) | part << 64
        generator = Philox(counter=(counter - 1) % 2**128, key=seed, number=4, width=32)
        result += [int(w) for w in generator.random_raw(4)]
    return np.array(result[:count], dtype=np.uint64)


def words64(seed, offset, count):
    return words(seed, offset, count) << np.uint64(32) | words(seed, offset, count, 1)


def uniform(dtype, seed, offset, count):
    if dtype == "f64":
        return (words64(seed, offset, count) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    bits = {"f16": 11, "bf16": 8, "f32": 24}[dtype]
    return (words(seed, offset, count) >> np.uint64(32 - bits)).astype(np.float64) * 2.0**-bits


def normal(dtype, seed, offset, count):
    """Box-Muller over lanes (0, 1) and (2, 3) of each block; the magnitude is the radius."""
    full = (count + 3) // 4 * 4
    bits = 53 if dtype == "f64" else 24
    raw = words64(seed, offset, full) >> np.uint64(11) if dtype == "f64" else words(seed, offset, full) >> np.uint64(8)
    u = raw.astype(np.float64)
    radius = np.sqrt(-2 * np.log((u[0::2] + 1) * 2.0**-bits))
    angle = 2 * np.pi * u[1::2] * 2.0**-bits
    values = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1).reshape(-1)
    return values[:count], np.repeat(radius, 2)[:count]


def add_random(op, rng, args, dtype, shape, values, magnitude=None, terms=None):
    out = {"dtype": dtype, "shape": shape, "data": [number(v) for v in values]}
    case = {"rng": {"seed": str(rng[0]), "offset": str(rng[1])}, "args": [encode(a) for a in args], "outs": [out]}
    if terms:
        out["magnitude"] = [float(v) for v in magnitude]
        case["terms"] = terms
    cases.setdefault(op, []).append(case)


STATES = [(0, 0), (0x123456789ABCDEF0, 5), (42, 2**32 - 1), (7, 2**64 - 1)]
for seed_offset in STATES:
    for dtype in FLOATS:
        u = uniform(dtype, *seed_offset, 6)
        add_random("rand", seed_offset, [[2, 3], dtype_arg(dtype)], dtype, [2, 3], u.tolist())
        blank = torch.zeros(2, 3, dtype=DTYPES[dtype])
        add_random("uniform_", seed_offset, [blank], dtype, [2, 3], u.tolist(), np.ones(6), 2)
        add_random("uniform_", seed_offset, [blank, -2.0, 6.0], dtype, [2, 3], (u * 8 - 2).tolist(), u * 8 + 2, 2)
        z, radius = normal(dtype, *seed_offset, 6)
        add_random("randn", seed_offset, [[6], dtype_arg(dtype)], dtype, [6], z.tolist(), radius, 16)
        add_random("normal_", seed_offset, [blank, 3.0, 0.5], dtype, [2, 3], (3 + z / 2).tolist(), 3 + radius / 2, 16)
        p = tensor(dtype, [6], 0, 1)
        fine = uniform("f64" if dtype == "f64" else "f32", *seed_offset, 6)
        add_random("bernoulli", seed_offset, [p], dtype, [6], (fine < p.to(torch.float64).numpy()).tolist())
    for dtype in ["bool", "u8", "i64", "f32"]:
        blank = torch.zeros(7, dtype=DTYPES[dtype])
        hit = uniform("f32", *seed_offset, 7) < float(np.float32(0.3))
        add_random("bernoulli_.float", seed_offset, [blank, 0.3], dtype, [7], hit.tolist())
    w, w64 = words(*seed_offset, 6), words64(*seed_offset, 6)
    for low, high in [(0, 10), (-5, 100), (0, 2**32), (-2**40, 2**40)]:
        span = high - low
        raw = w if span <= 2**32 else w64
        values = [low + int(v) % span for v in raw]
        add_random("randint.low", seed_offset, [low, high, [6]], "i64", [6], values)
        add_random("random_.from", seed_offset, [torch.zeros(6, dtype=torch.int64), low, high], "i64", [6], values)
        if low == 0:
            add_random("randint", seed_offset, [high, [6]], "i64", [6], values)


# ---- Files -----------------------------------------------------------------------------------------------------------

def main():
    if len(sys.argv) > 2 or sys.argv[1:2] in (["-h"], ["--help"]):
        print(__doc__)
        return 0 if sys.argv[1:2] != [] and sys.argv[1].startswith("-") else 2
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "vectors"
    folder.mkdir(parents=True, exist_ok=True)
    for op, items in sorted(cases.items()):
        lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in items)
        head = json.dumps({"op": op, "made_with": f"torch {torch.__version__.split('+')[0]}"})[:-1]
        (folder / f"{op}.json").write_text(f'{head}, "cases": [\n{lines}\n]}}\n')
    print(f"{sum(len(c) for c in cases.values())} cases of {len(cases)} ops in {folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
