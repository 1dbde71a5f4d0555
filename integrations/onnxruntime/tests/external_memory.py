# SPDX-License-Identifier: Apache-2.0
"""usage: external_memory.py DEVICE HANDLE

Runs a layer on memory of this process's (HANDLE is "host" or "fd", a memfd) that ONNX Runtime imports by its C API alone
(OrtInteropApi), which its Python package does not have: so the slots of its tables are counted here, and the process uses the
package's libonnxruntime."""

import fcntl
import mmap
import os
import sys
from ctypes import CDLL, CFUNCTYPE, POINTER, Structure, addressof, byref, c_bool, c_char, c_char_p, c_int, c_int64, c_size_t
from ctypes import c_uint32, c_void_p
from pathlib import Path

import keyway
import numpy
import onnxruntime
import onnxruntime_keyway
from conftest import FLOAT, model, node

API = 24
HANDLES = {"fd": 3, "host": 4}  # OrtExternalMemoryHandleType
PAGE = mmap.PAGESIZE


class Memory(Structure):
    _fields_ = [("version", c_uint32), ("kind", c_int), ("handle", c_void_p), ("size", c_size_t), ("offset", c_size_t)]


class Tensor(Structure):
    _fields_ = [("version", c_uint32), ("type", c_int), ("shape", POINTER(c_int64)), ("rank", c_size_t), ("offset", c_size_t)]


class Table:
    """Functions of a table by their numbers; they return a status."""

    def __init__(self, address, get_message=None):
        self.slots, self.get_message = (c_void_p * 400).from_address(address), get_message

    def get(self, slot, result, *arguments):
        return CFUNCTYPE(result)(self.slots[slot])(*arguments)

    def __call__(self, slot, *arguments):
        status = self.get(slot, c_void_p, *arguments)
        if status:
            raise RuntimeError((self.get_message or self).get(2, c_char_p, c_void_p(status)).decode())


def made(table, slot, *arguments):
    result = c_void_p()
    table(slot, *arguments, byref(result))
    return result


def find_device(ort, environment, name):
    devices, count = POINTER(c_void_p)(), c_size_t()
    ort(303, environment, byref(devices), byref(count))  # GetEpDevices
    for i in range(count.value):
        pairs = ort.get(314, c_void_p, c_void_p(devices[i]))  # EpDevice_EpMetadata
        if ort.get(297, c_char_p, c_void_p(pairs), b"keyway_device") == name.encode():  # GetKeyValue
            return c_void_p(devices[i])
    raise SystemExit(f"no {name}")


def create_session(ort, environment, device):
    layer = model(
        [node("MatMul", "x w", "a"), node("Relu", "a", "y")],
        {"x": (FLOAT, [2, 4])},
        {"y": (FLOAT, [2, 3])},
        {"w": numpy.arange(12, dtype="f4").reshape(4, 3)},
    )
    options = made(ort, 10)  # CreateSessionOptions
    ort(130, options, b"session.disable_cpu_ep_fallback", b"1")  # AddSessionConfigEntry
    ort(304, options, environment, byref(device), c_size_t(1), None, None, c_size_t(0))  # ..AppendExecutionProvider_V2
    return made(ort, 8, environment, layer, c_size_t(len(layer)), options)  # CreateSessionFromArray


def main():
    name, kind = sys.argv[1:]
    library = CDLL(next(str(path) for path in (Path(onnxruntime.__file__).parent / "capi").glob("libonnxruntime.so*")))
    library.OrtGetApiBase.restype = c_void_p
    base = Table(library.OrtGetApiBase())
    ort = Table(base.get(0, c_void_p, c_uint32(API)))
    environment = made(ort, 3, c_int(3), b"test")  # CreateEnv
    ort(301, environment, b"keyway." + name.split(":")[0].encode(), str(onnxruntime_keyway.LIBRARY).encode())
    device = find_device(ort, environment, name)
    interop = Table(ort.get(395, c_void_p), ort)  # GetInteropApi
    importer = made(interop, 0, device)

    for other, number in {**HANDLES, "d3d12": 0}.items():
        can = c_bool()
        interop(2, importer, c_int(number), byref(can))
        print(other, can.value)
    file = os.memfd_create("values", os.MFD_ALLOW_SEALING)
    os.ftruncate(file, 3 * PAGE)
    fcntl.fcntl(file, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)  # cpu:0 maps it, and takes no file that could become shorter
    pages = mmap.mmap(file, 3 * PAGE)
    start = addressof(c_char.from_buffer(pages))
    x = numpy.frombuffer(pages, "f4", 8, PAGE).reshape(2, 4)
    y = numpy.frombuffer(pages, "f4", 6, 2 * PAGE).reshape(2, 3)
    handle = c_void_p(start if kind == "host" else file)
    try:
        memory = made(interop, 3, importer, byref(Memory(API, HANDLES[kind], handle, 3 * PAGE, PAGE)))
    except RuntimeError as error:
        raise SystemExit(f"refused: {error}")

    def tensor(offset, *shape):
        described = Tensor(API, 1, (c_int64 * len(shape))(*shape), len(shape), offset)
        return made(interop, 5, importer, memory, byref(described))

    try:
        tensor(PAGE, 2, 2**20)
    except RuntimeError as error:
        print("too long:", error)
    values = [tensor(0, 2, 4), tensor(PAGE, 2, 3)]
    session = create_session(ort, environment, device)
    before = keyway.device(name).counters()
    for step in range(3):
        x[...] = numpy.arange(8).reshape(2, 4) - step
        arguments = [(c_char_p * 1)(b"x"), byref(values[0]), c_size_t(1), (c_char_p * 1)(b"y"), c_size_t(1), byref(values[1])]
        ort(9, session, None, *arguments)  # Run
        assert (y == numpy.maximum(x @ numpy.arange(12).reshape(4, 3), 0)).all(), y
    after = keyway.device(name).counters()
    print("copied:", after.bytes_to_device - before.bytes_to_device, after.bytes_to_host - before.bytes_to_host)
    for value in values:
        ort.get(96, None, value)  # ReleaseValue
    interop.get(4, None, memory)
    interop.get(1, None, importer)
    ort.get(95, None, session)


if __name__ == "__main__":
    main()
