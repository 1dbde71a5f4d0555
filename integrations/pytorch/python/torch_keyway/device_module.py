# SPDX-License-Identifier: Apache-2.0
"""What torch.<name of the device> offers, as torch.cuda does for its devices."""

import torch

from . import _C
from .graphs import Graph, graph, is_current_stream_capturing, make_graphed_callables  # noqa: F401


_initialized = True  # what checkpointing asks before it saves generators


def is_available():
    return device_count() > 0


def is_initialized():
    return not _is_in_bad_fork()


def _lazy_init():
    pass


def _is_in_bad_fork():
    """Whether this process was forked from one that had registered a device: none works here. PyTorch then seeds the
    CPU alone, as in the workers of a DataLoader."""
    return _C.in_bad_fork()


def device_count():
    return _C.device_count()


def current_device():
    return torch.accelerator.current_device_index()


def set_device(device):
    torch.accelerator.set_device_index(device)


class device(torch.accelerator.device_index):
    """A context in which a device is current: by torch.device, name or index."""

    def __init__(self, device):
        super().__init__(device if device is None or isinstance(device, int) else torch.device(device).index)


def current_stream(device=None):
    return torch.accelerator.current_stream(device)


def set_stream(stream):
    torch.accelerator.set_stream(stream)


def stream(stream):
    """A context in which a stream is current."""
    return stream


def default_stream(device=None):
    return torch.Stream(stream_id=0, device_index=_index(device), device_type=_PRIVATE)


Stream = torch.Stream
Event = torch.Event
_PRIVATE = int(torch._C._autograd.DeviceType.PrivateUse1)


def synchronize(device=None):
    torch.accelerator.synchronize(device)


def get_device_properties(device=None):
    """What Keyway tells of a device: name, vendor, driver_version, total_memory in bytes and so on."""
    return _C.properties(_index(device))


def get_device_name(device=None):
    return get_device_properties(device).name


def get_device_capability(device=None):
    """A dictionary: the dtypes that the device converts from are its "supported_dtypes"."""
    return torch.accelerator.get_device_capability(_index(device))


def is_bf16_supported(including_emulation=True):
    return torch.bfloat16 in get_device_capability()["supported_dtypes"]


def can_device_access_peer(device, peer_device):
    """Whether copies between two devices may pass the host by."""
    return _C.can_access_peer(_index(device), _index(peer_device))


def get_amp_supported_dtype():
    return [torch.float16, torch.bfloat16]


def _inductor_backend_init():
    """What Inductor asks of a device that it does not know."""
    from .compile import refuse_inductor

    refuse_inductor(torch._C._get_privateuse1_backend_name())


# ---- Memory: what torch.accelerator has for any device ---------------------------------------------------------------


def memory_stats(device=None):
    """Counts and bytes by name, as torch.cuda.memory_stats has them; what CUDA counts by size stands under "all"."""
    return torch.accelerator.memory_stats(_index(device))


def memory_allocated(device=None):
    """Bytes in live tensors."""
    return torch.accelerator.memory_allocated(_index(device))


def max_memory_allocated(device=None):
    """The most that memory_allocated has been since the device was opened, or since reset_peak_memory_stats."""
    return torch.accelerator.max_memory_allocated(_index(device))


def memory_reserved(device=None):
    """Bytes obtained from the plugin: live and cached."""
    return torch.accelerator.memory_reserved(_index(device))


def max_memory_reserved(device=None):
    return torch.accelerator.max_memory_reserved(_index(device))


def reset_accumulated_memory_stats(device=None):
    torch.accelerator.reset_accumulated_memory_stats(_index(device))


def reset_peak_memory_stats(device=None):
    torch.accelerator.reset_peak_memory_stats(_index(device))


def mem_get_info(device=None):
    """Bytes that are free on the device, and all of them."""
    return torch.accelerator.get_memory_info(_index(device))


def memory_summary(device=None, abbreviated=False):
    """memory_stats as a table for people; `abbreviated` leaves out counts."""
    stats = memory_stats(device)
    rows = [("bytes in live tensors", "allocated_bytes"), ("bytes from the plugin", "reserved_bytes")]
    lines = [f"{_name_of(device)}: memory", f"{'':26}{'now':>14}{'most':>14}"]
    lines += [f"{what:26}{stats[key + '.all.current']:14,}{stats[key + '.all.peak']:14,}" for what, key in rows]
    if not abbreviated:
        lines += [f"{'':26}{'now':>14}{'ever':>14}"]
        lines += [f"{what:26}{stats[key + '.all.current']:14,}{stats[key + '.all.allocated']:14,}"
                  for what, key in (("live allocations", "allocation"), ("segments of the plugin", "segment"))]
        lines += [f"{'failed for want of memory':26}{stats['num_ooms']:14,}"]
    return "\n".join(lines)


def memory_snapshot(device=None):
    """The allocator's segments with their blocks, as torch.cuda.memory_snapshot gives them. Addresses are numbers of
    Keyway's, the same in each snapshot while a segment lives; device memory has none."""
    states = ("active_allocated", "active_pending_free", "inactive")
    index, segments = _index(device), {}
    for number, total, stream, of_graphs, offset, size, state in _C.list_blocks(index):
        segment = segments.setdefault(number, {
            "device": index, "address": number, "total_size": total, "allocated_size": 0, "active_size": 0, "stream": stream,
            "segment_type": "graph" if of_graphs else "stream", "blocks": []})
        segment["allocated_size"] += size if states[state] == "active_allocated" else 0
        segment["active_size"] += size if states[state] != "inactive" else 0
        segment["blocks"].append({"address": number + offset, "size": size, "state": states[state]})
    return list(segments.values())


def empty_cache():
    """Gives cached memory of all devices back."""
    torch.accelerator.empty_cache()


def _name_of(device):
    properties = get_device_properties(device)
    return f"{properties.keyway_name} ({properties.name})"


def _index(device):
    """Of a torch.device, a name or an index; None and -1 are the current device."""
    index = device if device is None or isinstance(device, int) else torch.device(device).index
    return current_device() if index is None or index < 0 else index


# ---- Random numbers --------------------------------------------------------------------------------------------------


def _generator(device):
    return _C.default_generator(_index(device))


def _all():
    return range(device_count())


def manual_seed(seed):
    _generator(None).manual_seed(int(seed))


def manual_seed_all(seed):
    for index in _all():
        _generator(index).manual_seed(int(seed))


def seed():
    _generator(None).seed()


def initial_seed():
    return _generator(None).initial_seed()


def get_rng_state(device=None):
    return _generator(device).get_state()


def set_rng_state(state, device=None):
    _generator(device).set_state(state)


def get_rng_state_all():
    return [get_rng_state(index) for index in _all()]


def set_rng_state_all(states):
    for index, state in enumerate(states):
        set_rng_state(state, index)
