# SPDX-License-Identifier: Apache-2.0
"""Elementwise functions: an op each where there is one, otherwise a few ops as their comments say. Complex numbers have
those that complex_numbers.py can make."""

import math

from .. import _dtypes as dtypes
from .._tensor import Tensor
from . import complex_numbers
from .common import INTS_OF_SIZE, cast_all, common_dtype, dtype_beside, full_of, is_number, op


def _of_complex(name):
    """The function of complex_functions.py, which is made of these here, once they are there."""

    def function(*operands):
        from . import complex_functions

        return getattr(complex_functions, name)(*operands)

    return function


def _refuse(name):
    raise TypeError(f"{name} is not for complex numbers")


def _unary(name, of_complex=None):
    def function(x, /):
        if x.dtype.kind == "complex":
            return of_complex(x) if of_complex else _refuse(name)
        return op(name)(x)

    return function


def _function(name):
    return _unary(name, _of_complex(name))


def _binary(name, scalar=None, of_complex=None):
    """`scalar`: the overload that takes a Python number on the right."""

    def function(x1, x2, /):
        if isinstance(x1, Tensor) and isinstance(x2, Tensor) and x1.dtype is x2.dtype and x1.dtype.kind != "complex":
            return op(name)(x1, x2)  # the usual case, first
        x1, x2 = dtypes.python_number(x1), dtypes.python_number(x2)
        if complex_numbers.is_complex(x1) or complex_numbers.is_complex(x2):
            return of_complex(*cast_all([x1, x2])) if of_complex else _refuse(name)
        if scalar and isinstance(x1, Tensor) and is_number(x2) and dtype_beside(x2, x1.dtype) is x1.dtype:
            return op(scalar)(x1, x2)
        return op(name)(*cast_all([x1, x2]))

    return function


# ---- One op each

acos, acosh, asin, asinh, atan, atanh = map(_function, ("acos", "acosh", "asin", "asinh", "atan", "atanh"))
cos, cosh, sin, sinh, tan, tanh = map(_function, ("cos", "cosh", "sin", "sinh", "tan", "tanh"))
exp, expm1, log, log1p, log2, log10 = map(_function, ("exp", "expm1", "log", "log1p", "log2", "log10"))
ceil, floor, trunc, sqrt = *map(_unary, ("ceil", "floor", "trunc")), _function("sqrt")
round, negative = _unary("round", complex_numbers.round), _unary("neg", complex_numbers.negative)
bitwise_invert, logical_not = map(_unary, ("bitwise_not", "logical_not"))
isinf = _unary("isinf", lambda x: op("any.dim")(op("isinf")(x.view_as_real()), -1))
isnan = _unary("isnan", lambda x: op("any.dim")(op("isnan")(x.view_as_real()), -1))
reciprocal = _unary("reciprocal", lambda x: divide(1, x))

add = _binary("add.Tensor", "add.Scalar", complex_numbers.add)
subtract = _binary("sub.Tensor", "sub.Scalar", complex_numbers.subtract)
multiply = _binary("mul.Tensor", "mul.Scalar", complex_numbers.multiply)
divide = _binary("div.Tensor", "div.Scalar", complex_numbers.divide)
atan2 = _binary("atan2")
maximum, minimum = _binary("maximum"), _binary("minimum")
equal = _binary("eq.Tensor", "eq.Scalar", complex_numbers.equal)
not_equal = _binary("ne.Tensor", "ne.Scalar", complex_numbers.not_equal)
less, less_equal = _binary("lt.Tensor", "lt.Scalar"), _binary("le.Tensor", "le.Scalar")
greater, greater_equal = _binary("gt.Tensor", "gt.Scalar"), _binary("ge.Tensor", "ge.Scalar")
logical_and, logical_or, logical_xor = map(_binary, ("logical_and", "logical_or", "logical_xor"))
bitwise_and = _binary("bitwise_and.Tensor", "bitwise_and.Scalar")
bitwise_or = _binary("bitwise_or.Tensor", "bitwise_or.Scalar")
bitwise_xor = _binary("bitwise_xor.Tensor", "bitwise_xor.Scalar")
bitwise_left_shift = _binary("bitwise_left_shift.Tensor", "bitwise_left_shift.Tensor_Scalar")
bitwise_right_shift = _binary("bitwise_right_shift.Tensor", "bitwise_right_shift.Tensor_Scalar")
pow = _binary("pow.Tensor_Tensor", "pow.Tensor_Scalar", _of_complex("pow"))


def where(condition, x1, x2, /):
    x1, x2 = dtypes.python_number(x1), dtypes.python_number(x2)
    if is_number(x1) and is_number(x2):  # the condition says where, not what
        dtype = common_dtype([x1, dtypes.OF_PYTHON[type(x2)]])
        return op("where.self")(condition, *(full_of((), each, dtype, condition.device) for each in (x1, x2)))
    return op("where.self")(condition, *cast_all([x1, x2]))


# ---- Of several ops


def floor_divide(x1, x2, /):
    x1, x2 = cast_all([x1, x2])
    result = op("div.Tensor_mode")(x1, x2, rounding_mode="floor")
    if x1.dtype.kind != "float":
        return result
    return where(logical_or(isinf(x1), isinf(x2)), floor(divide(x1, x2)), result)  # ATen's rounds 1 / -inf to -1


def remainder(x1, x2, /):
    x1, x2 = cast_all([x1, x2])
    result = op("remainder.Tensor")(x1, x2)
    return copysign(result, x2) if x1.dtype.kind == "float" else result  # ATen's gives a zero the sign of x1


def positive(x, /):
    return x.clone()


def real(x, /):
    return complex_numbers.parts(x)[0].contiguous()


def imag(x, /):
    return complex_numbers.parts(x)[1].contiguous()


def conj(x, /):
    return complex_numbers.conj(x) if x.dtype.kind == "complex" else x.clone()


def abs(x, /):
    if x.dtype.kind == "complex":
        return hypot(*complex_numbers.parts(x))
    return x.clone() if x.dtype.kind == "unsigned" else op("abs")(x)


def square(x, /):
    return multiply(x, x)


def sign(x, /):
    if x.dtype.kind == "complex":
        return where(equal(x, 0), 0, divide(x, abs(x)))
    result = op("sign")(x)
    return where(isnan(x), x, result) if x.dtype.kind == "float" else result  # ATen's sign of NaN is 0


def isfinite(x, /):
    if x.dtype.kind == "complex":
        return logical_and(*map(isfinite, complex_numbers.parts(x)))
    if x.dtype.kind != "float":
        return full_of(x.shape, True, dtypes.bool_, x.device)
    return equal(subtract(x, x), 0)  # what is not finite gives NaN


def clip(x, /, min=None, max=None):
    min, max = dtypes.python_number(min), dtypes.python_number(max)
    if min is None and max is None:
        return x.clone()
    if all(each is None or is_number(each) and dtype_beside(each, x.dtype) is x.dtype for each in (min, max)):
        return op("clamp")(x, min, max)
    low, high = (
        each if each is None or isinstance(each, Tensor) else full_of((), each, x.dtype, x.device)
        for each in (min, max)
    )
    low, high = (each if each is None else each.to(x.dtype) for each in (low, high))
    return op("clamp.Tensor")(x, low, high)


def _bits(x):
    """A float's bits as whole numbers of the same size: negative where the sign bit is set."""
    return x.reinterpret(INTS_OF_SIZE[x.dtype.itemsize])


def signbit(x, /):
    return less(_bits(x), 0)


def copysign(x1, x2, /):
    x1, x2 = cast_all([x1, x2])
    sign_only = -(2 ** (x1.dtype.itemsize * 8 - 1))
    return bitwise_or(bitwise_and(_bits(x1), ~sign_only), bitwise_and(_bits(x2), sign_only)).reinterpret(x1.dtype)


def nextafter(x1, x2, /):
    x1, x2 = cast_all([x1, x2])
    away = equal(greater(x2, x1), greater(x1, 0))  # from 0: the bits count up
    step = where(away, 1, -1).to(INTS_OF_SIZE[x1.dtype.itemsize])
    moved = add(_bits(x1), step).reinterpret(x1.dtype)
    least = full_of((), 1, step.dtype, x1.device).reinterpret(x1.dtype)
    moved = where(equal(x1, 0), copysign(least, x2), moved)
    moved = where(equal(x1, x2), x2, moved)
    return where(logical_or(isnan(x1), isnan(x2)), math.nan, moved)


def hypot(x1, x2, /):
    x1, x2 = map(abs, cast_all([x1, x2]))
    large, small = maximum(x1, x2), minimum(x1, x2)
    ratio = divide(small, large)  # in place of squares, which overflow
    length = multiply(large, sqrt(add(square(ratio), 1)))
    length = where(equal(large, 0), large, length)
    return where(logical_or(isinf(x1), isinf(x2)), math.inf, length)


def logaddexp(x1, x2, /):
    x1, x2 = cast_all([x1, x2])
    result = add(maximum(x1, x2), log1p(exp(negative(abs(subtract(x1, x2))))))
    return where(equal(x1, x2), add(x1, math.log(2)), result)  # infinities have no difference


for _name, _made in list(globals().items()):
    if getattr(_made, "__name__", None) == "function":
        _made.__name__ = _made.__qualname__ = _name
