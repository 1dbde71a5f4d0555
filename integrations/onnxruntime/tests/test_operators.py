# SPDX-License-Identifier: Apache-2.0
"""Operators whose mapping ONNX's backend tests do not go through in all its ways, beside NumPy or ONNX Runtime's CPU."""

import re

import keyway
import numpy
import onnx
import onnxruntime
import onnxruntime_keyway
import pytest
from conftest import FLOAT, INT64, model, node
from onnx import helper


def beside_the_cpu(made, device, feeds, bound=1e-5):
    session = onnxruntime_keyway.session(made, device)
    theirs = onnxruntime.InferenceSession(made, providers=["CPUExecutionProvider"]).run(None, feeds)
    for got, wanted in zip(session.run(None, feeds), theirs):
        assert got.shape == wanted.shape and got.dtype == wanted.dtype
        assert numpy.allclose(got, wanted, rtol=bound, atol=bound)


def folded(x, image, block):
    """Columns [2, 3 * block, places] put back into an image with pads of 1: by NumPy, since ONNX Runtime 1.24 does it for two
    dimensions alone."""
    whole = numpy.zeros((2, 3, *(size + 2 for size in image)), "f4")
    columns = x.reshape(2, 3, *block, *(size + 2 - each + 1 for size, each in zip(image, block)))
    for place in numpy.ndindex(*block):
        part = tuple(slice(first, first + size + 2 - each + 1) for first, size, each in zip(place, image, block))
        whole[(slice(None), slice(None), *part)] += columns[(slice(None), slice(None), *place)]
    return whole[(slice(None), slice(None), *(slice(1, -1) for _ in image))]


@pytest.mark.parametrize("known", [True, False], ids=["known", "when it runs"])
@pytest.mark.parametrize("image, block", [([9], [3]), ([5, 4], [2, 3]), ([4, 5, 3], [2, 2, 3]), ([3, 4, 3, 2], [2, 1, 3, 2])])
def test_columns_of_any_dimensions(device, known, image, block):
    """Sizes that are only there when it runs may be of more dimensions than two: what is taken has to run then, too."""
    dims = len(image)
    sizes = {"image": numpy.array(image), "block": numpy.array(block)}
    places = numpy.prod([size + 2 - each + 1 for size, each in zip(image, block)])
    x = numpy.random.default_rng(1).standard_normal((2, 3 * numpy.prod(block), places)).astype("f4")
    made = model(
        [node("Col2Im", "x image block", "y", pads=[1] * 2 * dims)],
        {"x": (FLOAT, [2, "rows", "places"]), **({} if known else {name: (INT64, [dims]) for name in sizes})},
        {"y": (FLOAT, [2, None, *[None] * dims])},
        sizes if known else {},
        opset=18,
    )
    got = onnxruntime_keyway.session(made, device).run(None, {"x": x, **({} if known else sizes)})[0]
    assert numpy.allclose(got, folded(x, image, block), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "equation, shapes",
    [
        ("ij,jk->ik", [(2, 3), (3, 4)]),
        ("ij,kj", [(2, 3), (4, 3)]),
        ("bij, bjk -> bik", [(5, 2, 3), (5, 3, 4)]),
        ("...ij,...jk->...ik", [(5, 1, 2, 3), (1, 4, 3, 2)]),
        ("b...,b...->b...", [(3, 4, 2), (3, 4, 2)]),
        ("...ii->...i", [(2, 3, 3)]),
        ("ii", [(4, 4)]),
        ("ji", [(2, 3)]),
        ("i,j,k->kji", [(2,), (3,), (4,)]),
        ("bhqd,bhkd->bhqk", [(2, 3, 4, 5), (2, 3, 6, 5)]),
        ("ab,bc,cd->ad", [(2, 3), (3, 4), (4, 5)]),
        ("ab,cd->", [(2, 3), (4, 5)]),
        (",i->i", [(), (3,)]),
    ],
)
def test_einsum(device, equation, shapes):
    random = numpy.random.default_rng(2)
    operands = {f"x{i}": random.standard_normal(shape).astype("f4") for i, shape in enumerate(shapes)}
    wanted = numpy.einsum(equation, *operands.values())
    made = model(
        [node("Einsum", " ".join(operands), "y", equation=equation)],
        {name: (FLOAT, each.shape) for name, each in operands.items()},
        {"y": (FLOAT, wanted.shape)},
    )
    got = onnxruntime_keyway.session(made, device).run(None, operands)[0]
    assert got.shape == wanted.shape and numpy.allclose(got, wanted, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("operator", ["Div", "Mod", "Greater", "LessOrEqual", "Max", "Min", "BitShift"])
def test_numbers_of_64_bits_without_a_sign(device, operator):
    from onnx import TensorProto

    random, top = numpy.random.default_rng(3), 2**64
    x = numpy.array([0, 1, 5, top - 1, top // 2, top // 2 - 1, *random.integers(0, top - 1, 20, "u8", True)], "u8")
    y = numpy.array([1, 3, top - 1, 2, top // 2, top // 2 + 5, *random.integers(1, top - 1, 20, "u8", True)], "u8")
    x, y = numpy.repeat(x, len(y)), numpy.tile(y, len(x))
    if operator == "BitShift":
        y %= 64
    kind = TensorProto.BOOL if operator in ("Greater", "LessOrEqual") else TensorProto.UINT64
    attributes = {"direction": "RIGHT"} if operator == "BitShift" else {}
    inputs = {name: (TensorProto.UINT64, [len(x)]) for name in "xy"}
    made = model([node(operator, "x y", "z", **attributes)], inputs, {"z": (kind, [len(x)])})
    numbers = {
        "Div": numpy.floor_divide, "Mod": numpy.remainder, "Greater": numpy.greater, "LessOrEqual": numpy.less_equal,
        "Max": numpy.maximum, "Min": numpy.minimum, "BitShift": numpy.right_shift,
    }  # fmt: skip
    assert numpy.array_equal(onnxruntime_keyway.session(made, device).run(None, {"x": x, "y": y})[0], numbers[operator](x, y))


@pytest.mark.parametrize(
    "a, b",
    [
        ((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (1, 1, 4, 5)), ((3, 4), (1, 1, 4, 5)), ((4,), (4, 5)), ((2, 3, 4), (4,)),
        ((2, 0, 4), (4, 5)), ((2, 3, 4), (4, 0)), ((2, 3, 0), (0, 5)), ((5, 1, 3, 4), (2, 4, 5)), ((3, 4), (2, 4, 5)), ((4,), (4,)),
    ],
)  # fmt: skip
def test_products_of_stacks(device, a, b):
    """One matrix for all of a stack is multiplied once, where it lies: nothing is copied for it but what goes in and out."""
    random = numpy.random.default_rng(4)
    x, y = random.standard_normal(a).astype("f4"), random.standard_normal(b).astype("f4")
    wanted = x @ y
    made = model([node("MatMul", "x y", "z")], {"x": (FLOAT, a), "y": (FLOAT, b)}, {"z": (FLOAT, wanted.shape)})
    session, before = onnxruntime_keyway.session(made, device), keyway.device(device).counters().launches
    got = session.run(None, {"x": x, "y": y})[0]
    assert got.shape == wanted.shape and numpy.allclose(got, wanted, rtol=1e-5, atol=1e-5)
    if len(a) > 1 and numpy.prod(b[:-2]) == 1 and len(b) > 1 and x.size and y.size:
        assert keyway.device(device).counters().launches - before == 1


@pytest.mark.parametrize("pad", ["NOTSET", "SAME_UPPER", "SAME_LOWER"])
@pytest.mark.parametrize("more", [0, 1])
@pytest.mark.parametrize("size", [60, 61, 62, 63])
def test_transposed_convolutions_of_a_size(device, pad, more, size):
    """Which end loses more where what is too much is odd."""
    attributes = {"strides": [4], "output_shape": [size], "auto_pad": pad, **({"output_padding": [more]} if more else {})}
    made = model(
        [node("ConvTranspose", "x w", "y", **attributes)],
        {"x": (FLOAT, [1, 1, 16])},
        {"y": (FLOAT, [1, 1, size])},
        {"w": numpy.arange(1, 5, dtype="f4").reshape(1, 1, 4)},
    )
    beside_the_cpu(made, device, {"x": numpy.arange(16, dtype="f4").reshape(1, 1, 16)})


def test_a_region_half_way_between_elements(device):
    """By the last bit of floats, of which ONNX Runtime's region is."""
    x = numpy.arange(1, 17, dtype="f4").reshape(1, 1, 4, 4)
    made = model(
        [node("Resize", "x roi none sizes", "y", coordinate_transformation_mode="tf_crop_and_resize", axes=[2, 3])],
        {"x": (FLOAT, [1, 1, 4, 4])},
        {"y": (FLOAT, [1, 1, 3, 3])},
        {"roi": numpy.array([0.4, 0.6, 0.6, 0.8], "f4"), "none": numpy.zeros(0, "f4"), "sizes": numpy.array([3, 3])},
        opset=19,
    )
    beside_the_cpu(made, device, {"x": x})


def test_shapes_of_what_stays_where_it_lies(device):
    """Between other nodes what only gets another shape is not copied; at the model's ends it is."""
    nodes = [
        node("Exp", "x", "a"), node("Reshape", "a s", "b"), node("Unsqueeze", "b one", "c"), node("Squeeze", "c one", "d"),
        node("Flatten", "d", "e", axis=0), node("Neg", "e", "y"), node("Reshape", "x s", "z"),
    ]  # fmt: skip
    constants = {"s": numpy.array([4, 3]), "one": numpy.array([1])}
    made = model(nodes, {"x": (FLOAT, [2, 6])}, {"y": (FLOAT, [1, 12]), "z": (FLOAT, [4, 3])}, constants)
    x, here = numpy.arange(12, dtype="f4").reshape(2, 6) / 9, keyway.device(device)
    session = onnxruntime_keyway.session(made, device)
    before = here.counters().launches
    y, z = session.run(None, {"x": x})
    assert here.counters().launches - before <= 3 and numpy.array_equal(z, x.reshape(4, 3))
    assert numpy.allclose(y, -numpy.exp(x).reshape(1, 12), rtol=1e-5)


def open_sizes(rank, name):
    return [f"{name}{d}" for d in range(rank)]


@pytest.mark.parametrize(
    "nodes, weights, shape",
    [
        ([node("Conv", "x w", "y", pads=[1] * 4)], {"w": (8, 3, 3, 3)}, (2, 3, 5, 6)),
        ([node("Gemm", "x w", "y", transB=1)], {"w": (5, 3)}, (2, 3)),
        ([node("LayerNormalization", "x w", "y")], {"w": (7,)}, (2, 4, 7)),
        ([node("PRelu", "x w", "y")], {"w": (3, 1, 1)}, (2, 3, 4, 5)),
        ([node("InstanceNormalization", "x w w", "y")], {"w": (3,)}, (2, 3, 4, 5)),
    ],
    ids=["Conv", "Gemm", "LayerNormalization", "PRelu", "InstanceNormalization"],
)
def test_sizes_that_only_a_weight_tells(device, nodes, weights, shape):
    random = numpy.random.default_rng(6)
    constants = {name: random.standard_normal(each).astype("f4") for name, each in weights.items()}
    inputs = {"x": (FLOAT, open_sizes(len(shape), "x"))}
    made = model(nodes, inputs, {"y": (FLOAT, open_sizes(len(shape), "y"))}, constants)
    beside_the_cpu(made, device, {"x": random.standard_normal(shape).astype("f4")}, 1e-4)


def unranked(operator, inputs, constants=(), opset=17, **attributes):
    """A model of one node of which not even the ranks of inputs are known: {name: type}; or (type, shape)."""
    made = helper.make_node(operator, [*inputs, *dict(constants)], ["y"], **attributes)
    infos = {name: each if isinstance(each, tuple) else (each, None) for name, each in inputs.items()}
    named = [helper.make_tensor_value_info(name, *each) for name, each in infos.items()]
    initializers = [onnx.numpy_helper.from_array(array, name) for name, array in dict(constants).items()]
    graph = helper.make_graph([made], "test", named, [onnx.ValueInfoProto(name="y")], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8).SerializeToString()


def test_ranks_that_are_not_known(device):
    """What runs whatever they are is taken."""
    x = numpy.arange(6, dtype="f4").reshape(1, 2, 3) - 2
    beside_the_cpu(unranked("Relu", {"x": FLOAT}), device, {"x": x})
    for shape in ((3,), (3, 4), (1, 3, 2)):
        beside_the_cpu(unranked("MatMul", {"a": FLOAT, "b": FLOAT}), device, {"a": x, "b": numpy.ones(shape, "f4")})
    beside_the_cpu(unranked("Trilu", {"x": FLOAT}), device, {"x": x})
    with pytest.raises(Exception, match="Gemm: the rank of an input is not known, and of rank 3: "):
        onnxruntime_keyway.session(unranked("Gemm", {"a": FLOAT, "b": FLOAT}, transA=1), device)


RANK = 16  # that Keyway has


@pytest.mark.parametrize(
    "made, what",
    [
        (model([node("Relu", "x", "y")], {"x": (FLOAT, [1] * 17)}, {"y": (FLOAT, [1] * 17)}), "input 0 has rank 17"),
        (
            model(
                [node("OneHot", "places depth numbers", "y")],
                {"places": (INT64, [1] * RANK)},
                {"y": (FLOAT, [1] * RANK + [4])},
                {"depth": numpy.array(4), "numbers": numpy.array([0, 1], "f4")},
            ),
            "rank 17",
        ),
        (
            model(
                [node("Unsqueeze", "x axes", "y")],
                {"x": (FLOAT, [1] * RANK)},
                {"y": (FLOAT, [1] * (RANK + 1))},
                {"axes": numpy.array([0])},
            ),
            "rank 17",
        ),
        (
            model([node("Trilu", "x k", "y")], {"x": (FLOAT, [3, 3])}, {"y": (FLOAT, [3, 3])}, {"k": numpy.ones([1] * 40, "i8")}),
            "input 1 has rank 40",
        ),
    ],
    ids=["an input", "one more", "one more that is named", "a number on the host"],
)
def test_ranks_beyond_those_of_keyway(device, made, what):
    """Are refused, and nothing is read or written behind the arrays that hold shapes."""
    with pytest.raises(Exception, match=re.escape(what)):
        onnxruntime_keyway.session(made, device)


def test_a_number_of_a_rank_beyond_those_of_keyway(device):
    """That only shows when it is read, on the host."""
    made = unranked("Trilu", {"x": (FLOAT, [3, 3]), "k": INT64})
    got = onnxruntime_keyway.session(made, device).run(None, {"x": numpy.ones((3, 3), "f4"), "k": numpy.ones([1] * 40, "i8")})[0]
    assert numpy.array_equal(got, numpy.triu(numpy.ones((3, 3)), 1))


def test_columns_of_more_dimensions_than_there_are_guesses(device):
    """Sizes that are not known before the model runs, of eight dimensions of space."""
    sizes = {"image": numpy.full(8, 2), "block": numpy.full(8, 1)}
    x = numpy.arange(256, dtype="f4").reshape(1, 1, 256)
    inputs = {"x": (FLOAT, [1, 1, 256]), **{name: (INT64, [8]) for name in sizes}}
    made = model([node("Col2Im", "x image block", "y")], inputs, {"y": (FLOAT, [1, None, *[None] * 8])}, opset=18)
    got = onnxruntime_keyway.session(made, device).run(None, {"x": x, **sizes})[0]
    assert numpy.array_equal(got, x.reshape(1, 1, *[2] * 8))


def test_places_under_pads_that_depend_on_unknown_sizes(device):
    """The node is not taken, where a run of it could fail: of 4 x 4 nothing is padded, of 5 x 5 one side is."""
    pool = node("MaxPool", "x", "y places", kernel_shape=[2, 2], strides=[2, 2], auto_pad="SAME_LOWER")
    outputs = {"y": (FLOAT, [1, 1, None, None]), "places": (INT64, [1, 1, None, None])}
    made = model([pool], {"x": (FLOAT, [1, 1, None, None])}, outputs)
    with pytest.raises(Exception, match="sizes that are guessed"):
        onnxruntime_keyway.session(made, device)
    known = model([pool], {"x": (FLOAT, [1, 1, 4, 4])}, {name: (kind, [1, 1, 2, 2]) for name, (kind, _) in outputs.items()})
    x = numpy.arange(16, dtype="f4").reshape(1, 1, 4, 4)
    assert onnxruntime_keyway.session(known, device).run(["places"], {"x": x})[0].tolist() == [[[[5, 7], [13, 15]]]]


def test_pads_that_are_not_known(request):
    """The example vendor's device has nothing that pads by places: the node is not taken, where a run of it would fail."""
    if request.config.getoption("--vendor-npu") is None:
        pytest.skip("--vendor-npu says where its plugin is")
    made = model([node("Pad", "x pads", "y", mode="edge")], {"x": (FLOAT, [3, 4]), "pads": (INT64, [4])}, {"y": (FLOAT, [None, None])})
    with pytest.raises(Exception, match="Pad"):
        onnxruntime_keyway.session(made, "npu:0")
