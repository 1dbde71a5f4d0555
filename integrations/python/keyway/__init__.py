# SPDX-License-Identifier: Apache-2.0
"""Keyway for Python: any accelerator with a Keyway plugin, by its name at run time.

    import keyway
    x = keyway.tensor([[1, -2, 3], [-4, 5, -6]], keyway.f32, device="auto")
    print(keyway.ops.relu(x))

Devices: devices(), device(name). Tensors: tensor(), empty(), from_numpy(), from_dlpack(), from_file(). Every op is in
keyway.ops; keyway.array_api is the Python array API standard. How calls behave: keyway.settings. Failures are
keyway.Error with the whole message.
"""

from . import _library, array_api, ops
from ._device import Counters, Device, DeviceInfo, Generator, MemoryStats, device, devices, rename_device
from ._dtypes import (
    DType,
    bf16,
    bool_,
    c32,
    c64,
    c128,
    dtype,
    f4e2m1x2,
    f8e4m3fn,
    f8e4m3fnuz,
    f8e5m2,
    f8e5m2fnuz,
    f8e8m0,
    f16,
    f32,
    f64,
    i4x2,
    i8,
    i16,
    i32,
    i64,
    promote,
    u4x2,
    u8,
    u16,
    u32,
    u64,
)
from ._errors import (
    Busy,
    DeviceLost,
    Error,
    InputOutput,
    Internal,
    InvalidArgument,
    Mismatch,
    NotFound,
    NotImplementedHere,
    OutOfMemory,
    Permission,
    Timeout,
    Unsupported,
)
from ._plugins import Plugin, load_plugin, plugins
from ._settings import settings
from ._stream import Event, Graph, Stream
from ._tensor import Tensor, empty, from_dlpack, from_file, from_numpy, tensor

__version__ = _library.text(_library.version())
