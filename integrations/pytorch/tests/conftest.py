# SPDX-License-Identifier: Apache-2.0
"""Every test runs on the reference device and on OpenCL, as two indices of one torch device, with fallback off: what is not
served is a failure. Tests that are about fallback carry the mark `fallback`, and set it back."""

import pytest
import torch
import torch_keyway

collect_ignore = ["opinfo"]  # has options of its own
NAMES = ["cpu", "opencl"]
DEVICES = {name: torch_keyway.register(name) for name in NAMES}


def pytest_configure(config):
    config.addinivalue_line("markers", "fallback: the test lets the CPU do what a device cannot")


@pytest.fixture(params=NAMES)
def device(request):
    return DEVICES[request.param]


@pytest.fixture
def other(device):
    """Another device than `device`, of another vendor."""
    return DEVICES[next(name for name in NAMES if DEVICES[name] != device)]


@pytest.fixture(autouse=True)
def _no_fallbacks(request):
    torch_keyway.set_fallback("off")
    before = torch_keyway.fallbacks()
    torch.manual_seed(0)
    yield
    if request.node.get_closest_marker("fallback") is None:
        assert torch_keyway.fallbacks() == before
    torch_keyway.set_fallback("off")
