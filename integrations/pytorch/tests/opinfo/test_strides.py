# SPDX-License-Identifier: Apache-2.0
"""Results lie in memory as those of PyTorch's fake tensors do, over its operator database: torch.compile and torch.export
count on that. Where PyTorch's own CPU lies otherwise than its fake tensors there is nothing to count on.

    pytest integrations/pytorch/tests/opinfo/test_strides.py --device cpu [--every N] [--shard I/N]
"""

import pytest
import samples
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_map


def _turned(tensor):
    """The same numbers with their first two dimensions the other way round in memory; of images with their channels
    last."""
    if tensor.layout is not torch.strided or tensor.dim() < 2:
        return tensor
    turned = tensor.detach()
    if tensor.dim() in (4, 5):
        last = torch.channels_last if tensor.dim() == 4 else torch.channels_last_3d
        turned = turned.contiguous(memory_format=last)
    else:
        turned = turned.transpose(0, 1).contiguous().transpose(0, 1)
    return turned.requires_grad_(tensor.requires_grad)


_variants = {"plain": lambda tensor: tensor, "turned": _turned}


def _order(results):
    """Of each result the strides of the dimensions in which there is a next element. Nothing of those of one dimension,
    among which are statistics that only some devices give."""
    return [tuple(stride for size, stride in zip(each.shape, each.stride()) if size > 1 and each.numel() > 0)
            for each in samples.tensors(results) if each.dim() > 1]


def _run(op, placed):
    inputs, args, kwargs = placed
    return _order(op(inputs, *args, **kwargs))


def _fake(op, placed):
    with FakeTensorMode() as mode:
        return _run(op, tree_map(lambda leaf: mode.from_tensor(leaf) if torch.is_tensor(leaf) else leaf, placed))


def _compare(op, sample, device):
    """What is wrong, or None."""
    try:
        there = samples.place(sample, "cpu")
        if _run(op, there) != _fake(op, there):
            return None
        there = samples.place(sample, device)
        wanted = _fake(op, there)
    except Exception:  # no sample for the CPU, or what comes out depends on the numbers
        return None
    try:
        have = _run(op, there)
    except Exception:  # that it runs is test_opinfo.py's business
        return None
    return None if have == wanted else f"{have}, and fake tensors have {wanted}"


def pytest_generate_tests(metafunc):
    part, parts = map(int, metafunc.config.getoption("--shard").split("/"))
    cases = [pytest.param(op, id=op.full_name) for op in op_db[part - 1 :: parts]
             if torch.float32 in op.supported_dtypes("cpu") and not op.full_name.endswith("_for_cpu")]
    metafunc.parametrize("op", cases)


def test_strides(op, device, every):
    problems = []
    for number, sample in enumerate(op.sample_inputs("cpu", torch.float32)):
        for variant, change in _variants.items() if number % every == 0 else ():
            problem = _compare(op, sample.transform(lambda leaf: change(leaf) if torch.is_tensor(leaf) else leaf), device)
            if problem:
                problems.append(f"{op.full_name} | {variant} | {samples.text(sample)[:200]} | {problem}")
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)
