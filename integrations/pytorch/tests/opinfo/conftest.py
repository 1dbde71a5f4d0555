# SPDX-License-Identifier: Apache-2.0
"""Options, the device, and the totals at the end. What is tested: test_opinfo.py."""

import os
import tempfile

import pytest

# Before the library starts: what it ran is read from its own trace.
_folder = tempfile.TemporaryDirectory()
os.environ["KEYWAY_TRACE"] = os.path.join(_folder.name, "trace.json")

import level  # noqa: E402
import totals  # noqa: E402
import torch  # noqa: E402
import torch_keyway  # noqa: E402


def pytest_addoption(parser):
    parser.addoption("--device", default="cpu", help="the device, as torch_keyway.register takes it (default: cpu)")
    parser.addoption("--plugin", help="a plugin's file to load first")
    parser.addoption("--dtypes", metavar="A,B", help=f"take these of {', '.join(totals.dtypes)} (default: all)")
    parser.addoption("--every", type=int, default=1, metavar="N", help="take every N-th sample of each operator")
    parser.addoption("--shard", default="1/1", metavar="I/N", help="take the operators of part I of N")
    parser.addoption("--counts", metavar="FILE", help="write what became of the samples to a file that level.py reads")
    parser.addoption("--record", metavar="FILE", help="write what fails, and the totals, to a file, too")


@pytest.fixture(scope="session")
def device(request):
    torch.set_num_threads(1)  # samples are small
    torch_keyway.set_fallback("off")
    yield torch_keyway.register(request.config.getoption("--device"), plugin=request.config.getoption("--plugin"))
    assert torch_keyway.get_fallback() == "off" and torch_keyway.fallbacks() == {}, "the CPU ran what is not its business"


@pytest.fixture(scope="session")
def every(request):
    return request.config.getoption("--every")


@pytest.fixture(scope="session")
def record(request):
    """Writes lines to the record, if there is one."""
    path = request.config.getoption("--record")
    if not path:
        yield lambda lines: None
        return
    with open(path, "w") as file:
        yield lambda lines: (file.writelines(line + "\n" for line in lines), file.flush())


def pytest_terminal_summary(terminalreporter, config):
    text = totals.text(config.getoption("--device"))
    terminalreporter.section("totals")
    terminalreporter.write_line(text)
    if path := config.getoption("--counts"):
        level.write(path, device=config.getoption("--device"), every=config.getoption("--every"), torch=torch.__version__,
                    outside=totals.outside)
    if config.getoption("--record"):
        with open(config.getoption("--record"), "a") as file:
            file.write(text + "\n")
