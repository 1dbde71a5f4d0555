# SPDX-License-Identifier: Apache-2.0
"""keyway.settings: how calls behave. Read and set one by one, or for a while:

    keyway.settings.fallback = "warn"
    with keyway.settings(math_mode="tf32", deterministic=True):
        ...

They hold for the whole process, but for autocast and default_device, which each thread has for itself.
"""

import contextlib
import threading
from ctypes import c_uint16

from . import _device as device, _dtypes as dtypes, _library as library
from ._library import filled, text

FALLBACKS = ("off", "warn", "allow")
MATH_MODES = {"highest": 0, "tf32": 1, "fast": 3}
_thread = threading.local()


class Settings:
    __slots__ = ()

    @property
    def fallback(self):
        """What happens when a device lacks a kernel: "off" (an error), "warn" or "allow": cpu:0 stands in."""
        return FALLBACKS[library.fallback_get()]

    @fallback.setter
    def fallback(self, mode):
        library.fallback_set(_choice("fallback", mode, {name: i for i, name in enumerate(FALLBACKS)}))

    @property
    def math_mode(self):
        """How exactly calls compute: "highest", "tf32" or "fast"."""
        return text(library.math_mode_name(library.math_mode_get()))

    @math_mode.setter
    def math_mode(self, mode):
        library.math_mode_set(_choice("math_mode", mode, MATH_MODES))

    @property
    def deterministic(self):
        """Whether only kernels serve that give the same bits every time."""
        return library.deterministic_get()

    @deterministic.setter
    def deterministic(self, only):
        library.deterministic_set(bool(only))

    @property
    def autocast(self):
        """keyway.f16 or keyway.bf16: products are computed in it; None: off. Of this thread."""
        number = library.autocast_get()
        return None if number == library.DTYPE_NONE else dtypes.of_number(number)

    @autocast.setter
    def autocast(self, lower):
        filled(c_uint16, library.autocast_set, library.DTYPE_NONE if lower is None else dtypes.dtype(lower).number)

    @property
    def default_device(self):
        """Where tensors are made when nobody says: "auto" unless set. Of this thread."""
        found = getattr(_thread, "device", None)
        if found is None:
            found = _thread.device = device.device("auto")
        return found

    @default_device.setter
    def default_device(self, name):
        _thread.device = None if name is None else device.device(name)

    def __call__(self, **changes):
        """Sets some inside of a `with`, and puts them back."""
        for name in changes:
            if not isinstance(getattr(Settings, name, None), property):
                raise TypeError(f"there is no setting {name!r}: there are {', '.join(_names())}")
        return self._change(changes)

    @contextlib.contextmanager
    def _change(self, changes):
        before = {}
        try:
            for name, value in changes.items():
                before[name] = getattr(self, name)
                setattr(self, name, value)
            yield self
        finally:
            for name, value in before.items():
                setattr(self, name, value)

    def __repr__(self):
        return "<keyway settings: " + ", ".join(f"{name}={getattr(self, name)!r}" for name in _names()) + ">"


def _names():
    return [name for name, value in vars(Settings).items() if isinstance(value, property)]


def _choice(setting, value, numbers):
    if value not in numbers:
        raise ValueError(f"{setting} is one of {', '.join(numbers)}, not {value!r}")
    return numbers[value]


settings = Settings()
