# SPDX-License-Identifier: Apache-2.0
"""Results of a device beside those of PyTorch's CPU, and beside float64 where rounding is past the tolerance."""

import math

import samples
import torch
from torch.testing._comparison import default_tolerances
from torch.utils._pytree import tree_leaves


class Apart(AssertionError):
    """Numbers differ by more than the tolerance."""


def compare(results, expected, tolerance, device, values=True):
    """`tolerance`: (rtol, atol), None for PyTorch's own, or a function of what is right. `values` false: shapes and dtypes
    alone. Everything has to be on the device."""
    results, expected = tree_leaves(results), tree_leaves(expected)
    assert len(results) == len(expected), f"{len(results)} results, expected {len(expected)}"
    for result, answer in zip(results, expected):
        if not isinstance(answer, torch.Tensor):
            same = result == answer or (result != result and answer != answer)
            assert same or not values, f"{result}, expected {answer}"
            continue
        if answer.layout is not torch.strided:
            raise samples.NotDense
        assert result.device.type == device.type, f"a result is on {result.device}"
        what = result.shape, result.dtype
        assert what == (answer.shape, answer.dtype), f"a result of {result.shape}, {result.dtype}"
        if not values:
            continue
        try:
            _assert_close(result.detach().cpu(), answer.detach(), tolerance)
        except AssertionError as error:
            raise Apart(error) from None


def of_chain(answer):
    """The tolerance of many ops one after another, each rounded: by the largest number of a tensor."""
    if answer.dtype not in _CHAIN or not answer.numel():
        return default_tolerances(answer.dtype)
    largest = answer.abs().max().item()
    return _CHAIN[answer.dtype], _CHAIN[answer.dtype] * (max(1, largest) if math.isfinite(largest) else 1)


_CHAIN = {torch.float32: 1e-4, torch.bfloat16: 0.03}


def _assert_close(result, answer, tolerance, dtype=None):
    rtol, atol = default_tolerances(dtype or answer.dtype)
    if callable(tolerance):
        rtol, atol = tolerance(answer)
    elif tolerance:
        rtol, atol = max(rtol, tolerance[0]), max(atol, tolerance[1])
    if answer.dtype in (torch.float8_e4m3fn, torch.float8_e5m2):  # torch.testing finds no two of these equal
        result, answer = result.float(), answer.float()
    torch.testing.assert_close(result, answer, rtol=rtol, atol=atol, equal_nan=True)


def is_as_good(results, expected, exact, tolerance):
    """Where device and CPU are further apart than the tolerance: whether each result agrees with what the sample gives
    in float64, or its greatest error is no more than twice the CPU's."""
    for result, answer, truth in zip(tree_leaves(results), tree_leaves(expected), tree_leaves(exact), strict=True):
        if not isinstance(answer, torch.Tensor):
            continue
        dtype, result, answer, truth = answer.dtype, result.detach().cpu(), answer.detach(), truth.detach()
        if dtype in samples.wider:
            result, answer, truth = (each.to(samples.wider[dtype]) for each in (result, answer, truth))
        else:
            truth = answer
        try:
            _assert_close(result, truth, tolerance, dtype)
        except AssertionError:
            if dtype not in samples.wider or not torch.equal(result.isfinite(), truth.isfinite()):
                return False
            finite = truth.isfinite()
            error, own = ((each - truth)[finite].abs().max() for each in (result, answer))
            if not error <= 2 * own:
                return False
    return True
