# SPDX-License-Identifier: Apache-2.0
"""Data types: keyway.f32 and its kin, under Keyway's names and numbers."""

import struct

from . import _library as library


class DType:
    """A data type. `name` is Keyway's ("f32"), `kind` one of "bool", "signed", "unsigned", "float", "complex", "other",
    `itemsize` in bytes. `code` is the letter of Python's struct module for an element, or for each half of a complex
    one; None where there is none."""

    __slots__ = ("code", "itemsize", "kind", "name", "number")

    def __init__(self, number, name, itemsize, kind, code=None):
        self.number, self.name, self.itemsize, self.kind, self.code = number, name, itemsize, kind, code

    def __repr__(self):
        return f"keyway.{self.name}"

    def __reduce__(self):  # one object for each, in copies as well
        return of_number, (self.number,)

    def pack(self, numbers):
        """Python numbers as bytes."""
        if self.code is None:
            raise TypeError(f"Python has no numbers of {self.name}; make a tensor of keyway.f32 and cast it: .to()")
        if self.kind == "complex":
            numbers = [part for number in map(complex, numbers) for part in (number.real, number.imag)]
        elif self.kind == "float":
            numbers = [float(number) for number in numbers]
        try:
            return struct.pack(f"<{len(numbers)}{self.code}", *numbers)
        except OverflowError:  # of a float: what is too large is infinite
            return struct.pack(f"<{len(numbers)}{self.code}", *map(self._finite_or_inf, numbers))
        except struct.error as error:
            raise OverflowError(f"a number does not fit into {self.name}: {error}") from None

    def _finite_or_inf(self, number):
        try:
            struct.pack(f"<{self.code}", number)
        except OverflowError:
            return float("inf") if number > 0 else float("-inf")
        return number

    def unpack(self, data):
        """Bytes as Python numbers."""
        numbers = struct.unpack(f"<{len(data) // struct.calcsize(self.code)}{self.code}", data)
        if self.kind == "complex":
            return [complex(*pair) for pair in zip(numbers[::2], numbers[1::2])]
        return list(numbers)


bool_ = DType(0, "bool", 1, "bool", "?")
u8 = DType(1, "u8", 1, "unsigned", "B")
i8 = DType(2, "i8", 1, "signed", "b")
i16 = DType(3, "i16", 2, "signed", "h")
i32 = DType(4, "i32", 4, "signed", "i")
i64 = DType(5, "i64", 8, "signed", "q")
f16 = DType(6, "f16", 2, "float", "e")
bf16 = DType(7, "bf16", 2, "float")
f32 = DType(8, "f32", 4, "float", "f")
f64 = DType(9, "f64", 8, "float", "d")
f8e4m3fn = DType(10, "f8e4m3fn", 1, "float")
f8e5m2 = DType(11, "f8e5m2", 1, "float")
c64 = DType(12, "c64", 8, "complex", "f")
c128 = DType(13, "c128", 16, "complex", "d")
# Tensors of the following can be made, viewed, moved and shared; no op computes on them yet.
u16 = DType(14, "u16", 2, "unsigned", "H")
u32 = DType(15, "u32", 4, "unsigned", "I")
u64 = DType(16, "u64", 8, "unsigned", "Q")
f8e4m3fnuz = DType(17, "f8e4m3fnuz", 1, "float")
f8e5m2fnuz = DType(18, "f8e5m2fnuz", 1, "float")
f8e8m0 = DType(19, "f8e8m0", 1, "float")
c32 = DType(20, "c32", 4, "complex", "e")
i4x2 = DType(21, "i4x2", 1, "other")
u4x2 = DType(22, "u4x2", 1, "other")
f4e2m1x2 = DType(23, "f4e2m1x2", 1, "other")

ALL = tuple(sorted((each for each in globals().values() if isinstance(each, DType)), key=lambda each: each.number))
BY_NAME = {each.name: each for each in ALL}
NUMPY = {
    "bool": bool_,
    "uint8": u8,
    "int8": i8,
    "int16": i16,
    "int32": i32,
    "int64": i64,
    "float16": f16,
    "float32": f32,
    "float64": f64,
    "complex64": c64,
    "complex128": c128,
    "uint16": u16,
    "uint32": u32,
    "uint64": u64,
}
OF_PYTHON = {bool: bool_, int: i64, float: f32, complex: c64}  # what numbers become where nobody says; as in PyTorch


def of_number(number):
    return ALL[number]


def dtype(value):
    """The DType that a DType, its name ("f32"), NumPy's name or object for it, or Python's number type stands for."""
    if isinstance(value, DType):
        return value
    if isinstance(value, type) and value in OF_PYTHON:
        return OF_PYTHON[value]
    name = value if isinstance(value, str) else getattr(value, "name", None) or getattr(value, "__name__", "")
    found = BY_NAME.get(name) or NUMPY.get(name)
    if found is None:
        raise TypeError(f"{value!r} is no data type of Keyway's: they are {', '.join(BY_NAME)}, or NumPy's names")
    return found


def python_number(value):
    """A NumPy scalar as Python's number; anything else as it is."""
    return value.item() if type(value).__module__ == "numpy" and value.shape == () else value


def numpy_name(value):
    """What NumPy calls a DType; TypeError where it has none."""
    for name, each in NUMPY.items():
        if each is value:
            return name
    raise TypeError(f"NumPy has no data type for {value!r}: cast first, .to(keyway.f32)")


def promote(a, b):
    """ATen's promotion of two: i32 with f16 gives f16."""
    return a if a is b else ALL[library.dtype_promote(a.number, b.number)]
