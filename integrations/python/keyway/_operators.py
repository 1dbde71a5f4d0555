# SPDX-License-Identifier: Apache-2.0
"""Python's operators on tensors, by the functions of keyway.array_api: with tensors, and with Python's numbers."""

from . import _indexing as indexing
from ._dtypes import python_number


def _binary(function, reflected=False):
    def operator(self, other):
        from . import array_api

        other = python_number(other)
        if not isinstance(other, (Operators, bool, int, float, complex)):
            return NotImplemented
        arguments = (other, self) if reflected else (self, other)
        return getattr(array_api, function)(*arguments)

    return operator


def _in_place(function):
    def operator(self, other):
        from . import array_api

        other = python_number(other)
        if not isinstance(other, (Operators, bool, int, float, complex)):
            return NotImplemented
        result = getattr(array_api, function)(self, other)
        if result.shape != self.shape or result.dtype is not self.dtype:
            raise TypeError(f"{result.dtype} of shape {result.shape} does not fit into {self.dtype} of {self.shape}")
        return self.copy_(result)

    return operator


def _unary(function):
    def operator(self):
        from . import array_api

        return getattr(array_api, function)(self)

    return operator


class Operators:
    __slots__ = ()
    __hash__ = None  # == is elementwise
    __array_ufunc__ = None  # NumPy's arrays beside tensors are an error: keyway.from_numpy or numpy.asarray first

    __add__, __radd__, __iadd__ = _binary("add"), _binary("add", True), _in_place("add")
    __sub__, __rsub__, __isub__ = _binary("subtract"), _binary("subtract", True), _in_place("subtract")
    __mul__, __rmul__, __imul__ = _binary("multiply"), _binary("multiply", True), _in_place("multiply")
    __truediv__, __rtruediv__, __itruediv__ = _binary("divide"), _binary("divide", True), _in_place("divide")
    __floordiv__, __rfloordiv__ = _binary("floor_divide"), _binary("floor_divide", True)
    __ifloordiv__ = _in_place("floor_divide")
    __mod__, __rmod__, __imod__ = _binary("remainder"), _binary("remainder", True), _in_place("remainder")
    __pow__, __rpow__, __ipow__ = _binary("pow"), _binary("pow", True), _in_place("pow")
    __matmul__, __rmatmul__, __imatmul__ = _binary("matmul"), _binary("matmul", True), _in_place("matmul")
    __and__, __rand__, __iand__ = _binary("bitwise_and"), _binary("bitwise_and", True), _in_place("bitwise_and")
    __or__, __ror__, __ior__ = _binary("bitwise_or"), _binary("bitwise_or", True), _in_place("bitwise_or")
    __xor__, __rxor__, __ixor__ = _binary("bitwise_xor"), _binary("bitwise_xor", True), _in_place("bitwise_xor")
    __lshift__, __rlshift__ = _binary("bitwise_left_shift"), _binary("bitwise_left_shift", True)
    __ilshift__ = _in_place("bitwise_left_shift")
    __rshift__, __rrshift__ = _binary("bitwise_right_shift"), _binary("bitwise_right_shift", True)
    __irshift__ = _in_place("bitwise_right_shift")
    __eq__, __ne__ = _binary("equal"), _binary("not_equal")
    __lt__, __le__ = _binary("less"), _binary("less_equal")
    __gt__, __ge__ = _binary("greater"), _binary("greater_equal")
    __neg__, __pos__, __abs__, __invert__ = (
        _unary("negative"),
        _unary("positive"),
        _unary("abs"),
        _unary("bitwise_invert"),
    )

    def __getitem__(self, key):
        return indexing.get(self, key)

    def __setitem__(self, key, value):
        indexing.put(self, key, value)

    def __bool__(self):
        return bool(self.item())

    def __int__(self):
        return int(self._number("int", complex))

    def __float__(self):
        return float(self._number("float", complex))

    def __complex__(self):
        return complex(self.item())

    def __index__(self):
        return self._number("index", (float, complex, bool)).__index__()

    def _number(self, wanted, refused):
        number = self.item()
        if isinstance(number, refused):
            raise TypeError(f"a tensor of {self.dtype} is no {wanted}")
        return number
