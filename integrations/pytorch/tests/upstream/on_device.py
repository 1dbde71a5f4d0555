# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own tests where they are written for CUDA alone: what they make lies on the devices of Keyway, and what they ask
CUDA for they get of these."""

import torch
import torch_keyway
from torch import nn


def _place(device):
    """`device` of a call of `cuda`: None, an index, or a torch.device or a string of CUDA's."""
    if isinstance(device, (str, torch.device)):
        device = torch.device(device).index
    return torch.device("keyway", torch.accelerator.current_device_index() if device is None else device)


def begin(index):
    """cpu:0 is the device of index 0, opencl:0 of index 1. That of `index` becomes the current one, and where tensors are."""
    for name in ("cpu", "opencl"):
        torch_keyway.register(name)
    torch.Tensor.cuda = lambda self, device=None, non_blocking=False, **_: self.to(_place(device), non_blocking=non_blocking)
    nn.Module.cuda = lambda self, device=None: self.to(_place(device))
    for name in ("current_device", "current_stream", "device", "device_count", "set_device", "stream", "synchronize", "Event",
                 "Stream"):
        setattr(torch.cuda, name, getattr(torch.keyway, name))
    torch.accelerator.set_device_index(index)
    torch.set_default_device("keyway")
