# SPDX-License-Identifier: Apache-2.0
"""The extension fft of the array API: Fourier transforms by the ops _fft_c2c, _fft_r2c and _fft_c2r."""

from .. import _dtypes as dtypes
from . import creation, manipulation
from .common import axes_of, axis_of, full_of, op
from .elementwise import conj

COMPLEX_OF = {"f32": dtypes.c64, "f64": dtypes.c128}
NONE, BY_ROOT, BY_SIZE = range(3)  # what the ops divide by
FORWARD = {"backward": NONE, "ortho": BY_ROOT, "forward": BY_SIZE}
INVERSE = {"backward": BY_SIZE, "ortho": BY_ROOT, "forward": NONE}


def _scale(norm, scales):
    if norm not in scales:
        raise ValueError(f"norm is one of {', '.join(scales)}, not {norm!r}")
    return scales[norm]


def _resized(x, sizes, axes):
    """Cut, or filled up with zeros, to the sizes along the axes."""
    for size, axis in zip(sizes, axes):
        if size < 1:
            raise ValueError(f"a transform has one element or more, not {size}")
        length = x.shape[axis]
        if size < length:
            x = x.slice(axis, 0, size)
        elif size > length:
            shape = (*x.shape[:axis], size - length, *x.shape[axis + 1 :])
            x = manipulation.concat([x, full_of(shape, 0, x.dtype, x.device)], axis=axis)
    return x


def _places(x, s, axes):
    """Sizes and axes of a transform along several."""
    if axes is None:
        axes = list(range(x.ndim)) if s is None else list(range(x.ndim - len(s), x.ndim))
    axes = [axis_of(axis, x.ndim) for axis in axes]
    if s is not None and len(s) != len(axes):
        raise ValueError(f"{len(s)} sizes for {len(axes)} axes")
    return [x.shape[axis] for axis in axes] if s is None else list(s), axes


def _complex(x):
    return x.to(COMPLEX_OF.get(x.dtype.name, x.dtype))


def _c2c(x, s, axes, norm, forward):
    sizes, axes = _places(x, s, axes)
    scale = _scale(norm, FORWARD if forward else INVERSE)
    return op("_fft_c2c")(_resized(_complex(x), sizes, axes), axes, scale, forward)


def _r2c(x, s, axes, scale):
    sizes, axes = _places(x, s, axes)
    return op("_fft_r2c")(_resized(x, sizes, axes), axes, scale, True)


def _c2r(x, s, axes, scale):
    """The last axis of a result has as many elements as asked for, or an even number."""
    sizes, axes = _places(x, s, axes)
    if s is None:
        sizes[-1] = 2 * (sizes[-1] - 1)
    size = sizes[-1]
    return op("_fft_c2r")(_resized(_complex(x), [*sizes[:-1], size // 2 + 1], axes), axes, scale, size)


def _one(n):
    return None if n is None else [n]


def fft(x, /, *, n=None, axis=-1, norm="backward"):
    return _c2c(x, _one(n), [axis], norm, True)


def ifft(x, /, *, n=None, axis=-1, norm="backward"):
    return _c2c(x, _one(n), [axis], norm, False)


def fftn(x, /, *, s=None, axes=None, norm="backward"):
    return _c2c(x, s, axes, norm, True)


def ifftn(x, /, *, s=None, axes=None, norm="backward"):
    return _c2c(x, s, axes, norm, False)


def rfft(x, /, *, n=None, axis=-1, norm="backward"):
    return _r2c(x, _one(n), [axis], _scale(norm, FORWARD))


def irfft(x, /, *, n=None, axis=-1, norm="backward"):
    return _c2r(x, _one(n), [axis], _scale(norm, INVERSE))


def rfftn(x, /, *, s=None, axes=None, norm="backward"):
    return _r2c(x, s, axes, _scale(norm, FORWARD))


def irfftn(x, /, *, s=None, axes=None, norm="backward"):
    return _c2r(x, s, axes, _scale(norm, INVERSE))


def hfft(x, /, *, n=None, axis=-1, norm="backward"):
    return _c2r(conj(x), _one(n), [axis], _scale(norm, FORWARD))


def ihfft(x, /, *, n=None, axis=-1, norm="backward"):
    return conj(_r2c(x, _one(n), [axis], _scale(norm, INVERSE)))


def fftfreq(n, /, *, d=1.0, dtype=None, device=None):
    half = (n + 1) // 2
    return _frequencies([*range(half), *range(-(n // 2), 0)], n, d, dtype, device)


def rfftfreq(n, /, *, d=1.0, dtype=None, device=None):
    return _frequencies(list(range(n // 2 + 1)), n, d, dtype, device)


def _frequencies(numbers, n, d, dtype, device):
    dtype = dtypes.f32 if dtype is None else dtypes.dtype(dtype)
    return creation.asarray([number / (n * d) for number in numbers], dtype=dtype, device=device)


def fftshift(x, /, *, axes=None):
    axes = axes_of(axes, x.ndim)
    return manipulation.roll(x, [x.shape[axis] // 2 for axis in axes], axis=axes)


def ifftshift(x, /, *, axes=None):
    axes = axes_of(axes, x.ndim)
    return manipulation.roll(x, [-(x.shape[axis] // 2) for axis in axes], axis=axes)
