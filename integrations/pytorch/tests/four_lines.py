# SPDX-License-Identifier: Apache-2.0
"""usage: four_lines.py DEVICE [PLUGIN]

Four lines that people know from PyTorch's private-use device, on a device that is named on the command line. Exit status 0
when y is right.
"""

import sys

import torch
import torch_keyway

torch_keyway.register(sys.argv[1], name="my_hardware_device", plugin=sys.argv[2] if len(sys.argv) > 2 else None)
x = torch.randn((2, 3), device="my_hardware_device")
y = x + x
print(y.cpu())

expected = x.cpu() + x.cpu()
assert torch.equal(y.cpu(), expected), f"expected {expected}"
print(f"ran on {y.device}, which is {torch_keyway.keyway_name(y.device)}; calls that ran on the CPU instead: "
      f"{torch_keyway.fallbacks() or 'none'}")
