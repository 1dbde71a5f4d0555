# SPDX-License-Identifier: Apache-2.0
"""Devices by name or policy, what they say of themselves, and their memory."""

import threading
import weakref
from ctypes import byref, c_uint64, c_void_p
from typing import NamedTuple

from . import _library as library, _stream as stream
from ._library import filled, made, text

TYPES = ("other", "cpu", "gpu", "npu", "fpga")
EMULATED = 1 << 0
ATTRIBUTE_FIELDS = {1: "i", 2: "f", 3: "b", 4: "s"}


class DeviceInfo(NamedTuple):
    """One line of the list of devices."""

    name: str  # "npu:0": what keyway.device() takes
    qualified_name: str  # "acme.npu:0"
    type: str  # "cpu", "gpu", "npu", "fpga" or "other"
    product: str
    vendor: str
    driver_version: str
    stable_id: str  # survives reboots: keyway.device("npu@" + stable_id); "" when there is none
    total_memory: int  # bytes; 0 when unknown
    compute_units: int
    emulated: bool  # kernels run on something other than the hardware that the name suggests


class MemoryStats(NamedTuple):
    """What tensors use, and what the allocator holds for them, in bytes; see kw_memory_stats in keyway.h."""

    allocated: int
    allocated_peak: int
    held: int
    held_peak: int
    live: int  # live allocations
    allocations: int  # ever made
    plugin_allocs: int
    plugin_frees: int
    oom_retries: int
    oom_failures: int


class MemoryUsage(NamedTuple):
    free: int
    total: int


class Counters(NamedTuple):
    """What the device did since it was opened; see kw_counters in keyway.h."""

    launches: int
    decomposed: int
    fallbacks: int
    modules_built: int
    modules_cached: int
    build_ns: int
    bytes_to_device: int
    bytes_to_host: int


def _tuple(kind, struct):
    return kind(*(getattr(struct, name) for name in kind._fields))


def _info(info, name, qualified_name):
    kind = TYPES[info.type] if info.type < len(TYPES) else TYPES[0]
    return DeviceInfo(
        name,
        qualified_name,
        kind,
        text(info.name),
        text(info.vendor),
        text(info.driver_version),
        text(info.stable_id),
        info.total_memory,
        info.compute_units,
        bool(info.flags & EMULATED),
    )


def devices():
    """All visible devices, in load order; none is opened for it."""
    count = filled(library.c_uint32, library.device_count).value
    entries = [filled(library.DeviceEntry, library.device_get_entry, index) for index in range(count)]
    return [_info(each.info.contents, text(each.name), text(each.qualified_name)) for each in entries]


def rename_device(old, new):
    """Gives a device key another name in this process: rename_device("npu", "my_hardware_device"). The old one goes on
    working."""
    library.device_rename(old.encode(), new.encode())


class Device:
    """An open device. Opening a name again gives the same object. It stays open while this object or a tensor on it
    lives."""

    _open = weakref.WeakValueDictionary()  # handle -> Device
    _lock = threading.Lock()

    def __init__(self, handle):
        self._handle = handle
        self._has_streams = False  # of the program's own, at any time; see Tensor.read
        self._name = text(library.device_name(handle))
        self._close = library.device_close

    @classmethod
    def _of(cls, handle):
        """The Device of a handle that came from an open, which it then gives back at its end."""
        with cls._lock:
            device = cls._open.get(handle)
            if device is None:
                device = cls._open[handle] = cls(handle)
                return device
        library.device_close(handle)  # one open is held already
        return device

    def __del__(self):
        handle = getattr(self, "_handle", None)
        if handle:
            try:
                self._close(handle)
            except RuntimeError:
                pass  # in a child of a fork: nothing is freed there

    def __repr__(self):
        return f"keyway.device({self._name!r})"

    def __str__(self):
        return self._name

    def __eq__(self, other):
        return self._handle == other._handle if isinstance(other, Device) else NotImplemented

    def __hash__(self):
        return hash(self._handle)

    def __reduce__(self):
        return device, (self._name,)

    @property
    def name(self):
        return self._name

    @property
    def info(self):
        info = filled(library.DeviceInfo, library.device_get_info, self._handle)
        qualified = next((each.qualified_name for each in devices() if each.name == self._name), self._name)
        return _info(info, self._name, qualified)

    def attribute(self, key):
        """A fact by its key ("unified_memory", "pci_vendor_id", a vendor's "com.acme.queues"); keyway.Error when the
        plugin does not tell."""
        value = filled(library.Attribute, library.device_attribute, self._handle, key.encode())
        found = getattr(value, ATTRIBUTE_FIELDS[value.type])
        return text(found) if isinstance(found, bytes) else found

    # ---- time

    def synchronize(self, timeout=None):
        """Waits for all streams, at most so many seconds (keyway.Timeout); raises the first late error."""
        library.device_synchronize_for(self._handle, stream.nanoseconds(timeout))

    def set_wait_limit(self, seconds):
        """How long any one wait for this device may last; None: for ever, as every device begins."""
        library.device_set_wait_limit(self._handle, stream.nanoseconds(seconds))

    def stream(self):
        """A new stream; `with device.stream():` makes it that of the calls inside."""
        return stream.Stream(self)

    def event(self):
        return stream.Event(self)

    # ---- memory

    def memory_stats(self):
        return _tuple(MemoryStats, filled(library.MemoryStats, library.memory_get_stats, self._handle))

    def memory_usage(self):
        """(free, total) bytes as the driver counts, for all processes."""
        free, total = c_uint64(), c_uint64()
        library.memory_get_usage(self._handle, byref(free), byref(total))
        return MemoryUsage(free.value, total.value)

    def reset_memory_peak(self):
        library.memory_reset_peak(self._handle)

    def trim_memory(self):
        """Gives cached, unused memory back to the plugin."""
        library.memory_trim(self._handle)

    def counters(self):
        return _tuple(Counters, filled(library.Counters, library.device_get_counters, self._handle))

    # ---- random numbers

    def seed(self, seed):
        """Of the generator that random ops use when none is given; 0 when the device was opened."""
        library.generator_seed(library.generator_default(self._handle), seed)


def device(name="auto", **options):
    """Opens a device: "npu:0", "acme.npu:1", a name given by rename_device, "auto" (the best that is there), "gpu".
    Options are the plugin's for one device: device("npu:0", queue_depth=64)."""
    if isinstance(name, Device):
        return name
    pairs = [(key.encode(), str(value).encode()) for key, value in options.items()]
    array = (library.Option * len(pairs))(*pairs)
    return Device._of(made(library.device_open_with, str(name).encode(), array, len(pairs)))


class Generator:
    """Random numbers of a device by a seed of its own: the same ones on every device."""

    def __init__(self, device_name="auto", seed=0):
        self.device = device(device_name)
        self._handle = made(library.generator_create, self.device._handle, seed)
        self._destroy = library.generator_destroy

    def __del__(self):
        if getattr(self, "_handle", None):
            self._destroy(c_void_p(self._handle))

    def seed(self, seed):
        library.generator_seed(self._handle, seed)

    @property
    def state(self):
        """(seed, offset); may be set."""
        state = filled(library.GeneratorState, library.generator_get_state, self._handle)
        return state.seed, state.offset

    @state.setter
    def state(self, pair):
        state = filled(library.GeneratorState, library.generator_get_state, self._handle)
        state.seed, state.offset = pair
        library.generator_set_state(self._handle, byref(state))
