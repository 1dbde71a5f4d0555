# SPDX-License-Identifier: Apache-2.0
"""Meta tensors against a Keyway device: sizes, strides and dtype that torch.export and torch.compile expect of a result
agree with those that it has. For samples of every operator of PyTorch's database in f32, or its first dtype, with their
tensors as they are, with dimensions the other way round in memory, and with images as channels_last. What does not agree
stands in meta.toml with a reason, and what stands there without need fails the test.

    pytest integrations/pytorch/tests/opinfo/test_meta.py --device opencl [--every N] [--shard I/N]
"""

import tomllib
import warnings
from pathlib import Path

import pytest
import samples
import torch
import totals
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_map

warnings.filterwarnings("ignore")

with open(Path(__file__).with_name("meta.toml"), "rb") as _file:
    _known = {
        (layout, name): entry["reason"]
        for entry in tomllib.load(_file)["known"]
        for layout in entry["layouts"].split()
        for name in entry["operators"]
    }


def _turned(tensor):
    return tensor.transpose(0, -1).clone(memory_format=torch.contiguous_format).transpose(0, -1) if tensor.dim() > 1 else tensor


def _channels_last(tensor):
    return tensor.to(memory_format=torch.channels_last) if tensor.dim() == 4 else tensor


_layouts = {"plain": lambda tensor: tensor, "turned": _turned, "channels_last": _channels_last}


def _sign(tensor):
    """Strides of dimensions that have one entry say nothing, nor do any where there are none."""
    strides = tensor.stride() if tensor.numel() else ()
    return tuple(tensor.shape), tuple(s for size, s in zip(tensor.shape, strides) if size != 1), tensor.dtype


def _signs(op, inputs):
    input, args, kwargs = inputs
    return [_sign(each) for each in samples.tensors(op(input, *args, **kwargs)) if each.layout is torch.strided]


def _compare(op, sample, device, layout):
    """What is wrong with one sample, if it runs on both sides."""
    change = _layouts[layout]
    try:
        inputs = tree_map(lambda leaf: change(leaf.detach()) if isinstance(leaf, torch.Tensor) else leaf, samples.place(sample, device))
        with FakeTensorMode() as mode:
            fake = tree_map(lambda leaf: mode.from_tensor(leaf) if isinstance(leaf, torch.Tensor) else leaf, inputs)
            expected = _signs(op, fake)  # before the device's, which may change its inputs
        seen = _signs(op, inputs)
    except Exception:  # test_opinfo.py says what does not run, and depends on the numbers for others
        return None
    return None if seen == expected else f"{op.full_name} | {layout} | {samples.text(sample)[:200]} | {seen}, expected {expected}"


def pytest_generate_tests(metafunc):
    part, parts = map(int, metafunc.config.getoption("--shard").split("/"))
    metafunc.parametrize("op", [pytest.param(op, id=op.full_name) for op in op_db[part - 1 :: parts]])


def test_meta(op, device, every, record):
    dtypes = [each for each in (torch.float32, *totals.names) if each in op.supported_dtypes("cpu")]
    if not dtypes:
        pytest.skip("has no dtype of Keyway's")
    problems = []
    for layout in _layouts:
        wrong = [
            _compare(op, sample, device, layout)
            for number, sample in enumerate(op.sample_inputs("cpu", dtypes[0]))
            if number % every == 0
        ]
        wrong = [problem for problem in wrong if problem]
        is_known = (layout, op.full_name) in _known
        problems += [] if is_known else wrong
        if is_known and every == 1 and not wrong:
            problems.append(f"{op.full_name} | {layout} | stands in meta.toml, but agrees")
    record(problems)
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)
