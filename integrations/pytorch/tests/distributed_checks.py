# SPDX-License-Identifier: Apache-2.0
"""One process of a group, for test_distributed.py: every check below on every device, in order.

    distributed_checks.py RANK SIZE FOLDER

FOLDER holds the store that the processes meet by, and takes RANK.json: what went wrong, by "CHECK DEVICE", None for nothing.
The first check that fails is the last one: the ranks are no longer in step.
"""

import copy
import ctypes
import functools
import json
import operator
import sys
import threading
import traceback
from datetime import timedelta
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
import torch.distributed.checkpoint
import torch_keyway
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel

sys.path.append(str(Path(__file__).parents[3] / "examples/distributed"))
import train  # noqa: E402

NAMES = ["cpu", "opencl"]
CHECKS = []
Op = dist.ReduceOp
rank, size, folder = 0, 1, None  # of this process
hosts, both = None, None  # the group of gloo, and one for tensors of either


def check(function):
    CHECKS.append(function)
    return function


def numbers(dtype, *shape, of=None):
    """Small ones, others for each rank, of which sums are exact."""
    generator = torch.Generator().manual_seed(rank if of is None else of)
    drawn = torch.randint(0, 5, shape, generator=generator)
    return drawn > 2 if dtype == torch.bool else drawn.to(dtype)


def same(device, collective, *tensors):
    """Whether `collective`, a function of a group and tensors that returns tensors, does on the device what gloo does."""
    there = collective(None, *(t.to(device) for t in tensors))
    here = collective(hosts, *(t.clone() for t in tensors))
    assert len(there) == len(here)
    for mine, wanted in zip(there, here):
        assert mine.device == device and torch.equal(mine.cpu(), wanted), (mine, wanted)


def raises(error, text, function):
    try:
        function()
    except error as raised:
        assert text in str(raised), raised
    else:
        raise AssertionError(f"no error that says {text!r}")


BY_GLOO = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.uint8, torch.int8, torch.int32, torch.int64]
OTHERS = [torch.int16, torch.float8_e4m3fn, torch.float8_e5m2]
OPS = [Op.SUM, Op.PRODUCT, Op.MIN, Op.MAX]


@check
def all_reduce(device):
    for dtype in BY_GLOO:
        integral = not dtype.is_floating_point
        for op in OPS + ([Op.BAND, Op.BOR, Op.BXOR] if integral else [Op.AVG]):
            same(device, lambda group, x: (dist.all_reduce(x, op, group), [x])[1], numbers(dtype, 3, 5))
    for dtype in OTHERS:  # gloo does not have them
        for op, function in zip(OPS, (operator.add, operator.mul, torch.minimum, torch.maximum)):
            x = numbers(dtype, 7).to(device)
            dist.all_reduce(x, op)
            wanted = functools.reduce(function, (numbers(torch.float32, 7, of=i) for i in range(size)))
            assert torch.equal(x.cpu().float(), wanted.to(dtype).float()), (x, wanted)
    x = numbers(torch.int32, 9).to(device)
    dist.all_reduce(x, Op.AVG)
    assert torch.equal(x.cpu(), sum(numbers(torch.int32, 9, of=i) for i in range(size)) // size)
    for op, function in ((Op.SUM, operator.or_), (Op.PRODUCT, operator.and_), (Op.BOR, operator.or_), (Op.BAND, operator.and_),
                         (Op.BXOR, operator.xor), (Op.MAX, operator.or_), (Op.MIN, operator.and_)):
        x = numbers(torch.bool, 9).to(device)
        dist.all_reduce(x, op)
        assert torch.equal(x.cpu(), functools.reduce(function, (numbers(torch.bool, 9, of=i) for i in range(size))))
    for dtype in (torch.complex64, torch.complex128):
        same(device, lambda group, x: (dist.all_reduce(x, Op.SUM, group), [x])[1], numbers(dtype, 4))
    for factor in (0.5, torch.tensor(2.0, device=device)):
        x = numbers(torch.float32, 9).to(device)
        dist.all_reduce(x, dist._make_nccl_premul_sum(factor))
        assert torch.equal(x.cpu(), float(factor) * sum(numbers(torch.float32, 9, of=i) for i in range(size)))


@check
def moves(device):
    """Broadcast, gathers, scatter, exchange: of any dtype, bit by bit."""
    last = size - 1
    for dtype in [*BY_GLOO, *OTHERS, torch.bool, torch.complex64]:
        x, all_of_them = numbers(dtype, 2, 3), [numbers(dtype, 2, 3, of=i) for i in range(size)]

        def broadcast(x):
            dist.broadcast(x, last)
            return x, all_of_them[last]

        def all_gather(x):
            out = [torch.empty_like(x) for _ in range(size)]
            dist.all_gather(out, x)
            return torch.stack(out), torch.stack(all_of_them)

        def all_gather_into_tensor(x):
            out = torch.empty(2 * size, 3, dtype=dtype, device=device)
            dist.all_gather_into_tensor(out, x)
            return out, torch.cat(all_of_them)

        def gather(x):
            out = [torch.empty_like(x) for _ in range(size)] if rank == last else None
            dist.gather(x, out, last)
            return (torch.stack(out), torch.stack(all_of_them)) if rank == last else (x, numbers(dtype, 2, 3))

        def scatter(x):
            out = torch.empty_like(x)
            dist.scatter(out, [t.to(device) for t in all_of_them] if rank == last else None, last)
            return out, x.cpu()

        for function in (broadcast, all_gather, all_gather_into_tensor, gather, scatter):
            mine, wanted = function(x.to(device))
            assert torch.equal(mine.cpu().view(torch.uint8), wanted.view(torch.uint8)), (function.__name__, dtype)


@check
def reductions_to_some(device):
    for dtype in (torch.float32, torch.bfloat16, torch.int64):
        for op in (Op.SUM, Op.MAX):
            x = numbers(dtype, 5).to(device)
            dist.reduce(x, 0, op)
            y = numbers(dtype, 5)
            dist.reduce(y, 0, op, hosts)
            assert torch.equal(x.cpu(), y if rank == 0 else numbers(dtype, 5))  # nothing changes on the others

            def reduce_scatter_tensor(group, out, x):
                dist.reduce_scatter_tensor(out, x, op, group)
                return [out]

            def reduce_scatter(group, out, x):
                dist.reduce_scatter(out, list(x.chunk(size)), op, group)
                return [out]

            for function in (reduce_scatter_tensor, reduce_scatter):
                same(device, function, torch.empty(2, 3, dtype=dtype), numbers(dtype, 2 * size, 3))
    out, x = torch.empty(3, device=device), numbers(torch.float32, 3 * size)
    dist.reduce_scatter_tensor(out, x.to(device), Op.AVG)
    dist.all_reduce(x, Op.SUM, hosts)
    assert torch.allclose(out.cpu(), x.chunk(size)[rank] / size)
    out = torch.empty(3, dtype=torch.int16, device=device)  # one that is cast
    dist.reduce_scatter_tensor(out, numbers(torch.int16, 3 * size).to(device))
    wanted = sum(numbers(torch.int16, 3 * size, of=i) for i in range(size))
    assert torch.equal(out.cpu(), wanted.chunk(size)[rank])


@check
def all_to_all(device):
    def even(group, out, x):
        dist.all_to_all_single(out, x, group=group)
        return [out]

    same(device, even, torch.empty(2 * size, 3), numbers(torch.float32, 2 * size, 3))
    given = [(rank + i) % 3 for i in range(size)]  # rows from this rank to rank i: as many as the other way
    rows = sum(given)

    def uneven(group, out, x):
        dist.all_to_all_single(out, x, given, given, group)
        return [out]

    same(device, uneven, torch.empty(rows, 2, dtype=torch.int64), numbers(torch.int64, rows, 2))
    there = [torch.empty(n, 2, dtype=torch.int16, device=device) for n in given]
    dist.all_to_all(there, list(numbers(torch.int16, rows, 2).to(device).split(given)))
    for i, mine in enumerate(there):
        those = [(i + k) % 3 for k in range(size)]
        assert torch.equal(mine.cpu(), numbers(torch.int16, sum(those), 2, of=i).split(those)[rank])


@check
def coalesced(device):
    def tensors(group):
        return [numbers(torch.float32, n).to(device if group is None else "cpu") for n in (3, 1, 4 * size)]

    for group in (None, hosts):
        mine = tensors(group)
        with dist._coalescing_manager(group, async_ops=True) as manager:
            for x in mine:
                dist.all_reduce(x, group=group)
        manager.wait()
        if group is None:
            there = mine
    assert all(torch.equal(x.cpu(), y) for x, y in zip(there, mine))
    outs, ins = [torch.empty(n * size, device=device) for n in (2, 3)], [numbers(torch.float32, n).to(device) for n in (2, 3)]
    with dist._coalescing_manager():
        for out, x in zip(outs, ins):
            dist.all_gather_into_tensor(out, x)
    assert torch.equal(outs[1].cpu(), torch.cat([numbers(torch.float32, 3, of=i) for i in range(size)]))
    outs, ins = [torch.empty(n, device=device) for n in (2, 3)], [numbers(torch.float32, n * size).to(device) for n in (2, 3)]
    with dist._coalescing_manager():
        for out, x in zip(outs, ins):
            dist.reduce_scatter_tensor(out, x)
    assert torch.equal(outs[1].cpu(), sum(numbers(torch.float32, 3 * size, of=i) for i in range(size)).chunk(size)[rank])


@check
def point_to_point(device):
    before, behind = (rank - 1) % size, (rank + 1) % size
    x, got = numbers(torch.bfloat16, 1000).to(device), torch.empty(1000, dtype=torch.bfloat16, device=device)
    if rank % 2 == 0:
        dist.send(x, behind)
        assert dist.recv(got, before) == before
    else:
        dist.recv(got, before)
        dist.send(x, behind)
    assert torch.equal(got.cpu(), numbers(torch.bfloat16, 1000, of=before))
    got.zero_()
    for work in dist.batch_isend_irecv([dist.P2POp(dist.isend, x, behind), dist.P2POp(dist.irecv, got, before)]):
        work.wait()
    assert torch.equal(got.cpu(), numbers(torch.bfloat16, 1000, of=before))
    if rank == 0:
        sources = set()
        for _ in range(size - 1):
            source = dist.recv(got)  # from any
            assert torch.equal(got.cpu(), numbers(torch.bfloat16, 1000, of=source))
            sources.add(source)
        assert sources == set(range(1, size))
    else:
        dist.send(x, 0)
    # What is received last was begun first: nothing here waits for it in between.
    if rank == 0:
        late = dist.irecv(got, 1, tag=7)
        early = dist.isend(x, 1, tag=8)
        early.wait()
        assert early.is_completed() and not late.is_completed()
        dist.send(x, 1, tag=9)
        late.wait()
        assert torch.equal(got.cpu(), numbers(torch.bfloat16, 1000, of=1))
    elif rank == 1:
        dist.recv(got, 0, tag=8)
        dist.recv(got, 0, tag=9)
        dist.send(x, 0, tag=7)


@check
def views(device):
    """Tensors that are not contiguous, parts of others, of no dimension, of nothing, and parameters."""
    base = numbers(torch.float32, 6, 8)

    def transposed(group, x):
        dist.all_reduce(x.t()[1:5, ::2], group=group)
        return [x]

    same(device, lambda group, x: transposed(None, x) if group is None else [reduced(x)], base)
    out = torch.zeros(size, 2, 3, 2, device=device).permute(0, 2, 1, 3)
    parts = list(out.unbind())
    x = numbers(torch.float32, 2, 3, 2).to(device).transpose(0, 1)
    dist.all_gather(parts, x)
    assert torch.equal(out.cpu(), torch.stack([numbers(torch.float32, 2, 3, 2, of=i).transpose(0, 1) for i in range(size)]))
    same(device, lambda group, x: (dist.all_reduce(x, group=group), [x])[1], torch.tensor(1.5))
    same(device, lambda group, x: (dist.all_reduce(x, group=group), [x])[1], torch.empty(0, 3))
    weight = torch.nn.Parameter(numbers(torch.float32, 3).to(device))
    dist.broadcast(weight, 0)
    assert torch.equal(weight.detach().cpu(), numbers(torch.float32, 3, of=0)) and weight.is_leaf


def reduced(x):
    part = x.t()[1:5, ::2]
    total = part.contiguous()
    dist.all_reduce(total, group=hosts)
    part.copy_(total)
    return x


@check
def asynchronous(device):
    works, tensors = [], []
    for i in range(20):
        x = torch.full((1000,), float(i), device=device)
        works.append(dist.all_reduce(x, async_op=True))
        tensors.append(x)
    for i in reversed(range(20)):
        assert works[i].wait()
        assert torch.equal(tensors[i].cpu(), torch.full((1000,), float(size * i)))
        assert works[i].is_completed()
    x = numbers(torch.float32, 5).to(device)
    future = dist.all_reduce(x, async_op=True).get_future().then(lambda done: done.value()[0] * 2)
    wanted = 2 * sum(numbers(torch.float32, 5, of=i) for i in range(size))
    assert torch.equal(future.wait().cpu(), wanted)

    def again(done):  # a collective in a callback of one
        total = done.value()[0]
        dist.all_reduce(total)
        return total

    x = torch.ones(3, device=device)
    assert dist.all_reduce(x, async_op=True).get_future().then(again).wait().tolist() == [size * size] * 3


class Gate:
    """Holds a stream until it is opened."""

    def __init__(self, stream):
        keyway = ctypes.CDLL("libkeyway.so.1")  # the one that is loaded
        self._opened = threading.Event()
        self._function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: self._opened.wait())
        assert keyway.kw_stream_call_host(ctypes.c_void_p(stream.native_handle), self._function, None) == 0

    def open(self):
        self._opened.set()


@check
def streams(device):
    """A collective takes what is in order before it on the current stream, leaves what comes after, and whose stream waits
    has the result in order."""
    side = torch.Stream(device=device)
    out, x = torch.zeros(size, 1000, device=device), torch.zeros(1000, device=device)
    torch.accelerator.synchronize(device.index)
    gate = Gate(side)
    with side:
        x.fill_(rank + 1)
        work = dist.all_gather_into_tensor(out, x, async_op=True)  # and nobody waits for the stream
        x.fill_(100)
    assert not work.is_completed() and not side.query()
    gate.open()
    work.wait()
    result = out * 2  # on another stream
    assert torch.equal(result.cpu()[:, 0], 2.0 * torch.arange(1, size + 1))
    side.synchronize()
    assert torch.equal(x.cpu(), torch.full((1000,), 100.0))


@check
def functional_collectives(device):
    mesh = init_device_mesh(device.type, (size,))
    x = numbers(torch.float32, 4).to(device)
    total = functional.all_reduce(x, "sum", mesh)
    assert torch.equal((total + 0).cpu(), sum(numbers(torch.float32, 4, of=i) for i in range(size)))
    everything = functional.all_gather_tensor(x, 0, mesh)
    assert torch.equal((everything + 0).cpu(), torch.cat([numbers(torch.float32, 4, of=i) for i in range(size)]))
    back = functional.reduce_scatter_tensor(everything, "avg", 0, mesh)
    assert torch.equal((back + 0).cpu(), numbers(torch.float32, 4))
    many = functional.all_reduce_coalesced([x, x + 1], "max", mesh)
    assert torch.equal((many[1] - many[0]).cpu(), torch.ones(4))


@check
def objects_and_barriers(device):
    everyone = [None] * size
    dist.all_gather_object(everyone, {"rank": rank})
    assert everyone == [{"rank": i} for i in range(size)]
    said = [rank, "?"]
    dist.broadcast_object_list(said, size - 1)
    assert said == [size - 1, "?"]
    dist.barrier()
    dist.barrier(device_ids=[device.index])
    for tensor in (torch.ones(2), torch.ones(2, device=device)):
        dist.all_reduce(tensor, group=both)
        assert tensor.tolist() == [size, size]
    part = dist.new_group([0, 1])
    if rank < 2:
        x = torch.ones(2, device=device)
        dist.all_reduce(x, group=part)
        assert x.tolist() == [2, 2]


@check
def what_is_wrong_is_said(device):
    x = torch.ones(3, device=device)
    raises(RuntimeError, "device", lambda: dist.all_reduce(torch.ones(3)))  # no backend for the CPU in this group
    raises(TypeError, "one dtype", lambda: functional.all_reduce_coalesced([x, x.int()], "sum", dist.group.WORLD))
    raises(ValueError, "for each of", lambda: dist.all_gather_into_tensor(torch.empty(size * 2, device=device), x))
    raises(TypeError, "by their bits", lambda: dist.all_reduce(x, Op.BAND))
    raises(TypeError, "no mean", lambda: dist.all_reduce(x > 0, Op.AVG))
    if rank == 0:
        late = dist.irecv(x, 1, tag=3)
        raises(dist.DistBackendError, "has not ended within", lambda: late.wait(timedelta(milliseconds=1)))
        dist.send(x, 1, tag=4)
        late.wait()
    elif rank == 1:
        dist.recv(x, 0, tag=4)
        dist.send(x, 0, tag=3)


class Branches(torch.nn.Module):
    """Uses one of its two layers."""

    def __init__(self):
        super().__init__()
        self.first, self.second, self.out = (torch.nn.Linear(8, 8) for _ in range(3))

    def forward(self, x, second):
        return self.out(F.relu((self.second if second else self.first)(x)))


def gradients(module):
    return {name.removeprefix("module."): None if p.grad is None else p.grad.cpu() for name, p in module.named_parameters()}


@check
def data_parallel_options(device):
    torch.manual_seed(0)
    model, x = Branches(), torch.randn(4 * size, 8)
    for options in ({"gradient_as_bucket_view": True}, {"find_unused_parameters": True, "bucket_cap_mb": 0.0001},
                    {"static_graph": True}, {"init_sync": False}):
        reference = Branches()
        reference.load_state_dict(model.state_dict())
        unused = "find_unused_parameters" in options
        if not unused:  # then all have to be used
            reference.second = reference.first
        wrapped = Branches()
        wrapped.load_state_dict(model.state_dict())
        if not unused:
            wrapped.second = wrapped.first
        wrapped = DistributedDataParallel(wrapped.to(device), device_ids=[device.index], **options)
        for _ in range(2):
            reference.zero_grad()
            wrapped.zero_grad()
            reference(x, False).square().mean().backward()
            wrapped(x.chunk(size)[rank].to(device), False).square().mean().backward()
            mine, wanted = gradients(wrapped), gradients(reference)
            for name in wanted:
                if wanted[name] is not None:
                    torch.testing.assert_close(mine[name], wanted[name], rtol=1e-5, atol=1e-6)
    with wrapped.no_sync():
        wrapped(x.to(device), False).sum().backward()


@check
def values_after_waiting(device):
    """Who has waited for a Work takes the value of its future at once, as DDP's reducer does for uneven inputs."""
    x = torch.zeros(1, device=device)
    for _ in range(300):
        work = dist.all_reduce(x, async_op=True)
        future = work.get_future()
        work.wait()
        assert future.value()[0].device == device


@check
def batch_norm_over_all(device):
    """nn.SyncBatchNorm, of batches of other sizes, is nn.BatchNorm2d of all of them."""
    reference = torch.nn.BatchNorm2d(3)
    with torch.no_grad():
        reference.weight.copy_(numbers(torch.float32, 3, of=7))
        reference.bias.copy_(numbers(torch.float32, 3, of=8))
    mine = torch.nn.SyncBatchNorm.convert_sync_batchnorm(copy.deepcopy(reference)).to(device)
    parts = [numbers(torch.float32, i + 2, 3, 2, 2, of=i) for i in range(size)]
    x, everything = parts[rank].to(device).requires_grad_(), torch.cat(parts).requires_grad_()
    out, wanted = mine(x), reference(everything)
    out.sin().sum().backward()
    wanted.sin().sum().backward()
    for parameter in mine.parameters():
        dist.all_reduce(parameter.grad)
    place = sum(len(part) for part in parts[:rank])
    torch.testing.assert_close(out.cpu(), wanted[place : place + len(x)])
    torch.testing.assert_close(x.grad.cpu(), everything.grad[place : place + len(x)], rtol=1e-4, atol=1e-5)
    for (name, there), here in zip(mine.named_parameters(), reference.parameters()):
        torch.testing.assert_close(there.grad.cpu(), here.grad, rtol=1e-4, atol=1e-5, msg=name)
    for name in ("running_mean", "running_var"):
        torch.testing.assert_close(getattr(mine, name).cpu(), getattr(reference, name), msg=name)
    mine.eval(), reference.eval()
    torch.testing.assert_close(mine(x).cpu(), reference(parts[rank]))


@check
def data_parallel_hooks(device):
    from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import bf16_compress_hook

    torch.manual_seed(0)
    layer = torch.nn.Linear(4, 2).to(device)
    wrapped = DistributedDataParallel(layer)
    wrapped.register_comm_hook(None, bf16_compress_hook)
    wrapped(numbers(torch.float32, 3, 4).to(device)).sum().backward()
    wanted = sum(numbers(torch.float32, 3, 4, of=i).sum(0) for i in range(size)) / size
    assert torch.allclose(layer.weight.grad.cpu(), wanted.expand(2, 4), rtol=1e-2)


def equality(way):
    def run(device):
        off, losses_off, losses = train.compare(way, device, 20)
        assert off <= 1e-6 and losses_off <= 1e-5, (off, losses_off)
        assert losses[-1] < losses[0] - 0.5

    run.__name__ = f"{way.__name__}_equals_one_process"
    return check(run)


for way in (train.ddp, train.fsdp, train.tp):
    equality(way)


@check
def sharded_with_mixed_precision(device):
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 3)).to(device)
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    fully_shard(model, mesh=init_device_mesh(device.type, (size,)), mp_policy=policy)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    x = torch.randn(4, 8, device=device)
    losses = []
    for _ in range(10):
        optimizer.zero_grad()
        loss = model(x).float().square().mean()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]


@check
def tensors_over_a_mesh(device):
    mesh = init_device_mesh(device.type, (size,), mesh_dim_names=("all",))
    torch.manual_seed(0)
    whole = torch.randn(5, 7)
    there = distribute_tensor(whole.to(device), mesh, [Shard(0)])  # 5 rows, not in equal parts
    assert torch.equal(there.full_tensor().cpu(), whole)
    assert torch.equal(there.redistribute(mesh, [Shard(1)]).full_tensor().cpu(), whole)
    torch.testing.assert_close((there @ there.redistribute(mesh, [Replicate()]).t()).full_tensor().cpu(), whole @ whole.t())
    assert mesh["all"].get_local_rank() == rank
    drawn = torch.distributed.tensor.rand(4 * size, 4, device_mesh=mesh, placements=[Shard(0)]).full_tensor().cpu()
    assert len(drawn.unique()) > 14 * size  # other numbers in each part
    more = torch.distributed.tensor.rand(4, 4, device_mesh=mesh, placements=[Replicate()]).to_local()
    dist.broadcast(again := more.clone(), 0)
    assert torch.equal(again.cpu(), more.cpu())  # the same ones everywhere


@check
def checkpoints(device):
    """Saved by all, loaded in another arrangement."""
    mesh = init_device_mesh(device.type, (size,))
    torch.manual_seed(0)
    whole, plain = torch.randn(6, 4), torch.randn(3)
    state = {"sharded": distribute_tensor(whole.to(device), mesh, [Shard(0)]), "plain": plain.to(device), "step": 3}
    path = str(Path(folder) / f"checkpoint_{device.index}")
    torch.distributed.checkpoint.save(state, checkpoint_id=path)
    other = {"sharded": distribute_tensor(torch.zeros(6, 4, device=device), mesh, [Shard(1)]),
             "plain": torch.zeros(3, device=device), "step": 0}
    torch.distributed.checkpoint.load(other, checkpoint_id=path)
    assert isinstance(other["sharded"], DTensor) and other["plain"].device == device and other["step"] == 3
    assert torch.equal(other["sharded"].full_tensor().cpu(), whole) and torch.equal(other["plain"].cpu(), plain)


def run(device):
    failed = {}
    for function in CHECKS:
        torch.manual_seed(0)
        try:
            function(device)
        except BaseException:
            failed[f"{function.__name__} {device}"] = traceback.format_exc()
            return failed
        failed[f"{function.__name__} {device}"] = None
    return failed


def main():
    global rank, size, folder, hosts, both
    rank, size, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    torch.set_num_threads(1)
    devices = [torch_keyway.register(name) for name in NAMES]
    torch_keyway.set_fallback("off")
    dist.init_process_group(store=dist.FileStore(f"{folder}/store", size), rank=rank, world_size=size,
                            timeout=timedelta(seconds=60))
    hosts, both = dist.new_group(backend="gloo"), dist.new_group(backend="cpu:gloo,keyway:keyway")
    result = {}
    for device in devices:
        torch.accelerator.set_device_index(device.index)
        outcome = run(device)
        result |= outcome
        if any(outcome.values()):
            break
    Path(folder, f"{rank}.json").write_text(json.dumps(result))
    if not any(result.values()):
        assert torch_keyway.fallbacks() == {}, torch_keyway.fallbacks()
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
