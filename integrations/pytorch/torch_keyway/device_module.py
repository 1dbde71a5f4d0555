# SPDX-License-Identifier: Apache-2.0
"""What torch.<name of the device> offers, as torch.cuda does for its devices."""

import torch

from . import _C


def is_available():
    return device_count() > 0


def is_initialized():
    return True


def _lazy_init():
    pass


def _is_in_bad_fork():
    return False


def device_count():
    return _C.device_count()


def current_device():
    return torch.accelerator.current_device_index()


def set_device(device):
    torch.accelerator.set_device_index(device)


def synchronize(device=None):
    torch.accelerator.synchronize(device)


def get_amp_supported_dtype():
    return [torch.float16, torch.bfloat16]


def _generator(device):
    index = torch.device(device).index if not isinstance(device, int) else device
    return _C.default_generator(current_device() if index is None else index)


def _all():
    return range(device_count())


def manual_seed(seed):
    _generator(current_device()).manual_seed(int(seed))


def manual_seed_all(seed):
    for index in _all():
        _generator(index).manual_seed(int(seed))


def seed():
    _generator(current_device()).seed()


def initial_seed():
    return _generator(current_device()).initial_seed()


def get_rng_state(device=-1):
    return _generator(current_device() if device == -1 else device).get_state()


def set_rng_state(state, device=-1):
    _generator(current_device() if device == -1 else device).set_state(state)


def get_rng_state_all():
    return [get_rng_state(index) for index in _all()]


def set_rng_state_all(states):
    for index, state in enumerate(states):
        set_rng_state(state, index)
