# SPDX-License-Identifier: Apache-2.0
"""Functions of complex numbers by ops on their real and imaginary parts, cut where the standard's are. The inverse
functions are W. Kahan's ("Branch cuts for complex elementary functions", 1987), by square roots of 1 + z and 1 - z."""

import math

from . import elementwise as real
from .common import full_of, op
from .complex_numbers import multiply, of_parts, parts

SATURATED = 20.0  # from here on tanh is 1 to the last bit of f64


def _where(condition, x, y):
    return real.where(condition, x, y)


def _both(function, a, b):
    return real.logical_and(function(a), function(b))


def _turned(x):
    """i x"""
    a, b = parts(x)
    return of_parts(real.negative(b), a)


def _turned_back(x):
    """x / i"""
    a, b = parts(x)
    return of_parts(b, real.negative(a))


def _odd(result, part):
    """A part that is exactly 0 stays it, with its sign, whatever it is multiplied by."""
    return _where(real.equal(part, 0), part, result)


def exp(x):
    a, b = parts(x)
    size = real.exp(a)
    wild = real.logical_not(real.isfinite(b))
    re, im = real.multiply(size, real.cos(b)), _odd(real.multiply(size, real.sin(b)), b)
    vanishes = real.equal(a, -math.inf)
    re = _where(real.logical_and(wild, real.equal(a, math.inf)), math.inf, re)
    return of_parts(
        _where(real.logical_and(vanishes, wild), 0.0, re), _where(real.logical_and(vanishes, wild), 0.0, im)
    )


def expm1(x):
    a, b = parts(x)
    result = parts(exp(x))
    half = real.square(real.sin(real.multiply(b, 0.5)))
    near = real.subtract(real.multiply(real.expm1(a), real.cos(b)), real.multiply(half, 2))
    near = real.add(near, 0.0)  # -0 is 0
    return of_parts(_where(_both(real.isfinite, near, b), near, real.subtract(result[0], 1)), result[1])


def log(x):
    a, b = parts(x)
    return of_parts(real.log(real.hypot(a, b)), real.atan2(b, a))


def _scaled_log(base):
    def function(x):
        a, b = parts(log(x))
        return of_parts(real.divide(a, math.log(base)), real.divide(b, math.log(base)))

    return function


log2, log10 = _scaled_log(2), _scaled_log(10)


def log1p(x):
    a, b = parts(x)
    more = real.add(a, 1)
    inside = real.add(real.multiply(a, real.add(a, 2)), real.square(b))  # of |1 + x|^2, beyond the 1
    small = real.less(real.hypot(a, b), 0.5)
    near = real.multiply(real.log1p(_where(small, inside, 0.0)), 0.5)
    return of_parts(_where(small, near, real.log(real.hypot(more, b))), real.atan2(b, more))


def sqrt(x):
    a, b = parts(x)
    half = real.add(real.multiply(real.abs(a), 0.5), real.multiply(real.hypot(a, b), 0.5))
    long = real.sqrt(half)
    short = _where(real.equal(long, 0), 0.0, real.divide(real.multiply(real.abs(b), 0.5), long))
    left = real.less(a, 0)
    re, im = _where(left, short, long), real.copysign(_where(left, long, short), b)
    endless = real.isinf(b)
    re = _where(real.logical_or(endless, real.equal(a, math.inf)), math.inf, re)
    im = _where(endless, b, im)
    im = _where(real.logical_and(real.equal(a, -math.inf), real.isnan(b)), math.inf, im)
    im = _where(
        real.logical_and(real.isinf(a), real.isfinite(b)),
        real.copysign(_where(left, math.inf, real.multiply(short, 0)), b),
        im,
    )
    re = _where(real.logical_and(real.equal(a, -math.inf), real.isfinite(b)), 0.0, re)
    return of_parts(re, _where(real.logical_and(real.equal(a, math.inf), real.isnan(b)), b, im))


def sinh(x):
    a, b = parts(x)
    re, im = real.multiply(real.sinh(a), real.cos(b)), real.multiply(real.cosh(a), real.sin(b))
    return of_parts(_odd(_endless(re, a, b), a), _odd(im, b))


def cosh(x):
    a, b = parts(x)
    re, im = real.multiply(real.cosh(a), real.cos(b)), real.multiply(real.sinh(a), real.sin(b))
    zero = real.multiply(real.copysign(0.0, a), real.copysign(1.0, b))
    return of_parts(_endless(re, a, b), _where(real.logical_or(real.equal(a, 0), real.equal(b, 0)), zero, im))


def _endless(re, a, b):
    """Of an infinite size and no angle."""
    return _where(real.logical_and(real.isinf(a), real.logical_not(real.isfinite(b))), math.inf, re)


def tanh(x):
    a, b = parts(x)
    large = real.greater(real.abs(a), SATURATED)
    near, sine, cosine = _where(large, 0.0, a), real.sin(b), real.cos(b)
    sinh_near = real.sinh(near)
    below = real.add(real.square(sinh_near), real.square(cosine))  # a sum of squares keeps its digits next to a pole
    re = _where(large, real.copysign(1.0, a), real.divide(real.multiply(sinh_near, real.cosh(near)), below))
    im = _where(large, real.copysign(0.0, b), real.divide(real.multiply(sine, cosine), below))
    nowhere = real.logical_and(real.isfinite(a), real.logical_not(real.isfinite(b)))
    re, im = (_where(nowhere, math.nan, each) for each in (re, im))
    return of_parts(_odd(re, a), _odd(im, b))


def sin(x):
    return _turned_back(sinh(_turned(x)))


def cos(x):
    return cosh(_turned(x))


def tan(x):
    return _turned_back(tanh(_turned(x)))


def _roots(x):
    """Of 1 - x and 1 + x."""
    a, b = parts(x)
    return sqrt(of_parts(real.subtract(1, a), real.negative(b))), sqrt(of_parts(real.add(a, 1), b))


def _cross(x, y):
    """The real part of conj(x) y, and the imaginary one."""
    (a, b), (c, d) = parts(x), parts(y)
    re = real.add(real.multiply(a, c), real.multiply(b, d))
    return re, real.subtract(real.multiply(a, d), real.multiply(b, c))


def acos(x):
    a, b = parts(x)
    below, above = _roots(x)
    re = real.multiply(real.atan2(parts(below)[0], parts(above)[0]), 2)
    im = real.asinh(_cross(above, below)[1])
    endless = _either_infinite(a, b)
    re = _where(endless, real.atan2(real.abs(b), a), _where(real.equal(a, 0), math.pi / 2, re))
    return of_parts(re, _where(endless, real.copysign(math.inf, real.negative(b)), im))


def _either_infinite(a, b):
    return real.logical_or(real.isinf(a), real.isinf(b))


def asin(x):
    a, b = parts(x)
    below, above = _roots(x)
    re = real.atan2(a, parts(multiply(below, above))[0])
    im = real.asinh(_cross(below, above)[1])
    endless = _either_infinite(a, b)
    re = _odd(_where(endless, real.atan2(a, real.abs(b)), re), a)
    return of_parts(re, _where(endless, real.copysign(math.inf, b), im))


def acosh(x):
    a, b = parts(x)
    below, above = sqrt(of_parts(real.subtract(a, 1), b)), sqrt(of_parts(real.add(a, 1), b))
    re = real.asinh(_cross(below, above)[0])
    im = real.multiply(real.atan2(parts(below)[1], parts(above)[0]), 2)
    endless = _either_infinite(a, b)
    im = _where(real.logical_and(real.equal(a, 0), real.isnan(b)), math.pi / 2, im)
    return of_parts(_where(endless, math.inf, re), _where(endless, real.atan2(b, a), im))


def asinh(x):
    return _turned_back(asin(_turned(x)))


def atanh(x):
    a, b = parts(x)
    less, more, square = real.subtract(1, a), real.add(a, 1), real.square(b)
    distance = real.add(real.square(less), square)
    re = real.multiply(real.log1p(real.divide(real.multiply(a, 4), distance)), 0.25)
    endless = _either_infinite(a, b)
    re = _odd(_where(real.logical_or(endless, real.isinf(distance)), real.copysign(0.0, a), re), a)
    im = real.multiply(real.atan2(real.multiply(b, 2), real.subtract(real.multiply(less, more), square)), 0.5)
    return of_parts(
        re, _where(real.logical_and(endless, real.logical_not(real.isnan(b))), real.copysign(math.pi / 2, b), im)
    )


def atan(x):
    return _turned_back(atanh(_turned(x)))


def pow(x, y):
    result = exp(multiply(y, log(x)))
    nothing = real.equal(y, 0)
    return _where(nothing, 1.0, _where(real.logical_and(real.equal(x, 0), real.logical_not(nothing)), 0.0, result))


def prod(x, axis, keepdims):
    """By halves."""
    while x.shape[axis] > 1:
        half = x.shape[axis] // 2
        paired = multiply(x.slice(axis, 0, half), x.slice(axis, half, 2 * half))
        rest = x.slice(axis, 2 * half, x.shape[axis])
        x = op("cat")([paired, rest], axis) if rest.shape[axis] else paired
    if x.shape[axis] == 0:
        x = full_of((*x.shape[:axis], 1, *x.shape[axis + 1 :]), 1, x.dtype, x.device)
    return x if keepdims else x.squeeze(axis)


def cumprod(x, axis):
    """Each step doubles how far back products reach."""
    step = 1
    while step < x.shape[axis]:
        rest = multiply(x.slice(axis, step, x.shape[axis]), x.slice(axis, 0, x.shape[axis] - step))
        x = op("cat")([x.slice(axis, 0, step), rest], axis)
        step *= 2
    return x
