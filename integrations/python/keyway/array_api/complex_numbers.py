# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of complex tensors by ops on their real and imaginary parts: no op computes on complex numbers, but a view
shows them as pairs."""

from .._tensor import Tensor
from .common import op


def is_complex(x):
    return x.dtype.kind == "complex" if isinstance(x, Tensor) else isinstance(x, complex)


def parts(x):
    pairs = x.view_as_real()
    return pairs.select(-1, 0), pairs.select(-1, 1)


def of_parts(real, imag):
    pairs = op("cat")([real.unsqueeze(-1), imag.unsqueeze(-1)], real.ndim)
    return pairs.view_as_complex()


def by_pairs(function):
    """What treats both parts alike."""

    def on_complex(*operands, **named):
        return function(*(each.view_as_real() for each in operands), **named).view_as_complex()

    return on_complex


def _op2(name):
    return lambda a, b: op(name)(a, b)


_add, _sub, _mul, _div = (_op2(name) for name in ("add.Tensor", "sub.Tensor", "mul.Tensor", "div.Tensor"))

add, subtract, negative = by_pairs(_add), by_pairs(_sub), by_pairs(lambda x: op("neg")(x))
round = by_pairs(lambda x: op("round")(x))


def multiply(x1, x2):
    (a, b), (c, d) = parts(x1), parts(x2)
    return of_parts(_sub(_mul(a, c), _mul(b, d)), _add(_mul(a, d), _mul(b, c)))


def divide(x1, x2):
    (a, b), (c, d) = parts(x1), parts(x2)
    scale = op("maximum")(op("abs")(c), op("abs")(d))  # so that squares neither overflow nor vanish
    c, d = _div(c, scale), _div(d, scale)
    norm = _add(_mul(c, c), _mul(d, d))
    real, imag = _add(_mul(a, c), _mul(b, d)), _sub(_mul(b, c), _mul(a, d))
    return of_parts(*(_div(_div(part, norm), scale) for part in (real, imag)))


def conj(x):
    real, imag = parts(x)
    return of_parts(real, op("neg")(imag))


def equal(x1, x2):
    return op("all.dim")(op("eq.Tensor")(x1.view_as_real(), x2.view_as_real()), -1)


def not_equal(x1, x2):
    return op("any.dim")(op("ne.Tensor")(x1.view_as_real(), x2.view_as_real()), -1)


def matmul(real_matmul, x1, x2):
    (a, b), (c, d) = parts(x1), parts(x2)
    return of_parts(_sub(real_matmul(a, c), real_matmul(b, d)), _add(real_matmul(a, d), real_matmul(b, c)))
