# SPDX-License-Identifier: Apache-2.0
"""Every test runs with the CPU as a substitute off, unless it is about that: a node that no Keyway device takes is a failure.

    pytest integrations/onnxruntime/tests [--vendor-npu PLUGIN] [--exported FOLDER]
"""

import keyway
import numpy
import onnx
import onnxruntime
import onnxruntime_keyway
import pytest
from onnx import TensorProto, helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


# The devices' infos as providers found them: one that is opened is asked again, and PoCL's memory is what the system has free.
listed = {}


def pytest_addoption(parser):
    parser.addoption("--vendor-npu", metavar="PLUGIN", help="the example vendor's plugin; without it its tests are left out")
    parser.addoption("--exported", metavar="FOLDER", help="of models that export.py wrote; without it their tests are left out")


def pytest_configure(config):
    plugin = config.getoption("--vendor-npu")
    if plugin is not None:
        keyway.load_plugin(plugin)
    listed.update((each.name, each) for each in keyway.devices())
    onnxruntime_keyway.register()


def pytest_report_header():
    return f"onnxruntime {onnxruntime.__version__}, onnx {onnx.__version__}, keyway {keyway.__version__}"


@pytest.fixture(params=["cpu:0", "opencl:0"])
def device(request):
    if request.param not in map(onnxruntime_keyway.name_of, onnxruntime_keyway.devices()):
        pytest.skip(f"{request.param} is not here")
    return request.param


def model(nodes, inputs, outputs, constants=(), opset=17):
    """The bytes of a model: inputs and outputs are {name: (type, shape)}, constants {name: array}."""
    named = [[helper.make_tensor_value_info(name, *each) for name, each in values.items()] for values in (inputs, outputs)]
    initializers = [onnx.numpy_helper.from_array(numpy.asarray(array), name) for name, array in dict(constants).items()]
    graph = helper.make_graph(nodes, "test", *named, initializers)
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    onnx.checker.check_model(made)
    return made.SerializeToString()


def node(operator, inputs, outputs, **attributes):
    return helper.make_node(operator, inputs.split(), outputs.split(), **attributes)
