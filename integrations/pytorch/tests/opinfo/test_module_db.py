# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own module database against a Keyway device: every sample of every module that PyTorch's CPU takes in a dtype, in
training and in evaluation, forward and backward, with the parameters' gradients. Of integers and bools the inputs are, and
the parameters f32."""

import copy
import itertools
import warnings

import cases
import comparison
import known
import level
import samples
import torch
import totals
from torch import nn
from torch.testing._internal.common_modules import module_db
from torch.utils._pytree import tree_leaves, tree_map

warnings.filterwarnings("ignore")

_DTYPES = torch.float32, torch.bfloat16, torch.int64, torch.bool


def _place(value, device):
    """A copy: a module, or a tensor with a gradient of its own."""
    if isinstance(value, nn.Module):
        return copy.deepcopy(value).to(device)
    if torch.is_tensor(value):
        return value.detach().to(device, copy=True).requires_grad_(value.requires_grad)
    return value


def _widen(value):
    if isinstance(value, nn.Module):
        return copy.deepcopy(value).double()
    return value.double() if torch.is_tensor(value) and value.is_floating_point() else value


class _Sample(cases.Case):
    def __init__(self, info, sample, dtype, training, device):
        text = f"{sample.constructor_input.args} {sample.constructor_input.kwargs} {sample.desc} training={training}"
        super().__init__("module_db", info.name, dtype, " ".join(text.split()), device)
        self.tolerance = comparison.of_chain
        self.info, self.sample, self.training = info, sample, training

    def expect(self):
        try:
            self.given = self._build(), self.sample.forward_input.args, self.sample.forward_input.kwargs
            with samples.Recorder() as recorder:
                self.right = self._compute(self.given, torch.device("cpu"))
        except Exception:  # it is no sample in this dtype
            self.stop(level.REFUSED)
            return False
        self.random = recorder.is_random()
        return True

    def _build(self):
        torch.manual_seed(0)
        module = self.info.module_cls(*self.sample.constructor_input.args, **self.sample.constructor_input.kwargs)
        if any(isinstance(parameter, nn.UninitializedParameter) for parameter in module.parameters()):
            with torch.no_grad():
                module(*self.sample.forward_input.args, **self.sample.forward_input.kwargs)
        return module.to(self.dtype if self.dtype.is_floating_point else torch.float32).train(self.training)

    def _compute(self, given, device):
        """What comes out, and the gradients of all that goes in."""
        module, args, kwargs = tree_map(lambda value: _place(value, device), given)
        out = samples.tensors(module(*args, **kwargs))
        losses = [tensor.square().sum() for tensor in out if tensor.requires_grad]
        if losses:
            sum(losses).backward()
        modules = [value for value in tree_leaves((module, args, kwargs)) if isinstance(value, nn.Module)]
        learning = samples.tensors((args, kwargs)) + [each for module in modules for each in module.parameters()]
        return out, [tensor.grad for tensor in learning if tensor.requires_grad]

    def run(self):
        _, gradients = self.right
        self.attempt("backward" if gradients else "forward", self._run,
                     lambda: self._compute(tree_map(_widen, self.given), torch.device("cpu")))

    def _run(self):
        self.results = self._compute(self.given, self.device)
        comparison.compare(self.results, self.right, self.tolerance, self.device, values=not self.random)


def pytest_generate_tests(metafunc):
    totals.parametrize(metafunc, "info", module_db, lambda info: _DTYPES)


def _samples(info, dtype):
    """(sample, training) of all that PyTorch can make in this dtype."""
    for training in (True, False):
        try:
            made = info.module_inputs_func(info, "cpu", dtype, requires_grad=dtype.is_floating_point, training=training)
        except Exception:  # no tensors of it, or no random numbers
            continue
        yield from ((sample, training) for sample in made)


def test_samples(info, dtype, device, every, record):
    known.start()
    problems = []
    for sample, training in itertools.islice(_samples(info, dtype), 0, None, every):
        one = _Sample(info, sample, dtype, training, device)
        if one.expect():
            one.run()
        problems += one.note()
    totals.note_ops(dtype)
    totals.conclude(problems, info.name, dtype, every, record)
