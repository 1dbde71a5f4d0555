# SPDX-License-Identifier: Apache-2.0
"""The calls of differential.py: each function of the array API, made of what is drawn, for any namespace."""

from collections.abc import Callable
from typing import NamedTuple


class Case(NamedTuple):
    name: str
    function: Callable  # of the namespace, what is drawn, and a maker of arrays
    near: float | None  # None: the same numbers; otherwise how many of differential.py's tolerances are allowed at 0
    lenient: bool  # we take more than the standard says


CASES = []


def case(near=None, lenient=False, name=None):
    def add(function):
        CASES.append(Case(name or function.__name__.rstrip("_"), function, near, lenient))
        return function

    return add


# ---- elementwise


def unary(name, group, near=None, **limits):
    def function(xp, draw, array):
        return getattr(xp, name)(array(draw, draw.dtype(group), draw.shape(), **limits))

    case(near, name=name)(function)


for each in ("acos", "asin", "atan", "atanh", "cos", "exp", "expm1", "log", "log10", "log1p", "log2", "sin", "sinh"):
    unary(each, "float", near=1)
for each in ("acosh", "asinh", "cosh", "tan", "tanh"):
    unary(each, "float", near=1)
unary("sqrt", "float", near=0)
unary("reciprocal", "float", near=0)
for each in ("ceil", "floor", "trunc"):
    unary(each, "numeric")
unary("round", "number")
unary("abs", "numeric")
unary("sign", "numeric")
for each in ("negative", "positive", "square"):
    unary(each, "numeric", near=0)
for each in ("isfinite", "isinf", "isnan"):
    unary(each, "number")
unary("signbit", "float")
unary("bitwise_invert", "bits")
unary("logical_not", "bool")
for each in ("real", "imag", "conj"):
    unary(each, "complex")


@case(near=100)
def complex_arithmetic(xp, draw, array):
    dtype, shape = draw.dtype("complex"), draw.shape()
    x, y = array(draw, dtype, shape), array(draw, dtype, draw.beside(shape))
    kind = draw.choice(
        ["add", "subtract", "multiply", "divide", "abs", "negative", "sum", "mean", "equal", "cumulative_sum"]
    )
    if kind in ("sum", "mean") and x.size:
        return getattr(xp, kind)(x, axis=draw.axes(x))
    if kind == "cumulative_sum" and x.ndim:
        return xp.cumulative_sum(x, axis=draw.axis(x, none=False))
    if kind in ("abs", "negative"):
        return getattr(xp, kind)(x)
    return getattr(xp, kind if kind in ("subtract", "multiply", "divide", "equal") else "add")(x, y)


@case(near=10)
def complex_functions(xp, draw, array):
    """Within what neither overflows nor loses digits to differences of large numbers."""
    x = array(draw, draw.dtype("complex"), draw.shape(), low=-3, high=3, special=False)
    y = array(draw, draw.choice(["complex128"]), draw.beside(x.shape), low=-2, high=2, special=False)
    names = ["acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "exp", "expm1", "log", "log10", "log1p"]
    names += ["log2", "sin", "sinh", "sqrt", "tan", "tanh", "reciprocal", "sign"]
    one = draw.choice(names)
    return [
        getattr(xp, one)(x),
        xp.pow(xp.astype(x, xp.complex128), y),
        xp.prod(x * 0.3),
        *([xp.cumulative_prod(x * 0.3, axis=draw.axis(x, none=False))] if x.ndim else []),
    ]


def operands(draw, array, dtype, other=None, scalars=True, **limits):
    """Two that can be broadcast; now and then one is a Python number."""
    shape = draw.shape()
    beside = draw.beside(shape)
    if draw.flag():
        shape, beside = beside, shape
    first, second = array(draw, dtype, shape, **limits), array(draw, other or dtype, beside, **limits)
    if scalars and draw.integer(0, 5) == 0:
        number = draw.number(dtype, **limits)
        return (first, number) if draw.flag() else (number, first)
    return first, second


def binary(name, group, near=None, **limits):
    def function(xp, draw, array):
        dtype = draw.dtype(group)
        return getattr(xp, name)(*operands(draw, array, dtype, **limits))

    case(near, name=name)(function)


for each in ("add", "subtract", "multiply"):
    binary(each, "numeric", near=0)
binary("divide", "float", near=0)
for each in ("maximum", "minimum", "less", "less_equal", "greater", "greater_equal"):
    binary(each, "numeric")
for each in ("equal", "not_equal"):
    binary(each, "any")
for each in ("logical_and", "logical_or", "logical_xor"):
    binary(each, "bool")
for each in ("bitwise_and", "bitwise_or", "bitwise_xor"):
    binary(each, "bits")
for each in ("bitwise_left_shift", "bitwise_right_shift"):
    binary(each, "integer", low=0, high=6)
binary("atan2", "float", near=0)
binary("copysign", "float")
binary("nextafter", "float")
binary("hypot", "float", near=0)
binary("logaddexp", "float", near=1)
# Where the standard and NumPy differ, at infinities and at divisors of 0, this goes by the standard.
binary("floor_divide", "numeric", low=1, high=9)
binary("remainder", "numeric", near=1, low=1, high=9)


@case(near=0)
def pow(xp, draw, array):
    dtype = draw.dtype("numeric")
    shape = draw.shape()
    if dtype.startswith("float"):
        x, y = array(draw, dtype, shape), array(draw, dtype, draw.beside(shape))
        if xp.__name__ == "array_api_strict":
            # NumPy takes the root where an exponent of 0.5 stays the same along a row: of -inf that is NaN, where the
            # standard has inf. Here each element has an exponent of its own, twice, so that a row has two at least.
            x, y = xp.broadcast_arrays(x, y)
            each = xp.stack([y, y], axis=-1)
            return xp.pow(xp.stack([x, x], axis=-1), each)[..., 0]
        return xp.pow(x, y)
    return xp.pow(array(draw, dtype, shape, low=-3, high=3), array(draw, dtype, draw.beside(shape), low=0, high=4))


@case()
def mixed_types(xp, draw, array):
    """Whatever the shapes: an array without dimensions counts as any other."""
    group = draw.choice(["integer", "float"])
    return xp.add(*operands(draw, array, draw.dtype(group), draw.dtype(group), scalars=False, low=0, high=9))


@case()
def clip(xp, draw, array):
    dtype = draw.dtype("numeric")
    x = array(draw, dtype, draw.shape())
    low, high = draw.number(dtype, low=-5, high=0), draw.number(dtype, low=1, high=5)
    if dtype == "uint8":
        low = 0
    if draw.flag():
        low, high = xp.asarray(low, dtype=x.dtype), xp.asarray(high, dtype=x.dtype)
    return xp.clip(x, min=draw.choice([None, low]), max=draw.choice([None, high]))


@case()
def where(xp, draw, array):
    dtype, shape = draw.dtype("any"), draw.shape()
    return xp.where(
        array(draw, "bool", draw.beside(shape)), array(draw, dtype, shape), array(draw, dtype, draw.beside(shape))
    )


@case(near=0)
def operators(xp, draw, array):
    dtype = draw.dtype("float")
    x, y = operands(draw, array, dtype)
    bits = operands(draw, array, draw.dtype("integer"), low=0, high=6)
    return [
        x + y,
        x - y,
        x * y,
        x / y,
        x < y,
        x <= y,
        x > y,
        x >= y,
        x == y,
        x != y,
        -(x + y),
        +(x + y),
        abs(x + y),
        bits[0] & bits[1],
        bits[0] | bits[1],
        bits[0] ^ bits[1],
        ~(bits[0] & bits[1]),
        bits[0] << bits[1],
        bits[0] >> bits[1],
    ]


@case(near=0)
def in_place(xp, draw, array):
    dtype, shape = draw.dtype("numeric"), draw.shape()
    x, y = xp.asarray(array(draw, dtype, shape), copy=True), array(draw, dtype, draw.beside(shape))
    before = x
    x += y
    x *= 2
    x -= y
    return [x, before]


# ---- creation


@case()
def arange(xp, draw, array):
    if draw.flag():
        return xp.arange(
            draw.integer(-9, 9),
            draw.integer(-9, 9),
            draw.choice([1, 2, 3, -1, -4]),
            dtype=draw.choice([None, xp.int32]),
        )
    return xp.arange(draw.integer(-9, 9) * 0.5, draw.integer(-9, 9) * 0.5, draw.choice([0.5, -0.25]), dtype=xp.float64)


@case()
def asarray(xp, draw, array):
    numbers = draw.choice([[], [[]], 3, 2.5, True, [1, 2], [[1.5, 2], [3, 4]], [True, False], [[[7]]]])
    dtype = draw.choice([None, "int16", "float64", "complex64"])
    if dtype == "int16" and any(isinstance(each, float) for each in flatten(numbers)):
        dtype = None
    if dtype is None:  # default floats are f64 there
        return xp.asarray(
            numbers,
            dtype=xp.float32 if any(type(n) is float for n in flatten(numbers)) or not flatten(numbers) else None,
        )
    return xp.asarray(numbers, dtype=getattr(xp, dtype))


def flatten(numbers):
    return [n for each in numbers for n in flatten(each)] if isinstance(numbers, list) else [numbers]


@case()
def full(xp, draw, array):
    dtype, shape = draw.dtype("any"), draw.shape()
    return xp.full(shape, draw.number(dtype), dtype=getattr(xp, dtype))


@case()
def eye(xp, draw, array):
    return xp.eye(
        draw.integer(0, 5), draw.choice([None, 0, 3, 7]), k=draw.integer(-6, 6), dtype=getattr(xp, draw.dtype("any"))
    )


@case(near=1)
def linspace(xp, draw, array):
    dtype = getattr(xp, draw.dtype("float"))
    return xp.linspace(
        draw.integer(-5, 5), draw.integer(-5, 5) + 0.5, draw.integer(0, 9), dtype=dtype, endpoint=draw.flag()
    )


@case()
def like(xp, draw, array):
    x = array(draw, draw.dtype("any"), draw.shape())
    dtype = draw.choice([None, xp.int32, xp.float64])
    return [
        xp.zeros_like(x, dtype=dtype),
        xp.ones_like(x, dtype=dtype),
        xp.full_like(x, 1, dtype=dtype or xp.int8),
        xp.zeros(x.shape, dtype=x.dtype),
        xp.ones(x.shape, dtype=x.dtype),
    ]


@case()
def triangles(xp, draw, array):
    x, k = array(draw, draw.dtype("any"), draw.shape(2)), draw.integer(-4, 4)
    return [xp.tril(x, k=k), xp.triu(x, k=k)]


@case()
def meshgrid(xp, draw, array):
    dtype = draw.dtype("numeric")
    arrays = [array(draw, dtype, (draw.integer(0, 4),)) for _ in range(draw.integer(1, 3))]
    return list(xp.meshgrid(*arrays, indexing=draw.choice(["xy", "ij"])))


# ---- data types


@case(lenient=True)
def astype(xp, draw, array):
    start, to = draw.dtype("real"), draw.dtype("real")
    return xp.astype(array(draw, start, draw.shape(), low=0, high=9), getattr(xp, to))


@case(lenient=True)
def types(xp, draw, array):
    a, b = getattr(xp, draw.dtype("any")), getattr(xp, draw.dtype("any"))
    kinds = ["bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric"]
    return [xp.result_type(a, b), xp.isdtype(a, draw.choice(kinds)), xp.isdtype(a, b)]


@case()
def can_cast(xp, draw, array):
    group = draw.choice(["integer", "float", "complex"])
    return xp.can_cast(getattr(xp, draw.dtype(group)), getattr(xp, draw.dtype(group)))


@case()
def limits(xp, draw, array):
    whole, floating = getattr(xp, draw.dtype("integer")), getattr(xp, draw.dtype("floating"))
    i, f = xp.iinfo(whole), xp.finfo(floating)
    return [i.bits, i.min, i.max, i.dtype, f.bits, f.eps, f.min, f.max, f.smallest_normal, f.dtype]


# ---- statistics


def reduction(name, group, near=None, least=0, **named):
    def function(xp, draw, array):
        x = array(draw, draw.dtype(group), draw.shape(most=3))
        arguments = {key: value(xp, draw, x) for key, value in named.items()}
        if least and not all(x.shape):
            return x
        return getattr(xp, name)(x, axis=draw.axes(x), keepdims=draw.flag(), **arguments)

    case(near, name=name)(function)


reduction("sum", "float", near=1000)
reduction("mean", "float", near=100, least=1)
reduction("prod", "float", near=1)
reduction("max", "numeric", near=1000, least=1)
reduction("min", "numeric", near=1000, least=1)
reduction("var", "float", near=100, least=1, correction=lambda xp, draw, x: draw.choice([0, 0.0]))
reduction("std", "float", near=1000, least=1)
reduction("all", "any")
reduction("any", "any")
reduction("count_nonzero", "any")


@case()
def sum_of_integers(xp, draw, array):
    x = array(draw, draw.choice(["int8", "int16", "int32", "int64"]), draw.shape(), low=-9, high=9)
    dtype = draw.choice([None, xp.int64, xp.int32])
    return [getattr(xp, name)(x, axis=draw.axes(x), keepdims=draw.flag(), dtype=dtype) for name in ("sum", "prod")]


@case(near=1000)
def cumulative(xp, draw, array):
    x = array(draw, draw.choice(["int8", "int32", "int64", "float32", "float64"]), draw.shape(1), low=-2, high=2)
    axis, initial = draw.axis(x, none=x.ndim == 1), draw.flag()
    return [getattr(xp, name)(x, axis=axis, include_initial=initial) for name in ("cumulative_sum", "cumulative_prod")]


@case(near=0)
def diff(xp, draw, array):
    dtype = draw.dtype("numeric")
    x = array(draw, dtype, draw.shape(1), low=0, high=9)
    axis = draw.axis(x, none=False)
    shape = list(x.shape)
    shape[axis] = draw.integer(1, 2)
    edges = {key: array(draw, dtype, tuple(shape), low=0, high=9) for key in ("prepend", "append") if draw.flag()}
    return xp.diff(x, axis=axis, n=draw.integer(1, 2), **edges)


# ---- searching, sorting, sets


@case()
def arg_extremes(xp, draw, array):
    x = array(
        draw, draw.choice(["int8", "int32", "int64", "uint8", "float32", "float64"]), draw.shape(), low=-3, high=3
    )
    axis, keep = draw.axis(x) if x.ndim else None, draw.flag()
    return [xp.argmax(x, axis=axis, keepdims=keep), xp.argmin(x, axis=axis, keepdims=keep)]


@case()
def nonzero(xp, draw, array):
    return xp.nonzero(array(draw, draw.dtype("any"), draw.shape()))


@case()
def searchsorted(xp, draw, array):
    dtype = draw.dtype("numeric")
    x1, x2 = array(draw, dtype, (draw.integer(0, 9),), low=0, high=5), array(draw, dtype, draw.shape(), low=0, high=5)
    side = draw.choice(["left", "right"])
    if draw.flag():
        return xp.searchsorted(x1, x2, side=side, sorter=xp.argsort(x1))
    return xp.searchsorted(xp.sort(x1), x2, side=side)


@case()
def sorting(xp, draw, array):
    x = array(draw, draw.dtype("numeric"), draw.shape(1), low=-3, high=3)
    axis, descending = draw.axis(x, none=False), draw.flag()
    return [xp.sort(x, axis=axis, descending=descending), xp.argsort(x, axis=axis, descending=descending)]


@case()
def sorting_special(xp, draw, array):
    x = array(draw, draw.dtype("float"), draw.shape(1))
    return xp.sort(x, axis=draw.axis(x, none=False))


@case()
def unique(xp, draw, array):
    x = array(draw, draw.dtype("real"), draw.shape(), **draw.choice([{}, {"low": 0, "high": 3}]))
    every, inverse = xp.unique_all(x), xp.unique_inverse(x)  # which of several NaN is which is open
    restored = [result.values[result.inverse_indices] if x.size else x for result in (every, inverse)]
    return [every.values, every.counts, xp.unique_values(x), *xp.unique_counts(x), inverse.values, *restored]


# ---- manipulation and indexing


@case()
def reshape(xp, draw, array):
    x = array(draw, draw.dtype("any"), draw.shape())
    shape = draw.choice([(-1,), (x.size,), (1, -1), x.shape, x.shape[::-1], (x.size, 1), (2, -1)])
    return xp.reshape(x, shape, copy=draw.choice([None, True]))


@case()
def moves(xp, draw, array):
    x = array(draw, draw.dtype("any"), draw.shape(1))
    axes = draw.random.sample(range(x.ndim), x.ndim)
    flipped, axis = draw.axes(x), draw.axis(x, none=False)
    return [
        xp.permute_dims(x, tuple(axes)),
        xp.flip(x, axis=flipped),
        xp.moveaxis(x, axis, draw.integer(0, x.ndim - 1)),
        xp.roll(x, draw.integer(-9, 9), axis=draw.choice([None, axis])),
        xp.expand_dims(x, axis=draw.integer(-x.ndim - 1, x.ndim)),
        xp.tile(x, tuple(draw.integer(0, 2) for _ in range(draw.integer(0, 4)))),
        *xp.unstack(x, axis=axis),
    ]


@case()
def squeeze(xp, draw, array):
    x = array(draw, draw.dtype("any"), draw.shape(1))
    return xp.squeeze(x, axis=draw.choice([draw.axis(x, none=False), draw.axes(x) or 0]))


@case()
def broadcast(xp, draw, array):
    shape = draw.shape()
    x, y = array(draw, draw.dtype("any"), draw.beside(shape)), array(draw, draw.dtype("any"), shape)
    return [xp.broadcast_to(x, shape) if draw.flag() else x, *xp.broadcast_arrays(x, y)]


@case()
def joins(xp, draw, array):
    dtype, shape = draw.dtype("any"), draw.shape(1)
    arrays = [array(draw, dtype, shape) for _ in range(draw.integer(1, 3))]
    axis = draw.axis(arrays[0], none=False)
    return [xp.concat(arrays, axis=draw.choice([None, axis])), xp.stack(arrays, axis=axis)]


@case()
def repeat(xp, draw, array):
    x = array(draw, draw.dtype("any"), draw.shape(1))
    axis = draw.axis(x)
    length = x.size if axis is None else x.shape[axis]
    counts = xp.asarray([draw.integer(0, 3) for _ in range(length)], dtype=xp.int64)
    return xp.repeat(x, draw.choice([draw.integer(0, 3), counts]), axis=axis)


@case()
def take(xp, draw, array):
    x = array(draw, draw.dtype("any"), tuple(length or 1 for length in draw.shape(1)))
    axis = draw.axis(x, none=False)
    places = [draw.integer(-x.shape[axis], x.shape[axis] - 1) for _ in range(draw.integer(0, 6))]
    dtype = draw.choice([xp.int64, xp.int32])
    shape = [1] * x.ndim
    shape[axis] = len(places)
    along = xp.reshape(xp.asarray(places, dtype=xp.int64), tuple(shape))
    return [xp.take(x, xp.asarray(places, dtype=dtype), axis=axis), xp.take_along_axis(x, along, axis=axis)]


def part(draw, length):
    kind = draw.integer(0, 3)
    if kind == 0 and length:
        return draw.integer(-length, length - 1)
    if kind == 1:
        return slice(None)
    ends = [None, *range(-length, length + 1)]
    step = draw.choice([None, 1, 2, -1, -2])
    start, stop = draw.choice(ends), draw.choice(ends)
    if step is not None and step < 0:  # what the standard has of these
        start, stop = None, None
    return slice(start, stop, step)


def key_of(draw, x):
    parts = [part(draw, length) for length in x.shape]
    if draw.flag():
        place = draw.integer(0, len(parts))
        parts[place : place + draw.integer(0, 2)] = [...]
    if draw.flag():
        parts.insert(draw.integer(0, len(parts)), None)
    elif ... not in parts and len(parts) < x.ndim:
        parts.append(...)
    return tuple(parts)


@case()
def indexing(xp, draw, array):
    x = array(draw, draw.dtype("any"), draw.shape())
    return x[key_of(draw, x)]


@case()
def mask(xp, draw, array):
    x = array(draw, draw.dtype("any"), draw.shape())
    chosen = array(draw, "bool", x.shape)
    y = xp.asarray(x, copy=True)
    y[chosen] = xp.asarray(1, dtype=x.dtype)
    return [x[chosen], y]


@case()
def lists_of_indices(xp, draw, array):
    x = array(draw, draw.dtype("any"), tuple(length or 1 for length in draw.shape(1)))
    shape = draw.shape(1, 2)
    places = [
        array(draw, "int64", draw.beside(shape), low=-length, high=length - 1, special=False) for length in x.shape
    ]
    return x[tuple(places)]


@case()
def setting(xp, draw, array):
    dtype = draw.dtype("any")
    x = xp.asarray(array(draw, dtype, draw.shape()), copy=True)
    key = tuple(each for each in key_of(draw, x) if each is not None)
    x[key] = draw.choice([draw.number(dtype), xp.asarray(draw.number(dtype), dtype=x.dtype)])
    return x


# ---- Fourier transforms


@case(near=100)
def transforms(xp, draw, array):
    shape = tuple(length or 2 for length in draw.shape(1))
    x, y = (
        array(draw, draw.dtype("complex"), shape, special=False),
        array(draw, draw.dtype("float"), shape, special=False),
    )
    norm, axis = draw.choice(["backward", "ortho", "forward"]), draw.integer(-x.ndim, x.ndim - 1)
    n, axes = draw.choice([None, draw.integer(2, 9)]), draw.choice([None, (axis,)])
    one, several = {"n": n, "axis": axis, "norm": norm}, {"axes": axes, "norm": norm}
    fft = xp.fft
    return [
        *(getattr(fft, name)(x, **one) for name in ("fft", "ifft")),
        *(getattr(fft, name)(x, **several) for name in ("fftn", "ifftn")),
        *(getattr(fft, name)(y, **one) for name in ("rfft", "ihfft")),
        fft.rfftn(y, **several),
        *(getattr(fft, name)(x, **(one | {"n": n or 6})) for name in ("irfft", "hfft")),
        fft.irfftn(x, s=(n or 6,), **(several | {"axes": (axis,)})),
        fft.fftshift(x, axes=axes),
        fft.ifftshift(y, axes=axes),
        fft.fftfreq(n or 1, d=0.5, dtype=xp.float64),
        fft.rfftfreq(n or 1, d=0.5, dtype=xp.float64),
    ]


# ---- linear algebra


@case(near=1000)
def matmul(xp, draw, array):
    dtype = draw.dtype("number")
    m, k, n = draw.integer(0, 5), draw.integer(0, 5), draw.integer(0, 5)
    batch = draw.shape(0, 2)
    left = draw.choice([(k,), (m, k), (*batch, m, k)])
    right = draw.choice([(k,), (k, n), (*draw.beside(batch), k, n)])
    x, y = array(draw, dtype, left, low=-3, high=3), array(draw, dtype, right, low=-3, high=3)
    return [xp.matmul(x, y), x @ y]


@case(near=1000)
def products(xp, draw, array):
    dtype, shape = draw.dtype("number"), draw.shape(1)
    x, y = array(draw, dtype, shape, low=-3, high=3), array(draw, dtype, shape, low=-3, high=3)
    axes = draw.choice([draw.integer(0, 1), ((0,), (0,)), (list(range(x.ndim)), list(range(x.ndim)))])
    return [xp.vecdot(x, y, axis=draw.integer(-x.ndim, -1)), xp.tensordot(x, y, axes=axes)]


@case()
def transposes(xp, draw, array):
    x = array(draw, draw.dtype("any"), draw.shape(2))
    return [xp.matrix_transpose(x), x.mT, *([x.T] if x.ndim == 2 else [])]
