# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own operator database against a Keyway device.

Every sample of every operator runs on PyTorch's CPU and on the device, forward and, where the database says that there are
gradients, backward. Results agree to the database's tolerances, or PyTorch's own; where rounding on the CPU is past them,
float64 decides (comparison.is_as_good). A sample that does not pass stands in known.toml with a reason, and one that stands
there without need fails the test.

    pytest integrations/pytorch/tests/opinfo --device opencl [--dtypes f32,i64] [--every N] [--shard I/N]
"""

import warnings

import cases
import comparison
import known
import level
import samples
import torch
import totals
from torch.testing._internal.common_device_type import toleranceOverride
from torch.testing._internal.common_methods_invocations import op_db

warnings.filterwarnings("ignore")

_UNSET = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty", "new_empty_strided"}  # values are any

_base_names = {name.split(".")[0] for name in totals.ops}


def _op_name(function):
    name = function._schema.name.removeprefix("aten::")
    return name if name in _base_names else name.rstrip("_")


def _reaches_op_set(recorder):
    return any(_op_name(function) in _base_names for function in recorder.seen)


def _tolerance(op, dtype):
    """(rtol, atol) that the database says, or None."""
    for decorator in op.get_decorators("TestCommon", "test_compare_cpu", "cpu", dtype, {}):
        if isinstance(decorator, toleranceOverride) and dtype in decorator.d:
            return decorator.d[dtype].rtol, decorator.d[dtype].atol
    return None


# ---- One sample ------------------------------------------------------------------------------------------------------


def _forward(op, sample, placed):
    inputs, args, kwargs = placed
    return sample.output_process_fn_grad(op(inputs, *args, **kwargs))


def _given(outputs):
    return [output for output in samples.tensors(outputs) if output.requires_grad]


def _backward(outputs, placed, seeds):
    wanted = [tensor for tensor in samples.tensors(placed) if tensor.requires_grad]
    given = _given(outputs)
    return torch.autograd.grad(
        given, wanted, [seed.to(given[0].device) for seed in seeds], allow_unused=True, retain_graph=True
    )


def _seeds(outputs):
    """A gradient for each differentiable output, the same ones each time."""
    generator = torch.Generator().manual_seed(0)
    return [torch.rand(each.shape, generator=generator).mul(2).sub(1).to(each.dtype) for each in _given(outputs)]


class _Sample(cases.Case):
    """One sample of an entry, on the CPU and on the device."""

    def __init__(self, op, dtype, sample, device):
        super().__init__("op_db", op.full_name, dtype, samples.text(sample), device)
        self.op, self.sample = op, sample
        self.tolerance = _tolerance(op, dtype)
        self.recorder = samples.Recorder()

    def expect(self):
        """What the CPU says. False when the sample has nothing to compare."""
        try:
            self.cpu_inputs = samples.place(self.sample, "cpu")
            with self.recorder:
                self.expected = _forward(self.op, self.sample, self.cpu_inputs)
        except samples.NotDense:
            self.stop("not of dense tensors")
            return False
        except Exception:  # it is no sample for PyTorch's CPU
            self.stop(level.REFUSED)
            return False
        self.random = self.recorder.is_random() or self.op.name in _UNSET
        if not samples.names_device(self.sample):
            self.stop("nothing of it lies on a device")
            return False
        return True

    def run(self):
        self.inputs = samples.place(self.sample, self.device)
        if not self.attempt("forward", self._run_forward, self._exact_forward) or self.random:
            return
        self.seeds = _seeds(self.expected)
        if self.seeds:
            try:
                self.answers = _backward(self.expected, self.cpu_inputs, self.seeds)
            except Exception:  # PyTorch's CPU has no gradient here
                return
            self.attempt("backward", self._run_backward, self._exact_backward)

    def _run_forward(self):
        self.results = self.outputs = _forward(self.op, self.sample, self.inputs)
        self.right = self.expected
        comparison.compare(self.results, self.right, self.tolerance, self.device, values=not self.random)

    def _run_backward(self):
        self.results, self.right = _backward(self.outputs, self.inputs, self.seeds), self.answers
        comparison.compare(self.results, self.right, self.tolerance, self.device)

    def _exact_forward(self):
        self.wide_inputs = samples.widen(samples.place(self.sample, "cpu"), self.dtype)
        self.wide_outputs = _forward(self.op, self.sample, self.wide_inputs)
        return self.wide_outputs

    def _exact_backward(self):
        self._exact_forward()
        seeds = [seed.to(output.dtype) for seed, output in zip(self.seeds, _given(self.wide_outputs))]
        return _backward(self.wide_outputs, self.wide_inputs, seeds)


# ---- Tests -----------------------------------------------------------------------------------------------------------


def pytest_generate_tests(metafunc):
    totals.parametrize(metafunc, "op", op_db, lambda op: op.supported_dtypes("cpu"))


def test_samples(op, dtype, device, every, record):
    known.start()
    gradients = op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
    problems = []
    for number, sample in enumerate(op.sample_inputs("cpu", dtype, requires_grad=gradients)):
        if number % every != 0:
            continue
        one = _Sample(op, dtype, sample, device)
        if one.expect():
            one.run()
            if _reaches_op_set(one.recorder):
                totals.entries[op.full_name].add(dtype)
        problems += one.note()
    totals.note_ops(dtype)
    totals.conclude(problems, op.full_name, dtype, every, record)


def test_outside_is_outside():
    """Operators that known.toml says are outside the op set are: no op has the name, without what only an `out` adds to it."""
    names = {name: name.removeprefix("aten::") for name in known.outside}
    assert [name for name, own in names.items() if {own, own.split(".")[0], own.removesuffix("_out")} & totals.ops.keys()] == []
