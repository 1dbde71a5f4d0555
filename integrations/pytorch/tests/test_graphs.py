# SPDX-License-Identifier: Apache-2.0
"""Graphs: work that is recorded once and replayed, as torch.cuda has it."""

import copy
import threading

import pytest
import torch
import torch_keyway
from torch.nn import functional as F


@pytest.fixture
def graph(device):
    """An empty graph on the device, which is current."""
    with torch.keyway.device(device):
        yield torch.keyway.Graph()


def launches(device):
    return torch_keyway._C.counters(device.index).launches


def same(mine, expected):
    return torch.equal(mine.cpu(), expected.cpu())


def test_a_replay_reads_what_lies_there_and_calls_no_operator(device, graph):
    x, w = torch.randn(4, 8, device=device), torch.randn(8, 8, device=device)

    def f(x):
        return F.softmax((x @ w).relu() + 1, 1)

    with torch.keyway.graph(graph):
        assert torch.keyway.is_current_stream_capturing()
        before = launches(device)
        out = f(x)
        assert launches(device) == before  # nothing ran
    assert not torch.keyway.is_current_stream_capturing()
    for _ in range(3):
        new = torch.randn(4, 8, device=device)
        x.copy_(new)
        before = launches(device)
        with torch.profiler.profile() as profile:
            graph.replay()
        assert launches(device) > before and not [e.key for e in profile.key_averages() if e.key.startswith("aten::")]
        assert same(out, f(new))


def test_memory_of_a_graph_is_its_own(device, graph):
    """What was made and freed while it was recorded is no other tensor's, and each replay writes it again."""
    x = torch.ones(1000, device=device)
    with torch.keyway.graph(graph):
        y = x + 1
        y = y * 2  # the first y is gone
        z = torch.zeros(1000, device=device).add_(y)
    others = [torch.full((1000,), -1.0, device=device) for _ in range(20)]
    for number in (1.0, 5.0):
        x.fill_(number)
        graph.replay()
        assert same(z, torch.full((1000,), (number + 1) * 2))
        z.zero_()
    assert all(same(other, torch.full((1000,), -1.0)) for other in others)
    graph.reset()
    z.add_(3)
    assert same(z, torch.full((1000,), 3.0))  # results outlive the graph


def test_a_tensor_that_is_written_whole_keeps_its_memory(device, graph):
    """The result of an out= variant is copied where graphs read, not put in its place."""
    x, y = torch.ones(4, device=device), torch.zeros(4, device=device)
    with torch.keyway.graph(graph):
        torch.cumsum(x, 0, out=y)
        x.cumsum_(0)
    torch.cumsum(torch.full((4,), 2.0, device=device), 0, out=x)  # after the recording
    expected = torch.tensor([2.0, 4.0, 6.0, 8.0])
    for _ in range(2):
        expected = expected.cumsum(0)
        graph.replay()
        assert same(x, expected) and same(y, expected)


def test_random_numbers_go_on(device, graph):
    with torch.keyway.graph(graph):
        drawn = torch.rand(10, device=device)
    torch.manual_seed(3)
    expected = [torch.rand(10, device=device) for _ in range(3)]
    torch.manual_seed(3)
    for numbers in expected:
        graph.replay()
        assert same(drawn, numbers)


@pytest.mark.parametrize(
    "forbidden",
    [lambda x: x.sum().item(), lambda x: x.nonzero(), lambda x: x.cpu(), lambda x: x + torch.arange(4.0).to(x.device)],
)
def test_what_has_no_place_in_a_graph_is_an_error_and_nothing_more(device, graph, forbidden):
    x = torch.ones(4, device=device)
    with pytest.raises(RuntimeError, match="graph"):
        with torch.keyway.graph(graph):
            y = x + 1
            forbidden(y)
    assert not torch.keyway.is_current_stream_capturing()
    assert (x + 1).sum().item() == 8
    with torch.keyway.graph(graph):  # the same one again
        y = x + 2
    graph.replay()
    assert same(y, torch.full((4,), 3.0))


def test_the_order_of_calls_is_checked(device, graph):
    with pytest.raises(RuntimeError, match="not recorded yet"):
        graph.replay()
    with pytest.raises(RuntimeError, match="not being recorded"):
        graph.capture_end()
    with torch.keyway.graph(graph):
        with pytest.raises(RuntimeError, match="being recorded already"):
            graph.capture_begin()
    with pytest.raises(RuntimeError, match="call reset"):
        graph.capture_begin()
    graph.replay()  # nothing


def test_other_threads_go_on_while_one_records(device, graph):
    x = torch.ones(4, device=device)
    seen = []
    with torch.keyway.graph(graph):
        y = x + 1
        thread = threading.Thread(target=lambda: seen.append((x + 5).sum().item()))
        thread.start()
        thread.join()
        y = y * 2
    graph.replay()
    assert seen == [24.0] and same(y, torch.full((4,), 4.0))


def test_a_whole_step_of_training(device, graph):
    """Forward, backward and the optimizer in one graph."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 4)).to(device)
    plain = copy.deepcopy(model)
    batches = [torch.randn(5, 8, device=device) for _ in range(4)]
    x = batches[0].clone()
    optimizers = [torch.optim.AdamW(each.parameters(), lr=0.01, fused=True, capturable=True) for each in (model, plain)]

    def step(model, optimizer, x):
        optimizer.zero_grad(set_to_none=True)
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()
        return loss

    side = torch.Stream(device=device)
    torch.keyway.synchronize(device)
    with side:
        step(model, optimizers[0], x)
    torch.keyway.synchronize(device)
    step(plain, optimizers[1], x)
    with torch.keyway.graph(graph, stream=side):
        loss = step(model, optimizers[0], x)
    for batch in batches:
        x.copy_(batch)
        graph.replay()
        assert same(loss.detach(), step(plain, optimizers[1], batch).detach())
    for mine, expected in zip(model.parameters(), plain.parameters()):
        assert same(mine.detach(), expected.detach())


def test_graphed_callables(device):
    with torch.keyway.device(device):
        model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)).to(device)
        plain = copy.deepcopy(model)
        sample = torch.randn(3, 4, device=device, requires_grad=True)
        graphed = torch.keyway.make_graphed_callables(model, (sample,))
        double = torch.keyway.make_graphed_callables(lambda x: (x * 2, x.sum()), (torch.ones(3, device=device),))
        held = []
        for _ in range(3):
            batch = torch.randn(3, 4, device=device)
            mine, expected = batch.clone().requires_grad_(), batch.clone().requires_grad_()
            out = graphed(mine)
            held.append((out.detach(), plain(expected).detach()))
            out.square().sum().backward()
            plain(expected).square().sum().backward()
            assert same(mine.grad, expected.grad)
        for mine, expected in zip(model.parameters(), plain.parameters()):
            assert same(mine.grad, expected.grad)  # of three calls
        assert all(same(*pair) for pair in held)
        assert same(model.eval()(batch), plain.eval()(batch))  # as it was before
        twice, total = double(torch.full((3,), 4.0, device=device))
        assert same(twice, torch.full((3,), 8.0)) and total.item() == 12
        with pytest.raises(ValueError, match="recorded for"):
            double(torch.ones(4, device=device))


def test_pytorchs_own_name(device):
    x = torch.ones(3, device=device)
    with torch.keyway.device(device):
        graph = torch.accelerator.Graph()
        with torch.Stream(device=device), graph:
            y = x + 1
        graph.replay()
    assert same(y, torch.full((3,), 2.0))
