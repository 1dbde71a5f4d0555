# SPDX-License-Identifier: Apache-2.0
"""What a device lacks: an error that says what to do, or the CPU, counted."""

import importlib.metadata
import os
import subprocess
import sys

import pytest
import torch
import torch_keyway

pytestmark = pytest.mark.fallback


def counted(name):
    return torch_keyway.fallbacks().get(name, 0)


def test_off_is_an_error_that_names_the_operator(device):
    with pytest.raises(NotImplementedError, match=r"aten::mode: no op of Keyway.*set_fallback"):
        torch.mode(torch.arange(5.0, device=device))


def test_allowed_it_runs_on_the_cpu_and_is_counted(device):
    torch_keyway.set_fallback("allow")
    before = counted("aten::mode")
    value, place = torch.mode(torch.tensor([3.0, 2, 2], device=device))
    assert value.device == device and value.item() == 2 and place.item() == 2
    assert counted("aten::mode") == before + 1


def test_dtypes_that_an_op_is_not_defined_for(device):
    x = torch.ones(1, 1, 4, dtype=torch.int64, device=device)
    with pytest.raises(RuntimeError, match="dtype i64 is not one the op is defined for"):
        torch.nn.functional.avg_pool1d(x, 2)
    torch_keyway.set_fallback("allow")
    assert torch.nn.functional.avg_pool1d(x, 2).cpu().tolist() == [[[1, 1]]]


def test_warned_once(device, recwarn):
    torch_keyway.set_fallback("warn")
    x = torch.tensor([1.0, 1, 2], device=device)
    first = counted("aten::mode") == 0  # said once per operator and process
    torch.mode(x)
    torch.mode(x)
    said = [str(w.message) for w in recwarn if "aten::mode runs on the CPU" in str(w.message)]
    assert len(said) == (1 if first else 0)


def test_pytorchs_decompositions_stay_on_the_device(device):
    before = torch_keyway.fallbacks()
    x = torch.randn(4, 4)
    there = x.to(device)
    for call in (torch.trace, lambda t: torch.logaddexp(t, t.t()), lambda t: torch.linalg.vector_norm(t, 3),
                 lambda t: torch.baddbmm(t[None], t[None], t[None]), lambda t: torch.mv(t, t[0]), torch.std,
                 lambda t: torch.fmax(t, t.t()), lambda t: torch.nn.functional.mish(t), lambda t: t.clamp_min(0)):
        torch.testing.assert_close(call(there).cpu(), call(x), rtol=1e-4, atol=1e-5)
    assert torch_keyway.fallbacks() == before


def test_a_circular_decomposition_gives_itself_up(device):
    with pytest.raises(NotImplementedError, match="aten::lgamma.out: no op of Keyway"):
        torch.lgamma(torch.ones(2, device=device))
    torch_keyway.set_fallback("allow")
    assert torch.lgamma(torch.full((1,), 4.0, device=device)).item() == pytest.approx(1.791759)


def test_names(device):
    assert torch_keyway.keyway_name(device) == ("cpu:0", "opencl:0")[device.index]
    with pytest.raises(RuntimeError, match="is called 'keyway' in this process already"):
        torch_keyway.register("cpu", name="my_npu")
    with pytest.raises(RuntimeError, match="no_such_device"):
        torch_keyway.register("no_such_device")
    assert torch_keyway.device(torch_keyway.keyway_name(device)) == device
    with pytest.raises(RuntimeError, match=r"npu:7 is not registered \(cpu:0 is keyway:0, .*register\('npu:7'\)"):
        torch_keyway.device("npu:7")
    count = torch.keyway.device_count()
    assert torch_keyway.register("opencl").index == 1 and torch.keyway.device_count() == count


def imported(**environment):
    """A program that imports torch alone."""
    code = "import torch; print(torch.ones(2, device='my_npu').sum().item())"
    return subprocess.run([sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True)


@pytest.mark.skipif("torch_keyway" not in importlib.metadata.entry_points(group="torch.backends").names,
                    reason="torch_keyway is on the path, but not installed")
def test_import_torch_registers_what_the_environment_names():
    assert imported(TORCH_KEYWAY_DEVICES="cpu", TORCH_KEYWAY_NAME="my_npu").stdout == "2.0\n"
    broken = imported(TORCH_KEYWAY_DEVICES="no_such_device", TORCH_KEYWAY_NAME="my_npu")
    assert "torch goes on without" in broken.stderr and "no_such_device" in broken.stderr


def test_another_pytorch_than_it_was_built_for_is_said(tmp_path):
    package = tmp_path / "torch_keyway-0.9.0+torch2.1.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: torch_keyway\nVersion: 0.9.0+torch2.1\n")
    done = subprocess.run([sys.executable, "-c", "import torch_keyway"], env=os.environ | {"PYTHONPATH": str(tmp_path)},
                          capture_output=True, text=True)
    assert done.returncode == 1
    assert f"was built for PyTorch 2.1, and this is {torch.__version__}" in done.stderr and "torch==2.1.*" in done.stderr
