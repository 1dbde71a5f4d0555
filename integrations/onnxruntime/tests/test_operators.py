# SPDX-License-Identifier: Apache-2.0
"""Operators whose mapping ONNX's backend tests do not go through in all its ways, beside NumPy or ONNX Runtime's CPU."""

import numpy
import onnxruntime
import onnxruntime_keyway
import pytest
from conftest import FLOAT, INT64, model, node


def beside_the_cpu(made, device, feeds, bound=1e-5):
    session = onnxruntime_keyway.session(made, device)
    theirs = onnxruntime.InferenceSession(made, providers=["CPUExecutionProvider"]).run(None, feeds)
    for got, wanted in zip(session.run(None, feeds), theirs):
        assert got.shape == wanted.shape and got.dtype == wanted.dtype
        assert numpy.allclose(got, wanted, rtol=bound, atol=bound)


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
    beside_the_cpu(made, device, {"x": x, **({} if known else sizes)})


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
