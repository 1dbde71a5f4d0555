# SPDX-License-Identifier: Apache-2.0
"""What PyTorch builds on a device: saving, exchange, generators, streams, autocast, compilation, profiling."""

import copy
import ctypes
import io
import json
import os
import subprocess
import sys

import pytest
import torch
import torch_keyway
from torch.nn import functional as F


def test_devices_that_come_late():
    """After the first backward of the process, which was one on the CPU, or when others were there."""
    code = """
import torch, torch_keyway
{}
device = torch_keyway.register("opencl")
with torch.no_grad():
    torch_keyway.register("opencl")
x = torch.ones(2, device=device, requires_grad=True)
(x * x).sum().backward()
print(device.index, x.grad.tolist(), torch.accelerator.device_count())
"""
    backward = "x = torch.ones(2, device='{}', requires_grad=True); (x * x).sum().backward()"
    unheard_of = python(code.format(backward.format("cpu")))
    assert unheard_of.stdout == "0 [2.0, 2.0] 1\n" and unheard_of.stderr.count("registered after this process'") == 1
    one_more = python(code.format("torch_keyway.register('cpu'); " + backward.format("keyway")))
    assert one_more.stdout == "1 [2.0, 2.0] 2\n" and "registered after" not in one_more.stderr


def python(code, **environment):
    return subprocess.run([sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True)


def saved(value):
    file = io.BytesIO()
    torch.save(value, file)
    file.seek(0)
    return file


def test_save_on_the_device_load_on_the_cpu_and_back(device):
    model = torch.nn.Linear(4, 2).to(device)
    x = torch.randn(3, 4, device=device)
    file = saved({"x": x, "row": x[1:], "model": model.state_dict()})
    there = torch.load(file)
    assert there["x"].device == device and torch.equal(there["x"].cpu(), x.cpu())
    there["x"].zero_()
    assert there["row"].abs().sum().item() == 0  # one storage still
    file.seek(0)
    here = torch.load(file, map_location="cpu")
    assert here["x"].device.type == "cpu" and torch.equal(here["x"], x.cpu())
    back = torch.load(saved(here), map_location=device)
    assert back["x"].device == device and torch.equal(back["x"].cpu(), x.cpu())
    model.load_state_dict(back["model"])
    assert torch.equal(copy.deepcopy(x).cpu(), x.cpu())


def test_dlpack_shares_memory(device):
    x = torch.randn(3, 4, device=device)
    y = torch.from_dlpack(x[1:, 1:])
    assert y.device == device and y.shape == (2, 3)
    y.add_(1)
    x[1, 1] = 9
    assert torch.equal(y.cpu(), x[1:, 1:].cpu()) and y[0, 0].item() == 9
    capsule = torch.utils.dlpack.to_dlpack(x)
    expected = x.cpu()
    del x, y
    assert torch.equal(torch.utils.dlpack.from_dlpack(capsule).cpu(), expected)


def test_generators_save_and_restore(device):
    generator = torch.Generator(device=device).manual_seed(5)
    torch.rand(3, device=device, generator=generator)
    state = generator.get_state()
    x = torch.randn(5, device=device, generator=generator)
    generator.set_state(state)
    assert torch.equal(x.cpu(), torch.randn(5, device=device, generator=generator).cpu())
    with torch.keyway.device(device):
        state = torch.keyway.get_rng_state()
        x = torch.rand(3, device=device)
        torch.keyway.set_rng_state(state)
        assert torch.equal(x.cpu(), torch.rand(3, device=device).cpu())
    with pytest.raises(RuntimeError, match="another kind of device"):
        generator.set_state(torch.Generator().get_state())
    with pytest.raises(RuntimeError, match="gives no numbers on this one"):
        torch.empty(2, device=device).normal_(generator=torch.Generator())


def test_checkpointing_draws_the_same_numbers_again(device):
    x = torch.randn(64, 64, device=device, requires_grad=True)
    with torch.keyway.device(device):
        out = torch.utils.checkpoint.checkpoint(lambda t: F.dropout(t.exp(), 0.5), x, use_reentrant=False)
        torch.rand(100, device=device)
        out.sum().backward()
    assert torch.equal(x.grad.cpu() != 0, out.cpu() != 0)


def test_streams_and_events(device):
    side, start = torch.Stream(device=device), torch.Event(device=device, enable_timing=True)
    end = torch.Event(device=device, enable_timing=True)
    x = torch.ones(1000, device=device)
    side.wait_stream(torch.accelerator.current_stream(device.index))
    with side:
        assert torch.accelerator.current_stream(device.index) == side
        start.record(side)
        y = x + x
        end.record(side)
    assert torch.accelerator.current_stream(device.index) != side
    end.synchronize()
    assert end.query() and start.elapsed_time(end) >= 0
    torch.accelerator.current_stream(device.index).wait_event(end)
    assert y.sum().item() == 2000
    with side:  # copies are in order on the current stream
        z = torch.zeros(1000, device=device)
        z.copy_(torch.arange(1000.0))
        assert torch.equal((z + 1).cpu(), torch.arange(1000.0) + 1)


def test_math_mode_and_determinism_are_pytorchs(device):
    keyway = ctypes.CDLL("libkeyway.so.1")  # the one that is loaded
    keyway.kw_deterministic_get.restype = ctypes.c_bool
    x, names = torch.randn(4, 4, device=device), ["highest", "high", "medium"]
    allowed = [0, 1, 3]  # nothing, KW_MATH_TF32, KW_MATH_FAST, which allows TF32, too
    try:
        for mode in (1, 2, 0):
            torch.set_float32_matmul_precision(names[mode])
            x @ x
            assert keyway.kw_math_mode_get() == allowed[mode]
        for wanted, only_warns in ((True, False), (True, True), (False, False)):
            torch.use_deterministic_algorithms(wanted, warn_only=only_warns)
            x + x
            assert keyway.kw_deterministic_get() == (wanted and not only_warns)
    finally:
        torch.set_float32_matmul_precision("highest")
        torch.use_deterministic_algorithms(False)
        x @ x


def test_pinned_memory(device):
    x = torch.randn(1000).pin_memory()
    assert x.is_pinned() and x[5:].is_pinned() and not torch.randn(3).is_pinned()
    y = x.to(device, non_blocking=True)
    expected = x.clone()
    back = torch.empty(1000, pin_memory=True)
    back.copy_(y, non_blocking=True)
    torch.keyway.synchronize(device)
    assert torch.equal(back, expected)
    for _ in range(50):  # freed while the copy may be under way
        y = torch.full((1000,), 3.0).pin_memory().to(device, non_blocking=True)
        torch.full((1000,), 4.0).pin_memory()
    assert torch.equal(y.cpu(), torch.full((1000,), 3.0))


@pytest.mark.parametrize("lower", [torch.float16, torch.bfloat16])
def test_autocast(device, lower):
    x, w = torch.randn(4, 8, device=device), torch.randn(8, 8, device=device, requires_grad=True)
    with torch.autocast("keyway", dtype=lower):
        product = F.linear(x, w)
        assert product.dtype == lower
        assert F.softmax(product, 1).dtype == torch.float32
        assert torch.cat([product, x]).dtype == torch.float32  # the widest
        assert (product + product).dtype == lower
    assert F.linear(x, w).dtype == torch.float32
    product.float().sum().backward()
    assert w.grad.dtype == torch.float32


def test_a_scaled_step_reads_nothing_from_the_device(device):
    """A NaN is found on the device, and the step skipped there."""
    parameter = torch.nn.Parameter(torch.ones(8, device=device))
    optimizer = torch.optim.AdamW([parameter], lr=0.1, fused=True)
    scaler = torch.amp.GradScaler("keyway", init_scale=1024)
    inputs = [torch.ones(8, device=device), torch.full((8,), float("nan"), device=device)]
    values = []
    for x in inputs:
        with torch.profiler.profile() as profile:
            optimizer.zero_grad()
            scaler.scale((parameter * x).sum()).backward()
            scaler.step(optimizer)
            scaler.update()
        names = {event.key for event in profile.key_averages()}
        assert "aten::_fused_adamw_" in names
        assert not names & {"aten::item", "aten::_local_scalar_dense", "aten::is_nonzero"}
        values.append(parameter.detach().cpu())
    assert not torch.equal(values[0], torch.ones(8)) and torch.equal(values[0], values[1])
    assert scaler.get_scale() == 512


def test_a_scaled_step_waits_for_nothing(device, tmp_path):
    """By Keyway's own trace: between the first and the last call of a step that finds a NaN the host neither waits for the
    device nor takes anything from it."""
    code = f"""
import torch, torch_keyway
device = torch_keyway.register({torch_keyway.keyway_name(device)!r})
parameter = torch.nn.Parameter(torch.ones(8, device=device))
optimizer = torch.optim.AdamW([parameter], lr=0.1, fused=True)
scaler = torch.amp.GradScaler("keyway", init_scale=1024)
for number in (1.0, float("nan")):
    x = torch.full((8,), number, device=device)
    with torch.profiler.record_function(f"a step with {{number}}"):
        optimizer.zero_grad()
        scaler.scale((parameter * x).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
with torch.profiler.record_function("a look at it"):
    print(scaler.get_scale(), parameter.isnan().any().item())
"""
    trace = tmp_path / "trace.json"
    run = python(code, KEYWAY_TRACE=str(trace))
    assert run.stdout == "512.0 False\n", run.stderr
    events = [event for event in json.loads(trace.read_text())["traceEvents"] if event["ph"] != "M"]  # but names of rows

    def waits(name):
        step = next(event for event in events if event["cat"] == "range" and event["name"] == name)
        inside = [event for event in events if 0 <= event["ts"] - step["ts"] <= step["dur"]]
        assert any(event["cat"] == "op" for event in inside)
        return [event["name"] for event in inside if event["cat"] == "sync" or event["name"] == "device to host"]

    assert waits("a step with nan") == [] and waits("a look at it") != []


@pytest.mark.parametrize("backend", ["eager", "aot_eager"])
def test_compile(device, backend):
    torch._dynamo.reset()
    model = torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.BatchNorm1d(8), torch.nn.ReLU(), torch.nn.Linear(8, 2))
    reference = copy.deepcopy(model)
    x = torch.randn(4, 8)
    reference(x).sum().backward()
    model.to(device)
    torch.compile(model, backend=backend, fullgraph=True)(x.to(device)).sum().backward()
    torch.testing.assert_close(model[0].weight.grad.cpu(), reference[0].weight.grad, rtol=1e-4, atol=1e-5)


def test_export(device):
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.BatchNorm2d(8), torch.nn.GELU()).to(device).eval()
    x = torch.randn(2, 3, 8, 8, device=device)
    exported = torch.export.export(model, (x,), dynamic_shapes=({0: torch.export.Dim("batch")},))
    for batch in (x, torch.randn(5, 3, 8, 8, device=device)):
        assert torch.equal(exported.module()(batch).cpu(), model(batch).cpu())


def test_profiler_shows_ops_and_device_times(device):
    x = torch.ones(64, 64, device=device)
    with torch.keyway.device(device), torch.autograd.profiler.profile(use_device="keyway") as profile:
        with torch.profiler.record_function("a range"):
            (x @ x).sum()
    names = {event.key: event for event in profile.key_averages()}
    assert "a range" in names and names["aten::mm"].device_time_total > 0


def test_what_devices_did_is_in_the_profile(device, tmp_path):
    x = torch.ones(64, 64, device=device)
    with torch.keyway.device(device), torch.profiler.profile() as profile:
        y = (x @ x).sum()
        y.item()
    times = {event.key: event.self_device_time_total for event in profile.key_averages()}
    assert times["mm"] == times["aten::mm"] > 0 and times["sum"] == times["aten::sum"] > 0
    profile.export_chrome_trace(str(tmp_path / "trace.json"))
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]

    def found(category, name):
        return [event for event in events if event.get("cat") == category and event["name"] == name]

    for op in ("mm", "sum"):
        (called,), (launched,), kernels = found("cpu_op", f"aten::{op}"), found("privateuse1_runtime", f"launch {op}"), found("kernel", op)
        assert called["ts"] <= launched["ts"] <= called["ts"] + called["dur"] and kernels != []
        assert all(event["args"]["External id"] == called["args"]["External id"] for event in [launched, *kernels])
        assert all(ran["pid"] == device.index for ran in kernels)
        start, = (event["id"] for event in events if event["ph"] == "s" and event["ts"] == launched["ts"])
        ends = [event["ts"] for event in events if event["ph"] == "f" and event["id"] == start]
        assert ends == [ran["ts"] for ran in kernels]
    names = {(event["name"], event["args"]["name"]) for event in events if event["ph"] == "M" and event["pid"] == device.index
             and "name" in event["args"]}
    assert ("process_name", torch_keyway.keyway_name(device)) in names
    assert [event for event in events if event.get("cat") == "gpu_memcpy"]
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        x @ x
    assert "mm" not in {event.key for event in profile.key_averages()}


def test_attention_is_one_op(device):
    for causal in (False, True):
        q, k, v = (torch.randn(2, 3, 5, 8, requires_grad=True) for _ in range(3))
        expected = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
        grads = torch.autograd.grad(expected.square().sum(), (q, k, v))
        there = [t.detach().to(device).requires_grad_() for t in (q, k, v)]
        with torch.profiler.profile() as profile:
            out = F.scaled_dot_product_attention(*there, is_causal=causal)
        assert "aten::_scaled_dot_product_fused_attention_overrideable" in {e.key for e in profile.key_averages()}
        torch.testing.assert_close(out.cpu(), expected, rtol=1e-4, atol=1e-5)
        for mine, wanted in zip(torch.autograd.grad(out.square().sum(), there), grads):
            torch.testing.assert_close(mine.cpu(), wanted, rtol=1e-4, atol=1e-4)
    mask = torch.rand(5, 7) > 0.5
    q, k, v = torch.randn(2, 3, 5, 8), torch.randn(2, 3, 7, 8), torch.randn(2, 3, 7, 8)
    expected = F.scaled_dot_product_attention(q, k, v, mask)
    torch.testing.assert_close(F.scaled_dot_product_attention(*(t.to(device) for t in (q, k, v, mask))).cpu(), expected)


def test_keyways_own_ops(device):
    gate, up = torch.randn(2, 4), torch.randn(2, 4)
    out = torch.ops.keyway.swiglu(gate.to(device), up.to(device))
    torch.testing.assert_close(out.cpu(), F.silu(gate) * up)


def test_operators_that_are_defined_after_register(device):
    """torchvision's, for instance: they find their ops when they are first called."""
    pytest.importorskip("torchvision", reason="pip install torchvision brings the operators")
    code = f"""
import torch, torch_keyway
device = torch_keyway.register({torch_keyway.keyway_name(device)!r})
import torchvision
boxes = torch.tensor([[0, 0, 4, 4], [0, 0, 4, 3.9], [1, 1, 7, 6]]).to(device)
print(torchvision.ops.nms(boxes, torch.tensor([1.0, 2, 3]).to(device), 0.5).tolist())
x = torch.arange(64.0).reshape(1, 1, 8, 8).requires_grad_()
results = []
for place in ("cpu", device):
    rows = torchvision.ops.roi_align(x.to(place), [boxes.to(place)], 2)
    results.append((rows.cpu(), *torch.autograd.grad(rows.square().sum(), x)))
print(all(torch.allclose(there, here, rtol=1e-4) for here, there in zip(*results)))
print(torch_keyway.fallbacks())
"""
    run = python(code, KEYWAY_FALLBACK="off")
    assert run.stdout.splitlines() == ["[2, 1]", "True", "{}"], run.stderr
