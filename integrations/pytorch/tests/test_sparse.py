# SPDX-License-Identifier: Apache-2.0
"""Sparse tensors on the device as on the CPU: made, moved, added, multiplied, differentiated, trained with."""

import pytest
import torch
from torch import nn


def coo(device="cpu", dtype=torch.float32):
    """With two elements at one place, out of order, and whole numbers, whose sums are exact."""
    indices = torch.tensor([[2, 0, 2, 1], [1, 3, 1, 0]])
    return torch.sparse_coo_tensor(indices, torch.tensor([1, 2, 4, 8], dtype=dtype), (3, 4)).to(device)


def hybrid(device="cpu"):
    """Two of three dimensions are dense."""
    values = torch.arange(12.0).reshape(2, 3, 2)
    return torch.sparse_coo_tensor(torch.tensor([[3, 1]]), values, (4, 3, 2)).to(device)


def dense(device="cpu", *shape):
    return torch.arange(1.0, 1 + torch.Size(shape).numel()).reshape(shape).to(device)


CALLS = {
    "indices made there": lambda d: torch.sparse_coo_tensor(torch.tensor([[0, 1]], device=d), dense(d, 2), (3,)),
    "coalesce": lambda d: coo(d).coalesce(),
    "coalesce, halves": lambda d: coo(d, torch.float16).coalesce(),
    "coalesce, hybrid": lambda d: torch.cat([hybrid(d), hybrid(d)]).coalesce(),
    "coalesce, one": lambda d: torch.sparse_coo_tensor(torch.tensor([[1]]), torch.ones(1), (3,)).to(d).coalesce(),
    "to_dense": lambda d: coo(d).to_dense(),
    "to_dense, hybrid": lambda d: hybrid(d).to_dense(),
    "to_dense, none": lambda d: torch.sparse_coo_tensor(size=(2, 3), device=d).to_dense(),
    "to_sparse": lambda d: coo(d).to_dense().to_sparse(),
    "to_sparse, one dimension": lambda d: hybrid(d).to_dense().to_sparse(1),
    "sparse + sparse": lambda d: (coo(d) + coo(d)).coalesce(),
    "dense + sparse": lambda d: dense(d, 3, 4) + coo(d),
    "dense + sparse, scaled": lambda d: torch.add(dense(d, 4, 3).t(), coo(d), alpha=3),
    "dense += sparse": lambda d: dense(d, 3, 4).add_(coo(d)),
    "dense += sparse, transposed": lambda d: dense(d, 4, 3).t().add_(coo(d), alpha=-2),
    "dense += hybrid": lambda d: dense(d, 4, 3, 2).add_(hybrid(d)),
    "sparse * number": lambda d: (coo(d) * 3).to_dense(),
    "sparse / number": lambda d: (coo(d) / 2).to_dense(),
    "sparse * dense": lambda d: (coo(d) * dense(d, 3, 4)).to_dense(),
    "sparse * sparse": lambda d: (coo(d) * coo(d)).to_dense(),
    "-sparse": lambda d: (-coo(d)).to_dense(),
    "transpose": lambda d: coo(d).t().to_dense(),
    "clone, zero_": lambda d: coo(d).clone().zero_().to_dense(),
    "sparse @ dense": lambda d: torch.sparse.mm(coo(d), dense(d, 4, 2)),
    "sparse @ vector": lambda d: coo(d) @ dense(d, 4),
    "dense @ sparse": lambda d: dense(d, 2, 3) @ coo(d),
    "sparse @ sparse": lambda d: (coo(d) @ coo(d).t()).to_dense(),
    "addmm": lambda d: torch.sparse.addmm(dense(d, 3, 2), coo(d), dense(d, 4, 2), beta=2, alpha=3),
    "sum": lambda d: coo(d).sum(),
    "sparse_mask": lambda d: dense(d, 3, 4).sparse_mask(coo(d).coalesce()),
    "csr, moved": lambda d: coo().coalesce().to_sparse_csr().to(d),
    "csr, of coo": lambda d: coo(d).coalesce().to_sparse_csr(),
    "csr, of dense": lambda d: coo(d).to_dense().to_sparse_csr(),
    "csr, made there": lambda d: torch.sparse_csr_tensor(torch.tensor([0, 1, 2], device=d), torch.tensor([1, 0], device=d),
                                                         dense(d, 2), (2, 2)),
    "csr, to_dense": lambda d: coo(d).to_dense().to_sparse_csr().to_dense(),
    "csr, to_sparse": lambda d: coo(d).to_dense().to_sparse_csr().to_sparse(),
    "csr @ dense": lambda d: coo(d).to_dense().to_sparse_csr() @ dense(d, 4, 2),
    "csr @ vector": lambda d: coo(d).to_dense().to_sparse_csr() @ dense(d, 4),
    "csr, to_csc": lambda d: coo(d).to_dense().to_sparse_csc().to_dense(),
}


@pytest.mark.parametrize("name", CALLS)
def test_as_on_the_cpu(device, name):
    result, expected = CALLS[name](device), CALLS[name]("cpu")
    assert result.device == device and result.layout == expected.layout
    if result.layout == torch.sparse_coo:
        assert result.is_coalesced() == expected.is_coalesced()
    if name == "-sparse":
        result, expected = result + 0, expected + 0  # PyTorch's CPU keeps no sign of zeros either
    torch.testing.assert_close(result.cpu(), expected, rtol=0, atol=0)


def test_gradients_of_a_product(device):
    weight, x = coo().coalesce(), dense("cpu", 4, 2)
    gradients = []
    for each in ("cpu", device):
        w, y = (t.detach().to(each).requires_grad_() for t in (weight, x))
        (torch.sparse.mm(w, y) * dense(each, 3, 2)).sum().backward()
        gradients.append((w.grad.to_dense().cpu(), y.grad.cpu()))
    torch.testing.assert_close(gradients[1], gradients[0], rtol=0, atol=0)


@pytest.mark.parametrize("make", [lambda p: torch.optim.SGD(p, lr=0.1), lambda p: torch.optim.SparseAdam(p, lr=0.1),
                                  lambda p: torch.optim.Adagrad(p, lr=0.1)])
def test_an_embedding_learns_by_sparse_gradients(device, make):
    weights = []
    for each in ("cpu", device):
        torch.manual_seed(0)
        table = nn.Embedding(6, 3, sparse=True)
        table.to(each)
        optimizer = make(table.parameters())
        for rows in ([1, 4, 1], [0, 5, 5]):
            optimizer.zero_grad()
            table(torch.tensor(rows, device=each)).square().sum().backward()
            assert table.weight.grad.is_sparse
            optimizer.step()
        weights.append(table.weight.detach().cpu())
    torch.testing.assert_close(weights[1], weights[0])


def test_what_does_not_fit_is_an_error(device):
    with pytest.raises(RuntimeError, match="does not fit"):
        dense(device, 2, 4).add_(coo(device))
    with pytest.raises(RuntimeError, match="do not fit"):
        torch.sparse.mm(coo(device), dense(device, 3, 2))
