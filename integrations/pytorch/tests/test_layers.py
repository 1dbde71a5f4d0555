# SPDX-License-Identifier: Apache-2.0
"""Layers and losses, forward and backward, beside PyTorch's CPU: those that need more than the operators of the op set, and
the samples that PyTorch tests its own modules with."""

import copy
import math

import pytest
import torch
from conftest import DEVICES
from torch import nn
from torch.nn import functional as F
from torch.testing._internal.common_modules import module_db
from torch.utils._pytree import tree_leaves, tree_map


def placed(value, device):
    """A copy: a tensor with a gradient of its own, a module, or what has such in it."""
    if isinstance(value, nn.Module):
        return copy.deepcopy(value).to(device)
    return value.detach().to(device, copy=True).requires_grad_(value.requires_grad) if torch.is_tensor(value) else value


def tensors(value):
    return [leaf for leaf in tree_leaves(value) if torch.is_tensor(leaf)]


def outcome(function, arguments, device):
    """What comes out, and the gradients of all that goes in, as tensors on the CPU. `function` is a module or is given those
    that it uses as arguments."""
    arguments = tree_map(lambda value: placed(value, device), arguments)
    out = tensors(function(*arguments))
    assert all(t.device.type == device.type for t in out if t.numel() > 0)
    if losses := [t.square().sum() for t in out if t.requires_grad]:
        sum(losses).backward()
    modules = [value for value in tree_leaves(arguments) if isinstance(value, nn.Module)]
    learning = tensors(arguments) + [p for module in modules for p in module.parameters()]
    return [t.cpu() for t in out + [t.grad for t in learning if t.requires_grad and t.grad is not None]]


def close(there, here):
    """By the largest number of a tensor: sums of many terms round."""
    for mine, expected in zip(there, here, strict=True):
        largest = expected.abs().max().item() if expected.is_floating_point() and expected.numel() else 1
        atol = 1e-4 * max(1, largest) if math.isfinite(largest) else 1e-4
        torch.testing.assert_close(mine, expected, rtol=1e-4, atol=atol, equal_nan=True)


def same(device, function, *arguments):
    close(outcome(function, arguments, device), outcome(function, arguments, torch.device("cpu")))


def apply(module, *arguments):
    return module(*arguments)


# ---- Recurrent layers -------------------------------------------------------------------------------------------------

RECURRENT = [
    nn.LSTM(5, 4),
    nn.LSTM(5, 4, num_layers=2, batch_first=True, bidirectional=True),
    nn.LSTM(5, 4, bias=False, proj_size=3),
    nn.GRU(5, 4),
    nn.GRU(5, 4, num_layers=2, batch_first=True, bidirectional=True),
    nn.GRU(5, 4, bias=False),
    nn.RNN(5, 4, num_layers=2),
    nn.RNN(5, 4, nonlinearity="relu", bidirectional=True),
]


@pytest.mark.parametrize("layer", RECURRENT, ids=str)
def test_recurrent_layers(device, layer):
    x = torch.randn(6, 3, 5, requires_grad=True)
    same(device, apply, layer, x)
    same(device, apply, layer, x[:, 0])  # without a batch


def from_states(layer, x, *states):
    out, last = layer(x, states if len(states) > 1 else states[0])
    return last if len(states) > 1 else (out, last)  # of an LSTM what comes out is left alone: some gradients are absent


@pytest.mark.parametrize("layer, count", [(nn.LSTM(5, 4), 2), (nn.GRU(5, 4), 1)])
def test_recurrent_layers_begin_with_states(device, layer, count):
    states = [torch.randn(1, 3, 4, requires_grad=True) for _ in range(count)]
    same(device, from_states, layer, torch.randn(6, 3, 5, requires_grad=True), *states)
    same(device, lambda *a: from_states(*a)[-1], layer, torch.randn(6, 3, 5), *states)


def packed(layer, x, sort):
    lengths = torch.tensor([2, 6, 3])  # on the CPU, as PyTorch wants them
    sequences = nn.utils.rnn.pack_padded_sequence(x, lengths.sort(descending=True)[0] if sort else lengths,
                                                  enforce_sorted=sort)
    out, last = layer(sequences)
    return nn.utils.rnn.pad_packed_sequence(out)[0], last


@pytest.mark.parametrize("sort", [True, False])
@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_sequences_of_different_lengths(device, kind, sort):
    same(device, packed, kind(5, 4, num_layers=2, bidirectional=True), torch.randn(6, 3, 5, requires_grad=True), sort)


CELLS = [nn.LSTMCell(5, 4), nn.GRUCell(5, 4), nn.RNNCell(5, 4), nn.LSTMCell(5, 4, bias=False)]


@pytest.mark.parametrize("cell", CELLS, ids=str)
def test_cells(device, cell):
    x, h, c = (torch.randn(3, size, requires_grad=True) for size in (5, 4, 4))
    same(device, lambda cell, x, h, c: cell(x, (h, c) if isinstance(cell, nn.LSTMCell) else h), cell, x, h, c)


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_dropout_between_recurrent_layers(device, kind):
    """It draws its own numbers on the device: all or nothing can be compared, and in between the mask of the gradient."""
    x = torch.randn(6, 3, 5, requires_grad=True)
    same(device, apply, kind(5, 4, num_layers=2, dropout=1.0), x)
    same(device, apply, kind(5, 4, num_layers=2, dropout=0.5).eval(), x)
    layer = kind(5, 64, num_layers=2, dropout=0.5).to(device)
    torch.manual_seed(0)
    first = layer(x.to(device))[0]
    again = layer(x.to(device))[0]
    torch.manual_seed(0)
    assert torch.equal(layer(x.to(device))[0], first) and not torch.equal(again, first)


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_recurrent_layers_have_second_derivatives(device, kind):
    def second(layer, x):
        grad, = torch.autograd.grad(layer(x)[0].square().sum(), x, create_graph=True)
        return grad

    same(device, second, kind(5, 4), torch.randn(6, 3, 5, requires_grad=True))


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_recurrent_layers_under_autocast(device, kind):
    layer, x = kind(5, 4).to(device), torch.randn(6, 3, 5, device=device)
    expected = layer(x)[0]
    with torch.autocast("keyway", dtype=torch.bfloat16):
        out = layer(x)[0]
        out.float().square().sum().backward()
    torch.testing.assert_close(out.float(), expected, rtol=0.05, atol=0.05)
    assert layer.weight_ih_l0.grad.dtype == torch.float32


# ---- Attention without gradients, where PyTorch asks for a layer as one operator ----------------------------------------

PADDED = torch.tensor([[False] * 5, [False] * 3 + [True] * 2])
CAUSAL = torch.triu(torch.ones(5, 5, dtype=torch.bool), 1)
MASKS = {"none": (None, None), "causal": (CAUSAL, None), "padded": (None, PADDED), "padded in front": (None, PADDED.flip(1)),
         "both": (CAUSAL, PADDED), "numbers": (torch.zeros(5, 5).masked_fill(CAUSAL, float("-inf")), None)}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("norm_first", [False, True])
@torch.no_grad()
@pytest.mark.filterwarnings("ignore::UserWarning")  # of PyTorch, about prototypes and speed
def test_encoders_only_evaluated(device, mask, norm_first):
    layer = nn.TransformerEncoderLayer(16, 4, 32, batch_first=True, norm_first=norm_first, activation="gelu")
    encoder, x = nn.TransformerEncoder(layer, 2).eval(), torch.randn(2, 5, 16)
    by_all, by_keys = MASKS[mask]

    def seen(encoder, x, by_all, by_keys):
        out = encoder(x, by_all, by_keys)
        return out if by_keys is None else out.masked_fill(by_keys.unsqueeze(-1), 0)

    same(device, seen, encoder, x, by_all, by_keys)


@pytest.mark.parametrize("mask", ["none", "padded", "both"])
@pytest.mark.parametrize("how", [{}, {"average_attn_weights": False}, {"need_weights": False}], ids=str)
@torch.no_grad()
def test_attention_only_evaluated(device, mask, how):
    by_all, by_keys = MASKS[mask]
    same(device, lambda attention, x, by_all, by_keys: attention(x, x, x, by_keys, attn_mask=by_all, **how),
         nn.MultiheadAttention(16, 4, batch_first=True).eval(), torch.randn(2, 5, 16), by_all, by_keys)


# ---- Losses that PyTorch makes of no other operators --------------------------------------------------------------------


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize("joined", [False, True])
def test_ctc_loss(device, reduction, joined):
    """Repeated labels, one that is longer than its input, one without labels, one without an input."""
    x = torch.randn(7, 5, 4, requires_grad=True)
    inputs, lengths = (7, 5, 2, 7, 0), (3, 2, 4, 0, 0)
    targets = torch.tensor([[1, 1, 2, 0], [3, 2, 0, 0], [1, 2, 3, 1], [0] * 4, [0] * 4])
    if joined:
        targets = torch.cat([row[:length] for row, length in zip(targets, lengths)])
    same(device, lambda x, targets: F.ctc_loss(x.log_softmax(2), targets, inputs, lengths, reduction=reduction,
                                               zero_infinity=True), x, targets)
    same(device, lambda x, targets: F.ctc_loss(x.log_softmax(2), targets, inputs, lengths, reduction="none").isinf(),
         x, targets)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_margin_losses(device, reduction):
    x, target = torch.randn(4, 6, requires_grad=True), torch.tensor([1, 0, 5, 2])
    for options in ({"p": 1}, {"p": 2, "margin": 0.3}, {"weight": torch.rand(6)}):
        same(device, lambda x, target, weight: F.multi_margin_loss(
            x, target, **(options | ({} if weight is None else {"weight": weight})), reduction=reduction),
            x, target, options.get("weight"))
    labels = torch.tensor([[1, 3, -1, 2, 0, 0], [-1] * 6, [0, 1, 2, 3, 4, 5], [5, 5, -1, -1, -1, -1]])
    multilabel = lambda x, labels: F.multilabel_margin_loss(x, labels, reduction=reduction)
    same(device, multilabel, x, labels)
    same(device, multilabel, torch.randn(6, requires_grad=True), labels[0])
    same(device, multilabel, torch.randn((), requires_grad=True), torch.tensor(0))


# ---- Functions that models use beside their layers ----------------------------------------------------------------------


@pytest.mark.parametrize("p", [0.5, 1.0, 1.5, 2.0, 3.0, math.inf])
def test_distances(device, p):
    x, y = torch.randn(2, 3, 4, requires_grad=True), torch.randn(2, 5, 4, requires_grad=True)
    same(device, lambda x, y: torch.cdist(x, y, p), x, y)
    same(device, lambda x, y: torch.cdist(x, y, p), x, x[:, :2])  # some are 0


def test_repetitions(device):
    x = torch.tensor([3, 0, 3, 5])
    for call in (torch.repeat_interleave, lambda x: torch.repeat_interleave(x[:0]),
                 lambda x: torch.arange(8.0, device=x.device).view(4, 2).repeat_interleave(x, 0),
                 lambda x: torch.repeat_interleave(x, x, output_size=11)):
        same(device, call, x)


# ---- What PyTorch's own samples do not have ---------------------------------------------------------------------------

IMAGES = torch.randn(2, 4, 6, 6, requires_grad=True)
LAYERS = {
    "embedding bags by offsets": (lambda bag, x: bag(x, torch.tensor([0, 2, 2, 5], device=x.device)),
                                  nn.EmbeddingBag(9, 3, mode="mean"), torch.arange(8)),
    "embedding bags, the largest": (apply, nn.EmbeddingBag(9, 3, mode="max"), torch.arange(8).view(2, 4)),
    "embedding bags, frozen": (apply, nn.EmbeddingBag(9, 3, mode="sum").requires_grad_(False), torch.arange(8).view(2, 4)),
    "embedding bags, weighted": (lambda bag, x, w: bag(x, per_sample_weights=w), nn.EmbeddingBag(9, 3, mode="sum"),
                                 torch.arange(8).view(2, 4), torch.randn(2, 4, requires_grad=True)),
    "embedding bags, by how often and without padding": (
        apply, nn.EmbeddingBag(9, 3, mode="mean", scale_grad_by_freq=True, padding_idx=2),
        torch.tensor([[2, 1, 1], [5, 2, 1]])),
    "embedding bags, with a sparse gradient": (
        lambda bag, x: torch.autograd.grad(bag(x).square().sum(), bag.weight)[0].to_dense(),
        nn.EmbeddingBag(9, 3, mode="mean", sparse=True), torch.tensor([[2, 1, 1], [5, 2, 1]])),
    "one-dimensional convolution, padded in a circle": (apply, nn.Conv1d(4, 6, 3, padding=1, padding_mode="circular"),
                                                        torch.randn(2, 4, 9, requires_grad=True)),
    "PixelShuffle": (apply, nn.PixelShuffle(2), IMAGES),
    "PixelUnshuffle": (apply, nn.PixelUnshuffle(2), IMAGES),
    "ChannelShuffle": (apply, nn.ChannelShuffle(2), IMAGES),
    "Unfold": (apply, nn.Unfold(3, padding=1, stride=2), IMAGES),
    "Fold": (apply, nn.Fold((5, 5), 2), torch.randn(2, 12, 16, requires_grad=True)),
    "MaxUnpool2d": (lambda x: F.max_unpool2d(*F.max_pool2d(x, 2, return_indices=True), 2), IMAGES),
    "CosineSimilarity": (apply, nn.CosineSimilarity(), IMAGES, torch.randn(2, 4, 6, 6, requires_grad=True)),
    "PairwiseDistance": (apply, nn.PairwiseDistance(), *(torch.randn(3, 5, requires_grad=True) for _ in range(2))),
    "TripletMarginLoss": (apply, nn.TripletMarginLoss(), *(torch.randn(3, 5, requires_grad=True) for _ in range(3))),
    "AdaptiveLogSoftmaxWithLoss": (lambda *a: apply(*a).loss, nn.AdaptiveLogSoftmaxWithLoss(8, 12, [3, 6]),
                                   torch.randn(5, 8, requires_grad=True), torch.tensor([0, 11, 4, 7, 2])),
    "CrossMapLRN2d": (apply, nn.CrossMapLRN2d(3), IMAGES),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers(device, name):
    same(device, *LAYERS[name])


MODES = {"nearest": (1, 2, 3), "nearest-exact": (1, 2, 3), "linear": (1,), "bilinear": (2,), "trilinear": (3,), "bicubic": (2,)}


@pytest.mark.parametrize("mode, dims", [(mode, dims) for mode in MODES for dims in MODES[mode]])
def test_upsampling(device, mode, dims):
    x = torch.randn(2, 3, *(4, 6, 5)[:dims], requires_grad=True)
    ways = [{"scale_factor": 2}, {"scale_factor": 1.7}, {"size": (7, 3, 5)[:dims]}]
    if "nearest" not in mode:
        ways += [ways[2] | {"align_corners": True}, ways[1] | {"recompute_scale_factor": True}]
    if mode in ("bilinear", "bicubic"):
        ways += [{"size": (3, 4), "antialias": True}, {"scale_factor": 0.4, "antialias": True}]
    for way in ways:
        same(device, lambda x: F.interpolate(x, mode=mode, **way), x)


# ---- PyTorch's own samples of its modules -----------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("info", module_db, ids=lambda info: info.name)
@pytest.mark.filterwarnings("ignore")
def test_pytorchs_samples(info):
    """On the reference device alone: of OpenCL every sample is another kernel to build."""
    for training in (True, False):
        for sample in info.module_inputs_func(info, "cpu", torch.float32, requires_grad=True, training=training):
            module = info.module_cls(*sample.constructor_input.args, **sample.constructor_input.kwargs).train(training)
            if any(isinstance(p, nn.UninitializedParameter) for p in module.parameters()):
                with torch.no_grad():
                    module(*sample.forward_input.args, **sample.forward_input.kwargs)
            what = (module, sample.forward_input.args, sample.forward_input.kwargs)
            how = lambda module, args, kwargs: module(*args, **kwargs)
            try:
                here = outcome(how, what, torch.device("cpu"))
            except RuntimeError as error:
                assert "_random_samples" in str(error)  # of f64 in all samples of FractionalMaxPool, and f32 is asked for
                continue
            close(outcome(how, what, DEVICES["cpu"]), here)
