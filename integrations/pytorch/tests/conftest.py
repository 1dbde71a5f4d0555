# SPDX-License-Identifier: Apache-2.0
"""Every test runs on the reference device and on OpenCL, as two indices of one torch device, with fallback off: what is not
served is a failure. Tests that are about fallback carry the mark `fallback`, and set it back.

    pytest integrations/pytorch/tests [--vendor-npu PLUGIN] [-m "not long"]
"""

import pytest
import torch
import torch_keyway

collect_ignore = ["opinfo", "upstream"]  # the one has options of its own, the other forks before there is a device
NAMES = ["cpu", "opencl"]
DEVICES = {name: torch_keyway.register(name) for name in NAMES}


_figures = []


def pytest_addoption(parser):
    parser.addoption("--vendor-npu", metavar="PLUGIN", help="the example vendor's plugin; without it its tests are left out")


def pytest_configure(config):
    config.addinivalue_line("markers", "fallback: the test lets the CPU do what a device cannot")
    config.addinivalue_line("markers", "long: the test takes minutes")


def pytest_terminal_summary(terminalreporter):
    terminalreporter.section("totals")
    for line in [f"PyTorch {torch.__version__}", *_figures]:
        terminalreporter.write_line(line)


@pytest.fixture(params=NAMES)
def device(request):
    return DEVICES[request.param]


@pytest.fixture
def other(device):
    """Another device than `device`, of another vendor."""
    return DEVICES[next(name for name in NAMES if DEVICES[name] != device)]


@pytest.fixture
def figure():
    """Takes a line to show at the end of the run."""
    return _figures.append


@pytest.fixture(autouse=True)
def _no_fallbacks(request):
    torch_keyway.set_fallback("off")
    before = torch_keyway.fallbacks()
    torch.manual_seed(0)
    yield
    if request.node.get_closest_marker("fallback") is None:
        assert torch_keyway.fallbacks() == before
    torch_keyway.set_fallback("off")
