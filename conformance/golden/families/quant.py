# SPDX-License-Identifier: Apache-2.0
"""Golden vectors: quantisation, by the library's own reference ops for it. Values that are dequantised come from those in
f64, with scales that f32 holds."""
import torch
import torch.ao.quantization.fx._decomposed  # noqa: F401 defines torch.ops.quantized_decomposed

from golden import DTYPES, add, compose, dtype_arg, of, random, specials, tensor

LIBRARY = torch.ops.quantized_decomposed
RANGES = {"u8": (0, 255), "i8": (-128, 127), "i16": (-32768, 32767), "i32": (-2**24, 2**24)}


def single(value):
    return float(torch.tensor(value, dtype=torch.float32))


@compose("quantized_decomposed::quantize_per_tensor")
def quantize(x, scale, zero, low, high, dtype):
    return LIBRARY.quantize_per_tensor(x.float(), scale, zero, low, high, DTYPES[dtype])


@compose("quantized_decomposed::quantize_per_tensor.tensor")
def quantize_tensor(x, scale, zero, low, high, dtype):
    return LIBRARY.quantize_per_tensor.tensor(x.float(), scale.float(), zero, low, high, DTYPES[dtype])


@compose("quantized_decomposed::quantize_per_channel")
def quantize_channels(x, scales, zeros, axis, low, high, dtype):
    return LIBRARY.quantize_per_channel(x.float(), scales.float(), zeros, axis, low, high, DTYPES[dtype])


@compose("quantized_decomposed::dequantize_per_tensor")
def dequantize(x, scale, zero, low, high, dtype, out_dtype="f32"):
    return LIBRARY.dequantize_per_tensor(x, scale, zero, low, high, x.dtype, out_dtype=torch.float64).to(DTYPES[out_dtype])


@compose("quantized_decomposed::dequantize_per_tensor.tensor")
def dequantize_tensor(x, scale, zero, low, high, dtype, out_dtype="f32"):
    return LIBRARY.dequantize_per_tensor.tensor(x, scale.double(), zero, low, high, x.dtype,
                                                out_dtype=torch.float64).to(DTYPES[out_dtype])


@compose("quantized_decomposed::dequantize_per_channel")
def dequantize_channels(x, scales, zeros, axis, low, high, dtype, out_dtype="f32"):
    return LIBRARY.dequantize_per_channel(x, scales.double(), zeros, axis, low, high, x.dtype,
                                          out_dtype=torch.float64).to(DTYPES[out_dtype])


def magnitude_of(x, scale, zero, *rest):
    return [2 * (x.double() - zero).abs() * abs(scale)]


def channels_magnitude(x, scales, zeros, axis, *rest):
    shape = [1] * x.dim()
    shape[axis] = -1
    zeros = 0 if zeros is None else zeros.reshape(shape)
    return [2 * (x.double() - zeros).abs() * scales.reshape(shape)]


def codes(dtype, shape):
    low, high = RANGES[dtype]
    return torch.from_numpy(random.randint(low, high, shape)).to(DTYPES[dtype])


NAME = "quantized_decomposed::"
for source in ["f16", "bf16", "f32"]:
    x = tensor(source, [3, 4], -9, 9)
    for to, zero in [("u8", 128), ("i8", -3), ("i16", 1000), ("i32", 70000)]:
        low, high = RANGES[to]
        add(NAME + "quantize_per_tensor", x, 0.037, zero, low, high, dtype_arg(to))
        add(NAME + "quantize_per_tensor.tensor", x, of("f32", 0.11), of("i64", zero), low, high, dtype_arg(to))
        add(NAME + "quantize_per_channel", x, of("f32", [0.03, 0.7, 1.1, 0.2]), of("i32", [0, 5, -7, zero]), 1, low, high,
            dtype_arg(to))
    ties = of(source, [-3.5, -2.5, -1.5, -0.5, -0.0, 0.5, 1.5, 2.5, 3.5])
    add(NAME + "quantize_per_tensor", ties, 1.0, 1, -128, 127, dtype_arg("i8"))
    add(NAME + "quantize_per_tensor", ties, 0.25, 0, -7, 7, dtype_arg("i8"))
    add(NAME + "quantize_per_tensor", specials(source), 0.5, 3, -128, 127, dtype_arg("i8"))
    add(NAME + "quantize_per_channel", x, of("f32", [0.5, 0.25, 4]), of("i64", [1, 0, -1]), -2, 0, 15, dtype_arg("u8"))

for source in RANGES:
    low, high = RANGES[source]
    x = codes(source, [3, 4])
    for out in [[], [dtype_arg("f16")], [dtype_arg("bf16")]]:
        add(NAME + "dequantize_per_tensor", x, single(0.037), 3, low, high, dtype_arg(source), *out, terms=1,
            magnitude=magnitude_of)
        add(NAME + "dequantize_per_tensor.tensor", x, of("f32", [0.25]), of("i32", [-5]), low, high, dtype_arg(source), *out,
            terms=1, magnitude=magnitude_of)
        add(NAME + "dequantize_per_channel", x, of("f32", [0.03, 0.7, 1.1]), of("i32", [0, 5, -7]), 0, low, high,
            dtype_arg(source), *out, terms=1, magnitude=channels_magnitude)
    add(NAME + "dequantize_per_channel", x, of("f32", [0.03, 0.7, 1.1, 0.2]), None, -1, low, high, dtype_arg(source), terms=1,
        magnitude=channels_magnitude)
