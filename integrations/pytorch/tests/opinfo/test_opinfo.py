# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own operator database against a Keyway device.

Every sample of every operator that reaches the op set runs on PyTorch's CPU and on the device, forward and, where the
database says that there are gradients, backward. Results agree to the database's tolerances, or PyTorch's own; where
rounding on the CPU is past them, float64 decides (_is_as_good). A sample that does not pass stands in known.toml with a
reason, and one that stands there without need fails the test.

    pytest integrations/pytorch/tests/opinfo --device opencl [--every N] [--shard I/N]
"""

import re
import warnings

import known
import pytest
import samples
import torch
import totals
from torch.testing._comparison import default_tolerances
from torch.testing._internal.common_device_type import toleranceOverride
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

warnings.filterwarnings("ignore")

_base_names = {name.split(".")[0] for name in totals.ops}
_order = [torch.float32, *(dtype for dtype in totals.names if dtype is not torch.float32)]


class _Recorder(TorchDispatchMode):
    """Which operators PyTorch's CPU runs."""

    def __init__(self):
        super().__init__()
        self.seen = set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.seen.add(function)
        return function(*args, **(kwargs or {}))

    def reaches_op_set(self):
        return any(_op_name(function) in _base_names for function in self.seen)

    def is_random(self):
        return any(torch.Tag.nondeterministic_seeded in function.tags for function in self.seen)


def _op_name(function):
    name = function._schema.name.removeprefix("aten::")
    return name if name in _base_names else name.rstrip("_")


# ---- Comparison ------------------------------------------------------------------------------------------------------


def _tolerance(op, dtype):
    """(rtol, atol) that the database says, or None."""
    for decorator in op.get_decorators("TestCommon", "test_compare_cpu", "cpu", dtype, {}):
        if isinstance(decorator, toleranceOverride) and dtype in decorator.d:
            return decorator.d[dtype].rtol, decorator.d[dtype].atol
    return None


class _Apart(AssertionError):
    """Numbers differ by more than the tolerance."""


def _compare(results, expected, tolerance, device, values=True):
    """`values` false: shapes and dtypes alone. Everything has to be on the device."""
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
            raise _Apart(error) from None


def _assert_close(result, answer, tolerance, dtype=None):
    rtol, atol = default_tolerances(dtype or answer.dtype)
    if tolerance:
        rtol, atol = max(rtol, tolerance[0]), max(atol, tolerance[1])
    torch.testing.assert_close(result, answer, rtol=rtol, atol=atol, equal_nan=True)


def _is_as_good(results, expected, exact, tolerance):
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


class _Sample:
    """One sample of an entry, on the CPU and on the device."""

    def __init__(self, op, dtype, sample, device):
        self.op, self.dtype, self.sample, self.device = op, dtype, sample, device
        self.name, self.text = op.full_name, samples.text(sample)
        self.tolerance = _tolerance(op, dtype)
        self.recorder = _Recorder()
        self.problems = []

    def expect(self):
        """What the CPU says. False when the sample has nothing to compare."""
        try:
            self.cpu_inputs = samples.place(self.sample, "cpu")
            with self.recorder:
                self.expected = _forward(self.op, self.sample, self.cpu_inputs)
        except Exception:  # it is no sample for PyTorch's CPU, or not of dense tensors
            return False
        return self.recorder.reaches_op_set() and samples.names_device(self.sample)

    def run(self):
        """Returns what is wrong, a line each."""
        self.inputs = samples.place(self.sample, self.device)
        if not self._try("forward", self._run_forward, self._exact_forward) or self.recorder.is_random():
            return self.problems
        self.seeds = _seeds(self.expected)
        if self.seeds:
            try:
                self.answers = _backward(self.expected, self.cpu_inputs, self.seeds)
            except Exception:  # PyTorch's CPU has no gradient here
                return self.problems
            self._try("backward", self._run_backward, self._exact_backward)
        return self.problems

    def _run_forward(self):
        self.results = self.outputs = _forward(self.op, self.sample, self.inputs)
        self.right = self.expected
        _compare(self.results, self.right, self.tolerance, self.device, values=not self.recorder.is_random())

    def _run_backward(self):
        self.results, self.right = _backward(self.outputs, self.inputs, self.seeds), self.answers
        _compare(self.results, self.right, self.tolerance, self.device)

    def _exact_forward(self):
        self.wide_inputs = samples.widen(samples.place(self.sample, "cpu"), self.dtype)
        self.wide_outputs = _forward(self.op, self.sample, self.wide_inputs)
        return self.wide_outputs

    def _exact_backward(self):
        self._exact_forward()
        seeds = [seed.to(output.dtype) for seed, output in zip(self.seeds, _given(self.wide_outputs))]
        return _backward(self.wide_outputs, self.wide_inputs, seeds)

    def _try(self, way, function, exact):
        """Whether the device has results to go on with."""
        problem, right = None, True
        try:
            function()
        except samples.NotDense:
            self._count(way, "not of dense tensors")
            return False
        except _Apart as error:
            problem = " ".join(str(error).split())
            if self.dtype in samples.wider and self._is_as_good(exact):
                self._count(way, "passed by float64 (the CPU's own rounding is past the tolerance)")
                return True
        except Exception as error:
            problem, right = " ".join(f"{type(error).__name__}: {error}".split()), False
            self._recover()
        self._judge(way, problem)
        return right

    def _is_as_good(self, exact):
        try:
            return _is_as_good(self.results, self.right, exact(), self.tolerance)
        except Exception:  # it does not run in float64
            return False

    def _recover(self):
        """Errors of the data surface at the next synchronise."""
        try:
            torch.accelerator.synchronize(self.device)
        except RuntimeError:
            pass

    def _count(self, way, what):
        totals.outcomes[way][what] += 1

    def _judge(self, way, problem):
        entry = known.find(self.name, totals.names[self.dtype], way, self.text, problem)
        stop = re.match(r"NotImplementedError: ([\w:.]+): no op of Keyway serves", problem or "")
        if problem is None and entry is None:
            random = self.recorder.is_random()
            self._count(way, "passed in shape and dtype (random)" if random else "passed")
        elif problem is None:
            self._fail(way, f"passes, but stands in known.toml: {entry.reason}")
        elif "is not one the op is defined for" in problem:
            self._count(way, "beyond the dtypes of an op")
        elif stop is not None and stop[1] in known.outside:
            totals.outside[stop[1]] += 1
            self._count(way, "stopped at an operator outside the op set")
        elif entry is not None:
            entry.count += 1
            totals.reasons[entry.reason] += 1
            self._count(way, "listed")
        else:
            self._fail(way, problem)

    def _fail(self, way, problem):
        self._count(way, "failed")
        self.problems.append(f"{self.name} | {totals.names[self.dtype]} | {way} | {self.text[:300]} | {problem[:400]}")


# ---- Tests -----------------------------------------------------------------------------------------------------------


def pytest_generate_tests(metafunc):
    if "op" not in metafunc.fixturenames:
        return
    part, parts = map(int, metafunc.config.getoption("--shard").split("/"))
    cases = [
        pytest.param(op, dtype, id=f"{op.full_name}-{totals.names[dtype]}")
        for op in op_db[part - 1 :: parts]
        for dtype in _order
        if dtype in op.supported_dtypes("cpu")
    ]
    metafunc.parametrize("op, dtype", cases)


def test_samples(op, dtype, device, every, record):
    known.start()
    gradients = op.supports_autograd and dtype in op.supported_backward_dtypes("cpu")
    problems, any_in_scope = [], False
    for number, sample in enumerate(op.sample_inputs("cpu", dtype, requires_grad=gradients)):
        if number % every != 0:
            continue
        one = _Sample(op, dtype, sample, device)
        if one.expect():
            any_in_scope = True
            problems += one.run()
    totals.note_ops(dtype)
    if not any_in_scope:
        pytest.skip("reaches no op of the op set")
    totals.entries[op.full_name].add(dtype)
    if every == 1:
        problems += known.stale(op.full_name, totals.names[dtype])
    record(problems)
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)


def test_outside_is_outside():
    """Operators that known.toml says are outside the op set are."""
    assert [name for name in known.outside if name.removeprefix("aten::") in totals.ops] == []
