# SPDX-License-Identifier: Apache-2.0
"""The provider beside the numbers of its operators: devices, placement, options, errors, memory, several devices at once."""

import re
import subprocess
import sys
import threading
from pathlib import Path

import keyway
import numpy
import onnxruntime
import onnxruntime_keyway
import pytest
from conftest import FLOAT, INT64, model, node

ADD = model([node("Add", "x y", "z")], {"x": (FLOAT, ["n"]), "y": (FLOAT, ["n"])}, {"z": (FLOAT, ["n"])})
LAYER = model(
    [node("MatMul", "x w", "a"), node("Add", "a b", "c"), node("Relu", "c", "y")],
    {"x": (FLOAT, ["n", 4])},
    {"y": (FLOAT, ["n", 3])},
    {"w": numpy.arange(12, dtype="f4").reshape(4, 3), "b": numpy.array([-40, -50, -60], "f4")},
)
LOOK_UP = model(
    [node("Gather", "table places", "y", axis=0)],
    {"places": (INT64, ["n"])},
    {"y": (FLOAT, ["n", 2])},
    {"table": numpy.arange(8, dtype="f4").reshape(4, 2)},
)
X = numpy.arange(8, dtype="f4").reshape(2, 4)
LAYER_OF_X = numpy.array([[2, 0, 0], [74, 86, 98]], "f4")


def test_devices_say_what_they_are():
    for each in onnxruntime_keyway.devices():
        name = onnxruntime_keyway.name_of(each)
        assert each.ep_name == "keyway." + name.split(":")[0]
        assert each.ep_metadata["keyway_type"] == keyway.device(name).info.type
        assert int(each.ep_metadata["keyway_memory"]) == keyway.device(name).info.total_memory


def test_registering_again_adds_nothing():
    before = len(onnxruntime.get_ep_devices())
    onnxruntime_keyway.register()
    assert len(onnxruntime.get_ep_devices()) == before


def test_a_device_that_is_not_there():
    with pytest.raises(keyway.NotFound, match="no device 'tpu:3' .* cpu:0"):
        onnxruntime_keyway.session(ADD, "tpu:3")


def test_a_layer(device):
    session = onnxruntime_keyway.session(LAYER, device)
    assert {each.device for each in session.placement} == {device}
    for n in (2, 5, 1):  # a dimension without a fixed size
        x = numpy.resize(X, (n, 4))
        assert numpy.array_equal(session.run(None, {"x": x})[0][:2], LAYER_OF_X[:n])


def test_shapes_stay_on_the_host(device):
    shaped = model(
        [node("Shape", "x", "s"), node("Reshape", "y s", "z")],
        {"x": (FLOAT, ["a", "b"]), "y": (FLOAT, ["n"])},
        {"z": (FLOAT, ["a", "b"])},
    )
    session = onnxruntime_keyway.session(shaped, device)
    got = session.run(None, {"x": numpy.zeros((2, 3), "f4"), "y": numpy.arange(6, dtype="f4")})[0]
    assert got.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_what_a_node_lacks_is_said():
    lacking = model([node("Det", "x", "y")], {"x": (FLOAT, [2, 2])}, {"y": (FLOAT, [])})
    with pytest.raises(Exception, match="Det: the operator is not mapped in its version 11"):
        onnxruntime_keyway.session(lacking, "cpu:0")
    session = onnxruntime_keyway.session(lacking, "cpu:0", fallback=True)
    assert session.run(None, {"x": numpy.eye(2, dtype="f4") * 3})[0] == 9
    assert session.placement[0].device is None and "not mapped" in session.placement[0].reason


def test_operators_that_are_left_out():
    with pytest.raises(Exception, match="Relu: the option 'operators' leaves it out"):
        onnxruntime_keyway.session(LAYER, "cpu:0", operators="MatMul,Add,Gemm")
    session = onnxruntime_keyway.session(LAYER, "cpu:0", operators="MatMul,Add,Gemm", fallback=True)
    assert numpy.array_equal(session.run(None, {"x": X})[0], LAYER_OF_X)


@pytest.mark.parametrize("options", [{"speed": "high"}, {"math": "sloppy"}, {"autocast": "i8"}])
def test_options_that_there_are_not(options):
    with pytest.raises(Exception, match="option '" + next(iter(options))):
        onnxruntime_keyway.session(LAYER, "cpu:0", **options)


def test_autocast(device):
    exact = onnxruntime_keyway.session(LAYER, device).run(None, {"x": X / 3})[0]
    cast = onnxruntime_keyway.session(LAYER, device, autocast="bf16").run(None, {"x": X / 3})[0]
    assert numpy.allclose(cast, exact, atol=1) and cast.dtype == numpy.float32


def test_a_failure_in_the_middle_and_then_none(device):
    """The index is found wrong when the device computes: ONNX Runtime's error has Keyway's chain, and the session goes on."""
    session = onnxruntime_keyway.session(LOOK_UP, device)
    for _ in range(2):
        with pytest.raises(Exception, match="Keyway: .*index_select.* out of range"):
            session.run(None, {"places": numpy.array([1, 9])})
        assert session.run(None, {"places": numpy.array([3, -4])})[0].tolist() == [[6, 7], [0, 1]]


def test_two_devices_in_one_session():
    names = [onnxruntime_keyway.name_of(each) for each in onnxruntime_keyway.devices()]
    if "opencl:0" not in names:
        pytest.skip("opencl:0 is not here")
    session = onnxruntime_keyway.session(LAYER, ["opencl:0", "cpu:0"])
    assert {each.device for each in session.placement} == {"opencl:0"}
    split = onnxruntime_keyway.session(LAYER, ["opencl:0", "cpu:0"], operators="MatMul,Gemm,Add", fallback=True)
    assert numpy.array_equal(session.run(None, {"x": X})[0], split.run(None, {"x": X})[0])


def test_the_example_vendor_beside_another(request):
    plugin = request.config.getoption("--vendor-npu")
    if plugin is None:
        pytest.skip("--vendor-npu says where its plugin is")
    product = model(
        [node("MatMul", "x w", "a"), node("Relu", "a", "b"), node("Exp", "b", "y")],
        {"x": (FLOAT, [2, 4])},
        {"y": (FLOAT, [2, 3])},
        {"w": numpy.ones((4, 3), "f4")},
    )
    session = onnxruntime_keyway.session(product, ["npu:0", "cpu:0"])
    assert {each.operator: each.device for each in session.placement} == {"MatMul": "npu:0", "Relu": "npu:0", "Exp": "cpu:0"}
    assert numpy.allclose(session.run(None, {"x": X / 8})[0], numpy.exp(numpy.maximum(X / 8 @ numpy.ones((4, 3), "f4"), 0)))


def test_a_device_that_fails_and_one_that_is_lost(request):
    plugin = request.config.getoption("--vendor-npu")
    if plugin is None:
        pytest.skip("--vendor-npu says where its plugin is")
    child = subprocess.run([sys.executable, Path(__file__).parent / "faults.py", plugin], capture_output=True, text=True)
    assert child.returncode == 0, child.stdout + child.stderr
    assert re.search("late: .*Keyway: .*ordered this launch to fail", child.stdout, re.DOTALL), child.stdout
    assert re.search("lost: .*lost.*after: .*lost", child.stdout, re.DOTALL), child.stdout


def test_values_that_stay_on_the_device(device):
    session = onnxruntime_keyway.session(LAYER, device)
    binding = session.io_binding()
    binding.bind_cpu_input("x", X)
    binding.bind_output("y", "cpu")
    session.run_with_iobinding(binding)
    assert numpy.array_equal(binding.copy_outputs_to_cpu()[0], LAYER_OF_X)


def test_a_hundred_runs_need_no_more_memory(device):
    session = onnxruntime_keyway.session(LAYER, device)
    here, held = keyway.device(device), []
    for i in range(100):
        session.run(None, {"x": X})
        if i in (9, 99):
            held.append((here.memory_stats().allocated, here.memory_stats().held))
    assert held[0] == held[1]


def test_runs_in_several_threads(device):
    session, wrong = onnxruntime_keyway.session(LAYER, device), []

    def work():
        for _ in range(20):
            if not numpy.array_equal(session.run(None, {"x": X})[0], LAYER_OF_X):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong
