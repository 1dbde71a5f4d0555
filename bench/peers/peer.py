# SPDX-License-Identifier: Apache-2.0
"""usage: peer.py torch|numpy|bridge

A peer of `keyway bench`, spoken with by lines of JSON as bench/peer.h says: PyTorch or NumPy on the host, or PyTorch on
Keyway's device over torch_keyway. Ops are called from C++ where PyTorch has an operator of the name.
"""

import importlib.util
import json
import os
import sys
import time
from pathlib import Path

THREADS = int(os.environ.get("KEYWAY_THREADS", "1"))
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(THREADS)
for name in ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE"):  # a workaround for older libraries, which slows this one
    os.environ.pop(name, None)


class Cannot(Exception):
    """What a peer does not do, as a text."""


class Call:
    """A function that is run from Python; `wait` waits for what it enqueued."""

    def __init__(self, function, wait=lambda: None):
        self.function, self.wait = function, wait

    def run(self, times):
        begin, worked = time.perf_counter_ns(), time.process_time_ns()
        for _ in range(times):
            self.function()
        self.wait()
        return (time.perf_counter_ns() - begin) / times, (time.process_time_ns() - worked) / times


def tensors_of(value):
    """The entries of an argument where it is a tensor or a list of them, else none."""
    if isinstance(value, dict) and "shape" in value:
        return [value]
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def fill(numpy, spec, dtype):
    """An array of a tensor's shape, strides and dtype with the numbers that keyway bench takes."""
    numbers = numpy.arange(max(1, int(numpy.prod(spec["shape"], dtype=numpy.int64))), dtype=numpy.int64)
    if spec.get("step", 0) > 0:
        numbers = numbers * spec["step"]
    elif spec.get("below", 0) > 0:
        numbers = numbers * 7919 % spec["below"]
    else:
        numbers = numbers % 3 == 0 if spec["dtype"] == "bool" else (numbers % 251 + 1) / 252
    order = sorted(range(len(spec["shape"])), key=lambda d: -spec["strides"][d])
    array = numbers.astype(dtype).reshape([spec["shape"][d] for d in order])
    return array.transpose([order.index(d) for d in range(len(order))])


# ---- NumPy -----------------------------------------------------------------------------------------------------------


class NumPy:
    def __init__(self):
        import numpy

        self.numpy = numpy
        self.title = f"NumPy {numpy.__version__}, called from Python with results given where it takes them"

    def tensor(self, spec):
        names = {"f32": "float32", "f64": "float64", "f16": "float16", "i32": "int32", "i64": "int64", "bool": "bool"}
        if spec["dtype"] not in names:
            raise Cannot(f"NumPy has no {spec['dtype']}")
        return fill(self.numpy, spec, names[spec["dtype"]])

    def kmeans(self, size):
        np = self.numpy
        points = fill(np, {"shape": [size, 2], "strides": [2, 1], "dtype": "f32"}, "float32")
        means = np.array([[0.25, 0.25], [0.75, 0.75]], dtype="float32")
        return Call(lambda: np.linalg.norm(points[:, None] - means[None], axis=2).argmin(axis=1))

    def prepare(self, name, args, size, device):
        np = self.numpy
        if name == "kmeans":
            return self.kmeans(size)
        unary = {"sqrt", "exp", "log", "log1p", "expm1", "sin", "cos", "tan", "tanh", "sinh", "floor", "sign", "isnan"}
        binary = {"add.Tensor": np.add, "sub.Tensor": np.subtract, "mul.Tensor": np.multiply, "div.Tensor": np.divide,
                  "maximum": np.maximum, "gt.Tensor": np.greater, "atan2": np.arctan2, "fmod.Tensor": np.fmod,
                  "remainder.Tensor": np.remainder, "pow.Tensor_Tensor": np.power, "mm": np.matmul, "bmm": np.matmul,
                  "logical_and": np.logical_and, "bitwise_and.Tensor": np.bitwise_and}
        renamed = {"abs": np.absolute, "neg": np.negative, "asin": np.arcsin, "atan": np.arctan, "round": np.rint,
                   "reciprocal": np.reciprocal}
        function = binary.get(name) or renamed.get(name) or (getattr(np, name) if name in unary else None)
        if function is not None:
            operands = [self.tensor(each) for each in args if tensors_of(each)]
            out = function(*operands)
            return Call(lambda: function(*operands, out=out))
        x = self.tensor(args[0]) if args and isinstance(args[0], dict) and "shape" in args[0] else None
        others = {
            "copy_": lambda: (lambda y: lambda: np.copyto(x, y))(self.tensor(args[1])),
            "cat": lambda: (lambda xs: lambda: np.concatenate(xs, axis=args[1]))([self.tensor(e) for e in args[0]]),
            "sum": lambda: lambda: x.sum(), "mean": lambda: lambda: x.mean(), "prod": lambda: lambda: x.prod(),
            "amax": lambda: lambda: x.max(axis=tuple(args[1]) if len(args) > 1 else None),
            "sum.dim_IntList": lambda: lambda: x.sum(axis=tuple(args[1])),
            "mean.dim": lambda: lambda: x.mean(axis=tuple(args[1])),
            "argmax": lambda: lambda: x.argmax(axis=args[1] if len(args) > 1 else None),
            "cumsum": lambda: lambda: x.cumsum(axis=args[1]),
            "sort": lambda: lambda: x.argsort(), "relu": lambda: lambda: np.maximum(x, 0),
            "flip": lambda: lambda: np.flip(x, tuple(args[1])).copy(),
        }
        if name not in others:
            raise Cannot("NumPy has no function for it, or this peer does not know it")
        return Call(others[name]())


# ---- PyTorch ---------------------------------------------------------------------------------------------------------


def load_loop():
    """The C++ beside this file, built at its first use, and when it has changed, into a folder of the environment."""
    source, folder = Path(__file__).with_name("loop.cpp"), Path(sys.prefix) / "keyway_loop"
    built = folder / "keyway_loop.so"
    if not built.exists() or built.stat().st_mtime < source.stat().st_mtime:
        from torch.utils.cpp_extension import load

        folder.mkdir(exist_ok=True)
        os.environ["PATH"] = f"{sys.prefix}/bin:{os.environ['PATH']}"  # ninja
        return load("keyway_loop", [str(source)], build_directory=str(folder), extra_cflags=["-O2", "-g0"])
    spec = importlib.util.spec_from_file_location("keyway_loop", built)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class PyTorch:
    def __init__(self, on_device):
        import numpy
        import torch

        self.numpy, self.torch, self.on_device = numpy, torch, on_device
        torch.set_num_threads(THREADS)
        self.device, self.wait = torch.device("cpu"), lambda: None
        self.title = f"PyTorch {torch.__version__} on its CPU, operators called from C++"
        self.dtypes = {"f32": torch.float32, "f64": torch.float64, "f16": torch.float16, "bf16": torch.bfloat16,
                       "i64": torch.int64, "i32": torch.int32, "i8": torch.int8, "bool": torch.bool,
                       "c64": torch.complex64}
        if on_device:
            import torch_keyway

            self.keyway, self.wait = torch_keyway, torch_keyway.device_module.synchronize
            self.title = f"PyTorch {torch.__version__} on Keyway's device, by torch_keyway"
        self.loop = load_loop()

    def choose(self, device):
        if self.on_device and self.device.type == "cpu":
            self.device = self.keyway.register(device)

    def value(self, value):
        if isinstance(value, dict) and "shape" in value:
            whole = value.get("below", 0) > 0 or value.get("step", 0) > 0
            array = fill(self.numpy, value, "int64" if whole else "float64")
            tensor = self.torch.empty_strided(value["shape"], value["strides"], dtype=self.dtypes[value["dtype"]],
                                              device=self.device)
            return tensor.copy_(self.torch.from_numpy(array))
        if isinstance(value, dict):
            return self.dtypes[value["dtype"]]
        return [self.value(each) for each in value] if isinstance(value, list) else value

    def with_results(self, schema, packet, args):
        """The overload that writes to given results, and these; the operator itself where there is none."""
        wanted = [(each.name, str(each.type)) for each in schema.arguments]
        for overload in packet.overloads():
            if self.torch.Tag.generated in getattr(packet, overload).tags:  # it would copy what the operator makes
                continue
            other = getattr(packet, overload)._schema
            inputs = [(each.name, str(each.type)) for each in other.arguments if not each.is_out]
            outs = [each.name for each in other.arguments if each.is_out]
            if not outs or inputs != wanted:
                continue
            results = getattr(packet, schema.overload_name or "default")(*args)
            results = results if isinstance(results, (tuple, list)) else [results]
            return overload, dict(zip(outs, results))
        return schema.overload_name, {}

    def operator(self, name, args):
        namespace, _, rest = name.rpartition("::")
        base, _, overload = rest.partition(".")
        if namespace == "quantized_decomposed":
            import torch.ao.quantization.fx._decomposed  # noqa: F401, brings the operators
        packet = getattr(getattr(self.torch.ops, namespace or "aten"), base, None)
        if packet is None or (overload or "default") not in packet.overloads():
            raise Cannot("PyTorch has no operator of this name")
        schema = getattr(packet, overload or "default")._schema
        # Keyway's schemas leave out what says where a result is to lie; what is given by name here is so there, too.
        positional = [each for each in schema.arguments if not each.kwarg_only]
        by_name = [each.name for each in schema.arguments if each.kwarg_only]
        given, named = args[: len(positional)], dict(zip(by_name, args[len(positional):]))
        if base == "clone":  # which would keep the strides, where Keyway's makes a dense tensor
            named["memory_format"] = self.torch.contiguous_format
        chosen, outs = overload, {}
        if not schema.is_mutable and not named:
            chosen, outs = self.with_results(schema, packet, given)
        return self.loop.Loop(schema.name, chosen if chosen != "default" else "", *given, **named, **outs)

    def chain(self, size):
        columns = min(size, 1024)
        x = self.torch.full((size // columns, columns), 0.5, device=self.device)
        w, bias = self.torch.full_like(x, 0.25), self.torch.ones(columns, device=self.device)

        def step():
            y = (x * w + bias).relu()
            y = ((y * x).neg() + w).abs()
            return y * y

        return Call(step, self.wait)

    def program(self, name, size):
        torch = self.torch
        if name == "kmeans":
            points = self.value({"shape": [size, 2], "strides": [2, 1], "dtype": "f32"})
            means = torch.tensor([[0.25, 0.25], [0.75, 0.75]], device=self.device)
            return Call(lambda: torch.linalg.vector_norm(points[:, None] - means, dim=2).argmin(1), self.wait)
        if name in ("chain", "chain_graph"):
            return self.chain(size)
        sys.path.insert(0, str(Path(__file__).parent))
        import models

        if name not in models.MODELS:
            raise Cannot("this peer does not know the program")
        try:
            step = models.MODELS[name](self.device)
        except ImportError as error:
            raise Cannot(f"{error}: scripts/peers.sh brings it") from error
        return Call(step, self.wait)

    def composed(self, name, args):
        """Keyway's own ops as PyTorch's users write them."""
        torch, functional = self.torch, self.torch.nn.functional
        values = [self.value(each) for each in args]
        if name == "keyway::swiglu":
            return lambda: functional.silu(values[0]) * values[1]
        if name == "keyway::attention_decode":
            return lambda: functional.scaled_dot_product_attention(*values[:3], enable_gqa=True)
        if name == "keyway::rope":
            x, cos, sin = values[:3]
            half = cos.shape[-1]
            cos, sin = torch.cat((cos, cos), -1), torch.cat((sin, sin), -1)
            return lambda: x * cos + torch.cat((-x[..., half:], x[..., :half]), -1) * sin
        return None

    def prepare(self, name, args, size, device):
        self.choose(device)
        with self.torch.inference_mode():
            if not args and name.isidentifier() and not hasattr(self.torch.ops.aten, name):
                with self.torch.inference_mode(False):
                    return self.program(name, size)
            composed = self.composed(name, args) if name.startswith("keyway::") and not self.on_device else None
            if composed:
                def run():
                    with self.torch.inference_mode():
                        composed()
                return Call(run, self.wait)
            made = self.operator(name, [self.value(each) for each in args])
            made.run(1)
        return made if not self.on_device else Call(lambda: made.run(1), self.wait)


# ---- The conversation ------------------------------------------------------------------------------------------------


def answer(side, job, request):
    """What to answer, and the job that there is then."""
    if "prepare" in request:
        return {}, side.prepare(request["prepare"], request["args"], request["size"], request["device"])
    ns, processor_ns = job.run(request["run"])
    return {"ns": ns, "processor_ns": processor_ns}, job


def main():
    makers = {"torch": lambda: PyTorch(False), "numpy": NumPy, "bridge": lambda: PyTorch(True)}
    if len(sys.argv) != 2 or sys.argv[1] not in makers:
        sys.exit(__doc__)
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer

    def say(text):
        out.write(json.dumps(text) + "\n")
        out.flush()

    try:
        side = makers[sys.argv[1]]()
    except Exception as error:  # a person reads it in a table
        say({"why": f"{type(error).__name__}: {error}"[:250]})
        return
    say({"title": f"{side.title}, {THREADS} thread{'s' * (THREADS != 1)}"})
    job = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if "prepare" in request:
                job = None  # its memory first
            reply, job = answer(side, job, request)
        except Cannot as reason:
            reply = {"why": str(reason)}
        except Exception as error:
            reply = {"why": f"{type(error).__name__}: {error}".splitlines()[0][:250]}
        say(reply)


main()
