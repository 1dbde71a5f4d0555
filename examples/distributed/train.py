# SPDX-License-Identifier: Apache-2.0
"""A small transformer, trained by several processes on Keyway devices and, in each of them, by one alone for comparison.

    torchrun --nproc-per-node 2 train.py ddp|fsdp|tp [--device KEY] [--steps N]

KEY is what torch_keyway.register takes: "cpu", "opencl". A process takes the device of its local rank, in turns where
there are fewer. Ends with an error unless the gradients of the first step are within 1e-6 of their norm of those of one
process, and each loss within 1e-5 of its own.
"""

import argparse
import os

import torch
import torch.distributed as dist
import torch_keyway
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.distributed.tensor import DTensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

WORDS, LENGTH, WIDTH, HEADS, LAYERS, BATCH = 64, 16, 32, 4, 2, 8


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def forward(self, x):
        q, k, v = (
            layer(x).unflatten(-1, (-1, WIDTH // HEADS)).transpose(1, 2) for layer in (self.query, self.key, self.value)
        )  # with as many heads as this process has
        return self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention, self.up, self.down = Attention(), nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.before_attention, self.before_up = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, x):
        x = x + self.attention(self.before_attention(x))
        return x + self.down(F.gelu(self.up(self.before_up(x))))


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, WIDTH), nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, WORDS)

    def forward(self, words):
        x = self.words(words) + self.places.weight
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def ddp(model, _):
    return DistributedDataParallel(model, device_ids=[torch.accelerator.current_device_index()])


def fsdp(model, mesh):
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    return fully_shard(model, mesh=mesh)


def tp(model, mesh):
    for block in model.blocks:
        parallelize_module(
            block,
            mesh,
            {
                "attention.query": ColwiseParallel(),
                "attention.key": ColwiseParallel(),
                "attention.value": ColwiseParallel(),
                "attention.out": RowwiseParallel(),
                "up": ColwiseParallel(),
                "down": RowwiseParallel(),
            },
        )
    return model


def whole(tensor):
    return (tensor.full_tensor() if isinstance(tensor, DTensor) else tensor).detach().cpu()


def train(model, batches, steps, mean):
    """The gradients of the first step, by name, and the losses."""
    # not foreach: with tensor parallelism some parameters are DTensors and some are not
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, foreach=False)
    gradients, losses = {}, []
    while len(losses) < steps:
        for (words,) in batches:
            loss = F.cross_entropy(model(words[:, :-1]).flatten(0, 1), words[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            if not losses:
                gradients = {
                    name.removeprefix("module."): whole(parameter.grad) for name, parameter in model.named_parameters()
                }
            optimizer.step()
            losses.append(mean(loss.detach()))
    return gradients, torch.tensor(losses[:steps])


def compare(way, device, steps):
    """How far the gradients of the first step are from one process', by their norm, the losses by their own, and the losses."""
    size = dist.get_world_size()
    torch.manual_seed(0)
    words = torch.randint(WORDS, (4 * BATCH, LENGTH + 1))
    words[:, 1::2] = words[:, ::2][:, :-1]  # something to learn
    data = TensorDataset(words.to(device))
    model, alone = Transformer(), Transformer()
    alone.load_state_dict(model.state_dict())
    expected, expected_losses = train(alone.to(device), DataLoader(data, BATCH), steps, torch.Tensor.item)

    def mean(loss):
        dist.all_reduce(loss, dist.ReduceOp.AVG)
        return loss.item()

    # With tensor parallelism every process sees all of the data, otherwise its share of each batch.
    share = BATCH if way is tp else BATCH // size
    batches = DataLoader(data, share, sampler=None if way is tp else DistributedSampler(data, shuffle=False))
    mesh = init_device_mesh(device.type, (size,))
    gradients, losses = train(way(model.to(device), mesh), batches, steps, mean)
    there, here = (torch.cat([all[name].flatten() for name in expected]) for all in (expected, gradients))
    off = (here - there).norm() / there.norm()
    losses_off = ((losses - expected_losses) / expected_losses).abs().max()
    return off.item(), losses_off.item(), losses


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("way", choices=["ddp", "fsdp", "tp"])
    parser.add_argument("--device", default="cpu", metavar="KEY")
    parser.add_argument("--steps", type=int, default=20)
    arguments = parser.parse_args()

    torch_keyway.register(arguments.device)
    torch.accelerator.set_device_index(int(os.environ["LOCAL_RANK"]) % torch.accelerator.device_count())
    dist.init_process_group()
    device = torch.device(torch.accelerator.current_accelerator().type, torch.accelerator.current_device_index())
    off, losses_off, losses = compare({"ddp": ddp, "fsdp": fsdp, "tp": tp}[arguments.way], device, arguments.steps)
    if dist.get_rank() == 0:
        print(f"{arguments.way}, {dist.get_world_size()} process(es), {torch_keyway.keyway_name(device)}: "
              f"losses {losses[0]:.4f} to {losses[-1]:.4f}; beside one process alone the gradients are {off:.1e} of their "
              f"norm apart and the losses {losses_off:.1e}")
    dist.destroy_process_group()
    if off > 1e-6 or losses_off > 1e-5:
        raise SystemExit("that is more than rounding: gradients may differ by 1e-6 of their norm, losses by 1e-5")


if __name__ == "__main__":
    main()
