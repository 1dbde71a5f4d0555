# SPDX-License-Identifier: Apache-2.0
"""The Python array API standard, 2024.12, on keyway's tensors: xp = keyway.array_api, or x.__array_namespace__().

What the ops cannot express is not here, and asking for it says why: MISSING.
"""

from .. import _dtypes
from .._tensor import from_dlpack
from . import fft
from .creation import (
    arange,
    asarray,
    empty,
    empty_like,
    eye,
    full,
    full_like,
    linspace,
    meshgrid,
    ones,
    ones_like,
    tril,
    triu,
    zeros,
    zeros_like,
)
from .data_types import __array_namespace_info__, astype, can_cast, finfo, iinfo, isdtype, result_type
from .elementwise import (
    abs,
    acos,
    acosh,
    add,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    bitwise_and,
    bitwise_invert,
    bitwise_left_shift,
    bitwise_or,
    bitwise_right_shift,
    bitwise_xor,
    ceil,
    clip,
    conj,
    copysign,
    cos,
    cosh,
    divide,
    equal,
    exp,
    expm1,
    floor,
    floor_divide,
    greater,
    greater_equal,
    hypot,
    imag,
    isfinite,
    isinf,
    isnan,
    less,
    less_equal,
    log,
    log1p,
    log2,
    log10,
    logaddexp,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    multiply,
    negative,
    nextafter,
    not_equal,
    positive,
    pow,
    real,
    reciprocal,
    remainder,
    round,
    sign,
    signbit,
    sin,
    sinh,
    sqrt,
    square,
    subtract,
    tan,
    tanh,
    trunc,
    where,
)
from .linear_algebra import matmul, matrix_transpose, tensordot, vecdot
from .manipulation import (
    broadcast_arrays,
    broadcast_to,
    concat,
    expand_dims,
    flip,
    moveaxis,
    permute_dims,
    repeat,
    reshape,
    roll,
    squeeze,
    stack,
    tile,
    unstack,
)
from .searching import (
    argmax,
    argmin,
    argsort,
    nonzero,
    searchsorted,
    sort,
    take,
    take_along_axis,
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
)
from .statistical import (
    all,
    any,
    count_nonzero,
    cumulative_prod,
    cumulative_sum,
    diff,
    max,
    mean,
    min,
    prod,
    std,
    sum,
    var,
)

__array_api_version__ = "2024.12"
VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12")

e = 2.718281828459045
pi = 3.141592653589793
inf = float("inf")
nan = float("nan")
newaxis = None

bool = _dtypes.bool_
int8, int16, int32, int64 = _dtypes.i8, _dtypes.i16, _dtypes.i32, _dtypes.i64
uint8 = _dtypes.u8
float32, float64 = _dtypes.f32, _dtypes.f64
complex64, complex128 = _dtypes.c64, _dtypes.c128

# What the standard has and this does not: the reason.
MISSING = {
    **dict.fromkeys(
        ("uint16", "uint32", "uint64"),
        "no op computes on it; tensors of keyway.u16, u32 and u64 can be made, viewed, moved and shared",
    ),
    "linalg": "matmul, matrix_transpose, tensordot, vecdot are here; there are no ops for decompositions and solvers",
}


class NotHere(AttributeError, NotImplementedError):
    """The standard has this name, and Keyway no ops for it."""


def __getattr__(name):
    if name in MISSING:
        raise NotHere(f"keyway.array_api has no {name}: {MISSING[name]}")
    raise AttributeError(f"module 'keyway.array_api' has no attribute {name!r}")


def of_version(version):
    """This namespace, if it serves a version of the standard."""
    if version is not None and version not in VERSIONS:
        raise ValueError(f"keyway.array_api serves the versions {', '.join(VERSIONS)} of the standard, not {version!r}")
    import sys

    return sys.modules[__name__]
