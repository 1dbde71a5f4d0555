# SPDX-License-Identifier: Apache-2.0
"""Writes recorded/*.tensors: what the models compute with, and what PyTorch makes of it.

    python record.py [MODEL]...        (needs torch and numpy from PyPI; made with torch 2.15)

A model has a small form, MODEL.tensors, and but for llama one as large as the well-known model's, MODEL_true.tensors.
Parameters and inputs follow from names and numbers (numbers.c draws them, too) and have 8 significant bits, so that f32,
f16 and bf16 hold the same. Everything is computed from them in f64 by autograd and torch.optim, and rounded to f32 at the
end. A file is a sequence of names and tensors, each an array in NumPy's .npy format:

    NAME             an input, or a result of the forward pass
    draw NAME        an input that is drawn: mean, most, exponent, shape
    train NAME       a result of a training step, where it differs
    grad NAME        the gradient of the loss by NAME
    next NAME        the parameter, or running statistic, after the step
    second NAME      the same of the second step; third NAME: of a forward pass behind it
    sample NAME      256 elements of a large result, whose shape is `shape NAME`
    error NAME       how far a device that rounds honestly is off in f32, f16 and bf16: relative, of the norm

That error is found by computing in f64 again, with every op's result off by a random part of what the op may be off: in
f32, class Rounding says how much, and then rounded to the dtype.
"""
import pathlib
import sys

import numpy as np
import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import TorchDispatchMode

FOLDER = pathlib.Path(__file__).parent / "recorded"
DTYPES = torch.float32, torch.float16, torch.bfloat16
SAMPLE = 256  # elements of a result with more than 16 times as many, in the true form


# ---- Draws ----------------------------------------------------------------------------------------------------------

def numbers(seed, count):
    """SplitMix64: a number of 64 bits for each index."""
    with np.errstate(over="ignore"):
        x = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return x ^ (x >> np.uint64(31))


def seed_of(text):
    """FNV-1a."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = (value ^ byte) * 0x100000001B3 % 2**64
    return value


def sample_of(array):
    part = array.size // SAMPLE
    at = np.arange(SAMPLE) * part + (numbers(0, SAMPLE) % np.uint64(part)).astype(np.int64)
    return array.reshape(-1)[at]


# ---- Honest rounding --------------------------------------------------------------------------------------------------

EPS = 2.0**-23
EXACT = {"add", "sub", "mul", "neg", "relu", "threshold_backward", "nll_loss_backward", "rsub", "masked_fill", "where"}
MOVES = {"embedding", "cat", "clone", "copy_", "full", "ones_like", "zeros_like", "empty_like", "zeros", "fill_", "zero_",
         "_foreach_add_", "new_zeros", "slice_backward", "repeat_interleave", "detach", "lift_fresh", "_to_copy", "ge",
         "arange", "scalar_tensor", "triu", "ones", "select_backward", "tril", "_local_scalar_dense", "empty"}
STATISTICS = {"native_layer_norm", "native_batch_norm", "_native_batch_norm_legit", "nll_loss_forward"}  # beside result 0


class Rounding(TorchDispatchMode):
    """Makes the results of ops such as an honest device gives, in a dtype. A sum of n terms t has, in f32 and added one
    after another, an error of the deviation 0.2 eps sqrt(n) sqrt(sum of t^2 + the sum's square). Arithmetic is off by at
    most half a unit in the last place, functions by 4. The result is rounded to the dtype, but for what is within an op:
    scores of attention [length, length], statistics."""

    def __init__(self, dtype, length, seed):
        super().__init__()
        self.dtype, self.length = dtype, length
        self.random = torch.Generator().manual_seed(seed)

    def sums(self, func, args):
        """Of ops that add up: the number of terms and the sum of their squares, for each result; otherwise None."""
        squares = [a * a if isinstance(a, torch.Tensor) and a.is_floating_point() else a for a in args]
        name = func._schema.name.split("::")[1]
        if name in ("mm", "bmm"):
            return [(args[0].shape[-1], func(*squares))]
        if name == "addmm":
            return [(args[1].shape[-1] + 1, func(*squares))]
        if name == "sum":
            out = func(*squares)
            return [(args[0].numel() // max(1, out.numel()), out)]
        if name == "convolution":
            return [(args[1][0].numel(), func(*squares))]
        if name == "convolution_backward":
            found = func(*squares)
            return [(args[2].numel() // args[2].shape[1], found[0]), (args[0].numel() // args[0].shape[1], found[1]), None]
        return None

    def shaken(self, name, out, total):
        def normal():
            return torch.randn(out.shape, generator=self.random, dtype=torch.float64)
        uniform = torch.rand(out.shape, generator=self.random, dtype=torch.float64) * 2 - 1
        if total:
            count, squares = total
            out = out + 0.2 * EPS * count**0.5 * torch.sqrt(squares + out * out) * normal()
        elif name not in EXACT and "fused" not in name:
            if "norm" in name or "softmax" in name or "pool" in name or name in ("mean", "nll_loss_forward"):
                terms = max(self.longest, out.shape[-1] if out.dim() else 1)
                out = out + 0.2 * EPS * terms**0.5 * (out.abs() + out.square().mean().sqrt()) * normal()
            out = out * (1 + 4 * EPS * uniform)
            return out
        return out * (1 + EPS / 2 * uniform)

    def rounded(self, out):
        internal = out.shape[-2:] == (self.length, self.length) or out.dim() > 1 and out.shape[-1] == 1
        return out if internal or self.dtype == torch.float32 else out.to(self.dtype).double()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        name = func._schema.name.split("::")[1]
        tensors = [a for a in args if isinstance(a, torch.Tensor)]
        self.longest = max([t.numel() // max(1, t.shape[1] if t.dim() > 1 else 1) for t in tensors] or [1])
        views = any(r.alias_info is not None and not r.alias_info.is_write for r in func._schema.returns)
        if views or name in MOVES or name == "_unsafe_view":
            return func(*args, **kwargs)
        total = self.sums(func, args)
        out = func(*args, **kwargs)
        if name in ("_fused_adamw_", "_fused_sgd_"):
            for tensor in [t for l in args[:1] + args[2:4] if isinstance(l, (list, tuple)) for t in l]:
                tensor.copy_(self.rounded(self.shaken(name, tensor, None)))
            return out
        results = list(out) if isinstance(out, (tuple, list)) else [out]
        for i, result in enumerate(results):
            if not isinstance(result, torch.Tensor) or result.dtype != torch.float64:
                continue
            shaken = self.shaken(name, result, total[i] if total else None)
            if i == 0 or name not in STATISTICS:
                shaken = self.rounded(shaken)
            if name == "_softmax" and self.dtype != torch.float32:  # weights may be rounded before they meet the values
                shaken = shaken.to(self.dtype).double()
            results[i] = shaken
        if func._schema.is_mutable:  # in place; running statistics are its arguments
            for argument, description in zip(args, func._schema.arguments):
                if description.alias_info is not None and isinstance(argument, torch.Tensor):
                    argument.copy_(self.rounded(self.shaken(name, argument, None)))
            if isinstance(out, torch.Tensor):
                return out
        return tuple(results) if isinstance(out, tuple) else results[0]


# ---- A file ---------------------------------------------------------------------------------------------------------

class Recording:
    """A form of a model: `inputs`, and `arrays` as they are written."""

    def __init__(self, name, true, sizes):
        self.name, self.true = name, true
        self.arrays = {"sizes": np.array(sizes, np.int64)}
        self.inputs = {}
        self.trained = []

    def number(self, name, count):
        return numbers(seed_of(f"{self.name}/{name}"), count)

    def draw(self, name, shape, deviation, mean=0):
        """Uniform, and of 8 bits at most: whole numbers times a power of two."""
        wide = deviation * 3**0.5
        exponent = max(int(np.ceil(np.log2(wide / 127))), -7 if mean else -100)
        most = int(round(wide / 2.0**exponent))
        self.arrays["draw " + name] = np.array([mean, most, exponent, *shape], np.int64)
        drawn = (self.number(name, int(np.prod(shape))) % np.uint64(2 * most + 1)).astype(np.int64) - most
        self.inputs[name] = torch.from_numpy(mean + drawn.reshape(shape) * 2.0**exponent)

    def parameter(self, name, shape, deviation, mean=0):
        self.draw(name, shape, deviation, mean)
        self.trained.append(name)

    def linear(self, name, inputs, outputs, bias):
        self.parameter(name + ".weight", (outputs, inputs), inputs**-0.5)
        if bias:
            self.parameter(name + ".bias", (outputs,), 0.1)

    def norm(self, name, width):
        self.parameter(name + ".weight", (width,), 0.1, mean=1)
        self.parameter(name + ".bias", (width,), 0.1)

    def given(self, name, values):
        """Rounded to bf16: all dtypes hold it."""
        array = torch.tensor(np.asarray(values)).to(torch.bfloat16).float().numpy()
        self.arrays[name] = array
        self.inputs[name] = torch.from_numpy(array).double()

    def whole(self, name, values, dtype=np.int64):
        self.arrays[name] = np.asarray(values, dtype)
        self.inputs[name] = torch.from_numpy(self.arrays[name])

    def fresh(self):
        copies = {name: tensor.clone() for name, tensor in self.inputs.items()}
        for name in self.trained:
            copies[name].requires_grad_()
        return copies

    def save(self, compute, length):
        """`compute` gives the results, by name, of what it is given."""
        exact = {name: tensor.detach().double().numpy().copy() for name, tensor in compute(self.fresh()).items()}
        if self.true:
            exact = {name: sample_of(a) if a.size > 16 * SAMPLE else a for name, a in exact.items()}
        tries = 8 if self.true else 32
        squares = {name: np.zeros(len(DTYPES)) for name in exact}
        for d, dtype in enumerate(DTYPES):
            for seed in range(tries):
                with Rounding(dtype, length, seed):
                    rounded = compute(self.fresh())
                for name, tensor in rounded.items():
                    got, want = tensor.detach().double().numpy(), exact[name]
                    if got.size != want.size:
                        self.arrays["shape " + name] = np.array(got.shape, np.int64)
                        got = sample_of(got)
                    off = ((got.reshape(want.shape) - want) ** 2).sum() / (want**2).sum()
                    squares[name][d] += off / tries
        for name, want in exact.items():
            sampled = "shape " + name in self.arrays
            own = np.array([torch.finfo(dtype).eps / 2 for dtype in DTYPES])
            self.arrays[("sample " if sampled else "") + name] = want.astype(np.float32)
            self.arrays["error " + name] = np.sqrt(squares[name] + own**2).astype(np.float32)
        FOLDER.mkdir(exist_ok=True)
        with open(FOLDER / (self.name + ("_true" if self.true else "") + ".tensors"), "wb") as file:
            for name, array in self.arrays.items():
                np.save(file, np.array(name.encode()))
                np.save(file, np.ascontiguousarray(array).reshape(array.shape))
        for name in exact:
            print(f"{self.name:12}{name:48}", self.arrays["error " + name])


def train(p, trained, make_optimizer, step_results, last_results):
    """Two steps and a forward pass; the results by name."""
    optimizer = make_optimizer([p[name] for name in trained])
    results = {}
    for prefix in "", "second ":
        optimizer.zero_grad()
        p["x"].grad = None
        found = step_results(p)
        found["loss"].backward()
        for name, tensor in found.items():
            if not prefix or name in ("loss", "y", "train y"):
                results[prefix + name] = tensor.detach().clone()
        if not prefix:
            for name in ["x"] + trained:
                results["grad " + name] = p[name].grad.clone()
        optimizer.step()
        for name in trained + [name for name in p if "running" in name]:
            if not prefix:
                results["next " + name] = p[name].detach().clone()
    with torch.no_grad():
        for name, tensor in last_results(p).items():
            results["third " + name] = tensor
    return results


def forms(small, true=None):
    return [(False, small)] + ([(True, true)] if true else [])


# ---- Decoder blocks -------------------------------------------------------------------------------------------------

def linear(p, name, x):
    bias = p.get(name + ".bias")
    weight = p[name + ".weight"].t()
    return torch.mm(x, weight) if bias is None else torch.addmm(bias, x, weight)


def attend(q, k, v, hidden):
    k, v = (t.repeat_interleave(q.shape[1] // t.shape[1], dim=1) for t in (k, v))
    scores = torch.matmul(q, k.transpose(-2, -1)) * q.shape[-1]**-0.5
    return torch.matmul(torch.softmax(scores.masked_fill(hidden, -torch.inf), -1), v)


def gpt2(p, s):
    causal = torch.ones(s.length, s.length, dtype=torch.bool).triu(1)
    normed = F.layer_norm(p["x"], (s.width,), p["ln_1.weight"], p["ln_1.bias"], 1e-5)
    q, k, v = (s.split(part) for part in linear(p, "attn.c_attn", normed).split(s.width, dim=1))
    attention = s.merge(attend(q, k, v, causal))
    middle = p["x"] + linear(p, "attn.c_proj", attention)
    normed = F.layer_norm(middle, (s.width,), p["ln_2.weight"], p["ln_2.bias"], 1e-5)
    return attention, middle + linear(p, "mlp.c_proj", F.gelu(linear(p, "mlp.c_fc", normed), approximate="tanh"))


def rope(x, cos, sin):
    left, right = x.chunk(2, dim=-1)
    return torch.cat([left * cos - right * sin, right * cos + left * sin], dim=-1)


def llama(p, s):
    causal = torch.ones(s.length, s.length, dtype=torch.bool).triu(1)
    normed = F.rms_norm(p["x"], (s.width,), p["input_layernorm.weight"], 1e-5)
    q = rope(s.split(linear(p, "self_attn.q_proj", normed)), p["cos"], p["sin"])
    k = rope(s.split(linear(p, "self_attn.k_proj", normed)), p["cos"], p["sin"])
    attention = s.merge(attend(q, k, s.split(linear(p, "self_attn.v_proj", normed)), causal))
    middle = p["x"] + linear(p, "self_attn.o_proj", attention)
    normed = F.rms_norm(middle, (s.width,), p["post_attention_layernorm.weight"], 1e-5)
    gated = F.silu(linear(p, "mlp.gate_proj", normed)) * linear(p, "mlp.up_proj", normed)
    return attention, middle + linear(p, "mlp.down_proj", gated)


class Sizes:
    def __init__(self, batch, length, width, head):
        self.batch, self.length, self.width, self.head = batch, length, width, head

    def split(self, x):
        return x.view(self.batch, self.length, -1, self.head).transpose(1, 2)

    def merge(self, x):
        return x.transpose(1, 2).reshape(self.batch * self.length, -1)


def save_decoder(r, s, block, classes):
    rows = s.batch * s.length
    r.draw("x", (rows, s.width), 1)
    r.whole("target", (r.number("target", rows) % np.uint64(classes)).astype(np.int64))
    r.linear("lm_head", s.width, classes, bias=False)

    def step(p):
        attention, y = block(p, s)
        return {"attention": attention, "y": y, "loss": F.cross_entropy(linear(p, "lm_head", y), p["target"])}

    def optimizer(parameters):
        made = torch.optim.AdamW(parameters, lr=2.0**-4, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.1, fused=True)
        for p in parameters:
            made.state[p] = {"step": torch.tensor(9.0), "exp_avg": torch.full_like(p, 2.0**-10),
                             "exp_avg_sq": torch.full_like(p, 2.0**-13)}
        return made

    def compute(p):
        p["x"].requires_grad_()
        return train(p, r.trained, optimizer, step, lambda p: {"attention": block(p, s)[0], "y": block(p, s)[1]})

    r.save(compute, s.length)


def record_gpt2():
    for true, s in forms(Sizes(2, 16, 32, 8), Sizes(1, 48, 768, 64)):
        r = Recording("gpt2", true, [s.batch, s.length, s.width, s.head])
        r.norm("ln_1", s.width)
        r.norm("ln_2", s.width)
        r.linear("attn.c_attn", s.width, 3 * s.width, bias=True)
        r.linear("attn.c_proj", s.width, s.width, bias=True)
        r.linear("mlp.c_fc", s.width, 4 * s.width, bias=True)
        r.linear("mlp.c_proj", 4 * s.width, s.width, bias=True)
        save_decoder(r, s, gpt2, 1000 if true else 40)


def record_llama():
    for true, (s, kv_heads, inner) in forms((Sizes(2, 16, 32, 8), 2, 80)):
        r = Recording("llama", true, [s.batch, s.length, s.width, s.head])
        angles = np.outer(np.arange(s.length), 10000.0 ** (-np.arange(s.head // 2) / (s.head // 2)))
        r.given("cos", np.cos(angles))
        r.given("sin", np.sin(angles))
        for name in "input_layernorm", "post_attention_layernorm":
            r.parameter(name + ".weight", (s.width,), 0.1, mean=1)
        for name, outputs in ("q", s.width), ("k", kv_heads * s.head), ("v", kv_heads * s.head), ("o", s.width):
            r.linear(f"self_attn.{name}_proj", s.width, outputs, bias=False)
        r.linear("mlp.gate_proj", s.width, inner, bias=False)
        r.linear("mlp.up_proj", s.width, inner, bias=False)
        r.linear("mlp.down_proj", inner, s.width, bias=False)
        save_decoder(r, s, llama, 40)


# ---- The bottleneck of a ResNet ---------------------------------------------------------------------------------------

def bottleneck(p, training):
    def convolution_norm(number, x, padding):
        convolved = F.conv2d(x, p[f"conv{number}.weight"], padding=padding)
        return F.batch_norm(convolved, p[f"bn{number}.running_mean"], p[f"bn{number}.running_var"],
                            p[f"bn{number}.weight"], p[f"bn{number}.bias"], training, momentum=0.125, eps=1e-5)
    inner = F.relu(convolution_norm(1, p["x"], padding=0))
    inner = F.relu(convolution_norm(2, inner, padding=1))
    return F.relu(convolution_norm(3, inner, padding=0) + p["x"])


def record_bottleneck():
    for true, (batch, outer, inner, edge, classes) in forms((2, 16, 4, 8, 10), (2, 256, 64, 56, 1000)):
        r = Recording("bottleneck", true, [])
        r.draw("x", (batch, outer, edge, edge), 1)
        r.whole("target", (r.number("target", batch) % np.uint64(classes)).astype(np.int64))
        for number, (inputs, outputs, size) in enumerate([(outer, inner, 1), (inner, inner, 3), (inner, outer, 1)], 1):
            r.parameter(f"conv{number}.weight", (outputs, inputs, size, size), (inputs * size * size) ** -0.5)
            r.norm(f"bn{number}", outputs)
            r.draw(f"bn{number}.running_mean", (outputs,), 0.1)
            r.draw(f"bn{number}.running_var", (outputs,), 0.1, mean=1)
        r.linear("fc", outer, classes, bias=True)

        def step(p):
            y = bottleneck(p, training=True)
            logits = linear(p, "fc", F.adaptive_avg_pool2d(y, 1).flatten(1))
            return {"train y": y, "loss": F.cross_entropy(logits, p["target"])}

        def optimizer(parameters):
            made = torch.optim.SGD(parameters, lr=2.0**-4, momentum=0.9, weight_decay=0.01, fused=True)
            for p in parameters:
                made.state[p] = {"momentum_buffer": torch.full_like(p, 2.0**-10)}
            return made

        def compute(p):
            with torch.no_grad():
                y = bottleneck(p, training=False)
            p["x"].requires_grad_()
            found = train(p, r.trained, optimizer, step, lambda p: {"y": bottleneck(p, training=False)})
            return {"y": y} | found

        r.save(compute, 0)


# ---- Sentence embeddings ------------------------------------------------------------------------------------------------

def minilm(p, s, layers):
    hidden = ~p["visible"]
    rows = F.embedding(p["tokens"], p["embeddings.word"]) + p["embeddings.type"][:1] + p["embeddings.position"][:s.length]

    def norm(name, x):
        return F.layer_norm(x, (s.width,), p[name + ".weight"], p[name + ".bias"], 1e-12)
    rows = norm("embeddings.norm", rows.view(-1, s.width))
    for layer in (f"layer.{i}." for i in range(layers)):
        q, k, v = (s.split(linear(p, layer + "attention." + part, rows)) for part in ("query", "key", "value"))
        merged = s.merge(attend(q, k, v, hidden))
        rows = norm(layer + "attention.norm", linear(p, layer + "attention.output", merged) + rows)
        wide = F.gelu(linear(p, layer + "intermediate", rows))
        rows = norm(layer + "norm", linear(p, layer + "output", wide) + rows)
    mean = (rows.view(s.batch, s.length, s.width) * p["kept"]).sum(1) / p["count"]
    sentences = mean * (mean * mean).sum(1, keepdim=True).rsqrt()
    return {"embeddings": sentences, "cosines": torch.mm(sentences, sentences.t())}


def record_minilm():
    for true, (s, layers, words) in forms((Sizes(3, 12, 128, 32), 2, 100), (Sizes(4, 24, 384, 32), 6, 30522)):
        r = Recording("minilm", true, [s.batch, s.length, s.width, s.head, layers])
        lengths = np.array([s.length - 5 * i for i in range(s.batch)])
        kept = np.arange(s.length) < lengths[:, None]
        r.whole("tokens", (r.number("tokens", s.batch * s.length) % np.uint64(words)).astype(np.int64)
                .reshape(s.batch, s.length) * kept)
        r.whole("visible", kept[:, None, None, :] & np.ones((1, 1, s.length, 1), bool), bool)
        r.given("kept", kept[:, :, None].astype(float))
        r.given("count", lengths[:, None].astype(float))
        r.draw("embeddings.word", (words, s.width), 0.5)
        r.draw("embeddings.position", (512 if true else 16, s.width), 0.25)
        r.draw("embeddings.type", (2, s.width), 0.25)
        r.norm("embeddings.norm", s.width)
        for layer in (f"layer.{i}." for i in range(layers)):
            for part in "query", "key", "value", "output":
                r.linear(layer + "attention." + part, s.width, s.width, bias=True)
            r.norm(layer + "attention.norm", s.width)
            r.linear(layer + "intermediate", s.width, 4 * s.width, bias=True)
            r.linear(layer + "output", 4 * s.width, s.width, bias=True)
            r.norm(layer + "norm", s.width)
        r.trained = []
        r.save(lambda p: minilm(p, s, layers), s.length)


torch.set_num_threads(1)
RECORDS = {"gpt2": record_gpt2, "llama": record_llama, "bottleneck": record_bottleneck, "minilm": record_minilm}
for chosen in sys.argv[1:] or RECORDS:
    RECORDS[chosen]()
