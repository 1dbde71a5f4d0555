# SPDX-License-Identifier: Apache-2.0
"""Printing: how wide numbers are to be PyTorch finds out with a dozen operators, some in f64; on the CPU here, from the few
elements that are shown."""

import torch
from torch import _tensor_str


class _Formatter(_tensor_str._Formatter):
    def __init__(self, tensor):
        super().__init__(tensor.cpu() if tensor.device.type == torch._C._get_privateuse1_backend_name() else tensor)


_tensor_str._Formatter = _Formatter
