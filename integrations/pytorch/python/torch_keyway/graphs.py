# SPDX-License-Identifier: Apache-2.0
"""Graphs as torch.cuda has them: work that is recorded once, instead of run, and replayed.

    g = torch.keyway.Graph()
    with torch.keyway.graph(g):
        static_out = f(static_in)
    static_in.copy_(new)
    g.replay()  # static_out has what f gives for new
"""

import functools

import torch
from torch.utils._pytree import tree_flatten, tree_leaves, tree_unflatten

Graph = torch.accelerator.Graph  # csrc/graph.cpp


def is_current_stream_capturing():
    """Whether the work of the current stream is being recorded."""
    return torch.accelerator.current_stream().is_capturing()


@functools.cache
def _stream(index):
    return torch.Stream(device=torch.device(torch.accelerator.current_accelerator().type, index))


class graph:
    """A context whose work on the device goes into `graph`, on a stream that others leave alone meanwhile: `stream`, or one
    for all recordings on the current device. What has no place in a graph, such as reading a number, is an error; the
    graph is empty then, and everything else as before."""

    def __init__(self, graph, *, stream=None):
        self._graph, self._stream = graph, stream

    def __enter__(self):
        stream = self._stream or _stream(torch.accelerator.current_device_index())
        torch.accelerator.synchronize()
        self._entered = stream.__enter__()
        try:
            self._graph.capture_begin()
        except BaseException:
            self._entered.__exit__(None, None, None)
            raise

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self._graph.capture_end()
            else:
                self._graph.reset()
        finally:
            self._entered.__exit__(None, None, None)


class _Graphed:
    """A callable recorded forward and backward, for inputs like the samples."""

    def __init__(self, call, samples, parameters, warmup, allow_unused):
        self._inputs = [sample.detach().clone().requires_grad_(sample.requires_grad) for sample in samples]
        self._parameters, self._allow_unused = parameters, allow_unused
        self._warm_up(call, warmup)
        self._forward, self._backward = Graph(), Graph()
        with graph(self._forward):
            results, self._spec = tree_flatten(call(*self._inputs))
        self._seeds = [torch.zeros_like(result) for result in results]
        with graph(self._backward):
            self._gradients = self._differentiate(results, self._seeds)
        self._results = [result.detach() for result in results]
        self._function = _function(self)

    def _warm_up(self, call, times):
        """On the stream of the recording: autograd remembers the stream on which it first came to a parameter."""
        stream = _stream(torch.accelerator.current_device_index())
        torch.accelerator.synchronize()
        with stream:
            for _ in range(times):
                results = tree_leaves(call(*self._inputs))
                self._differentiate(results, [torch.ones_like(result) for result in results])
        torch.accelerator.synchronize()

    def _differentiate(self, results, seeds):
        """Gradients for inputs and parameters, None for those that have none."""
        sources = [*self._inputs, *self._parameters]
        wanted = [source for source in sources if source.requires_grad]
        given = [(result, seed) for result, seed in zip(results, seeds) if result.requires_grad]
        if not wanted or not given:
            return [None] * len(sources)
        outputs, outputs_seeds = zip(*given)
        gradients = iter(torch.autograd.grad(outputs, wanted, outputs_seeds, allow_unused=self._allow_unused))
        return [next(gradients) if source.requires_grad else None for source in sources]

    def replay(self, inputs):
        for own, given in zip(self._inputs, inputs, strict=True):
            if own.shape != given.shape or own.dtype != given.dtype:
                raise ValueError(f"recorded for {own.dtype} {list(own.shape)}, called with {given.dtype} {list(given.shape)}")
            own.detach().copy_(given)
        self._forward.replay()
        return tuple(result.clone() for result in self._results)

    def replay_backward(self, gradients):
        for seed, given in zip(self._seeds, gradients):
            seed.copy_(given)
        self._backward.replay()
        return tuple(gradient if gradient is None else gradient.clone() for gradient in self._gradients)

    def __call__(self, *inputs):
        return tree_unflatten(self._function.apply(*inputs, *self._parameters), self._spec)


def _function(graphed):
    class Graphed(torch.autograd.Function):
        @staticmethod
        def forward(_, *tensors):
            return graphed.replay(tensors[: len(graphed._inputs)])

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(_, *gradients):
            return graphed.replay_backward(gradients)

    return Graphed


def make_graphed_callables(callables, sample_args, num_warmup_iters=3, allow_unused_input=False):
    """Versions of functions or modules, one or a tuple of them, that replay graphs forward and backward, for tensors like
    the samples. As with torch.cuda a module is changed in place, and runs as before in the other mode of train() and eval();
    backward is to come before the next call. Results and gradients are copies, which stay."""
    if not isinstance(callables, tuple):
        return make_graphed_callables((callables,), (sample_args,), num_warmup_iters, allow_unused_input)[0]
    return tuple(
        _graphed(each, samples, num_warmup_iters, allow_unused_input)
        for each, samples in zip(callables, sample_args, strict=True)
    )


def _graphed(call, samples, warmup, allow_unused):
    if not isinstance(call, torch.nn.Module):
        return _Graphed(call, samples, (), warmup, allow_unused)
    plain, mode = call.forward, call.training
    graphed = _Graphed(plain, samples, tuple(call.parameters()), warmup, allow_unused)

    def forward(*inputs):
        return (graphed if call.training == mode else plain)(*inputs)

    call.forward = forward
    return call
