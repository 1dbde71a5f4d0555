# SPDX-License-Identifier: Apache-2.0
"""What torch.accelerator and torch.<name> tell of devices and their memory, as torch.cuda does of its own."""

import os
import subprocess
import sys
import weakref

import pytest
import torch
import torch_keyway
from torch_keyway import _C

accelerator = torch.accelerator


def test_memory_is_counted_under_pytorchs_names(device):
    accelerator.reset_accumulated_memory_stats(device)
    before = accelerator.memory_stats(device)
    x = torch.empty(1 << 20, device=device)
    stats = accelerator.memory_stats(device)
    grown = {key: stats[key] - before[key] for key in stats}
    assert grown["allocated_bytes.all.current"] >= 4 << 20 and grown["allocation.all.current"] == 1
    assert stats["allocation.all.allocated"] == 1 and stats["allocation.all.freed"] == 0
    assert stats["reserved_bytes.all.current"] >= stats["allocated_bytes.all.current"] == accelerator.memory_allocated(device)
    assert accelerator.max_memory_allocated(device) >= accelerator.memory_allocated(device)
    assert accelerator.max_memory_reserved(device) >= accelerator.memory_reserved(device) > 0
    del x
    torch.keyway.synchronize(device)
    assert accelerator.memory_stats(device)["allocation.all.freed"] == 1
    assert torch.keyway.memory_stats(device) == accelerator.memory_stats(device)
    accelerator.empty_cache()
    assert accelerator.memory_reserved(device) < stats["reserved_bytes.all.current"]


def test_memory_of_the_whole_device(device):
    free, total = accelerator.get_memory_info(device)
    assert 0 < free <= total == torch.keyway.get_device_properties(device).total_memory
    assert torch.keyway.mem_get_info(device)[1] == total


def test_pinned_memory_is_not_kept(device):
    x = torch.empty(1000, pin_memory=True)
    x.to(device, non_blocking=True)
    del x
    torch.keyway.synchronize(device)
    accelerator.empty_host_cache()  # a null pointer to PyTorch 2.14 where a device has no allocator of its own


def test_memory_as_a_table(device):
    x = torch.empty(1 << 20, device=device)
    table = torch.keyway.memory_summary(device)
    assert torch_keyway.keyway_name(device) in table and f"{torch.keyway.memory_allocated(device):,}" in table
    assert len(torch.keyway.memory_summary(device, abbreviated=True).splitlines()) < len(table.splitlines())
    del x


def test_peaks_start_anew(device):
    kept = torch.empty(1 << 20, device=device)
    large = torch.empty(1 << 24, device=device)
    del large
    before = torch.keyway.max_memory_allocated(device)
    torch.keyway.reset_peak_memory_stats(device)
    now = torch.keyway.memory_allocated(device)
    assert accelerator.max_memory_allocated(device) == now <= before - (1 << 26)
    again = torch.empty(1 << 22, device=device)
    del again
    assert torch.keyway.max_memory_allocated(device) >= now + (1 << 24)
    del kept


def test_a_snapshot_of_memory(device):
    side = torch.Stream(device=device)
    torch.keyway.empty_cache()
    before = torch.keyway.memory_allocated(device)
    with side:
        x = torch.empty(3, 1 << 20, dtype=torch.uint8, device=device)
    segments = torch.keyway.memory_snapshot(device)
    assert sum(each["total_size"] for each in segments) == torch.keyway.memory_reserved(device)
    assert sum(each["allocated_size"] for each in segments) == torch.keyway.memory_allocated(device) == before + (3 << 20)
    for segment in segments:
        assert segment["device"] == device.index
        addresses = [block["address"] for block in segment["blocks"]]
        ends = [block["address"] + block["size"] for block in segment["blocks"]]
        assert addresses == [segment["address"], *ends[:-1]] and ends[-1] == segment["address"] + segment["total_size"]
    mine, = [each for each in segments if {"size": 3 << 20, "state": "active_allocated"}.items() <= each["blocks"][0].items()]
    del x
    later, = [each for each in torch.keyway.memory_snapshot(device) if each["address"] == mine["address"]]
    assert later["allocated_size"] == 0 and [block["state"] for block in later["blocks"]] == ["inactive"]


def test_names_and_properties(device):
    properties = torch.keyway.get_device_properties(device)
    assert properties.keyway_name == torch_keyway.keyway_name(device) and not properties.is_emulated
    assert properties.name == torch.keyway.get_device_name(device) != "" and properties.multi_processor_count > 0
    assert properties.name in repr(properties) and properties.keyway_name in repr(properties)


def test_what_prints(device):
    name = torch_keyway.keyway_name(device)
    assert any(repr(each).startswith(f"{name} (") for each in torch_keyway.devices())
    assert "relu(Tensor self) -> Tensor" in repr(torch_keyway.ops())


def test_a_tensor_prints_as_on_the_cpu(device):
    for x in torch.tensor([1.5, -2, 0]), torch.arange(4000.0).reshape(40, 100), torch.tensor([]), torch.tensor(3), torch.eye(2) > 0:
        there = str(x.to(device))
        assert there.split("device=")[0].rstrip(", \n") == str(x)[:-1] and f"device='{torch.device(device)}'" in there


def test_capability_names_the_dtypes_that_a_device_converts(device):
    dtypes = torch.keyway.get_device_capability(device)["supported_dtypes"]
    assert {torch.bool, torch.int64, torch.bfloat16, torch.float32, torch.complex64} <= dtypes
    assert torch.uint16 not in dtypes and torch.quint8 not in dtypes
    with torch.keyway.device(device):
        assert torch.keyway.is_bf16_supported() and accelerator.get_device_capability()["supported_dtypes"] == dtypes


def test_no_two_devices_of_the_tree_are_peers(device, other):
    assert not torch.keyway.can_device_access_peer(device, other) and not torch.keyway.can_device_access_peer(device, device)


def test_default_stream(device):
    with torch.keyway.stream(torch.keyway.Stream(device=device)):
        assert torch.keyway.current_stream(device) != torch.keyway.default_stream(device)
    assert torch.keyway.current_stream(device) == torch.keyway.default_stream(device)
    assert torch.keyway.default_stream(device).device == device


def test_threads_for_gradients_let_go_of_them_before_the_process_ends(device):
    """PyTorch's thread may hold a gradient, an object of Python's, some time after it was returned. Where the process ends
    meanwhile, it is aborted."""
    x = torch.ones(4, device=device, requires_grad=True)
    y = (x * x).sum()
    for _ in range(200):
        gradient = torch.autograd.grad(y, x, retain_graph=True)[0]
        held = weakref.ref(gradient)
        del gradient
        _C.end_autograd()
        assert held() is None


def test_a_process_that_has_taken_gradients_ends_well():
    code = """
import torch, torch_keyway
device = torch_keyway.register("cpu")
x = torch.ones(4, device=device, requires_grad=True)
print(torch.autograd.grad((x * x).sum(), x)[0].tolist())
"""
    done = subprocess.run([sys.executable, "-c", code], env=os.environ, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == "[2.0, 2.0, 2.0, 2.0]\n" and done.stderr == ""
