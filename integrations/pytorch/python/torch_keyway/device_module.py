# SPDX-License-Identifier: Apache-2.0
"""What torch.<name of the device> offers, as torch.cuda does for its devices."""

import torch

from . import _C


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


Stream = torch.Stream
Event = torch.Event


def memory_allocated(device=None):
    """Bytes in live tensors."""
    return _C.memory_stats(_index(device)).allocated


def max_memory_allocated(device=None):
    return _C.memory_stats(_index(device)).allocated_peak


def memory_reserved(device=None):
    """Bytes obtained from the plugin: live and cached."""
    return _C.memory_stats(_index(device)).held


def empty_cache():
    """Gives cached memory of all devices back."""
    for index in _all():
        _C.empty_cache(index)


def synchronize(device=None):
    torch.accelerator.synchronize(device)


def get_amp_supported_dtype():
    return [torch.float16, torch.bfloat16]


def _index(device):
    """Of a torch.device, a name or an index; None and -1 are the current device."""
    index = device if device is None or isinstance(device, int) else torch.device(device).index
    return current_device() if index is None or index < 0 else index


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
