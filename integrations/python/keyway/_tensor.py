# SPDX-License-Identifier: Apache-2.0
"""Tensors: numbers on a device, views of them, and the ways to Python, NumPy and other libraries."""

import ctypes
import math

from . import _device as devices, _dlpack as dlpack, _dtypes as dtypes, _library as library, _stream as stream
from ._library import int64s, made, text
from ._operators import Operators

FORMAT_BYTES = 8192


class Tensor(Operators):
    """A piece of a device's memory with dtype, shape and strides. Views share the memory; it is given back when the
    last tensor on it is gone. Made by keyway.tensor(), keyway.array_api and ops."""

    __slots__ = ("__weakref__", "_handle", "_ref", "device", "dtype", "shape")
    _release = library.tensor_release  # also when modules are gone, at exit

    def __new__(cls, *arguments, **named):
        raise TypeError("make tensors by keyway.tensor(numbers), keyway.from_numpy() or keyway.array_api.zeros()")

    @classmethod
    def _own(cls, handle, device):
        """The Tensor of a reference that it gives back at its end."""
        self = object.__new__(cls)
        self._handle, self.device = handle, device
        self._ref = ref = library.tensor_describe(handle).contents
        self.dtype, self.shape = dtypes.of_number(ref.dtype), tuple(ref.shape[: ref.rank])
        return self

    def __del__(self):
        handle = getattr(self, "_handle", None)
        if handle:
            type(self)._release(handle)

    # ---- what it is

    @property
    def ndim(self):
        return self._ref.rank

    @property
    def size(self):
        """How many elements."""
        return self._ref.numel

    @property
    def nbytes(self):
        return self._ref.numel * self.dtype.itemsize

    @property
    def strides(self):
        """In elements."""
        return tuple(self._ref.strides[: self._ref.rank])

    @property
    def storage_offset(self):
        """Of the first element, in elements from the start of the memory: that of as_strided."""
        return self._byte_offset() // self.dtype.itemsize

    def _byte_offset(self):
        if self.size == 0:
            return 0
        start = made(library.tensor_reinterpret, self._handle, dtypes.u8.number, 0, None, None, 0)
        offset = self._ref.offset - library.tensor_describe(start).contents.offset
        library.tensor_release(start)
        return offset

    @property
    def is_contiguous(self):
        expected = 1
        for length, stride in zip(reversed(self.shape), reversed(self.strides)):
            if length != 1 and stride != expected and self.size:
                return False
            expected *= length
        return True

    @property
    def is_read_only(self):
        return library.tensor_is_read_only(self._handle)

    @property
    def constant(self):
        """Whether its numbers stay as they are, so that kernels may keep packed forms of them; may be set. See
        kw_tensor_set_constant in keyway.h."""
        return library.tensor_is_constant(self._handle)

    @constant.setter
    def constant(self, value):
        library.tensor_set_constant(self._handle, bool(value))

    def __len__(self):
        if not self.shape:
            raise TypeError("a tensor without dimensions has no len()")
        return self.shape[0]

    def __repr__(self):
        buffer = ctypes.create_string_buffer(FORMAT_BYTES)
        self._wait()
        library.tensor_format(self._handle, buffer, FORMAT_BYTES)
        return text(buffer.value)

    # ---- views: descriptors only, as the ATen ops of the same names

    def _view(self, function, *arguments):
        return Tensor._own(made(function, self._handle, *arguments), self.device)

    def view(self, *shape):
        """The same elements in another shape; an error where that needs a copy, see reshape."""
        shape = _sizes(shape)
        return self._view(library.tensor_view, len(shape), int64s(shape))

    def reshape(self, *shape):
        """A view if one will do, otherwise a copy. One length may be -1."""
        shape = self._whole(_sizes(shape))
        try:
            return self.view(shape)
        except ValueError:
            if math.prod(shape) != self.size:
                raise ValueError(f"{self.size} elements of shape {self.shape} do not make {shape}") from None
        return self.contiguous().view(shape)

    def _whole(self, shape):
        if shape.count(-1) != 1:
            return shape
        others = -math.prod(shape)
        if others == 0 or self.size % others:
            raise ValueError(f"{self.size} elements of shape {self.shape} do not make {shape}")
        return tuple(self.size // others if each == -1 else each for each in shape)

    def expand(self, *shape):
        shape = _sizes(shape)
        return self._view(library.tensor_expand, len(shape), int64s(shape))

    def permute(self, *dims):
        dims = _sizes(dims)
        return self._view(library.tensor_permute, len(dims), int64s(dims))

    def transpose(self, dim0, dim1):
        return self._view(library.tensor_transpose, dim0, dim1)

    def select(self, dim, index):
        return self._view(library.tensor_select, dim, index)

    def slice(self, dim, start, end, step=1):
        """start and end are clamped; step >= 1."""
        return self._view(library.tensor_slice, dim, start, end, step)

    def squeeze(self, dim):
        return self._view(library.tensor_squeeze, dim)

    def unsqueeze(self, dim):
        return self._view(library.tensor_unsqueeze, dim)

    def diagonal(self, offset=0, dim1=0, dim2=1):
        return self._view(library.tensor_diagonal, offset, dim1, dim2)

    def as_strided(self, shape, strides, storage_offset=0):
        return self._view(library.tensor_as_strided, len(shape), int64s(shape), int64s(strides), storage_offset)

    def reinterpret(self, dtype):
        """The same bits as another dtype of the same size."""
        dtype = dtypes.dtype(dtype)
        if dtype.itemsize != self.dtype.itemsize:
            raise ValueError(
                f"elements of {self.dtype} have {self.dtype.itemsize} bytes, those of {dtype} {dtype.itemsize}"
            )
        shape, strides = int64s(self.shape), int64s(self.strides)
        return self._view(library.tensor_reinterpret, dtype.number, self.ndim, shape, strides, self._byte_offset())

    def view_as_real(self):
        """c64 [..] as f32 [.., 2]."""
        return self._view(library.tensor_view_as_real)

    def view_as_complex(self):
        return self._view(library.tensor_view_as_complex)

    @property
    def T(self):
        if self.ndim != 2:
            raise ValueError(f"T is for two dimensions, not {self.ndim}; see mT and permute")
        return self.transpose(0, 1)

    @property
    def mT(self):
        if self.ndim < 2:
            raise ValueError(f"mT is for two dimensions and more, not {self.ndim}")
        return self.transpose(-2, -1)

    # ---- copies

    def clone(self):
        return _op("clone")(self)

    def contiguous(self):
        """Itself, or a copy whose elements lie in row-major order."""
        if self.is_contiguous:
            return self
        return _op("copy_")(empty(self.shape, self.dtype, self.device), self)

    def copy_(self, source):
        """Takes the elements of another tensor of the device, cast and broadcast, or of what keyway.tensor takes."""
        if not isinstance(source, Tensor):
            source = tensor(source, device=self.device)
        elif source.device != self.device:
            source = source.to(self.device)
        elif self._overlaps(source):  # x[1:] = x[:-1]
            source = source.clone()
        return _op("copy_")(self, source)

    def _overlaps(self, other):
        """Whether the memory from the first to the last element of both has a part in common."""
        if self._ref.mem != other._ref.mem or not (self.size and other.size):
            return False
        (start, end), (other_start, other_end) = self._extent(), other._extent()
        return start < other_end and other_start < end

    def _extent(self):
        last = sum((length - 1) * stride for length, stride in zip(self.shape, self.strides))
        return self._ref.offset, self._ref.offset + (last + 1) * self.dtype.itemsize

    def to(self, target):
        """On another device (a Device or its name), or with another dtype. Itself where nothing changes."""
        if isinstance(target, devices.Device) or (isinstance(target, str) and target not in dtypes.BY_NAME):
            device = devices.device(target)
            if device == self.device:
                return self
            self._wait()
            return Tensor._own(made(library.tensor_to, self._handle, device._handle), device)
        dtype = dtypes.dtype(target)
        return self if dtype is self.dtype else _op("_to_copy")(self, dtype=dtype)

    # ---- to Python

    def _wait(self):
        # Reads go through the default stream, which knows nothing of the program's others.
        if self.device._has_streams:
            self.device.synchronize()

    def read(self, buffer=None):
        """The elements in row-major order, as bytes, or into a writable contiguous buffer."""
        if buffer is None:
            memory = (ctypes.c_char * self.nbytes)()
        elif memoryview(buffer).nbytes != self.nbytes:
            raise ValueError(f"the tensor has {self.nbytes} bytes, the buffer {memoryview(buffer).nbytes}")
        elif self.nbytes == 0:
            return None
        else:
            memory = (ctypes.c_char * self.nbytes).from_buffer(buffer)
        self._wait()
        library.tensor_read(self._handle, memory)
        return memory.raw if buffer is None else None

    def write(self, buffer):
        """Takes the elements, in row-major order, from bytes or another contiguous buffer."""
        source = memoryview(buffer).cast("B") if memoryview(buffer).nbytes else b""
        if len(source) != self.nbytes:
            raise ValueError(f"the tensor has {self.nbytes} bytes, the buffer {len(source)}")
        self._wait()
        memory = ctypes.c_char * self.nbytes
        library.tensor_write(self._handle, memory.from_buffer_copy(source) if source else memory())
        return self

    def tolist(self):
        """The numbers, in lists of lists."""
        if self.dtype.code is None:
            return self.to(dtypes.f32).tolist()
        numbers = self.dtype.unpack(self.read())
        if not numbers:
            return _empty_lists(self.shape)
        for length in reversed(self.shape):
            numbers = [numbers[start : start + length] for start in range(0, len(numbers), length)]
        return numbers[0]

    def item(self):
        """The one number of a tensor that has one."""
        if self.size != 1:
            raise ValueError(f"a tensor of shape {self.shape} is not one number")
        if self.dtype.code is None:
            return self.to(dtypes.f32).item()
        return self.dtype.unpack(self.read())[0]

    def __reduce__(self):
        return _restored, (self.dtype, self.shape, self.read(), self.device)

    # ---- to others

    def numpy(self):
        """A NumPy array: of the same memory where the host reaches it (cpu:0), otherwise a copy."""
        import numpy

        name = dtypes.numpy_name(self.dtype)
        if self.__dlpack_device__()[0] == dlpack.CPU and self.size:
            return numpy.asarray(dlpack.HostMemory(self, numpy.dtype(name).str))
        array = numpy.empty(self.shape, name)
        self.read(array.reshape(-1))
        return array

    def __array__(self, dtype=None, copy=None):
        shares = self.__dlpack_device__()[0] == dlpack.CPU
        array = self.numpy()
        if (dtype is not None and array.dtype != dtype) or not shares:
            if copy is False:
                raise ValueError(f"an array of {self.device}'s numbers as {dtype or array.dtype} needs a copy")
            return array if dtype is None else array.astype(dtype)
        return array.copy() if copy else array

    def __buffer__(self, flags):  # Python 3.12 and later
        return memoryview(self.numpy())

    def __dlpack__(self, *, stream=None, max_version=None, dl_device=None, copy=None):
        source = self
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            if copy is False or tuple(dl_device) != (dlpack.CPU, 0):
                raise BufferError(f"{self.device} gives its memory as {self.__dlpack_device__()}, or a copy on (1, 0)")
            source = self.to("cpu:0")
        elif copy:
            source = self.clone()
        return dlpack.export(
            source, versioned=max_version is not None and max_version[0] >= 1, copied=source is not self
        )

    def __dlpack_device__(self):
        return dlpack.place(self.device)

    def __array_namespace__(self, api_version=None):
        from . import array_api

        return array_api.of_version(api_version)

    def to_device(self, device, /, *, stream=None):
        if stream is not None:
            raise NotImplementedError("to_device waits; it takes no stream")
        return self.to(devices.device(device))


def _op(name):
    from . import ops

    return ops.find(name)


def _restored(dtype, shape, data, device):
    return empty(shape, dtype, device).write(data)


def _sizes(given):
    """view(2, 3) and view((2, 3)) are the same."""
    sizes = given[0] if len(given) == 1 and isinstance(given[0], (tuple, list)) else given
    return tuple(size.__index__() for size in sizes)


def _empty_lists(shape):
    return [_empty_lists(shape[1:]) for _ in range(shape[0])] if shape else None


# ---- making


def _default(device):
    from ._settings import settings

    return settings.default_device if device is None else devices.device(device)


def empty(shape, dtype=dtypes.f32, device=None):
    """A contiguous tensor with undefined contents."""
    device, dtype = _default(device), dtypes.dtype(dtype)
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    on = stream.current(device) or library.stream_default(device._handle)
    return Tensor._own(made(library.tensor_create_on, on, dtype.number, len(shape), int64s(shape)), device)


def tensor(numbers, dtype=None, device=None):
    """A tensor of numbers, of nested lists of them, of another tensor's elements, or of what has a buffer or NumPy's
    interface: always a copy. Without a dtype, floats become f32, whole numbers i64."""
    if isinstance(numbers, Tensor):
        copied = numbers.to(numbers.device if device is None else device)
        copied = copied if dtype is None else copied.to(dtype)
        return copied.clone() if copied is numbers else copied
    if hasattr(numbers, "__array_interface__") or isinstance(numbers, (memoryview, bytearray)):
        made_of = _of_buffer(numbers, _default(device))
        return made_of if dtype is None else made_of.to(dtype)
    shape, flat = _flat(numbers)
    if dtype is None:
        dtype = next(
            (
                dtypes.OF_PYTHON[kind]
                for kind in (complex, float, int, bool)
                if any(type(each) is kind for each in flat)
            ),
            dtypes.f32,
        )
    dtype = dtypes.dtype(dtype)
    if dtype.code is None:
        return tensor(numbers, dtypes.f32, device).to(dtype)
    return empty(shape, dtype, device).write(dtype.pack(flat))


def _of_buffer(source, device):
    import numpy

    array = numpy.ascontiguousarray(source).reshape(numpy.shape(source))
    made_of = empty(array.shape, dtypes.dtype(array.dtype.name), device)
    return made_of.write(array.reshape(-1)) if array.size else made_of


def _flat(numbers):
    """Shape and numbers of nested lists."""
    if isinstance(numbers, Tensor):
        return numbers.shape, _flat(numbers.tolist())[1]
    if not isinstance(numbers, (list, tuple)):
        number = numbers.item() if hasattr(numbers, "item") else numbers
        if not isinstance(number, (bool, int, float, complex)):
            raise TypeError(f"a tensor is made of numbers and lists of them, not of {type(numbers).__name__}")
        return (), [number]
    parts = [_flat(each) for each in numbers]
    shapes = {shape for shape, _ in parts}
    if len(shapes) > 1:
        raise ValueError(f"lists side by side have different shapes: {' and '.join(map(str, sorted(shapes)))}")
    return (len(parts), *(shapes.pop() if shapes else ())), [number for _, flat in parts for number in flat]


def from_numpy(array, device=None):
    """A tensor on a NumPy array: on its memory for a device that reaches the host's (cpu:0), which is the one without
    `device`; a copy for another."""
    device = devices.device("cpu:0" if device is None else device)
    if dlpack.place(device)[0] == dlpack.CPU and array.size:
        if array.dtype == bool:  # which DLPack has known for less long than NumPy has exported by it
            return dlpack.take(array.view("uint8"), device).reinterpret(dtypes.bool_)
        return dlpack.take(array, device)
    return tensor(array, device=device)


def from_file(path, device="cpu:0"):
    """A read-only tensor of u8 on a file that is mapped, not read."""
    import os

    device = devices.device(device)
    return Tensor._own(made(library.tensor_from_file, device._handle, os.fsencode(path)), device)


def from_dlpack(source, /, *, device=None, copy=None):
    """A tensor on another library's memory, or on another tensor's. Without a copy unless `copy` is True, or `device`
    is one that cannot use the memory where it lies (BufferError with copy=False)."""
    device = None if device is None else devices.device(device)
    if isinstance(source, Tensor):
        shared = source
    else:
        shared = dlpack.take(source, device or devices.device("cpu:0"), device is not None and copy is not False)
    if device is not None and shared.device != device:
        if copy is False:
            raise BufferError(f"{device} cannot use memory of {shared.device} without a copy")
        return shared.to(device)
    return shared.clone() if copy else shared
