# SPDX-License-Identifier: Apache-2.0
"""The provider beside the numbers of its operators: devices, placement, options, errors, memory, several devices at once."""

import ctypes
import json
import math
import os
import re
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import conftest
import keyway
import models
import numpy
import onnx
import onnxruntime
import onnxruntime_keyway
import pytest
from conftest import FLOAT, INT64, model, node
from onnxruntime_keyway import value

ADD = model([node("Add", "x y", "z")], {"x": (FLOAT, ["n"]), "y": (FLOAT, ["n"])}, {"z": (FLOAT, ["n"])})


def layer(n):
    return model(
        [
            node("MatMul", "x w", "a", name="product"),
            node("Add", "a b", "c", name="sum"),
            node("Relu", "c", "y", name="activation"),
        ],
        {"x": (FLOAT, [n, 4])},
        {"y": (FLOAT, [n, 3])},
        {"w": numpy.arange(12, dtype="f4").reshape(4, 3), "b": numpy.array([-40, -50, -60], "f4")},
    )


LAYER, FIXED_LAYER = layer("n"), layer(2)
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
        assert each.ep_metadata["keyway_type"] == conftest.listed[name].type
        assert int(each.ep_metadata["keyway_memory"]) == conftest.listed[name].total_memory


def test_registering_again_adds_nothing():
    before = len(onnxruntime.get_ep_devices())
    onnxruntime_keyway.register()
    assert len(onnxruntime.get_ep_devices()) == before


def test_the_provider_stays_when_it_is_unloaded():
    """Threads that have used it still end."""
    script = (
        "import _ctypes, os, sys\n_ctypes.dlclose(_ctypes.dlopen(sys.argv[1], os.RTLD_NOW))\n"
        "_ctypes.dlopen(sys.argv[1], os.RTLD_NOLOAD | os.RTLD_NOW)"
    )
    child = subprocess.run([sys.executable, "-c", script, str(onnxruntime_keyway.LIBRARY)], capture_output=True, text=True)
    assert child.returncode == 0, child.stderr


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


def test_two_devices_that_share_a_model():
    """What one computes goes to the other, and on."""
    if "opencl:0" not in map(onnxruntime_keyway.name_of, onnxruntime_keyway.devices()):
        pytest.skip("opencl:0 is not here")
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    options.add_provider_for_devices([onnxruntime_keyway.device("opencl:0")], {"operators": "MatMul,Gemm,Add"})
    options.add_provider_for_devices([onnxruntime_keyway.device("cpu:0")], {})
    session = onnxruntime.InferenceSession(LAYER, options)
    for _ in range(5):
        assert numpy.array_equal(session.run(None, {"x": X})[0], LAYER_OF_X)


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


VERSION = tuple(map(int, onnxruntime.__version__.split(".")[:2]))
# What older versions have no hooks for.
profiles = pytest.mark.skipif(VERSION < (1, 25), reason="providers like this one add to profiles from ONNX Runtime 1.25 on")
captures = pytest.mark.skipif(VERSION < (1, 26), reason="providers like this one capture from ONNX Runtime 1.26 on")


def bound(session, inputs, outputs):
    binding = session.io_binding()
    for name, each in inputs.items():
        binding.bind_ortvalue_input(name, each)
    for name, each in outputs.items():
        binding.bind_ortvalue_output(name, each)
    return binding


def copied(device):
    counters = keyway.device(device).counters()
    return counters.bytes_to_device, counters.bytes_to_host


def test_bound_values_stay_on_the_device(device):
    """Of run after run nothing is copied, and one session's output is the next one's input."""
    session, after = onnxruntime_keyway.session(LAYER, device), onnxruntime_keyway.session(ADD, device)
    x, y, z = value(X, device), value(LAYER_OF_X * 0, device), value(LAYER_OF_X.ravel() * 0, device)
    runs = [(session, bound(session, {"x": x}, {"y": y})), (after, bound(after, {"x": z, "y": z}, {"z": z}))]
    before = copied(device)
    for _ in range(5):
        for each, binding in runs:
            each.run_with_iobinding(binding)
    assert copied(device) == before
    assert numpy.array_equal(y.numpy(), LAYER_OF_X)
    before, binding = copied(device), session.io_binding()
    binding.bind_cpu_input("x", X)
    binding.bind_output("y", "cpu")
    session.run_with_iobinding(binding)
    assert numpy.array_equal(binding.copy_outputs_to_cpu()[0], LAYER_OF_X)
    assert copied(device) == (before[0] + X.nbytes, before[1] + LAYER_OF_X.nbytes)


def test_copies_without_a_stream(device):
    """Each comes after all that streams were given before, and is there for every stream once it has returned."""
    stream = onnxruntime_keyway.device(device).create_sync_stream()
    ones, zeros = numpy.ones(1 << 22, "f4"), numpy.zeros(1 << 22, "f4")
    for _ in range(5):
        chain = [value(ones, device), *(value(zeros, device) for _ in range(8))]
        onnxruntime.copy_tensors(chain[:-1], chain[1:], stream)
        assert chain[-1].numpy().min() == 1  # is read without one
        onnxruntime.copy_tensors([value(zeros, device)] * 8, chain[1:], stream)
        chain[-1].update_inplace(ones)  # and written
        onnxruntime.copy_tensors(chain[-1:] * 8, chain[:-1])
        here = onnxruntime.OrtValue.ortvalue_from_numpy(zeros)
        onnxruntime.copy_tensors([chain[-2]], [here], stream)
        assert here.numpy().min() == 1


def on_host(name, shape):
    """A value of f32 in the host memory that the device copies from and to fastest, and its array."""
    memory = onnxruntime_keyway.device(name).memory_info(onnxruntime.OrtDeviceMemoryType.HOST_ACCESSIBLE)
    made = onnxruntime.OrtValue.ortvalue_from_shape_and_type(shape, numpy.float32, memory_info=memory)
    place = (ctypes.c_float * math.prod(shape)).from_address(made.data_ptr())  # numpy() would copy
    return made, numpy.ctypeslib.as_array(place).reshape(shape)


def test_host_memory_of_the_device(device):
    """What the device's plugin pins, or maps: the host reads and writes it itself."""
    try:
        (x, x_here), (y, y_here) = on_host(device, [2, 4]), on_host(device, [2, 3])
    except TypeError:
        pytest.skip("ONNX Runtime's Python allocates no such memory in this version")
    session = onnxruntime_keyway.session(LAYER, device)
    binding = bound(session, {"x": x}, {"y": y})
    for n in range(3):
        x_here[...] = X + n
        session.run_with_iobinding(binding)
        assert numpy.array_equal(y_here, session.run(None, {"x": X + n})[0])


@captures
def test_a_run_that_is_captured(device):
    """Bit for bit what it computes without, of what its inputs hold at the time."""
    plain, session = onnxruntime_keyway.session(FIXED_LAYER, device), onnxruntime_keyway.session(FIXED_LAYER, device, graph=True)
    x, y = value(X, device), value(LAYER_OF_X * 0, device)
    binding = bound(session, {"x": x}, {"y": y})
    for n in range(5):
        x.update_inplace(X / 3 + n)
        session.run_with_iobinding(binding)
        assert numpy.array_equal(y.numpy(), plain.run(None, {"x": X / 3 + n})[0])
    session.release_captured_graph(0)
    session.run_with_iobinding(binding)
    assert numpy.array_equal(y.numpy(), plain.run(None, {"x": X / 3 + 4})[0])


@captures
def test_an_encoder_that_is_captured(device):
    fixed = onnxruntime.SessionOptions()
    plain_fixed = onnxruntime.SessionOptions()
    for options in (fixed, plain_fixed):
        options.add_free_dimension_override_by_name("batch", 2)
        options.add_free_dimension_override_by_name("length", 9)
    encoder = models.encoder(layers=2)
    plain = onnxruntime_keyway.session(encoder, device, session_options=plain_fixed)
    session = onnxruntime_keyway.session(encoder, device, session_options=fixed, graph=True)
    random = numpy.random.default_rng(5)
    inputs = {name: value(numpy.ones((2, 9), "i8"), device) for name in ("ids", "mask")}
    output = value(numpy.zeros((2, 384), "f4"), device)
    binding = bound(session, inputs, {"embedding": output})
    for _ in range(4):
        feeds = {"ids": random.integers(0, 3000, (2, 9)), "mask": random.integers(0, 2, (2, 9)) | numpy.eye(2, 9, dtype="i8")}
        for name, array in feeds.items():
            inputs[name].update_inplace(array)
        session.run_with_iobinding(binding)
        assert numpy.array_equal(output.numpy(), plain.run(None, feeds)[0])


@captures
def test_a_device_beside_another_is_captured():
    if "opencl:0" not in map(onnxruntime_keyway.name_of, onnxruntime_keyway.devices()):
        pytest.skip("opencl:0 is not here")
    session = onnxruntime_keyway.session(FIXED_LAYER, ["opencl:0", "cpu:0"], graph=1)
    x, y = value(X, "opencl:0"), value(LAYER_OF_X * 0, "opencl:0")
    binding = bound(session, {"x": x}, {"y": y})
    for n in range(3):
        x.update_inplace(X[::-1] if n == 1 else X)
        session.run_with_iobinding(binding)
        assert numpy.array_equal(y.numpy(), LAYER_OF_X[::-1] if n == 1 else LAYER_OF_X)


@pytest.mark.parametrize("graph", [0, pytest.param(1, marks=captures)])
def test_the_example_vendors_device_is_bound(request, graph):
    if request.config.getoption("--vendor-npu") is None:
        pytest.skip("--vendor-npu says where its plugin is")
    nodes = [node("MatMul", "x w", "a"), node("Relu", "a", "y")]
    weight = numpy.arange(12, dtype="f4").reshape(4, 3) - 5
    product = model(nodes, {"x": (FLOAT, [2, 4])}, {"y": (FLOAT, [2, 3])}, {"w": weight})
    session = onnxruntime_keyway.session(product, "npu:0", **({"graph": 1} if graph else {}))
    x, y = value(X, "npu:0"), value(LAYER_OF_X * 0, "npu:0")
    binding = bound(session, {"x": x}, {"y": y})
    for n in range(3):
        x.update_inplace(X + n)
        before = copied("npu:0")
        session.run_with_iobinding(binding)
        assert copied("npu:0") == before
        assert numpy.allclose(y.numpy(), numpy.maximum((X + n) @ weight, 0))


@captures
def test_captured_runs_in_several_threads(device):
    """Each has its own values, and a number for its run."""
    session, wrong = onnxruntime_keyway.session(FIXED_LAYER, device, graph=1), []

    def work(number):
        x, y, options = value(X, device), value(LAYER_OF_X * 0, device), onnxruntime.RunOptions()
        options.add_run_config_entry("gpu_graph_id", str(number))
        binding = bound(session, {"x": x}, {"y": y})
        for step in range(10):
            x.update_inplace(X if (number + step) % 2 else X[::-1])
            session.run_with_iobinding(binding, options)
            if not numpy.array_equal(y.numpy(), LAYER_OF_X if (number + step) % 2 else LAYER_OF_X[::-1]):
                wrong.append((number, step))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert not wrong


@captures
def test_a_capture_that_is_released_meanwhile(device):
    """By one thread, while others replay it or capture it anew."""
    session, wrong, ends = onnxruntime_keyway.session(FIXED_LAYER, device, graph=True), [], threading.Event()
    x, y = value(X, device), value(LAYER_OF_X * 0, device)
    session.run_with_iobinding(bound(session, {"x": x}, {"y": y}))

    def work():
        binding = bound(session, {"x": x}, {"y": y})
        while not ends.is_set():
            try:
                session.run_with_iobinding(binding)
            except Exception as error:  # released after ONNX Runtime had asked whether there is one
                if "no run was captured as 0" not in str(error):
                    wrong.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(2)]
    for each in threads:
        each.start()
    for _ in range(300):
        session.release_captured_graph(0)
    ends.set()
    for each in threads:
        each.join()
    assert not wrong, wrong[:3]
    session.run_with_iobinding(bound(session, {"x": x}, {"y": y}))
    assert numpy.array_equal(y.numpy(), LAYER_OF_X)


@captures
def test_what_cannot_be_captured(device):
    session = onnxruntime_keyway.session(FIXED_LAYER, device, graph=True)
    with pytest.raises(Exception, match="cannot be captured: a value is copied .* gpu_graph_id=-1"):
        session.run(None, {"x": X})
    options = onnxruntime.RunOptions()
    options.add_run_config_entry("gpu_graph_id", "-1")
    assert numpy.array_equal(session.run(None, {"x": X}, options)[0], LAYER_OF_X)
    shaped = model([node("Reshape", "x s", "y")], {"x": (FLOAT, [2, 3]), "s": (INT64, [1])}, {"y": (FLOAT, [6])})
    with pytest.raises(Exception, match="cannot be captured: the input 's' of the model is read on the host"):
        onnxruntime_keyway.session(shaped, device, graph=True).run(None, {"x": X[:, :3], "s": numpy.array([6])})


@pytest.mark.parametrize("graph", [0, pytest.param(1, marks=captures)])
def test_a_bound_run_that_fails_and_then_one_that_does_not(device, graph):
    """The run that fails is told of it, and no other one."""
    fixed = onnxruntime.SessionOptions()
    fixed.add_free_dimension_override_by_name("n", 2)
    session = onnxruntime_keyway.session(LOOK_UP, device, session_options=fixed, **({"graph": 1} if graph else {}))
    places, y = value(numpy.array([1, 9]), device), value(numpy.zeros((2, 2), "f4"), device)
    binding = bound(session, {"places": places}, {"y": y})
    for _ in range(3):
        places.update_inplace(numpy.array([1, 9]))
        with pytest.raises(Exception, match="Keyway: .*index_select.* out of range"):
            session.run_with_iobinding(binding)
        places.update_inplace(numpy.array([3, -4]))
        session.run_with_iobinding(binding)
        assert y.numpy().tolist() == [[6, 7], [0, 1]]


def in_mode(name):
    options = onnxruntime.SessionOptions()
    options.execution_mode = getattr(onnxruntime.ExecutionMode, name)
    options.inter_op_num_threads = 2
    return options


MODES = pytest.mark.parametrize("mode", ["ORT_SEQUENTIAL", "ORT_PARALLEL"])


@MODES
def test_a_run_that_fails_beside_the_device(device, mode):
    """What its work on the device would have told in the end is not told to the next run, whichever thread computed its nodes."""
    nodes = [
        node("Gather", "table places", "y", axis=0),
        *(node("Erf", f"e{i}", f"e{i + 1}") for i in range(20)),  # on ONNX Runtime's CPU, until the device has begun
        node("Reshape", "e20 shape", "z"),
    ]
    inputs = {"places": (INT64, [2]), "e0": (FLOAT, [1 << 16]), "shape": (INT64, [1])}
    outputs = {"y": (FLOAT, [2, 2]), "z": (FLOAT, ["m"])}
    mixed = model(nodes, inputs, outputs, {"table": numpy.arange(8, dtype="f4").reshape(4, 2)})
    session = onnxruntime_keyway.session(mixed, device, session_options=in_mode(mode), fallback=True, operators="Gather")
    assert {each.operator for each in session.placement if each.device} == {"Gather"}
    places, y = value(numpy.array([1, 9]), device), value(numpy.zeros((2, 2), "f4"), device)
    binding = bound(session, {"places": places}, {"y": y})
    binding.bind_cpu_input("e0", numpy.zeros(1 << 16, "f4"))
    binding.bind_output("z", "cpu")
    for _ in range(5):
        places.update_inplace(numpy.array([1, 9]))
        binding.bind_cpu_input("shape", numpy.array([7]))
        with pytest.raises(Exception, match="(?i)reshape"):
            session.run_with_iobinding(binding)
        places.update_inplace(numpy.array([3, -4]))
        binding.bind_cpu_input("shape", numpy.array([1 << 16]))
        session.run_with_iobinding(binding)
        assert y.numpy().tolist() == [[6, 7], [0, 1]]


@MODES
def test_runs_that_fail_beside_others(device, mode):
    """Of two sessions at once the one whose runs fail is told of it, each time, and the other one never."""
    wrong, ends = [], threading.Event()

    def fail():
        session = onnxruntime_keyway.session(LOOK_UP, device, session_options=in_mode(mode))
        binding = bound(session, {"places": value(numpy.array([1, 9]), device)}, {"y": value(numpy.zeros((2, 2), "f4"), device)})
        while not ends.is_set():
            try:
                session.run_with_iobinding(binding)
                wrong.append("it was not told")
            except Exception as error:
                if "out of range" not in str(error):
                    wrong.append(str(error))

    thread = threading.Thread(target=fail)
    thread.start()
    try:
        session = onnxruntime_keyway.session(LAYER, device, session_options=in_mode(mode))
        y = value(LAYER_OF_X * 0, device)
        binding = bound(session, {"x": value(X, device)}, {"y": y})
        for _ in range(200):
            session.run_with_iobinding(binding)
        assert numpy.array_equal(y.numpy(), LAYER_OF_X)
    finally:
        ends.set()
        thread.join()
    assert not wrong, wrong[:3]


@captures
def test_nodes_of_other_threads_are_not_captured():
    session = onnxruntime_keyway.session(FIXED_LAYER, "cpu:0", session_options=in_mode("ORT_PARALLEL"), graph=True)
    binding = bound(session, {"x": value(X, "cpu:0")}, {"y": value(LAYER_OF_X, "cpu:0")})
    with pytest.raises(Exception, match="cannot be captured: other threads than its own"):
        session.run_with_iobinding(binding)


@pytest.mark.skipif(VERSION >= (1, 26), reason="there are captures")
def test_captures_that_there_are_not_yet():
    with pytest.raises(Exception, match="the option 'graph' needs ONNX Runtime 1.26 or newer"):
        onnxruntime_keyway.session(LAYER, "cpu:0", graph=True)


def traced(device, folder, *arguments):
    """The events of ONNX Runtime's profile and of Keyway's trace of five runs of the layer."""
    script, trace = Path(__file__).parent / "traced.py", folder / "trace.json"
    environment = {**os.environ, "KEYWAY_TRACE": str(trace)}
    command = [sys.executable, script, device, str(folder), *arguments]
    child = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert child.returncode == 0, child.stdout + child.stderr
    profile = json.loads(Path(child.stdout.splitlines()[-1]).read_text())
    return profile, json.loads(trace.read_text())["traceEvents"]


@profiles
def test_profile_and_trace(device, tmp_path):
    """ONNX Runtime's profile says which ops and kernels of Keyway's its nodes were, Keyway's trace which nodes there were; both have
    the same events at the same times."""
    profile, trace = traced(device, tmp_path)
    nodes = {each["name"].removesuffix("_kernel_time") for each in profile if each.get("cat") == "Node"}
    ours = [each for each in profile if "begin_ns" in each.get("args", {})]
    assert {each["args"]["node"] for each in ours} == nodes
    kinds = Counter((each["args"]["node"], each["args"]["kind"]) for each in ours)
    assert all(kinds[name, kind] >= 5 for name in nodes for kind in ("op", "launch", "device")), kinds
    ranges = Counter(each["name"] for each in trace if each.get("cat") == "range")
    assert all(ranges[name] == 5 for name in nodes), ranges
    known = {(each["name"], each["cat"], round(each["ts"] * 1000)) for each in trace if each["ph"] == "X"}
    for each in ours:
        assert (each["name"], each["args"]["kind"], int(each["args"]["begin_ns"])) in known
    clocks = {each["ts"] - int(each["args"]["begin_ns"]) // 1000 for each in ours}
    assert max(clocks) - min(clocks) <= 1  # of microseconds that were rounded
    end = max(each["ts"] + each["dur"] for each in profile if each.get("cat") == "Node")
    assert all(-60e6 <= each["ts"] <= end + 60e6 for each in ours)  # they count from the profile's start, as its own


@profiles
def test_a_profile_beside_another_session(device, tmp_path):
    """What another session's nodes still do when the profile begins is none of it, though their numbers may be those of its own."""
    command = [sys.executable, Path(__file__).parent / "traced.py", device, str(tmp_path), "beside"]
    child = subprocess.run(command, capture_output=True, text=True)
    assert child.returncode == 0, child.stdout + child.stderr
    profile = json.loads(Path(child.stdout.splitlines()[-1]).read_text())
    kinds = Counter((each["name"], each["args"]["kind"]) for each in profile if "begin_ns" in each.get("args", {}))
    assert not any(name == "cos" for name, _ in kinds), kinds
    assert sum(kinds[name, "device"] for name, kind in kinds if kind == "device") == 200, kinds


@captures
def test_a_replay_is_no_work_of_the_host(device, tmp_path):
    """Three of five runs make the calls of the ops: two before the one that is recorded."""
    ops = []
    for arguments in ((), ("graph",)):
        folder = tmp_path / "-".join(("runs", *arguments))
        folder.mkdir()
        profile, _ = traced(device, folder, *arguments)
        ops.append(sum(each.get("args", {}).get("kind") == "op" for each in profile))
    assert ops[1] * 5 == ops[0] * 3, ops


def external_model(folder):
    """A model whose initialisers lie in a file beside it, its path, and how many bytes they have."""
    random = numpy.random.default_rng(1)
    weights = {name: random.standard_normal((64, 64)).astype("f4") for name in ("v", "w")}
    nodes = [node("MatMul", "x v", "a"), node("MatMul", "a w", "y")]
    made = onnx.load_from_string(model(nodes, {"x": (FLOAT, [2, 64])}, {"y": (FLOAT, [2, 64])}, weights))
    path = folder / "model.onnx"
    onnx.save(made, path, save_as_external_data=True, location="weights", size_threshold=0)
    return path, weights


def test_initialisers_in_a_file_are_mapped(device, tmp_path):
    """On a device that shares the host's memory none of their bytes is copied."""
    if not keyway.device(device).attribute("unified_memory"):
        pytest.skip(f"{device} has memory of its own")
    path, weights = external_model(tmp_path)
    before = copied(device)
    session = onnxruntime_keyway.session(str(path), device)
    assert copied(device) == before
    x = numpy.ones((2, 64), "f4")
    assert numpy.allclose(session.run(None, {"x": x})[0], x @ weights["v"] @ weights["w"], rtol=1e-3, atol=1e-3)
    maps = Path("/proc/self/maps").read_text()
    assert maps.count(str(tmp_path / "weights")) == 2
    del session
    keyway.device(device).trim_memory()
    assert str(tmp_path / "weights") not in Path("/proc/self/maps").read_text()


@pytest.mark.parametrize("before", [1, 4, 20, 32])
def test_initialisers_that_do_not_lie_well_are_copied(tmp_path, before):
    """Behind so many bytes in their file: elements, and what kernels load at once, would lie across their boundaries."""
    path, weights = external_model(tmp_path)
    file = tmp_path / "weights"
    file.write_bytes(b"!" * before + file.read_bytes())
    made = onnx.load(path, load_external_data=False)
    for each in made.graph.initializer:
        for entry in each.external_data:
            if entry.key == "offset":
                entry.value = str(int(entry.value) + before)
    path.write_bytes(made.SerializeToString())
    already = copied("cpu:0")
    session = onnxruntime_keyway.session(str(path), "cpu:0")
    assert copied("cpu:0")[0] - already[0] == sum(each.nbytes for each in weights.values())
    assert str(file) not in Path("/proc/self/maps").read_text()
    x = numpy.ones((2, 64), "f4")
    assert numpy.allclose(session.run(None, {"x": x})[0], x @ weights["v"] @ weights["w"], rtol=1e-3, atol=1e-3)


def test_initialisers_are_mapped_for_their_own_session(tmp_path):
    """Another thread that copies the same bytes meanwhile gets a copy, and the session its map."""
    path, weights = external_model(tmp_path)
    ends, wrong = threading.Event(), []

    def work():
        while not ends.is_set():
            try:
                value(weights["w"], "cpu:0").update_inplace(weights["w"])  # what is mapped is there to be read alone
            except Exception as error:
                wrong.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(30):
            session = onnxruntime_keyway.session(str(path), "cpu:0")
            if Path("/proc/self/maps").read_text().count(str(tmp_path / "weights")) != 2:
                wrong.append("not mapped")
            del session
            keyway.device("cpu:0").trim_memory()
    finally:
        ends.set()
        thread.join()
    assert not wrong


def grown_by_runs(rows, inside, outside):
    """Bytes of memory that each of three runs of a product with an initialiser takes and keeps, and how many that has."""
    random, here, grown = numpy.random.default_rng(2), keyway.device("cpu:0"), []
    weight = random.standard_normal((inside, outside)).astype("f4")
    shapes = {"x": (FLOAT, [rows, inside])}, {"y": (FLOAT, [rows, outside])}
    session = onnxruntime_keyway.session(model([node("MatMul", "x w", "y")], *shapes, {"w": weight}), "cpu:0")
    x, y = (value(numpy.ones((rows, n), "f4"), "cpu:0") for n in (inside, outside))
    binding = bound(session, {"x": x}, {"y": y})
    for _ in range(3):
        before = here.memory_stats().allocated
        session.run_with_iobinding(binding)
        grown.append(here.memory_stats().allocated - before)
    assert numpy.allclose(y.numpy(), numpy.ones((rows, inside), "f4") @ weight, rtol=1e-3, atol=1e-3)
    return grown, weight.nbytes


@pytest.mark.parametrize("shape", [(64, 512, 512), (6, 768, 520), (16, 100, 1000)])
def test_initialisers_are_packed_once(shape):
    """Memory that the first run of all takes for them, and no later one: in the order in which kernels read them best."""
    if grown_by_runs(64, 512, 512)[0][0] == 0:
        pytest.skip("cpu:0 has no kernel for this processor that packs")
    grown, size = grown_by_runs(*shape)
    assert grown[0] >= size and grown[1:] == [0, 0], grown


@pytest.mark.parametrize("handle", ["host", "fd"])
def test_memory_of_others(device, handle):
    command = [sys.executable, Path(__file__).parent / "external_memory.py", device, handle]
    child = subprocess.run(command, capture_output=True, text=True)
    takes = dict(line.split() for line in child.stdout.splitlines()[:3])
    assert takes == {"host": "True", "fd": str(device == "cpu:0"), "d3d12": "False"}, child.stdout + child.stderr
    if takes[handle] == "True":
        assert child.returncode == 0, child.stdout + child.stderr
        assert "too long: Keyway: a tensor that begins at byte" in child.stdout and "copied: 0 0" in child.stdout
    else:
        assert "refused: Keyway: an import of memory" in child.stderr


def test_a_hundred_runs_need_no_more_memory(device):
    session = onnxruntime_keyway.session(LAYER, device)
    here, held = keyway.device(device), []
    for i in range(100):
        session.run(None, {"x": X})
        if i in (9, 99):
            held.append((here.memory_stats().allocated, here.memory_stats().held))
    assert held[0] == held[1]


@MODES
def test_runs_in_several_threads(device, mode):
    session, wrong = onnxruntime_keyway.session(LAYER, device, session_options=in_mode(mode)), []

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
