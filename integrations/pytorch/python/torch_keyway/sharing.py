# SPDX-License-Identifier: Apache-2.0
"""Tensors of the device in torch.multiprocessing's queues and pipes: the same memory on both sides, where the device has
memory that other processes can use. As with CUDA, the sender keeps a tensor until the receiver has taken it."""

from multiprocessing.reduction import ForkingPickler

import torch
from torch.multiprocessing.reductions import reduce_tensor

from . import _C


def _reduce(tensor):
    import torch_keyway

    if tensor.device.type != torch_keyway._name or tensor.layout is not torch.strided or tensor.untyped_storage().nbytes() == 0:
        return reduce_tensor(tensor)
    if tensor.requires_grad and not tensor.is_leaf:
        raise RuntimeError("a tensor that requires gradients and is not a leaf is not sent to other processes: send its detach()")
    place = (tensor.dtype, tensor.size(), tensor.stride(), tensor.storage_offset(), tensor.requires_grad)
    names = (torch_keyway.keyway_name(tensor.device), tensor.device.type, _C.plugin_of(tensor.device.index))
    return _rebuild, (type(tensor), names, _C.share(tensor.detach()), place)


def _rebuild(kind, names, shared, place):
    """In the receiver, which may have registered nothing yet."""
    import torch_keyway

    dtype, size, stride, offset, requires_grad = place
    device = torch_keyway.register(names[0], name=names[1], plugin=names[2])
    whole = _C.attach(device.index, shared)
    tensor = torch.empty(0, dtype=dtype, device=device).set_(whole.untyped_storage(), offset, size, stride)
    if kind is torch.nn.Parameter:
        return torch.nn.Parameter(tensor, requires_grad)
    return tensor.requires_grad_(requires_grad)


def register():
    for kind in (torch.Tensor, torch.nn.Parameter):
        ForkingPickler.register(kind, _reduce)
