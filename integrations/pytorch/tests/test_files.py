# SPDX-License-Identifier: Apache-2.0
"""Weights between files and devices: torch.save and torch.load in all their ways, safetensors."""

import pytest
import torch
from torch import nn


def numbers():
    """One tensor of each kind, two that share memory, and a layer's weights."""
    whole = torch.arange(12.0).reshape(3, 4)
    dtypes = (torch.bool, torch.int64, torch.float16, torch.bfloat16, torch.float64)
    kinds = {str(dtype): torch.arange(4).to(dtype) for dtype in dtypes}
    views = {"whole": whole, "row": whole[1], "column": whole[:, 1]}
    return {**views, **kinds, "none": torch.empty(0, 3), **nn.Linear(3, 2).state_dict()}


def on(device, tensors):
    """`row` and `column` are views of `whole` there as well."""
    there = {name: tensor.to(device) for name, tensor in tensors.items()}
    return there | {"row": there["whole"][1], "column": there["whole"][:, 1]}


def same(tensors, expected, device):
    assert tensors.keys() == expected.keys()
    for name, tensor in tensors.items():
        assert tensor.device == device and tensor.dtype == expected[name].dtype and torch.equal(tensor.cpu(), expected[name])


@pytest.mark.parametrize("options", [{}, {"mmap": True}, {"weights_only": False}], ids=str)
def test_load_where_it_should_lie(device, other, tmp_path, options):
    expected, path, cpu = numbers(), tmp_path / "weights.pt", torch.device("cpu")
    for written in (cpu, device):
        torch.save(on(written, expected), path)
        for wanted in (device, other, cpu):
            ways = [wanted, str(wanted), {str(written): str(wanted)}, lambda storage, location: storage.to(device=wanted)]
            for way in ways if not options else ways[:2]:
                there = torch.load(path, map_location=way, **options)
                same(there, expected, wanted)
        with torch.device(device):
            same(torch.load(path, **options), expected, written)  # where it was, whatever is the default
    there = torch.load(path, map_location=device, **options)
    there["whole"].zero_()
    assert there["row"].abs().sum().item() == 0 and there["column"].abs().sum().item() == 0  # one storage still


def test_load_in_the_old_format(device, tmp_path):
    expected, path = numbers(), tmp_path / "weights.pt"
    torch.save(on(device, expected), path, _use_new_zipfile_serialization=False)
    same(torch.load(path), expected, device)
    same(torch.load(path, map_location="cpu"), expected, torch.device("cpu"))


def test_a_device_that_is_not_there(device, tmp_path):
    path = tmp_path / "weights.pt"
    torch.save(torch.ones(2), path)
    with pytest.raises(RuntimeError, match=r"device 63 but torch.keyway.device_count\(\) is"):
        torch.load(path, map_location="keyway:63")


def test_training_goes_on_from_a_file(device, tmp_path):
    """Parameters, an optimizer's state and a generator's."""
    torch.manual_seed(0)
    path, x = tmp_path / "training.pt", torch.randn(4, 3)

    def start():
        model = nn.Linear(3, 2).to(device)
        return model, torch.optim.AdamW(model.parameters(), lr=0.1)

    def step(model, optimizer):
        optimizer.zero_grad()
        model(nn.functional.dropout(x.to(device), 0.5)).square().sum().backward()
        optimizer.step()

    first, second = start(), start()
    with torch.keyway.device(device):
        step(*first)
        torch.save([first[0].state_dict(), first[1].state_dict(), torch.keyway.get_rng_state()], path)
        step(*first)
        model, optimizer, numbers_drawn = torch.load(path)
        second[0].load_state_dict(model)
        second[1].load_state_dict(optimizer)
        torch.keyway.set_rng_state(numbers_drawn)
        step(*second)
    for mine, expected in zip(second[0].parameters(), first[0].parameters()):
        assert mine.device == device and torch.equal(mine, expected)


def test_safetensors(device, other, tmp_path):
    """It knows names of devices that it was told of, and takes the index of any accelerator."""
    safetensors = pytest.importorskip("safetensors.torch", reason="pip install safetensors brings the format")
    expected, path = numbers(), tmp_path / "weights.safetensors"
    del expected["row"], expected["column"]  # memory that is shared it refuses
    for written in (torch.device("cpu"), device):
        safetensors.save_file({name: tensor.to(written) for name, tensor in expected.items()}, path)
        same(safetensors.load_file(path), expected, torch.device("cpu"))
        for wanted in (device, other):
            same(safetensors.load_file(path, device=wanted.index), expected, wanted)
    with safetensors.safe_open(path, framework="pt", device=device.index) as file:
        part = file.get_slice("whole")[1:, ::2]
        assert part.device == device and torch.equal(part.cpu(), expected["whole"][1:, ::2])
    same(safetensors.load(safetensors.save({"x": torch.ones(3, device=device)})), {"x": torch.ones(3)}, torch.device("cpu"))


def test_safetensors_of_a_tied_module(device, tmp_path):
    safetensors = pytest.importorskip("safetensors.torch", reason="pip install safetensors brings the format")
    path, module = tmp_path / "weights.safetensors", nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4)).to(device)
    module[1].weight = module[0].weight
    safetensors.save_model(module, path)
    expected = module[0].weight.cpu()
    with torch.no_grad():
        module[0].weight.zero_()
    safetensors.load_model(module, path, device=device.index)
    assert module[1].weight is module[0].weight and torch.equal(module[0].weight.cpu(), expected)
