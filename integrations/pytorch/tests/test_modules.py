# SPDX-License-Identifier: Apache-2.0
"""Modules that move between devices keep their parameters: ties, optimizers made before, gradients, references."""

import copy
import io
import pickle
import weakref

import pytest
import torch
import torch_keyway
from torch import nn
from torch.nn import functional as F
from torch.nn.utils import prune


class LanguageModel(nn.Module):
    """The least that ties its weights: what embeds the tokens is the last layer as well."""

    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(11, 8)
        self.out = nn.Linear(8, 11, bias=False)
        self.out.weight = self.tokens.weight

    def append_norm(self):
        """A layer with numbers that are no parameters, an integer among them."""
        self.norm = nn.BatchNorm1d(8)
        return self

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
    "a parameter's data": lambda module, device: [p.__setattr__("data", p.data.to(device)) for p in module.parameters()],
}
saved = {}


@pytest.fixture(params=[False, True], ids=["data", "swapped"])
def swapped(request):
    """Whether modules swap parameters with new ones when they move, and not their data alone: PyTorch's setting."""
    torch.__future__.set_swap_module_params_on_conversion(request.param)
    yield request.param
    torch.__future__.set_swap_module_params_on_conversion(False)


@pytest.mark.parametrize("move", MOVES)
def test_ties_and_optimizers_made_before_train_as_on_the_cpu(device, move, swapped):
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


@pytest.mark.parametrize("convert, dtype", [
    (nn.Module.half, torch.float16), (nn.Module.bfloat16, torch.bfloat16), (nn.Module.double, torch.float64),
    (lambda module: module.to(torch.bfloat16), torch.bfloat16)])
def test_dtypes_change_in_place(device, convert, dtype, swapped):
    model = LanguageModel().append_norm()
    here = convert(copy.deepcopy(model))
    model.to(device)
    weight = model.out.weight
    convert(model)
    assert model.tokens.weight is weight and model.out.weight is weight and weight.dtype == dtype
    assert model.norm.running_mean.dtype == dtype and model.norm.num_batches_tracked.dtype == torch.int64
    assert torch.equal(weight.cpu(), here.out.weight)
    assert model.float().out.weight is weight and weight.dtype == torch.float32 and weight.device == device


def test_copies_of_a_module_are_tied_as_it_is(device):
    model = LanguageModel().to(device)
    file = io.BytesIO()
    torch.save(model, file)
    file.seek(0)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model)), torch.load(file, weights_only=False)):
        assert twin.out.weight is twin.tokens.weight and twin.out.weight is not model.out.weight
        assert twin.out.weight.device == device and torch.equal(twin.out.weight, model.out.weight)


def test_modules_that_begin_without_memory(device):
    """On the meta device, or without numbers."""
    state = nn.Linear(3, 2).state_dict()
    with torch.device("meta"):
        filled, assigned = nn.Linear(3, 2), nn.Linear(3, 2)
    filled.to_empty(device=device).load_state_dict(state)
    assigned.load_state_dict({name: tensor.to(device) for name, tensor in state.items()}, assign=True)
    skipped = nn.utils.skip_init(nn.Linear, 3, 2, device=device)
    skipped.load_state_dict(state)
    lazy = nn.LazyLinear(2).to(device)
    with torch.device(device):
        lazy(torch.ones(1, 3))
        made = nn.Linear(3, 2)
    for layer in (lazy, made):
        layer.load_state_dict(state)
    for layer in (filled, assigned, skipped, lazy, made):
        assert isinstance(layer.weight, nn.Parameter) and layer.weight.device == device and layer.weight.requires_grad
        assert torch.equal(layer.weight.cpu(), state["weight"]) and torch.equal(layer.bias.cpu(), state["bias"])


def test_a_tied_module_that_begins_without_memory(device):
    state = LanguageModel().state_dict()
    with torch.device("meta"):
        model = LanguageModel()
    model.to_empty(device=device).load_state_dict(state)
    assert torch.equal(model.tokens.weight.cpu(), state["out.weight"])
    model.load_state_dict({name: tensor.to(device) for name, tensor in state.items()}, assign=True)
    assert model.tokens.weight.device == device and torch.equal(model.out.weight.cpu(), state["out.weight"])


def test_loading_across_devices(device, other):
    """What is loaded lies elsewhere: the module stays where it is, unless it is to take the tensors themselves."""
    layer, state = nn.Linear(3, 2).to(device), nn.Linear(3, 2).to(other).state_dict()
    weight = layer.weight
    layer.load_state_dict(state)
    assert layer.weight is weight and weight.device == device and torch.equal(weight.cpu(), state["weight"].cpu())
    layer.load_state_dict(state, assign=True)
    assert layer.weight is not weight and layer.weight.device == other


PARAMETRIZED = {
    "weight_norm": nn.utils.parametrizations.weight_norm,
    "spectral_norm": lambda layer: nn.utils.parametrizations.spectral_norm(layer).eval(),
    "weight_norm by a hook": nn.utils.weight_norm,
    "spectral_norm by a hook": lambda layer: nn.utils.spectral_norm(layer).eval(),
    "pruned": lambda layer: prune.l1_unstructured(layer, "weight", 0.5),
    "shared": lambda layer: nn.Sequential(layer, layer),
}


@pytest.mark.parametrize("name", PARAMETRIZED)
@pytest.mark.filterwarnings("ignore::FutureWarning")  # of hooks, which PyTorch would have replaced
def test_weights_that_are_computed(device, name, swapped):
    if swapped and name == "weight_norm by a hook":
        pytest.skip("PyTorch swaps no parameter whose gradient's graph is alive, on any device")
    torch.manual_seed(0)
    module, x = PARAMETRIZED[name](nn.Linear(4, 4)), torch.randn(3, 4)
    torch.manual_seed(0)
    there = PARAMETRIZED[name](nn.Linear(4, 4))
    parameters = list(there.parameters())
    optimizers = [torch.optim.SGD(each.parameters(), lr=0.1) for each in (module, there)]
    there.to(device)
    assert all(mine is parameter for mine, parameter in zip(there.parameters(), parameters, strict=True))
    for _ in range(2):
        for each, optimizer, place in zip((module, there), optimizers, ("cpu", device)):
            optimizer.zero_grad()
            each(x.to(place)).square().sum().backward()
            optimizer.step()
    torch.testing.assert_close(there(x.to(device)).cpu(), module(x), rtol=1e-4, atol=1e-5)
    for mine, expected in zip(there.state_dict().values(), module.state_dict().values(), strict=True):
        torch.testing.assert_close(mine.cpu(), expected, rtol=1e-4, atol=1e-5)


def test_parameters_as_one_vector_and_by_name(device):
    layer = nn.Linear(3, 2).to(device)
    vector = nn.utils.parameters_to_vector(layer.parameters())
    nn.utils.vector_to_parameters(2 * vector, layer.parameters())
    assert torch.equal(nn.utils.parameters_to_vector(layer.parameters()), 2 * vector)
    x = torch.randn(4, 3, device=device)
    by_name = torch.func.functional_call(nn.Linear(3, 2), dict(layer.named_parameters()), (x,))
    assert torch.equal(by_name, layer(x))


def test_a_module_that_is_to_share_its_memory_stays_as_it_is(device):
    """As CUDA's: what processes share is decided when a tensor is sent."""
    layer = nn.Linear(3, 2).to(device)
    weight, place = layer.weight, layer.weight.data_ptr()
    layer.share_memory()
    assert layer.weight is weight and weight.data_ptr() == place


def test_gpt2_of_transformers_stays_tied(device, swapped):
    pytest.importorskip("transformers", reason="pip install transformers brings the model")
    from test_models_train import gpt2

    torch.manual_seed(1)
    model, x = gpt2(), torch.arange(10).view(2, 5)
    there = copy.deepcopy(model)
    embedding = there.transformer.wte.weight
    before = torch.optim.AdamW(there.parameters(), lr=0.01)
    there.to(device)
    assert there.lm_head.weight is embedding and there.transformer.wte.weight is embedding
    after = torch.optim.AdamW(there.parameters(), lr=0.01)
    expected = [torch.optim.AdamW(model.parameters(), lr=0.01) for _ in range(2)]
    for here, optimizer in zip(expected, (before, after)):
        for each, steps, place in ((model, here, "cpu"), (there, optimizer, device)):
            steps.zero_grad()
            each(x.to(place), labels=x.to(place)).loss.backward()
            steps.step()
    torch.testing.assert_close(there(x.to(device)).logits.cpu(), model(x).logits, rtol=1e-3, atol=1e-4)
    assert there.half().lm_head.weight is embedding and embedding.dtype == torch.float16


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
