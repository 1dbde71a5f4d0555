# SPDX-License-Identifier: Apache-2.0
"""Processes beside the one that uses devices: workers of a DataLoader, and what a forked child may not do."""

import multiprocessing
import subprocess
import sys
import traceback
from multiprocessing.reduction import ForkingPickler

import pytest
import torch
import torch_keyway
from torch.utils.data import DataLoader, Dataset


class Squares(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        return torch.tensor(float(i)) ** 2


class Noise(Squares):
    def __getitem__(self, i):
        return torch.rand(())


@pytest.mark.parametrize("way, pinned", [("fork", False), ("fork", True), ("spawn", True), ("forkserver", False)])
def test_workers_of_a_dataloader(device, way, pinned):
    """The parent uses the device before and meanwhile."""
    weight = torch.ones(4, device=device) + 1
    loader = DataLoader(Squares(), batch_size=4, num_workers=2, multiprocessing_context=way, pin_memory=pinned)
    batches = [(batch.to(device) * weight).cpu() for batch in loader]
    assert torch.equal(torch.cat(batches), 2 * torch.arange(8.0) ** 2)


def test_forked_workers_have_seeds_of_their_own(device):
    torch.ones(1, device=device)
    loader = DataLoader(Noise(), num_workers=2, multiprocessing_context="fork")
    assert len({x.item() for x in loader}) == 8


def add_up(given, answers):
    """In a process of its own: what it is given, and one more in place; then it says so."""
    try:
        tensors = given.get()
        answers.put([(t.tolist(), t.dtype, t.requires_grad, type(t), t.device) for t in tensors])
        for t in tensors:
            t.detach().add_(1)
        torch.keyway.synchronize()
    except BaseException:
        answers.put(traceback.format_exc())


def test_tensors_of_the_device_are_shared_with_other_processes():
    device = torch_keyway.register("cpu")
    x = torch.arange(12.0, device=device).reshape(3, 4)
    weight = torch.nn.Parameter(torch.ones(3, dtype=torch.bfloat16, device=device))
    row = x[1]  # of memory that moves when it is sent
    context = torch.multiprocessing.get_context("spawn")
    given, answers = context.SimpleQueue(), context.SimpleQueue()
    child = context.Process(target=add_up, args=(given, answers))
    child.start()
    given.put([x, x.t()[1:], weight])
    child.join(60)
    assert answers.get() == [
        ([[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11]], torch.float32, False, torch.Tensor, device),
        ([[1, 5, 9], [2, 6, 10], [3, 7, 11]], torch.float32, False, torch.Tensor, device),
        ([1, 1, 1], torch.bfloat16, True, torch.nn.Parameter, device),
    ]
    expected = torch.arange(12.0).reshape(3, 4) + 1
    expected[:, 1:] += 1
    assert torch.equal(x.cpu(), expected) and torch.equal(row.cpu(), expected[1]) and weight.tolist() == [2, 2, 2]


def send_on(given, answers):
    try:
        x = given.get()
        answers.put([x])
        given.get()
        x.fill_(9)
        torch.accelerator.synchronize(x.device)
        answers.put("done")
        given.get()
    except BaseException:
        answers.put(traceback.format_exc())


def test_what_was_received_and_sent_on_is_the_first_owners():
    device = torch_keyway.register("cpu")
    x = torch.zeros(3, device=device)
    context = torch.multiprocessing.get_context("spawn")
    given, answers = context.SimpleQueue(), context.SimpleQueue()
    child = context.Process(target=send_on, args=(given, answers))
    child.start()
    given.put(x)
    again, = answers.get()
    given.put(None)
    assert answers.get() == "done" and again.tolist() == x.tolist() == [9, 9, 9]
    given.put(None)
    child.join(60)


def test_what_cannot_be_shared_is_a_clear_error():
    opencl = torch_keyway.register("opencl")
    pickle = ForkingPickler.dumps
    with pytest.raises(NotImplementedError, match=r"keyway:1 \(opencl:0\) has no memory that other processes can use.*cpu\(\)"):
        pickle(torch.ones(2, device=opencl))
    x = torch.ones(2, device="keyway:0", requires_grad=True)
    with pytest.raises(RuntimeError, match="send its detach"):
        pickle(x * 2)
    sent = pickle(torch.ones(2, device="keyway:0"))  # and gone before anyone has taken it
    with pytest.raises(RuntimeError):
        ForkingPickler.loads(sent)


def test_memory_that_a_graph_has_does_not_move():
    code = """
import torch, torch_keyway
from multiprocessing.reduction import ForkingPickler
device = torch_keyway.register("cpu")
x, early = torch.ones(2, device=device), torch.ones(2, device=device)
ForkingPickler.dumps(early)
graph = torch.keyway.Graph()
with torch.keyway.graph(graph):
    y = x + early
try:
    ForkingPickler.dumps(x)
except RuntimeError as error:
    print(error)
ForkingPickler.dumps(early)
early.fill_(4)
graph.replay()
print(y.tolist())
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert run.stdout.splitlines()[1:] == ["[5.0, 5.0]"] and "there is a graph" in run.stdout, run.stderr


def in_a_forked_child(function):
    """What `function` returns there, or the text of what it raises."""
    context = multiprocessing.get_context("fork")
    answers = context.SimpleQueue()

    def run():
        try:
            answers.put(function())
        except BaseException:
            answers.put(traceback.format_exc())

    child = context.Process(target=run)
    child.start()
    child.join(60)
    assert child.exitcode == 0
    return answers.get()


def test_devices_in_a_forked_child_are_a_clear_error(device):
    x = torch.ones(2, device=device)
    for use in (lambda: torch.ones(2, device=device), lambda: x + x, lambda: x.cpu(), lambda: torch.ones(2).to(device),
                lambda: torch.rand(2, device=device), lambda: torch.keyway.manual_seed_all(1),
                lambda: torch.Stream(device=device), lambda: torch_keyway.register("cpu")):
        text = in_a_forked_child(use)
        assert "RuntimeError" in text and "fork" in text and "spawn" in text
    assert torch.equal((x + x).cpu(), torch.full((2,), 2.0))


def test_a_forked_child_seeds_and_computes_on_the_cpu(device):
    torch.ones(2, device=device)

    def seeded():
        torch.manual_seed(7)
        return torch.keyway._is_in_bad_fork(), torch.keyway.is_initialized(), torch.rand(3).tolist()

    bad, initialized, numbers = in_a_forked_child(seeded)
    torch.manual_seed(7)
    assert bad and not initialized and numbers == torch.rand(3).tolist()
    assert not torch.keyway._is_in_bad_fork() and torch.keyway.is_initialized()
