# SPDX-License-Identifier: Apache-2.0
"""What the golden vectors of all families are made with: inputs, calls of the library, and how a case is written.

A family's module names its cases with add(), or add_random() for what random.py computes. The modules share nothing
else: each begins with random numbers of its own, so that a case more in one changes no other file.
"""
import json
import math
import zlib

import numpy as np
import torch

DTYPES = {
    "bool": torch.bool, "u8": torch.uint8, "i8": torch.int8, "i16": torch.int16, "i32": torch.int32,
    "i64": torch.int64, "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "f64": torch.float64,
    "f8e4m3fn": torch.float8_e4m3fn, "f8e5m2": torch.float8_e5m2, "c64": torch.complex64, "c128": torch.complex128,
}
NAMES = {v: k for k, v in DTYPES.items()}
FLOATS = ["f16", "bf16", "f32", "f64"]
INTS = ["u8", "i8", "i16", "i32", "i64"]
STATISTICS = ["native_layer_norm", "native_group_norm", "_native_batch_norm_legit",
              "_native_batch_norm_legit.no_stats", "_native_batch_norm_legit_no_training"]  # results 1 and 2 are in the compute type
random = np.random.RandomState()


def start(family):
    """The random numbers of a family."""
    random.seed(zlib.crc32(family.encode()))


# ---- Inputs ---------------------------------------------------------------------------------------------------------

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


# ---- Cases ----------------------------------------------------------------------------------------------------------

class Value:
    """An argument with a type that Python cannot tell."""

    def __init__(self, kind, value):
        self.kind, self.value = kind, value


def scalar(value):
    return Value("scalar", value)


def dtype_arg(name):
    return Value("dtype", name)


def no_tensors():
    """An empty list of tensors; [] is one of ints."""
    return Value("tensors", [])


cases = {}
composed = {}


def compose(op):
    """Decorates the function that computes an op without an ATen twin, by the library's own ops. It takes the arguments
    as Keyway has them, defaults apart, and returns a tensor or several: the results, then the tensors that it changes
    and
    does not return."""
    def keep(function):
        composed[op] = function
        return function
    return keep


def schema_of(op):
    base, _, overload = op.partition(".")
    return getattr(getattr(torch.ops.aten, base), overload or "default")


def results_of(value):
    return list(value) if isinstance(value, (tuple, list)) else [value]


def call(op, args):
    """Positional arguments as Keyway has them; ATen wants keyword-only ones by name."""
    if op in composed:
        return results_of(composed[op](*(a.value if isinstance(a, Value) else a for a in args)))
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
    return results_of(function(*positional, **named))


def widened(value, ints):
    if isinstance(value, torch.Tensor):
        if value.dtype.is_complex:
            return value.to(torch.complex128)
        narrow = value.dtype.is_floating_point or ints
        return value.to(torch.float64) if narrow else value.clone()
    if isinstance(value, list):
        return [widened(v, ints) for v in value]
    if isinstance(value, Value) and value.kind == "dtype" and value.value in FLOATS:
        return dtype_arg("f64")
    return value


def copied(value):
    """What a call may change."""
    if isinstance(value, torch.Tensor):
        return value.clone()
    return [copied(v) for v in value] if isinstance(value, list) else value


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


def absent(args, index):
    """Whether output_mask, the last argument of calls that have one, leaves this result out."""
    mask = args[-1]
    return isinstance(mask, list) and index < len(mask) and mask[index] is False


def add(op, *args, ints=False, terms=None, magnitude=None, magnitude_op=None):
    """One case. ints: integer tensors count as numbers to be widened too. terms: of a sum; magnitude: a function of the
    widened arguments, where the op on absolute values does not serve."""
    args = list(args)
    encoded = [encode(a) for a in args]
    wide_args = [widened(a, ints) for a in args]
    results = call(op, copied(args))
    wide = call(op, copied(wide_args))
    case = {"args": encoded, "outs": []}
    for index, (result, exact) in enumerate(zip(results, wide)):
        if absent(args, index):
            case["outs"].append(None)
            continue
        if op in STATISTICS and index in (1, 2) and result.dtype != torch.float64:
            result = result.to(torch.float32)  # mean and rstd; the library's own CPU kernel keeps them narrow
        values = exact if result.dtype.is_floating_point or result.dtype.is_complex else result
        case["outs"].append(encode_tensor(result, values))
    if terms is not None:
        fresh = [widened(a, ints) for a in args]
        bounds = magnitude(*fresh) if magnitude else call(magnitude_op or op, [absolute(a) for a in fresh])
        for out, bound in zip(case["outs"], bounds):
            if out is None:
                continue
            out["magnitude"] = [number(v) for v in bound.to(torch.float64).reshape(-1).tolist()]
        case["terms"] = terms
    cases.setdefault(op, []).append(case)

# ---- Files -----------------------------------------------------------------------------------------------------------

def write(folder):
    """One file an op; returns how many cases and ops there are."""
    folder.mkdir(parents=True, exist_ok=True)
    for op, items in sorted(cases.items()):
        lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in items)
        head = json.dumps({"op": op, "made_with": f"torch {torch.__version__.split('+')[0]}"})[:-1]
        (folder / f"{op.replace('::', '.')}.json").write_text(f'{head}, "cases": [\n{lines}\n]}}\n')
    return sum(len(c) for c in cases.values()), len(cases)
