# SPDX-License-Identifier: Apache-2.0
"""Memory, views, copies, numbers among tensors, in-place and out= variants."""

import pytest
import torch


def same(on_device, expected):
    assert on_device.device.type == "keyway"
    torch.testing.assert_close(on_device.cpu(), expected)


def test_random_numbers_come_from_the_seed(device, other):
    x, normal = torch.rand((2, 3), device=device), torch.randn((2, 3), device=device)
    torch.manual_seed(0)
    assert torch.equal(x.cpu(), torch.rand((2, 3), device=other).cpu())  # the same generator on every device
    same(torch.randn((2, 3), device=other), normal.cpu())
    assert not torch.equal(torch.rand((2, 3), device=other).cpu(), x.cpu())


@pytest.mark.parametrize("dtype", [torch.bool, torch.uint8, torch.int64, torch.float16, torch.bfloat16, torch.float64,
                                   torch.float8_e4m3fn, torch.complex64])
def test_copies_between_hosts_and_devices(device, other, dtype):
    x = torch.arange(24).reshape(2, 3, 4).to(torch.float32).to(dtype)
    there = x.to(device)
    assert there.dtype == dtype and torch.equal(there.cpu().view(torch.uint8), x.view(torch.uint8))
    across = there.to(other)
    assert across.device == other and torch.equal(across.cpu().view(torch.uint8), x.view(torch.uint8))


def test_copies_of_views(device):
    x = torch.arange(24.0).reshape(2, 3, 4)
    there = x.to(device)
    same(there.permute(2, 0, 1)[1:, :, ::2], x.permute(2, 0, 1)[1:, :, ::2])
    there[:, 1:] = torch.ones(2, 2, 4)
    x[:, 1:] = 1
    same(there, x)
    there[0].t().copy_(torch.full((4, 3), 5, dtype=torch.int32))  # casts, strided
    x[0].t().copy_(torch.full((4, 3), 5, dtype=torch.int32))
    same(there, x)
    there[0, :, 1:] = there[0, :, :-1].clone()
    there[1, 0] = there[1, 2]  # parts of one storage
    x[0, :, 1:] = x[0, :, :-1].clone()
    x[1, 0] = x[1, 2]
    same(there, x)


def test_in_place_reaches_all_views(device):
    x = torch.ones(4, device=device)
    row, place = x.view(2, 2)[1], x.data_ptr()
    x.add_(1).mul_(x)
    same(row, torch.full((2,), 4.0))
    row.sub_(3)
    same(x, torch.tensor([4.0, 4, 1, 1]))
    assert x.data_ptr() == place


def test_in_place_takes_no_memory(device):
    x = torch.ones((torch.keyway.max_memory_allocated(device) >> 2) + 1024, device=device)  # more than ever before
    peak = torch.keyway.max_memory_allocated(device)
    x.add_(x).mul_(0.5).add_(1, alpha=2)
    assert torch.keyway.max_memory_allocated(device) == peak
    assert x[0].item() == 3


def test_in_place_minds_what_it_reads(device):
    x = torch.arange(9.0).reshape(3, 3)
    there = x.to(device)
    same(there.add_(there.t()), x + x.t())
    narrow = torch.ones(3, dtype=torch.bfloat16)
    same(narrow.to(device).add_(torch.full((3,), 2.0**-9, device=device)), narrow.add_(2.0**-9))


def test_out_is_resized_and_written(device):
    x = torch.arange(6.0, device=device)
    out = torch.empty(0, device=device)
    assert torch.add(x, x, out=out) is out
    same(out, torch.arange(6.0) * 2)
    strided = torch.zeros(6, 2, device=device)
    torch.mul(x, x, out=strided[:, 1])
    same(strided[:, 1], torch.arange(6.0) ** 2)
    assert strided[:, 0].sum().item() == 0
    values, places = torch.empty(0, device=device), torch.empty(0, device=device, dtype=torch.int64)
    torch.max(x.view(2, 3), 1, out=(values, places))
    same(places, torch.tensor([2, 2]))


@pytest.mark.parametrize("make", [torch.linspace, torch.logspace])
def test_ranges_fill_an_out_of_as_many_elements(device, make):
    wanted, there = torch.zeros(2, 3), torch.zeros(2, 3, device=device)
    make(0, 3, 4, out=wanted[:, 1:])
    make(0, 3, 4, out=there[:, 1:])
    same(there, wanted)
    same(make(0, 3, 4, out=torch.empty(0, device=device)), make(0, 3, 4))
    same(torch.linspace(0.9, 3.9, 4, dtype=torch.int64, device=device), torch.arange(4))


def test_in_place_refuses_a_shape_that_does_not_fit(device):
    with pytest.raises(RuntimeError, match="does not fit the tensor to change in place"):
        torch.ones(1, 3, device=device).add_(torch.ones(2, 3, device=device))


def test_an_argument_that_is_out_as_well(device):
    x = torch.arange(4.0, device=device)
    torch.mm(x.view(2, 2), x.view(2, 2), out=x.view(2, 2))
    same(x, torch.tensor([2.0, 3, 6, 11]))


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.int32])
def test_numbers_promote_as_in_pytorch(device, dtype):
    x = torch.arange(1, 5).to(dtype)
    there, rank0 = x.to(device), torch.tensor(3, dtype=torch.float64)
    for call in (lambda t: t * 2, lambda t: 2 - t, lambda t: t * 2.5, lambda t: t / 2, lambda t: t * rank0, lambda t: t > 2,
                 lambda t: torch.maximum(t, torch.tensor(2)), lambda t: torch.where(t > 2, t, 0.5), lambda t: t[0] * 1.5):
        same(call(there), call(x))


def test_devices_do_not_mix(device, other):
    with pytest.raises(RuntimeError, match=rf"argument 'other' is on {other}, others are on {device}. Move it there"):
        torch.ones(2, device=device) + torch.ones(2, device=other)
    with pytest.raises(RuntimeError, match=r"argument 'other' is on cpu, others are on keyway.*Move it there"):
        torch.ones(2, device=device) + torch.ones(2)
    for place in (other, torch.device("cpu")):
        out = torch.zeros(2, 2, device=place)
        with pytest.raises(RuntimeError, match=rf"argument 'out' is on {place}, others are on {device}. Move it there"):
            torch.mm(torch.ones(2, 2, device=device), torch.ones(2, 2, device=device), out=out)
        assert out.count_nonzero() == 0


def test_storages(device):
    x = torch.arange(12.0, device=device).reshape(3, 4)
    x.resize_(5, 4)
    same(x[:3], torch.arange(12.0).reshape(3, 4))
    part = torch.empty(0, device=device).set_(x.untyped_storage(), 1, (2, 2), (4, 1))
    same(part, torch.tensor([[1.0, 2], [5, 6]]))
    assert part.is_set_to(x[:2, 1:3]) and not part.is_set_to(x[:2, :2])
    a, b = torch.empty(1000, device=device), torch.empty(1000, device=device)
    assert abs(a.data_ptr() - b.data_ptr()) >= 4000


def test_memory_is_cached_and_counted(device):
    torch.keyway.synchronize(device)
    before = torch.keyway.memory_allocated(device)
    x = torch.empty(1 << 24, device=device)
    assert torch.keyway.memory_allocated(device) - before >= 64 << 20
    del x
    assert torch.keyway.memory_allocated(device) == before
    held = torch.keyway.memory_reserved(device)
    assert held >= 64 << 20 and torch.keyway.max_memory_allocated(device) >= 64 << 20
    torch.keyway.empty_cache()
    assert torch.keyway.memory_reserved(device) <= held - (64 << 20)


def test_data_dependent_shapes(device):
    x = torch.tensor([0, 3, 0, 5])
    there = x.to(device)
    same(there.nonzero(), x.nonzero())
    same(there[there > 0], x[x > 0])
    same(there[torch.tensor([1, -1])], x[torch.tensor([1, -1])])  # indices from the host
    there[there == 0] = 7
    assert there.tolist() == [7, 3, 7, 5]


REPEATED = {
    "whole numbers": torch.tensor([[3, 1, 3], [2, 1, 3], [3, 1, 3]]),
    "with NaN": torch.tensor([[2.0, float("nan"), 1.0, 2.0], [1.0, 5.0, 1.0, -2.0]]),
    "halves": torch.tensor([[2.0, 0.5, 1.0], [2.0, 0.5, 1.0]], dtype=torch.float16),
    "none": torch.empty(0, 3),
    "one number": torch.tensor(3.0),
}
SORTED_OUT = {
    "unique": lambda t: t.unique(return_inverse=True, return_counts=True),
    "unique_dim": lambda t: t.unique(dim=0, return_inverse=True, return_counts=True) if t.dim() else t,
    "unique_dim 1": lambda t: t.unique(dim=1, return_counts=True) if t.dim() and t.numel() else t,
    "unique_consecutive": lambda t: t.unique_consecutive(return_inverse=True, return_counts=True),
    "unique_consecutive, rows": lambda t: t.unique_consecutive(dim=0, return_counts=True) if t.dim() else t,
    "kthvalue": lambda t: t.kthvalue(2, keepdim=True).values if t.dim() and t.numel() else t,
    "median": lambda t: t.median(),
    "median of rows": lambda t: t.median(-1).values if t.numel() else t,
    "median, places": lambda t: t[:, :2].median(-1, keepdim=True).indices if t.dim() == 2 and t.numel() else t,
    "bincount": lambda t: t.flatten().long().clamp(0, 9).bincount(minlength=4),
    "bincount, weights": lambda t: t.flatten().long().clamp(0, 9).bincount(torch.ones_like(t).flatten().float()),
}


@pytest.mark.parametrize("values", REPEATED)
@pytest.mark.parametrize("call", SORTED_OUT)
def test_what_sorting_finds(device, values, call):
    x, find = REPEATED[values], SORTED_OUT[call]
    if x.dtype == torch.float16 and call.startswith("bincount"):
        pytest.skip("not of halves on the CPU")
    result, expected = find(x.to(device)), find(x)
    for one, other_one in zip(*((each if isinstance(each, tuple) else (each,)) for each in (result, expected))):
        torch.testing.assert_close(one.cpu(), other_one, rtol=0, atol=0, equal_nan=True)


def test_zeros_without_memory(device):
    """A derivative that is known to be 0 takes none, and counts as one."""
    x = torch.arange(3.0, device=device)
    curvature = torch.func.hessian(lambda t: (t**3).sum())(x)
    same(curvature, torch.diag(6 * torch.arange(3.0)))
    same(torch._efficientzerotensor((2, 2), device=device) + torch.ones(2, 2, device=device), torch.ones(2, 2))


def test_an_index_out_of_range_is_an_error_at_the_next_wait(device):
    x = torch.zeros(3, device=device)[torch.tensor([7], device=device)]
    with pytest.raises(RuntimeError, match="index.Tensor.*out of range"):
        x.cpu()
    same(torch.ones(2, device=device), torch.ones(2))  # the device goes on


def test_printing(device):
    x = torch.tensor([[1.5, -2], [float("nan"), 1e6]], device=device)
    assert "1.5000e+00" in repr(x) and f"device='{device}'" in repr(x)
    assert "tensor([], device=" in repr(torch.empty(0, device=device))
