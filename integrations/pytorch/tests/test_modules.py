# SPDX-License-Identifier: Apache-2.0
"""Modules that move between devices keep their parameters: ties, optimizers made before, gradients, references."""

import copy
import weakref

import pytest
import torch
import torch_keyway
from torch import nn
from torch.nn import functional as F


class LanguageModel(nn.Module):
    """The least that ties its weights: what embeds the tokens is the last layer as well."""

    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(11, 8)
        self.out = nn.Linear(8, 11, bias=False)
        self.out.weight = self.tokens.weight

    def forward(self, x):
        return self.out(torch.tanh(self.tokens(x)))


def losses(model, optimizer, device):
    x = torch.arange(10, device=device)
    steps = []
    for _ in range(5):
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), x + 1)
        loss.backward()
        optimizer.step()
        steps.append(loss.item())
    return torch.tensor(steps)


MOVES = {
    "to": lambda module, device: module.to(device),
    "to a dtype as well": lambda module, device: module.to(device, torch.float64).to(torch.float32),
    "by name": lambda module, device: module.keyway(device),
    "to_empty": lambda module, device: module.to_empty(device=device).load_state_dict(saved),
    "there and back": lambda module, device: module.to(device).cpu().to(device),
}
saved = {}


@pytest.mark.parametrize("move", MOVES)
def test_ties_and_optimizers_made_before_train_as_on_the_cpu(device, move):
    model = LanguageModel()
    here = copy.deepcopy(model)
    saved.update(here.state_dict())
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    weight = model.out.weight
    MOVES[move](model, device)
    assert model.tokens.weight is weight and model.out.weight is weight and weight.device == device
    expected = losses(here, torch.optim.AdamW(here.parameters(), lr=0.1), "cpu")
    torch.testing.assert_close(losses(model, optimizer, device), expected, rtol=1e-4, atol=1e-5)
    assert expected[-1] < expected[0]


def test_gradients_and_graphs_move_along(device, other):
    layer = nn.Linear(3, 2)
    layer(torch.ones(1, 3)).sum().backward()
    for place in (device, other, torch.device("cpu")):
        weight, grad, expected = layer.weight, layer.weight.grad, layer.weight.grad.cpu() + 1
        layer.to(place)
        assert layer.weight is weight and layer.weight.grad is grad and grad.device == place
        layer(torch.ones(1, 3, device=place)).sum().backward()
        assert torch.equal(layer.weight.grad.cpu(), expected)


def test_what_refers_to_a_parameter_keeps_it(device):
    """Weak references and hooks, which PyTorch refuses to swap; views keep what they saw."""
    layer, calls = nn.Linear(3, 2), []
    reference, view = weakref.ref(layer.weight), layer.weight.detach()[0]
    layer.weight.register_hook(calls.append)
    layer.to(device)
    layer(torch.ones(1, 3, device=device)).sum().backward()
    assert reference() is layer.weight and len(calls) == 1 and calls[0].device == device
    assert view.device.type == "cpu" and torch.equal(view, layer.weight.detach().cpu()[0])
    twin = copy.deepcopy(layer)
    assert twin.weight.device == device and twin.weight is not layer.weight and torch.equal(twin.weight, layer.weight)


def test_data_is_assigned_across_devices(device):
    x = torch.ones(2, requires_grad=True)
    x.data = torch.full((3,), 2.0, device=device)
    assert x.device == device and x.requires_grad and (x * x).sum().item() == 12
    with pytest.raises(RuntimeError, match="incompatible tensor type"):
        x.data = torch.ones(2).to_sparse()
    with pytest.raises(RuntimeError, match="incompatible tensor type"):
        torch.ones(2).to_sparse().data = x


def test_pytorchs_own_settings_are_left_alone(device):
    """Registering changes no flag of PyTorch's, and those who set them get what they say."""
    assert not torch.__future__.get_swap_module_params_on_conversion()
    assert not torch.__future__.get_overwrite_module_params_on_conversion()
    layer = nn.Linear(2, 2)
    weight = layer.weight
    try:
        torch.__future__.set_swap_module_params_on_conversion(True)
        assert layer.to(device).weight is weight and weight.device == device
        torch.__future__.set_swap_module_params_on_conversion(False)
        torch.__future__.set_overwrite_module_params_on_conversion(True)
        assert layer.cpu().weight is not weight
    finally:
        torch.__future__.set_swap_module_params_on_conversion(False)
        torch.__future__.set_overwrite_module_params_on_conversion(False)


def test_constant_weights_are_read_as_they_are(device):
    model = nn.Sequential(nn.Linear(64, 48), nn.ReLU(), nn.Linear(48, 32)).to(device)
    x = torch.randn(16, 64, device=device)
    with torch.no_grad():
        before = model(x)
        torch_keyway.set_constant(model)
        assert torch_keyway.is_constant(model[0].weight) and not torch_keyway.is_constant(model[0].bias)
        torch.testing.assert_close(model(x), before, rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(model(x), before, rtol=1e-4, atol=1e-5)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    model(x).square().sum().backward()
    optimizer.step()
    assert not torch_keyway.is_constant(model[0].weight)
    here = copy.deepcopy(model).cpu()
    torch_keyway.set_constant(model)
    torch.testing.assert_close(model(x).cpu(), here(x.cpu()), rtol=1e-4, atol=1e-4)
    torch_keyway.set_constant(model, False)
    assert not torch_keyway.is_constant(model[2].weight)


def test_what_is_no_tensor_of_the_device_cannot_be_constant(device):
    with pytest.raises(RuntimeError):
        torch_keyway.set_constant(torch.ones(3, 3))
