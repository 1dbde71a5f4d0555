# SPDX-License-Identifier: Apache-2.0
"""torch.compile(..., backend="keyway"): what AOTAutograd makes of a function, forward and backward, is recorded for the
shapes of its inputs and replayed, with no operator called. The first call for some shapes runs operator by operator, the
second records. What cannot be recorded is run operator by operator always, and said once."""

import threading
import warnings

import torch
from torch._dynamo.backends.common import aot_autograd
from torch._guards import TracingContext
from torch.fx.graph import _BoxedCodeGen

from . import _C

_MOST = 16  # recordings of a compiled function
_recording = threading.Lock()  # they share a stream


def keyway(module, inputs):
    """The backend."""
    lock = _C.Lock()

    def forward(module, _):
        metadata = TracingContext.get().fw_metadata
        return _Compiled(module, lock, metadata.static_input_indices, metadata.num_forward_returns)

    def inference(module, _):
        return _Compiled(module, lock, TracingContext.get().fw_metadata.static_input_indices)

    def backward(module, _):
        return _Compiled(module, lock)

    compiler = aot_autograd(
        fw_compiler=forward, bw_compiler=backward, inference_compiler=inference, keep_inference_input_mutations=True
    )
    return compiler(module, inputs)


class _Compiled:
    """One graph of AOTAutograd's. `lasting`: its inputs whose memory stays, parameters above all. Its results from
    `kept_from` on are for its backward alone."""

    def __init__(self, module, lock, lasting=(), kept_from=None):
        self._boxed_call = True  # the inputs come as a list, which is emptied
        module.graph.set_codegen(_BoxedCodeGen())
        module.recompile()
        self._call, self._lock, self._lasting = module.forward, lock, frozenset(lasting)
        self._results = len(module.graph.output_node().args[0])
        self._kept_from = self._results if kept_from is None else kept_from
        self._replays, self._seen = [], set()
        self._problem, self._written = None, ()
        try:
            self._written = _check(module.graph)
        except _Unsuitable as error:
            self._give_up(error)

    def __call__(self, inputs):
        for replay in self._replays:
            results = replay.run(inputs)
            if results is not None:
                inputs.clear()
                return results
        if self._may_record(inputs):
            with _recording:
                replay = self._record(inputs)
            if replay is not None:
                self._replays.append(replay)
                return replay.run(inputs)
        return self._call(inputs)

    def _may_record(self, inputs):
        """Whether there were inputs of these shapes before."""
        if self._problem is not None:
            return False
        if len(self._replays) == _MOST:
            self._give_up(f"it was recorded for {_MOST} sets of shapes already, which go on to be replayed")
            return False
        key = tuple((i.shape, i.stride(), i.dtype) if isinstance(i, torch.Tensor) else i for i in inputs)
        if key in self._seen:
            return True
        self._seen.add(key)
        return False

    def _record(self, inputs):
        tensors = [(i, each) for i, each in enumerate(inputs) if isinstance(each, torch.Tensor)]
        try:
            lasting = [i for i, each in tensors if i in self._lasting or _C.is_lasting(each)]
            replay = _C.Replay(self._lock, inputs, lasting)
            replay.begin()
            try:
                results = self._call(replay.inputs())
            except BaseException:
                replay.abandon()
                raise
            replay.end(list(results), self._written, self._kept_from)
            return replay
        except Exception as error:
            self._give_up(error)
            return None

    def _give_up(self, reason):
        self._problem = reason
        warnings.warn(
            f'torch.compile(backend="keyway"): a function runs operator by operator, not from a recording: {reason}',
            stacklevel=2,
        )


class _Unsuitable(Exception):
    """Why a function cannot be recorded."""


def _check(graph):
    """Which inputs a function changes."""
    inputs = [node for node in graph.nodes if node.op == "placeholder"]
    constants, written = set(), []
    for node in graph.nodes:
        if node.op == "get_attr" or (node.op == "call_function" and set(node.all_input_nodes) <= constants):
            constants.add(node)
        _check_place(node, node in constants)
        if node.op == "call_function":
            written += [inputs.index(changed) for changed in _changed(node, inputs)]
    return sorted(set(written))


def _check_place(node, is_constant):
    """All that varies has to be on the device: the host's part is done once, while the function is recorded."""
    for value in torch.utils._pytree.tree_leaves(node.meta.get("val")):
        if isinstance(value, torch.Tensor) and value.device.type == "cpu" and not is_constant:
            raise _Unsuitable(f"{node} is computed on the CPU")


def _changed(node, inputs):
    """The inputs that an operator changes."""
    operator = node.target
    if not isinstance(operator, torch._ops.OpOverload):
        if isinstance(operator, torch._ops.HigherOrderOperator):
            raise _Unsuitable(f"{operator} decides on the host what is run")
        return []
    if torch.Tag.cudagraph_unsafe in operator.tags:
        raise _Unsuitable(f"{operator} must not be recorded")
    if not operator._schema.is_mutable:
        return []
    if operator is not torch.ops.aten.copy_.default or node.args[0] not in inputs:
        raise _Unsuitable(f"{operator} changes a tensor in place")
    return [node.args[0]]


# ---- Inductor --------------------------------------------------------------------------------------------------------


def refuse_inductor(name):
    """Makes Inductor say for the device `name` that it cannot, in place of an error from its insides."""
    from torch._inductor.codegen import common
    from torch._inductor.codegen.wrapper import PythonWrapperCodegen
    from torch._inductor.scheduler import BaseScheduling

    def refuse(*_, **__):
        raise NotImplementedError(
            f"Inductor has no code generator for {name!r}, whose devices are Keyway's: their kernels come with their plugins. "
            'Use torch.compile(..., backend="keyway"), which replays them as one graph'
        )

    scheduling = type("Scheduling", (BaseScheduling,), {"__init__": refuse})
    wrapper = type("Wrapper", (PythonWrapperCodegen,), {"create": staticmethod(refuse)})
    common.register_backend_for_device(name, scheduling, wrapper, wrapper, wrapper)
    common.register_device_op_overrides(name, common.DeviceOpOverrides())
