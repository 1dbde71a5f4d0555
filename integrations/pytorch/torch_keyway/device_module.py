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


def device_count():
    return _C.device_count()


def current_device():
    return torch.accelerator.current_device_index()


def set_device(device):
    torch.accelerator.set_device_index(device)


def synchronize(device=None):
    torch.accelerator.synchronize(device)
