# SPDX-License-Identifier: Apache-2.0
"""usage: differential.py [--device NAME] [--plugin FILE] [--count N] [--seed S] [--only FUNCTION]

Calls keyway.array_api and array-api-strict with the same arguments and compares results: data type, shape, and numbers.
Each function is called N times (40): with all data types it takes, with empty arrays, arrays without dimensions, shapes
to be broadcast, views, Python numbers in place of arrays, NaN, infinities, both zeros, and the ends of each type. The
same seed makes the same calls. What differs is told with the call that repeats it. cpu:0 may stand in where the device
lacks a kernel.
"""

import argparse
import random
import sys
import warnings

import array_api_strict
import keyway
import numpy
from cases import CASES

SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, 3.0, float("inf"), float("-inf"), float("nan")]
TYPES = {
    "bool": ["bool"],
    "integer": ["int8", "int16", "int32", "int64", "uint8"],
    "float": ["float32", "float64"],
    "complex": ["complex64", "complex128"],
}
GROUPS = {
    "numeric": ["integer", "float"],
    "real": ["bool", "integer", "float"],
    "bits": ["bool", "integer"],
    "floating": ["float", "complex"],
    "number": ["integer", "float", "complex"],
    "any": ["bool", "integer", "float", "complex"],
}
TOLERANCE = {"float32": 4e-6, "complex64": 4e-6, "float64": 1e-13, "complex128": 1e-13}


class Draw:
    """What a call is made of, drawn by chance: the same again from the same seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def choice(self, options):
        return self.random.choice(options)

    def flag(self):
        return self.random.random() < 0.5

    def integer(self, low, high):
        return self.random.randint(low, high)

    def dtype(self, group):
        names = [name for part in GROUPS.get(group, [group]) for name in TYPES[part]]
        return self.random.choice(names)

    def shape(self, least=0, most=3):
        rank = self.random.randint(least, most)
        return tuple(self.random.choice([0, 1, 1, 2, 3, 3, 4, 5, 17]) for _ in range(rank))

    def beside(self, shape):
        """A shape that can be broadcast with another one."""
        kept = [1 if self.random.random() < 0.25 else length for length in shape]
        return tuple(kept[self.random.randint(0, len(kept)) if self.random.random() < 0.3 else 0 :])

    def axis(self, x, none=True):
        if none and self.random.random() < 0.25:
            return None
        return self.random.randint(-x.ndim, x.ndim - 1)

    def axes(self, x):
        if self.random.random() < 0.25 or x.ndim == 0:
            return None
        axes = self.random.sample(range(x.ndim), self.random.randint(1, x.ndim))
        return tuple(each - x.ndim * self.flag() for each in axes)

    def number(self, dtype, low=None, high=None, special=True):
        """One for an array of a data type, or to stand beside it."""
        if dtype == "bool":
            return self.flag()
        if dtype.startswith("complex"):
            part = dtype.replace("complex64", "float32").replace("complex128", "float64")
            return complex(*(self.number(part, low, high, special=False) for _ in range(2)))
        if dtype.startswith("float"):
            if special and low is None and self.random.random() < 0.3:
                return self.random.choice(SPECIAL)
            low, high = (-8.0 if low is None else low), (8.0 if high is None else high)
            return float(numpy.dtype(dtype).type(self.random.uniform(low, high)))
        info = numpy.iinfo(dtype)
        if special and low is None and self.random.random() < 0.1:
            return self.random.choice([int(info.min), int(info.max), 0])
        return self.random.randint(max(info.min, -9 if low is None else low), 9 if high is None else high)

    def array(self, dtype, shape, **limits):
        size = int(numpy.prod(shape))
        return numpy.array([self.number(dtype, **limits) for _ in range(size)], dtype).reshape(shape)


class Arrays:
    """Makes the arrays of a call for one namespace."""

    def __init__(self, namespace, convert):
        self.xp, self.convert = namespace, convert

    def __call__(self, draw, dtype, shape, **limits):
        """An array; now and then a view of a larger one, which lies otherwise in memory."""
        layout = draw.choice(["dense", "dense", "transposed", "stepped"])
        if layout == "transposed" and len(shape) == 2:
            return self.convert(draw.array(dtype, shape[::-1], **limits)).T
        if layout == "stepped" and shape and shape[0]:
            whole = draw.array(dtype, (shape[0] * 2, *shape[1:]), **limits)
            return self.convert(whole)[::2, ...]
        return self.convert(draw.array(dtype, shape, **limits))


def call(case, arrays, seed):
    draw = Draw(seed)
    return case.function(arrays.xp, draw, arrays)


def flat(result):
    return [part for each in result for part in flat(each)] if isinstance(result, (tuple, list)) else [result]


def name_of(dtype):
    return next(name for name in array_api_strict.__dict__ if getattr(array_api_strict, name) is dtype)


def as_numpy(each):
    if isinstance(each, keyway.Tensor):
        return keyway._dtypes.numpy_name(each.dtype), numpy.array(each.numpy())
    if isinstance(each, keyway.DType):
        return "dtype", numpy.array(keyway._dtypes.numpy_name(each))
    if hasattr(each, "__array_namespace__"):
        array = numpy.asarray(each._array)
        return array.dtype.name, array
    if isinstance(each, (bool, int, float, str)):
        return type(each).__name__, numpy.array(each)
    return "dtype", numpy.array(name_of(each))


def difference(case, got, wanted):
    """What differs, in words, or None."""
    got, wanted = flat(got), flat(wanted)
    if len(got) != len(wanted):
        return f"{len(got)} results instead of {len(wanted)}"
    for (kind, mine), (other_kind, theirs) in zip(map(as_numpy, got), map(as_numpy, wanted)):
        if kind != other_kind:
            return f"a result of {kind} instead of {other_kind}"
        if mine.shape != theirs.shape:
            return f"shape {mine.shape} instead of {theirs.shape}"
        if not same(case, mine, theirs):
            return f"{mine.tolist()} instead of {theirs.tolist()}"
    return None


def same(case, mine, theirs):
    if case.near is None or theirs.dtype.name not in TOLERANCE:
        return numpy.array_equal(mine, theirs, equal_nan=theirs.dtype.kind in "fc")
    if theirs.dtype.kind == "c":
        return same(case, mine.real, theirs.real) and same(case, mine.imag, theirs.imag)
    tolerance = TOLERANCE[theirs.dtype.name]
    return numpy.allclose(mine, theirs, rtol=tolerance, atol=tolerance * case.near, equal_nan=True)


def run(case, ours, theirs, seed):
    """None when both agree; "refused" when both refuse; otherwise what differs."""
    try:
        wanted = call(case, theirs, seed)
    except Exception as error:
        wanted = error
    try:
        got = call(case, ours, seed)
        difference_of = None if isinstance(wanted, Exception) else difference(case, got, wanted)
    except keyway.DeviceLost:
        raise
    except Exception as error:
        got, difference_of = error, None
    if isinstance(wanted, Exception):
        if isinstance(got, Exception):
            return "refused"
        return None if case.lenient else f"a result, where array-api-strict says {type(wanted).__name__}: {wanted}"
    if isinstance(got, Exception):
        return f"{type(got).__name__}: {got}"
    return difference_of


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu:0")
    parser.add_argument("--plugin")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", default="1")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    if options.plugin:
        keyway.load_plugin(options.plugin)
    device = keyway.device(options.device)
    array_api_strict.set_array_api_strict_flags(api_version="2024.12")
    warnings.simplefilter("ignore")
    numpy.seterr(all="ignore")
    ours = Arrays(keyway.array_api, lambda array: keyway.tensor(array, device=device))
    theirs = Arrays(array_api_strict, array_api_strict.asarray)
    calls = refused = failures = 0
    chosen = [case for case in CASES if options.only in ("", case.name)]
    with keyway.settings(default_device=device, fallback="allow"):
        for case in chosen:
            for number in range(options.count):
                seed = f"{options.seed}/{case.name}/{number}"
                what = run(case, ours, theirs, seed)
                calls, refused = calls + 1, refused + (what == "refused")
                if what not in (None, "refused"):
                    failures += 1
                    print(f"{case.name}, call {number}: {what}")
                    print(f"  again: {sys.argv[0]} --device {options.device} --only {case.name} --seed {options.seed}")
                    break
    print(
        f"{options.device}: {len(chosen)} functions, {calls} calls, {refused} of them refused by both, "
        f"{failures} functions differ"
    )
    sys.exit(failures > 0)


if __name__ == "__main__":
    main()
