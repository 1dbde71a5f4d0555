# SPDX-License-Identifier: Apache-2.0
"""The example vendor's device, as its plugin was built from the installed package: a handful of kernels, in f32 and i32. It
is one more index beside the devices of the tree. What it has runs there; what it lacks is an error that names the op, or,
where that is allowed, runs on cpu:0 and is counted."""

import pytest
import torch
import torch_keyway
from torch_keyway import _C


@pytest.fixture(scope="module")
def npu(request):
    plugin = request.config.getoption("--vendor-npu")
    if plugin is None:
        pytest.skip("--vendor-npu says where its plugin is")
    device = torch_keyway.register("npu", plugin=plugin)
    assert torch_keyway.keyway_name(device) == "npu:0" and device.index > 1
    return device


def launches(device):
    return _C.counters(device.index).launches


CALLS = {
    "add": lambda x, y: x + y,
    "add, scaled": lambda x, y: torch.add(x, y, alpha=-3),
    "mul": lambda x, y: x * y,
    "mul_": lambda x, y: x.clone().mul_(y),
    "relu": lambda x, y: torch.relu(x),
    "sum": lambda x, y: x.sum(),
    "mm": lambda x, y: x @ y,
    "mm of a view": lambda x, y: x[:2].t() @ y[:2, 1:],
    "fill_": lambda x, y: x.clone().fill_(2.5),
    "a cast": lambda x, y: x.to(torch.int32),
}


@pytest.mark.parametrize("name", CALLS)
def test_what_it_has_runs_there(npu, name):
    x, y = (torch.randint(-8, 8, (4, 4)).float() for _ in range(2))  # exact in any order
    there = x.to(npu), y.to(npu)
    before = launches(npu)
    result = CALLS[name](*there)
    assert launches(npu) > before and result.device == npu
    assert torch.equal(result.cpu(), CALLS[name](x, y))


def test_the_vendors_own_op(npu):
    x, y = torch.randn(3, 4), torch.randn(4)
    out = torch.ops.acme.scaled_add(x.to(npu), y.to(npu), scale=0.5)
    torch.testing.assert_close(out.cpu(), x + 0.5 * y)


def test_gradients_of_what_it_has(npu):
    x, w = torch.randn(3, 4), torch.randn(4, 2)
    expected = torch.autograd.grad((x @ w.requires_grad_()).sum(), w)[0]
    there = w.detach().to(npu).requires_grad_()
    grad = torch.autograd.grad((x.to(npu) @ there).sum(), there)[0]
    torch.testing.assert_close(grad.cpu(), expected)


def test_copies_to_and_from_another_vendor(npu, device):
    x = torch.randn(5, 3)
    there = x.to(npu).t()
    assert torch.equal(there.to(device).cpu(), x.t()) and torch.equal(x.to(device).to(npu).cpu(), x)


def test_what_it_lacks_is_an_error_that_names_the_op(npu):
    x = torch.ones(2, 3, device=npu)
    with pytest.raises(NotImplementedError, match=r"exp.*npu:0.*no kernel.*KEYWAY_FALLBACK=warn"):
        x.exp()
    with pytest.raises(NotImplementedError, match=r"add\.Tensor.*f64.*npu:0"):  # it adds f32 and i32
        x.double() + x.double()
    with pytest.raises(NotImplementedError, match=r"relu.*i32.*npu:0"):
        torch.relu(x.to(torch.int32))


@pytest.mark.fallback
def test_allowed_cpu_0_does_what_it_lacks_and_is_counted(npu, capfd):
    torch_keyway.set_fallback("warn")
    before = torch_keyway.fallbacks()
    x = torch.randn(2, 3)
    for _ in range(3):
        result = x.to(npu).mul(x.to(npu)).exp()
    assert result.device == npu
    torch.testing.assert_close(result.cpu(), x.square().exp())
    after = torch_keyway.fallbacks()
    assert {name: count - before.get(name, 0) for name, count in after.items() if count != before.get(name)} == {"exp": 3}
    assert capfd.readouterr().err.count("exp") == 1  # said once
