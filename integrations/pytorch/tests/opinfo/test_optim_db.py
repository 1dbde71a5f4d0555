# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own optimizer database against a Keyway device: every sample of every optimizer, in all the ways that CUDA has
(plain, foreach, fused, differentiable, capturable), takes some steps on the device and plainly on PyTorch's CPU. Parameters
and states agree."""

import warnings

import cases
import comparison
import known
import level
import torch
import totals
from torch.testing._internal.common_optimizers import _get_optim_inputs_including_global_cliquey_kwargs, optim_db
from torch.utils._pytree import tree_leaves

warnings.filterwarnings("ignore")

_STEPS = 5
_WAYS = "foreach", "fused", "capturable"  # how a step is taken, and not what comes out of it
_DTYPES = torch.float32, torch.bfloat16  # parameters have gradients


def _shapes(info):
    return [(6, 4), (3, 6)] if info.optim_cls is torch.optim.Muon else [(6, 4), (3, 6), (5,), (1,)]


def _train(info, kwargs, dtype, device):
    """What the parameters and the optimizer's state are in the end. The loss is lowest where all parameters are 0.5."""
    generator = torch.Generator().manual_seed(0)
    leaves = [torch.randn(shape, generator=generator).to(dtype).to(device).requires_grad_() for shape in _shapes(info)]
    parameters = [leaf.clone() for leaf in leaves] if kwargs.get("differentiable") else leaves
    optimizer = info.optim_cls(parameters, **kwargs)

    def closure():
        loss = sum(((parameter - 0.5) * (number + 1)).square().mean() for number, parameter in enumerate(parameters))
        for parameter, gradient in zip(parameters, torch.autograd.grad(loss, parameters)):
            parameter.grad = gradient.to_sparse() if info.only_supports_sparse_grads else gradient
        return loss.detach()

    for _ in range(1 if info.step_requires_closure else _STEPS):
        optimizer.step(closure)
    if info.step_requires_closure:  # its state is made of differences, and after one step those are of rounding
        return [parameter.detach() for parameter in parameters]
    state = [leaf.to(device) for leaf in tree_leaves(optimizer.state_dict()["state"]) if isinstance(leaf, torch.Tensor)]
    return [parameter.detach() for parameter in parameters] + state


class _Sample(cases.Case):
    def __init__(self, info, kwargs, dtype, text, device):
        super().__init__("optim_db", info.name, dtype, text, device)
        self.tolerance = comparison.of_chain
        self.info, self.kwargs = info, kwargs
        self.plain = {name: value for name, value in kwargs.items() if name not in _WAYS}

    def expect(self):
        try:
            self.info.optim_cls([torch.zeros(2, 2, dtype=self.dtype, requires_grad=True)], **self.kwargs)
            self.right = _train(self.info, self.plain, self.dtype, torch.device("cpu"))
        except Exception:
            self.stop(level.REFUSED)
            return False
        return True

    def run(self):
        self.attempt("forward", self._run, lambda: _train(self.info, self.plain, torch.float64, torch.device("cpu")))

    def _run(self):
        self.results = _train(self.info, self.kwargs, self.dtype, self.device)
        comparison.compare(self.results, self.right, self.tolerance, self.device)


def pytest_generate_tests(metafunc):
    totals.parametrize(metafunc, "info", optim_db, lambda info: _DTYPES)


def test_samples(info, dtype, device, every, record):
    known.start()
    problems = []
    for sample in _get_optim_inputs_including_global_cliquey_kwargs("cuda", dtype, info)[::every]:
        one = _Sample(info, sample.kwargs, dtype, f"{sample.desc} {sample.kwargs}", device)
        if one.expect():
            one.run()
        problems += one.note()
    totals.note_ops(dtype)
    totals.conclude(problems, info.name, dtype, every, record)
