# SPDX-License-Identifier: Apache-2.0
"""torch.distributed on devices: groups of processes that run what distributed_checks.py has, ends of groups, torchrun."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import torch_keyway

HERE = Path(__file__).parent
TRAIN = HERE.parents[2] / "examples/distributed/train.py"
ENVIRONMENT = os.environ | {"OMP_NUM_THREADS": "1"}


def start(*arguments, **environment):
    return subprocess.Popen([sys.executable, *map(str, arguments)], env=ENVIRONMENT | environment, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def check_group(size, folder):
    """Runs all checks by `size` processes. Fails with what each of them says."""
    processes = [start(HERE / "distributed_checks.py", rank, size, folder) for rank in range(size)]
    wrong = []
    for rank, process in enumerate(processes):
        _, errors = process.communicate()
        result = folder / f"{rank}.json"
        failed = [f"{name}\n{text}" for name, text in json.loads(result.read_text()).items() if text] if result.exists() else []
        if failed or process.returncode != 0:
            wrong.append(f"rank {rank} ended with {process.returncode}\n" + "\n".join(failed or [errors]))
    assert not wrong, "\n\n".join(wrong)


def test_two_processes(tmp_path):
    check_group(2, tmp_path)


@pytest.mark.long
def test_four_processes(tmp_path):
    check_group(4, tmp_path)


GROUP = """
import os, signal, sys
from datetime import timedelta
import torch, torch.distributed as dist, torch_keyway
device = torch_keyway.register({device!r}, plugin={plugin!r})
rank, store = int(sys.argv[1]), dist.FileStore(sys.argv[2], 2)
dist.init_process_group("keyway", store=store, rank=rank, world_size=2, timeout=timedelta(seconds=60))
x = torch.ones(1000, device=device)
dist.all_reduce(x)
assert x[0].item() == 2
"""


def run_pair(device, code, folder, plugin=None, **environment):
    """What both ranks of a program that starts as GROUP does say, and how they end."""
    program = GROUP.format(device=device, plugin=plugin) + code
    processes = [start("-c", program, rank, folder / "store", **environment) for rank in range(2)]
    return [(process.communicate()[1], process.returncode) for process in processes]


def test_a_killed_rank_ends_the_others(device, tmp_path):
    """Which collective it is does not matter; those that nobody waits for stop no process from ending."""
    (text, code), (_, killed) = run_pair(torch_keyway.keyway_name(device), """
if rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
waits_for_nothing = dist.irecv(torch.empty(3, device=device), 1), dist.all_reduce(x.clone(), async_op=True)
dist.all_reduce(x)
""", tmp_path)
    assert killed == -signal.SIGKILL and code == 1
    assert "DistBackendError: keyway:all_reduce on rank 0 failed" in text and "Another rank may have ended" in text


def test_a_process_may_end_at_any_time(tmp_path):
    """With collectives that no other rank calls, without destroy_process_group, with callbacks in Python under way."""
    for text, code in run_pair("cpu", """
if rank == 0:
    never = dist.irecv(torch.empty(3, device=device), 1)
futures = [dist.all_reduce(x + 1, async_op=True).get_future().then(lambda done: done.value()[0] + 1) for _ in range(50)]
""", tmp_path):
        assert code == 0, text


def test_the_example_vendors_device(request, tmp_path):
    """Collectives ask a device for copies alone. DDP asks for a product with a number as well, which this one makes of
    others: nothing goes to cpu:0."""
    plugin = request.config.getoption("--vendor-npu")
    if plugin is None:
        pytest.skip("--vendor-npu says where its plugin is")
    for text, code in run_pair("npu", """
parts = [torch.empty(3, device=device) for _ in range(2)]
x.fill_(4.0 + rank)
dist.all_gather(parts, x[:3])
assert [part.tolist() for part in parts] == [[4] * 3, [5] * 3]
x.fill_(rank)
dist.broadcast(x, 1)
assert x.sum().item() == 1000 and torch_keyway.fallbacks() == {}

class Product(torch.nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.weight = torch.nn.Parameter(weight)
    def forward(self, x):
        return x @ self.weight

torch.manual_seed(0)
inputs, start = torch.randn(2, 8, 4), torch.randn(4, 3)
model = torch.nn.parallel.DistributedDataParallel(Product(start.to(device)), device_ids=[device.index])
model(inputs[rank].to(device)).sum().backward()
gradient, = torch.autograd.grad((inputs.flatten(0, 1) @ start.requires_grad_()).sum() / 2, start)
assert (model.module.weight.grad.cpu() - gradient).norm() <= 1e-6 * gradient.norm()
assert torch_keyway.fallbacks() == {}
dist.destroy_process_group()
""", tmp_path, plugin):
        assert code == 0, text


BY_VENDOR = """
def numbers(dtype, rank):
    return torch.arange(12).reshape(3, 4).to(dtype) + 10 * rank

both = [0, 1]
for dtype in (torch.float32, torch.int64):
    mine, parts = numbers(dtype, rank).to(device), [numbers(dtype, each) for each in both]
    for op, wanted in {"SUM": parts[0] + parts[1], "PRODUCT": parts[0] * parts[1], "MIN": parts[0], "MAX": parts[1]}.items():
        turned = mine.t().clone().t()  # in other memory, and there it has to be in the end
        works = [dist.all_reduce(x, getattr(dist.ReduceOp, op), async_op=True) for x in (mine.clone(), turned)]
        results = [work.result()[0] if work.wait() else None for work in works]
        assert all(torch.equal(each.cpu(), wanted) for each in results), (op, results)
    out = torch.empty(6, 4, dtype=dtype, device=device)
    dist.all_gather_into_tensor(out, mine)
    assert torch.equal(out.cpu(), torch.cat(parts))
    part = torch.empty(3, 2, dtype=dtype, device=device)
    dist.reduce_scatter_tensor(part, mine)
    assert torch.equal(part.cpu().flatten(), (parts[0] + parts[1]).flatten()[6 * rank : 6 * rank + 6])
    x = mine.clone()
    dist.reduce(x, 1)
    assert rank == 0 or torch.equal(x.cpu(), parts[0] + parts[1])
    x = mine.clone()
    dist.broadcast(x, 1)
    assert torch.equal(x.cpu(), parts[1])
x = numbers(torch.float32, rank).to(device)
dist.all_reduce(x, dist.ReduceOp.AVG)
assert torch.equal(x.cpu(), numbers(torch.float32, 0) + 5)
flags = torch.tensor([rank == 0, False], device=device)  # by the host
dist.all_reduce(flags)
assert flags.tolist() == [True, False]
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 2).to(device), device_ids=[device.index])
model(x).sum().backward()
for each in model.parameters():
    first = each.grad.clone()
    dist.broadcast(first, 0)
    assert torch.equal(first.cpu(), each.grad.cpu())
try:
    dist.all_reduce(torch.ones(1 << 19, device=device))  # more than the library takes
    raise AssertionError("no error")
except dist.DistBackendError as error:
    assert "failed: RCCL, ncclAllReduce: invalid argument" in str(error), error
dist.destroy_process_group()
"""


@pytest.fixture
def emulated_hip(tmp_path):
    """What makes a process have the emulated device and a library of RCCL's names."""
    driver = HERE.parents[2] / "build/release/tests/emulated/hip"
    if not driver.is_dir():
        pytest.skip("there is no build/release/tests/emulated/hip: the emulated driver was not built")
    subprocess.run(["cc", "-O1", "-shared", "-fPIC", "-o", tmp_path / "librccl.so.1", HERE / "rccl_by_files.c"], check=True)
    return {"LD_LIBRARY_PATH": f"{driver}:{tmp_path}", "RCCL_BY_FILES": str(tmp_path), "KEYWAY_COLLECTIVES": "vendor"}


def test_collectives_by_the_vendors_library(emulated_hip, tmp_path):
    """On an emulated device: no hardware has run this."""
    ended = run_pair("hip", BY_VENDOR, tmp_path, **emulated_hip)
    for text, code in ended:
        assert code == 0, text
    assert [path for path in tmp_path.iterdir() if path.name.isdigit()], "the library was not asked"


def test_a_vendors_library_that_is_not_there(emulated_hip, tmp_path):
    (tmp_path / "librccl.so.1").unlink()
    for text, code in run_pair("hip", "", tmp_path, **emulated_hip):
        assert code == 1 and "has no librccl.so.1, which KEYWAY_COLLECTIVES=vendor asks for" in text, text


def test_torchrun():
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", TRAIN, "ddp"]
    run = subprocess.run([*map(str, command), "--steps", "3"], env=ENVIRONMENT, text=True, capture_output=True)
    assert run.returncode == 0 and "ddp, 2 process(es), cpu:0" in run.stdout, run.stdout + run.stderr
    assert "Warning" not in run.stderr, run.stderr
