# SPDX-License-Identifier: Apache-2.0
"""Processes beside the one that uses devices: workers of a DataLoader, and what a forked child may not do."""

import multiprocessing
import traceback

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


@pytest.mark.parametrize("way, pinned", [("fork", False), ("fork", True), ("spawn", False)])
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
