# SPDX-License-Identifier: Apache-2.0
"""torch.compile(backend="keyway"): the same bits as without, from recordings that call no operator."""

import copy
import threading
import warnings

import pytest
import torch
import torch_keyway
from torch import nn
from torch.nn import functional as F


@pytest.fixture(autouse=True)
def _fresh():
    torch._dynamo.reset()
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*operator by operator.*")
        yield
    torch._dynamo.reset()


def compiled(function):
    return torch.compile(function, backend="keyway", fullgraph=True)


def launches(device):
    return torch_keyway._C.counters(device.index).launches


def is_replayed(call):
    """Whether a call reaches the device without an operator."""
    with torch.profiler.profile() as profile:
        call()
    return not any(event.key.startswith("aten::") for event in profile.key_averages())


def assert_same(mine, expected):
    """Bit for bit. Not for gradients of sum() of products: the gradient that comes in is expanded and lies in order in a
    graph, and cpu's products of the two may round otherwise."""
    for one, other in zip(torch.utils._pytree.tree_leaves(mine), torch.utils._pytree.tree_leaves(expected), strict=True):
        assert (one.shape, one.dtype, one.stride()) == (other.shape, other.dtype, other.stride())
        assert torch.equal(one.cpu(), other.cpu())


class Block(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.first, self.second = nn.Linear(width, width), nn.Linear(width, width)

    def forward(self, x):
        for _ in range(5):
            x = x + self.second(F.gelu(self.first(self.norm(x))) * 0.5)
        return x


def test_thirty_ops_without_gradients(device):
    """No operator is called in a replay, and what the device runs beside them are the copies of the input and the result."""
    model = Block().to(device)
    fast = compiled(model)
    with torch.no_grad():
        held = []
        for _ in range(4):
            x = torch.randn(3, 16, device=device)
            held.append((fast(x), model(x)))
        for pair in held:
            assert_same(*pair)  # results of earlier calls stay as they are
        before = launches(device)
        model(x)
        eager = launches(device) - before
        assert eager >= 30 and is_replayed(lambda: fast(x))
        before = launches(device)
        fast(x)
        assert launches(device) - before == eager + 2
        before = held[0][0].clone()
        held[0][0].add_(1)  # is a tensor of its own
        fast(x)
        assert_same(held[0][0], before + 1)


def test_training(device):
    model = Block().to(device)
    plain = copy.deepcopy(model)
    fast = compiled(model)
    optimizers = [torch.optim.AdamW(each.parameters(), lr=0.01) for each in (model, plain)]
    for step in range(6):
        x = torch.randn(3, 16, device=device)
        losses = []
        for call, optimizer in zip((fast, plain), optimizers):
            optimizer.zero_grad()
            losses.append(call(x).square().mean())
            losses[-1].backward()
            optimizer.step()
        assert_same(*losses)
        assert_same(list(model.parameters()), list(plain.parameters()))
    assert is_replayed(lambda: fast(x)), "the forward"
    out = fast(x)
    seed = torch.ones_like(out)
    parameters = list(model.parameters())
    assert is_replayed(lambda: torch.autograd.grad(out, parameters, seed)), "the backward"


def test_several_forwards_before_their_backwards(device):
    """What is kept for a backward moves away before the next forward writes there."""
    model = Block().to(device)
    fast = compiled(model)
    parameters = list(model.parameters())
    for _ in range(3):
        batches = [torch.randn(3, 16, device=device) for _ in range(3)]
        outs = [fast(x) for x in batches]
        for out, x in zip(outs, batches):
            assert_same(torch.autograd.grad(out.square().sum(), parameters, retain_graph=True),
                        torch.autograd.grad(model(x).square().sum(), parameters))
        again = torch.autograd.grad(outs[1].square().sum(), parameters)
        assert_same(again, torch.autograd.grad(model(batches[1]).square().sum(), parameters))


@pytest.mark.parametrize("training", [True, False])
def test_buffers(device, training):
    model = nn.Sequential(nn.Conv2d(2, 4, 3), nn.BatchNorm2d(4), nn.ReLU()).to(device).train(training)
    plain = copy.deepcopy(model)
    fast = compiled(model)
    for with_gradients in (True, False):
        for _ in range(4):
            x = torch.randn(2, 2, 6, 6, device=device)
            with torch.set_grad_enabled(with_gradients):
                mine, expected = fast(x), plain(x)
            assert_same(mine, expected)
            if with_gradients:
                assert_same(torch.autograd.grad(mine.square().sum(), list(model.parameters())),
                            torch.autograd.grad(expected.square().sum(), list(plain.parameters())))
            assert_same(list(model.buffers()), list(plain.buffers()))
    assert model[1].num_batches_tracked.item() == (8 if training else 0)


def test_inputs_that_change(device):
    def f(x, y):
        x.mul_(2).add_(y)
        y[0] = 7
        return x.sum(), x

    fast = compiled(f)
    for _ in range(4):
        x, y = torch.randn(3, 4, device=device), torch.randn(3, 4, device=device)
        others = x.clone(), y.clone()
        version = x._version
        mine = fast(x, y)
        assert_same(mine, f(*others))
        assert_same((x, y), others)
        assert mine[1] is x and x._version > version


def test_views_and_inputs_as_results(device):
    def f(x, y):
        z = x + y
        return z.t(), z[1:], x[0], y, x.view(-1)

    fast = compiled(f)
    for _ in range(4):
        x, y = torch.randn(3, 4, device=device), torch.randn(3, 4, device=device)
        mine, expected = fast(x, y), f(x, y)
        assert_same(mine, expected)
        mine[0].zero_()  # of one memory with the next
        assert mine[1].abs().sum().item() == 0
        mine[2].zero_()
        assert x[0].abs().sum().item() == 0


def test_strides_of_inputs(device):
    def f(x):
        return (x * 2).sum(0), x.exp()

    fast = compiled(f)
    whole = torch.randn(8, 6, device=device)
    for x in (whole.t(), whole[:, ::2], whole[:1].expand(4, 6), whole[2:5, 1:4], torch.empty(0, 3, device=device)):
        for _ in range(3):
            assert_same(fast(x), f(x))


def test_random_numbers(device):
    def f(x):
        return F.dropout(x, 0.5) + torch.rand_like(x)

    fast = torch.compile(f, backend="keyway")
    x = torch.ones(50, device=device, requires_grad=True)
    torch.manual_seed(1)
    expected = [f(x) for _ in range(4)]
    torch.manual_seed(1)
    mine = [fast(x) for _ in range(4)]
    assert_same(mine, expected)
    assert_same(torch.autograd.grad(mine[3].sum(), x), torch.autograd.grad(expected[3].sum(), x))


@pytest.mark.parametrize("lower", [torch.float16, torch.bfloat16])
def test_autocast(device, lower):
    """AOTAutograd adds up a weight's gradients in other places than autograd."""
    model = Block().to(device)
    fast, traced = compiled(model), torch.compile(model, backend="aot_eager")
    parameters = list(model.parameters())
    for _ in range(4):
        x = torch.randn(3, 16, device=device)
        with torch.autocast("keyway", dtype=lower):
            mine, expected, as_traced = fast(x), model(x), traced(x)
        assert_same(mine, expected)
        assert_same(torch.autograd.grad(mine.sum(), parameters), torch.autograd.grad(as_traced.sum(), parameters))


def test_inference_mode(device):
    model = Block().to(device)
    fast = compiled(model)
    with torch.inference_mode():
        for _ in range(3):
            x = torch.randn(3, 16, device=device)
            assert_same(fast(x), model(x))
        assert fast(x).is_inference()
    assert_same(fast(x.clone()), model(x.clone()))


def test_threads(device):
    """All have their own results, whoever runs in between."""
    model = Block().to(device)
    fast = compiled(model)
    parameters = list(model.parameters())
    for _ in range(3):
        fast(torch.randn(3, 16, device=device)).sum().backward()
    problems = []

    def work(seed):
        try:
            generator = torch.Generator(device).manual_seed(seed)
            for _ in range(10):
                x = torch.randn(3, 16, device=device, generator=generator)
                mine, expected = fast(x), model(x)
                assert_same(mine, expected)
                assert_same(torch.autograd.grad(mine.square().sum(), parameters),
                            torch.autograd.grad(expected.square().sum(), parameters))
        except BaseException as problem:
            problems.append(problem)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []


def test_streams(device):
    model = Block().to(device)
    fast = compiled(model)
    torch.keyway.synchronize(device)
    with torch.no_grad():
        for _ in range(3):
            for stream in (torch.Stream(device=device), torch.keyway.default_stream(device)):
                with stream:
                    x = torch.randn(3, 16, device=device)
                    mine, expected = fast(x), model(x)
                stream.synchronize()
                assert_same(mine, expected)


def test_parameters_that_move(device):
    model = Block().to(device)
    fast = compiled(model)
    x = torch.randn(3, 16, device=device)
    with torch.no_grad():
        for _ in range(3):
            fast(x)
        for _ in range(3):
            model.first.weight.data = torch.randn(16, 16, device=device)
            torch.randn(16, 16, device=device)
            torch.mm(model.first.weight, model.first.weight, out=model.second.weight.data)
            for _ in range(2):
                assert_same(fast(x), model(x))


def test_shapes(device):
    """A recording for each, made when it comes for the second time."""
    model = Block().to(device)
    fast = compiled(model)
    with torch.no_grad():
        for _ in range(3):
            for rows in (2, 3, 5, 7):
                x = torch.randn(rows, 16, device=device)
                assert_same(fast(x), model(x))
        assert all(is_replayed(lambda: fast(torch.empty(0, device=device).set_(x[:rows]))) or rows for rows in (2, 7))


def test_too_many_shapes_are_not_recorded(device, monkeypatch):
    monkeypatch.setattr("torch_keyway.compile._MOST", 2)
    fast = torch.compile(lambda x: x.exp() + 1, backend="keyway", dynamic=True)
    with pytest.warns(UserWarning, match="recorded for 2 sets of shapes already"):
        for _ in range(3):
            for size in (2, 3, 4, 5):
                x = torch.randn(size, device=device)
                assert_same(fast(x), x.exp() + 1)


def test_precision_is_that_of_the_call(device):
    x = torch.randn(8, 8, device=device)
    fast = compiled(lambda x: x @ x)
    try:
        for precision in ("highest", "high", "medium", "high"):
            torch.set_float32_matmul_precision(precision)
            for _ in range(3):
                assert_same(fast(x), x @ x)
    finally:
        torch.set_float32_matmul_precision("highest")
        x @ x


@pytest.mark.parametrize(
    "reason, f",
    [
        ("on the CPU", lambda x: (x + 1).cpu() * 2),
        ("graph", lambda x: x.masked_select(x > 0) + 1),
    ],
)
def test_what_cannot_be_recorded_runs_by_operators(device, reason, f):
    torch._dynamo.config.capture_dynamic_output_shape_ops = True
    fast = torch.compile(f, backend="keyway")
    try:
        with pytest.warns(UserWarning, match=reason) as said:
            for _ in range(4):
                x = torch.randn(9, device=device)
                assert_same(fast(x), f(x))
        assert len(said) == 1
    finally:
        torch._dynamo.config.capture_dynamic_output_shape_ops = False


def test_a_number_that_is_read_breaks_the_function_in_two(device):
    def f(x):
        return (x + 1) if x.sum().item() > 0 else (x - 1)

    fast = torch.compile(f, backend="keyway")
    for number in (1.0, -1.0, 2.0, -2.0, 3.0):
        x = torch.full((3,), number, device=device)
        assert_same(fast(x), f(x))


def test_numbers_of_the_cpu(device):
    """Constants become part of a recording; inputs do not."""
    fast = compiled(lambda x: torch.where(x > 0, x, torch.tensor(0.5)) * torch.tensor(2.0))
    for _ in range(3):
        x = torch.randn(5, device=device)
        assert_same(fast(x), torch.where(x > 0, x, torch.tensor(0.5)) * 2)
    with pytest.warns(UserWarning, match="on the CPU"):
        scale = torch.compile(lambda x, y: x * y, backend="keyway")
        for number in (1.0, 2.0, 3.0):
            assert_same(scale(x, torch.tensor(number)), x * number)


@pytest.mark.skipif(torch.__version__ < (2, 15), reason="looks the device up elsewhere first: KeyError")
def test_inductor_says_what_to_use(device):
    x = torch.randn(3, device=device)
    with pytest.raises(Exception, match='no code generator for .keyway.*backend="keyway"'):
        torch.compile(lambda x: x + 1)(x)
    assert_same(torch.compile(lambda x: x + 1, backend="keyway")(x), x + 1)
