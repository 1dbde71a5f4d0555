# SPDX-License-Identifier: Apache-2.0
"""Whole models on a device, every node of them, beside ONNX Runtime's CPU."""

import keyway
import models
import numpy
import onnxruntime
import onnxruntime_keyway
import pytest

# Of the largest output: what two ways of summing f32 in some 50 layers may differ by.
BOUND = 1e-3


def beside_the_cpu(model, device, inputs):
    ours = onnxruntime_keyway.session(model, device)
    assert {each.device for each in ours.placement} == {device}
    theirs = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    for each in inputs:
        for got, wanted in zip(ours.run(None, each), theirs.run(None, each)):
            assert got.shape == wanted.shape
            assert numpy.abs(got - wanted).max() <= BOUND * numpy.abs(wanted).max()
    return ours


def sentences(random, batch, length):
    mask = (numpy.arange(length) < random.integers(1, length + 1, (batch, 1))).astype("i8")
    return {"ids": random.integers(0, 3000, (batch, length)), "mask": mask}


def test_encoder(device):
    random = numpy.random.default_rng(7)
    session = beside_the_cpu(models.encoder(), device, [sentences(random, 2, 9), sentences(random, 4, 17)])
    one, here, held = sentences(random, 2, 9), keyway.device(device), []
    for i in range(30):
        session.run(None, one)
        if i in (9, 29):
            held.append(here.memory_stats().held)
    assert held[0] == held[1]


@pytest.fixture(scope="module")
def a_decoder():
    return models.decoder()


def test_decoder_step_by_step(a_decoder, device):
    """What is known already goes out of one step and into the next; steps of one token give what one step of all does."""
    session = onnxruntime_keyway.session(a_decoder, device)
    ids = numpy.random.default_rng(3).integers(0, 2000, (1, 6))
    none = {f"past{i}": numpy.zeros((2, 1, 8, 0, 32), "f4") for i in range(4)}
    beside_the_cpu(a_decoder, device, [{"ids": ids, **none}])
    whole, past, single = session.run(["logits"], {"ids": ids, **none})[0], none, []
    for t in range(ids.shape[1]):
        logits, *present = session.run(None, {"ids": ids[:, t : t + 1], **past})
        past = {f"past{i}": each for i, each in enumerate(present)}
        single.append(logits)
    assert numpy.abs(numpy.concatenate(single, 1) - whole).max() <= BOUND * numpy.abs(whole).max()


def test_resnet50(device):
    image = numpy.random.default_rng(5).standard_normal((1, 3, 96, 96)).astype("f4")
    beside_the_cpu(models.resnet50(), device, [{"image": image}])
