# SPDX-License-Identifier: Apache-2.0
"""Whole models with made weights, of the nodes that PyTorch's exporter writes for them: an encoder as all-MiniLM-L6-v2, a decoder as
GPT-2 with its cache, ResNet-50."""

import numpy
import onnx
from onnx import TensorProto, helper


class Graph:
    """Collects nodes; every method returns the name of a value."""

    def __init__(self, seed=1):
        self.nodes, self.constants, self.random = [], [], numpy.random.default_rng(seed)

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(onnx.numpy_helper.from_array(numpy.asarray(array), name))
        return name

    def weight(self, *shape, scale=None):
        scale = scale if scale is not None else 1 / numpy.sqrt(numpy.prod(shape[1:]) if len(shape) > 2 else shape[0])
        return self.constant((self.random.standard_normal(shape) * scale).astype("f4"))

    def ints(self, *numbers):
        return self.constant(numpy.array(numbers, "i8"))

    def __call__(self, operator, *inputs, outputs=1, **attributes):
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(helper.make_node(operator, list(inputs), names, f"{operator}_{len(self.nodes)}", **attributes))
        return names[0] if outputs == 1 else names

    def model(self, inputs, outputs):
        for i, (name, (value, _, _)) in enumerate(outputs.items()):
            self.nodes.append(helper.make_node("Identity", [value], [name], f"out_{i}"))
        graph = helper.make_graph(
            self.nodes,
            "model",
            [helper.make_tensor_value_info(name, *each) for name, each in inputs.items()],
            [helper.make_tensor_value_info(name, *each[1:]) for name, each in outputs.items()],
            self.constants,
        )
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        return made.SerializeToString()

    def linear(self, x, inside, outside):
        return self("Add", self("MatMul", x, self.weight(inside, outside)), self.weight(outside, scale=0.1))

    def gelu(self, x):
        y = self("Erf", self("Div", x, self.constant(numpy.float32(2**0.5))))
        y = self("Mul", x, self("Add", y, self.constant(numpy.float32(1))))
        return self("Mul", y, self.constant(numpy.float32(0.5)))

    def norm(self, x, width):
        """A layer norm as opset 16 and before has it."""
        mean = self("ReduceMean", x, axes=[-1])
        centred = self("Sub", x, mean)
        variance = self("ReduceMean", self("Pow", centred, self.constant(numpy.float32(2))), axes=[-1])
        deviation = self("Sqrt", self("Add", variance, self.constant(numpy.float32(1e-5))))
        y = self("Mul", self("Div", centred, deviation), self.constant(numpy.ones(width, "f4")))
        return self("Add", y, self.weight(width, scale=0.1))

    def heads(self, x, count, width):
        return self("Transpose", self("Reshape", x, self.ints(0, 0, count, width // count)), perm=[0, 2, 1, 3])

    def attend(self, q, k, v, mask, width, count):
        scores = self("MatMul", q, self("Transpose", k, perm=[0, 1, 3, 2]))
        scores = self("Div", scores, self.constant(numpy.float32((width // count) ** 0.5)))
        y = self("MatMul", self("Softmax", self("Add", scores, mask), axis=-1), v)
        return self("Reshape", self("Transpose", y, perm=[0, 2, 1, 3]), self.ints(0, 0, width))


def encoder(layers=6, width=384, heads=12, vocabulary=3000, positions=128):
    g = Graph()
    length = g("Gather", g("Shape", "ids"), g.constant(numpy.array(1, "i8")), axis=0)
    places = g("Range", g.constant(numpy.array(0, "i8")), length, g.constant(numpy.array(1, "i8")))
    x = g("Gather", g.weight(vocabulary, width, scale=1), "ids")
    x = g.norm(g("Add", x, g("Gather", g.weight(positions, width, scale=0.1), places)), width)
    mask = g("Cast", g("Unsqueeze", g("Unsqueeze", "mask", g.ints(1)), g.ints(2)), to=TensorProto.FLOAT)
    mask = g("Mul", g("Sub", g.constant(numpy.float32(1)), mask), g.constant(numpy.float32(-1e9)))
    for _ in range(layers):
        q, k, v = (g.heads(g.linear(x, width, width), heads, width) for _ in range(3))
        x = g.norm(g("Add", x, g.linear(g.attend(q, k, v, mask, width, heads), width, width)), width)
        x = g.norm(g("Add", x, g.linear(g.gelu(g.linear(x, width, 4 * width)), 4 * width, width)), width)
    weights = g("Unsqueeze", g("Cast", "mask", to=TensorProto.FLOAT), g.ints(2))
    total = g("ReduceSum", g("Mul", x, weights), g.ints(1), keepdims=0)
    pooled = g("Div", total, g("ReduceSum", weights, g.ints(1), keepdims=0))
    size = g("Clip", g("ReduceL2", pooled, axes=[1]), g.constant(numpy.float32(1e-12)))
    inputs = {name: (TensorProto.INT64, ["batch", "length"]) for name in ("ids", "mask")}
    return g.model(inputs, {"embedding": (g("Div", pooled, size), TensorProto.FLOAT, ["batch", width])})


def decoder(layers=4, width=256, heads=8, vocabulary=2000, positions=64):
    """One step: ids [batch, n], and for each layer what it knows already, [2, batch, heads, past, width / heads]."""
    g = Graph()
    shape = [2, "batch", heads, "past", width // heads]
    inputs, outputs = {"ids": (TensorProto.INT64, ["batch", "n"])}, {}
    n = g("Gather", g("Shape", "ids"), g.constant(numpy.array(1, "i8")), axis=0)
    past = g("Gather", g("Shape", "past0"), g.constant(numpy.array(3, "i8")), axis=0)
    total, one, nothing = g("Add", past, n), g.constant(numpy.array(1, "i8")), g.constant(numpy.array(0, "i8"))
    table = g.weight(vocabulary, width, scale=1)
    x = g("Add", g("Gather", table, "ids"), g("Gather", g.weight(positions, width, scale=0.1), g("Range", past, total, one)))
    queries = g("Unsqueeze", g("Range", past, total, one), g.ints(1))
    seen = g("LessOrEqual", g("Unsqueeze", g("Range", nothing, total, one), g.ints(0)), queries)
    mask = g("Where", seen, g.constant(numpy.float32(0)), g.constant(numpy.float32(-1e9)))
    for i in range(layers):
        joined = g.linear(g.norm(x, width), width, 3 * width)
        q, k, v = (g.heads(each, heads, width) for each in g("Split", joined, g.ints(width, width, width), outputs=3, axis=-1))
        inputs[f"past{i}"] = (TensorProto.FLOAT, shape)
        before = [g("Squeeze", each, g.ints(0)) for each in g("Split", f"past{i}", g.ints(1, 1), outputs=2, axis=0)]
        k, v = g("Concat", before[0], k, axis=2), g("Concat", before[1], v, axis=2)
        present = g("Concat", g("Unsqueeze", k, g.ints(0)), g("Unsqueeze", v, g.ints(0)), axis=0)
        outputs[f"present{i}"] = (present, TensorProto.FLOAT, [*shape[:3], "total", shape[4]])
        x = g("Add", x, g.linear(g.attend(q, k, v, mask, width, heads), width, width))
        x = g("Add", x, g.linear(g.gelu(g.linear(g.norm(x, width), width, 4 * width)), 4 * width, width))
    logits = g("MatMul", g.norm(x, width), g("Transpose", table, perm=[1, 0]))
    return g.model(inputs, {"logits": (logits, TensorProto.FLOAT, ["batch", "n", vocabulary]), **outputs})


def resnet50():
    g = Graph()

    def convolution(x, inside, outside, size, stride=1, relu=True):
        weight = g.weight(outside, inside, size, size)
        x = g("Conv", x, weight, kernel_shape=[size] * 2, strides=[stride] * 2, pads=[size // 2] * 4)
        gamma, beta = g.constant(numpy.ones(outside, "f4")), g.weight(outside, scale=0.1)
        mean, variance = g.weight(outside, scale=0.1), g.constant(numpy.ones(outside, "f4"))
        x = g("BatchNormalization", x, gamma, beta, mean, variance)
        return g("Relu", x) if relu else x

    x = g("MaxPool", convolution("image", 3, 64, 7, 2), kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    inside = 64
    for stage, blocks in enumerate((3, 4, 6, 3)):
        width = 64 << stage
        for block in range(blocks):
            stride = 2 if block == 0 and stage > 0 else 1
            y = convolution(convolution(x, inside, width, 1), width, width, 3, stride)
            y = convolution(y, width, 4 * width, 1, relu=False)
            x = convolution(x, inside, 4 * width, 1, stride, relu=False) if block == 0 else x
            x, inside = g("Relu", g("Add", x, y)), 4 * width
    logits = g("Gemm", g("Flatten", g("GlobalAveragePool", x), axis=1), g.weight(1000, inside), g.weight(1000), transB=1)
    image = {"image": (TensorProto.FLOAT, ["batch", 3, "height", "width"])}
    return g.model(image, {"logits": (logits, TensorProto.FLOAT, ["batch", 1000])})
