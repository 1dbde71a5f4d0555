# SPDX-License-Identifier: Apache-2.0
"""Ops as Python functions, made of what the library says of each: its schema, arguments and defaults."""

import ctypes
import inspect
import keyword
from ctypes import byref, c_void_p
from operator import index

from . import _device as devices, _dtypes as dtypes, _library as library, _stream as stream
from ._errors import NotFound
from ._library import filled, text
from ._settings import settings
from ._tensor import Tensor

OPTIONAL, _, KEYWORD_ONLY, HAS_DEFAULT, OPTIONAL_ENTRIES = (1 << bit for bit in range(5))
SUPPORT = (None, "decomposed", "kernel")


# ---- Arguments: how a Python value becomes a kw_value. Each raises TypeError for what does not fit; `keep` holds what
# the value points to.


def _tensor(value, given, argument, keep):
    if not isinstance(given, Tensor):
        raise TypeError
    value.pointer = given._handle


def _tensor_list(value, given, argument, keep):
    entries = list(given) if isinstance(given, (list, tuple)) else None
    optional = argument.flags & OPTIONAL_ENTRIES
    if entries is None or not all(isinstance(each, Tensor) or (optional and each is None) for each in entries):
        raise TypeError
    array = (c_void_p * len(entries))(*(None if each is None else each._handle for each in entries))
    _list(value, array, entries, keep)


def _list(value, array, kept, keep):
    keep += [array, kept]
    value.pointer, value.count = ctypes.addressof(array), len(array)


def _int(value, given, argument, keep):
    if isinstance(given, bool):
        raise TypeError
    value.i = _int64(index(given))


def _int64(number):
    if not -(2**63) <= number < 2**63:
        raise OverflowError(f"{number} does not fit into 64 bits")
    return number


def _int_list(value, given, argument, keep):
    if isinstance(given, (list, tuple)):
        numbers = [_int64(index(each)) for each in given]
    elif argument.list_size and not isinstance(given, bool):
        numbers = [_int64(index(given))] * argument.list_size  # one will do for all
    else:
        raise TypeError
    _list(value, library.int64s(numbers), None, keep)


def _float(value, given, argument, keep):
    given = dtypes.python_number(given)
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        raise TypeError
    value.f = given


def _bool(value, given, argument, keep):
    if not isinstance(given, bool):
        raise TypeError
    value.b = given


def _string(value, given, argument, keep):
    if not isinstance(given, str):
        raise TypeError
    buffer = ctypes.create_string_buffer(given.encode())
    keep.append(buffer)
    value.pointer = ctypes.addressof(buffer)


def _scalar(value, given, argument, keep):
    given = dtypes.python_number(given)
    if isinstance(given, bool):
        value.kind, value.b = library.SCALAR_BOOL, given
    elif isinstance(given, int):
        value.kind, value.i = library.SCALAR_I64, _int64(given)
    elif isinstance(given, float):
        value.kind, value.f = library.SCALAR_F64, given
    elif isinstance(given, complex):
        value.kind = library.SCALAR_C128
        value.c[0], value.c[1] = given.real, given.imag
    else:
        raise TypeError


def _dtype(value, given, argument, keep):
    value.dtype = dtypes.dtype(given).number


def _generator(value, given, argument, keep):
    if not isinstance(given, devices.Generator):
        raise TypeError
    value.pointer = given._handle


KINDS = {
    library.TAG_TENSOR: (_tensor, "a tensor"),
    library.TAG_TENSOR_LIST: (_tensor_list, "a list of tensors"),
    library.TAG_INT: (_int, "a whole number"),
    library.TAG_INT_LIST: (_int_list, "a list of whole numbers"),
    library.TAG_FLOAT: (_float, "a number"),
    library.TAG_BOOL: (_bool, "True or False"),
    library.TAG_STRING: (_string, "a string"),
    library.TAG_SCALAR: (_scalar, "a number"),
    library.TAG_DTYPE: (_dtype, "a data type"),
    library.TAG_GENERATOR: (_generator, "a keyway.Generator"),
}


class Argument:
    """One argument of an op. Its name is the schema's, with a _ behind it where Python has that word."""

    def __init__(self, handle, place):
        info = filled(library.ArgInfo, library.op_get_arg, handle, place)
        self.name = text(info.name) + "_" * keyword.iskeyword(text(info.name))
        self.tag, self.flags, self.list_size = info.tag, info.flags, info.list_size
        self.default = bytes(info.default_value)
        self.convert, self.kind = KINDS[info.tag]

    def fill(self, value, given, keep):
        if given is None and self.flags & OPTIONAL:
            value.tag = library.TAG_NONE
            return
        value.tag, value.kind, value.count = self.tag, 0, 0
        try:
            self.convert(value, given, self, keep)
        except TypeError:
            wanted = self.kind + (" or None" if self.flags & OPTIONAL else "")
            raise TypeError(f"argument {self.name} is {wanted}, not {type(given).__name__}") from None

    def parameter(self):
        kind = inspect.Parameter.KEYWORD_ONLY if self.flags & KEYWORD_ONLY else inspect.Parameter.POSITIONAL_OR_KEYWORD
        default = ... if self.flags & HAS_DEFAULT else inspect.Parameter.empty
        return inspect.Parameter(self.name, kind, default=default)


class Op:
    """One op of the table, callable: results that `out` (a tensor, or a tuple with None for those to be made) does not
    give are made. An op that takes no tensor is told the `device`."""

    def __init__(self, handle):
        info = filled(library.OpInfo, library.op_get_info, handle)
        self._handle = handle
        self.name, self.schema = text(info.name), text(info.schema)
        self.__name__, self.__doc__ = self.name, self.schema
        self.decomposition, self.dtypes = text(info.decomposition), [d for d in dtypes.ALL if d.number in info.dtypes]
        self._arguments = [Argument(handle, place) for place in range(info.arg_count)]
        self._places = {argument.name: place for place, argument in enumerate(self._arguments)}
        self._positional = sum(not argument.flags & KEYWORD_ONLY for argument in self._arguments)
        self._required = [not argument.flags & HAS_DEFAULT for argument in self._arguments]
        self._defaults = b"".join(argument.default for argument in self._arguments)
        self._Values = library.Value * info.arg_count
        # Of a counted op the last result is the count: without it the call waits, and result 0 has its true size.
        results = info.result_count - info.counted
        self._aliases = [library.op_result_alias(handle, place) for place in range(results)]
        self._Outs = c_void_p * results

    def __repr__(self):
        return f"<keyway op {self.schema}>"

    @property
    def __signature__(self):
        parameters = [argument.parameter() for argument in self._arguments]
        try:
            return inspect.Signature(parameters)
        except ValueError:  # ATen has defaults before arguments without one
            return inspect.Signature([each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters])

    def support(self, device, dtype):
        """How a device would run it for tensors of a dtype: "kernel", "decomposed" or None."""
        device = devices.device(device)
        return SUPPORT[library.op_support(self._handle, device._handle, dtypes.dtype(dtype).number)]

    def fallbacks(self, device):
        """How many calls cpu:0 has served in place of the device."""
        return library.op_fallbacks(self._handle, devices.device(device)._handle)

    def bind(self, given, named):
        """The arguments as kw_values, what these point to, and the Python values by place."""
        if len(given) > self._positional:
            raise TypeError(f"{self.name} takes {self._positional} arguments, not {len(given)}: {self.schema}")
        values, keep = self._Values.from_buffer_copy(self._defaults), []
        places = dict(enumerate(given))
        for name, value in named.items():
            place = self._places.get(name)
            if place is None or place in places:
                why = "has no argument" if place is None else "is given twice its argument"
                raise TypeError(f"{self.name} {why} {name}: {self.schema}")
            places[place] = value
        for place, value in places.items():
            try:
                self._arguments[place].fill(values[place], value, keep)
            except (TypeError, OverflowError) as error:
                raise type(error)(f"{self.name}: {error}: {self.schema}") from None
        for place, required in enumerate(self._required):
            if required and place not in places:
                raise TypeError(f"{self.name}: argument {self._arguments[place].name} is missing: {self.schema}")
        return values, keep, places

    def __call__(self, /, *given, out=None, device=None, **named):
        return self.run(self.bind(given, named), out, device)

    def run(self, bound, out=None, device=None):
        values, _keep, places = bound
        device = self._device(places, device)
        outs = self._Outs()
        if out is not None:
            self._place_outs(outs, out)
        on = stream.current(device) or library.stream_default(device._handle)
        library.op_call(self._handle, on, values, len(values), outs, len(outs))
        results = tuple(self._result(i, handle, out, places, device) for i, handle in enumerate(outs))
        return results[0] if len(results) == 1 else results or None

    def _device(self, places, device):
        for given in places.values():
            if isinstance(given, (list, tuple)):
                given = next((each for each in given if isinstance(each, Tensor)), None)
            if isinstance(given, Tensor):
                if device is not None:
                    raise TypeError(f"{self.name} runs where its tensors are, on {given.device}: leave out `device`")
                return given.device
        return settings.default_device if device is None else devices.device(device)

    def _place_outs(self, outs, out):
        given = out if isinstance(out, (list, tuple)) else (out,)
        if len(given) != len(outs) or not all(each is None or isinstance(each, Tensor) for each in given):
            raise TypeError(f"{self.name}: out is one tensor (or None) for each of {len(outs)} results: {self.schema}")
        for place, each in enumerate(given):
            if each is not None:
                outs[place] = each._handle

    def _result(self, place, handle, out, places, device):
        if self._aliases[place] >= 0:
            return places[self._aliases[place]]
        given = out[place] if isinstance(out, (list, tuple)) else out
        if given is not None:
            return given
        return Tensor._own(handle, device) if handle else None  # output_mask leaves some out


class Overloads:
    """What one name stands for: the first of its ops whose arguments fit the call is run. Each is an attribute:
    keyway.ops.add.Tensor."""

    def __init__(self, name, ops):
        self.__name__ = name
        self.__doc__ = "\n".join(op.schema for op in ops)
        self.ops = ops

    def __repr__(self):
        return f"<keyway op {self.__name__}: {len(self.ops)} overloads>"

    def __getattr__(self, name):
        for op in self.ops:
            if op.name == f"{self.__name__}.{name}":
                return op
        raise AttributeError(f"{self.__name__} has no overload {name}: it has {', '.join(op.name for op in self.ops)}")

    def __dir__(self):
        return [*super().__dir__(), *(op.name.split(".", 1)[1] for op in self.ops if "." in op.name)]

    def __call__(self, /, *given, out=None, device=None, **named):
        reasons = []
        for op in self.ops:
            try:
                bound = op.bind(given, named)
            except TypeError as error:
                reasons.append(str(error))
                continue
            return op.run(bound, out, device)
        raise TypeError("no overload takes these arguments:\n  " + "\n  ".join(reasons))


class Table:
    """The ops that the library knows: those of the op table, and vendors' own once their plugins are open."""

    def __init__(self):
        self._count, self._ops = 0, {}

    def all(self):
        count = library.op_count()
        for place in range(self._count, count):
            op = Op(library.op_at(place))
            self._ops[op.name] = op
        self._count = count
        return self._ops

    def find(self, name):
        """An op by its whole name: "add.Tensor", "acme::scaled_add". keyway.NotFound names those that come near."""
        op = self._ops.get(name) or self.all().get(name)
        if op is None:
            library.error_clear()
            if not library.op_find(name.encode()):
                message = text(library.error_message()) or f"there is no op {name!r}"
                raise NotFound(message)
        return op

    def named(self, prefix, name):
        """What `name` stands for in a namespace, "" or "acme::": an op, or overloads; None if nothing."""
        whole = prefix + name
        ops = [op for each, op in self.all().items() if each == whole or each.startswith(whole + ".")]
        if not ops:
            return None
        return ops[0] if len(ops) == 1 and ops[0].name == whole else Overloads(whole, ops)

    def names(self, prefix=""):
        """The names in a namespace, without overloads."""
        inside = [each[len(prefix) :] for each in self.all() if each.startswith(prefix)]
        return sorted({each.split(".")[0] for each in inside if "::" not in each})

    def namespaces(self):
        return sorted({each.split("::")[0] for each in self.all() if "::" in each})


class Namespace:
    """Ops of one namespace as attributes: keyway.ops.torchvision.nms."""

    def __init__(self, table, name):
        self._table, self._prefix = table, name + "::"

    def __getattr__(self, name):
        found = self._table.named(self._prefix, name)
        if found is None:
            raise AttributeError(f"there is no op {self._prefix}{name}: there are {', '.join(dir(self))}")
        setattr(self, name, found)
        return found

    def __dir__(self):
        return self._table.names(self._prefix)


table = Table()
