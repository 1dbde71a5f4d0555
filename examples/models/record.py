# SPDX-License-Identifier: Apache-2.0
"""Writes recorded/*.tensors: what decoder_block and bottleneck compute with, and what PyTorch makes of it.

    python record.py        (needs torch and numpy from PyPI; made with torch 2.15)

Inputs are f32 numbers; everything is computed from them in f64 by autograd and torch.optim, and rounded to f32 at the
end. A file is a sequence of tensors, each as two arrays in NumPy's .npy format: its name (bytes), then its elements.
Beside the inputs, under the names that they have in GPT-2, Llama and ResNet:

    NAME             a result of the forward pass
    train NAME       the same of a training step, where it differs
    grad NAME        the gradient of the loss by NAME
    next NAME        the parameter, or running statistic, after the step
"""
import pathlib

import numpy as np
import torch
import torch.nn.functional as F

FOLDER = pathlib.Path(__file__).parent / "recorded"
BATCH, LENGTH, WIDTH, HEADS, KV_HEADS, CLASSES = 2, 16, 32, 4, 2, 40
HEAD = WIDTH // HEADS


class Recording:
    """One file: `tensors` to compute with, in f64, and `arrays` as they are written."""

    def __init__(self, name, seed):
        self.name = name
        self.random = np.random.RandomState(seed)
        self.tensors = {}
        self.parameters = {}
        self.arrays = {}

    def input(self, name, values):
        self.arrays[name] = np.asarray(values, np.float32)
        self.tensors[name] = torch.tensor(self.arrays[name], dtype=torch.float64)
        return self.tensors[name]

    def random_input(self, name, shape, scale=1.0, mean=0.0):
        return self.input(name, self.random.standard_normal(shape) * scale + mean)

    def parameter(self, name, shape, scale, mean=0.0):
        self.parameters[name] = self.random_input(name, shape, scale, mean).requires_grad_()

    def linear(self, name, inputs, outputs, bias):
        self.parameter(name + ".weight", (outputs, inputs), inputs**-0.5)
        if bias:
            self.parameter(name + ".bias", (outputs,), 0.1)

    def target(self, count, classes):
        self.arrays["target"] = self.random.randint(0, classes, count)
        return torch.tensor(self.arrays["target"])

    def result(self, name, tensor):
        self.arrays[name] = tensor.detach().numpy().astype(np.float32)

    def results(self, prefix, tensors):
        for name, tensor in tensors.items():
            self.result(prefix + name, tensor)

    def gradients(self, loss, x):
        loss.backward()
        self.result("loss", loss)
        self.result("grad x", x.grad)
        self.results("grad ", {name: p.grad for name, p in self.parameters.items()})

    def save(self):
        FOLDER.mkdir(exist_ok=True)
        with open(FOLDER / (self.name + ".tensors"), "wb") as file:
            for name, array in self.arrays.items():
                np.save(file, np.array(name.encode()))
                np.save(file, array)


# ---- Decoder blocks -------------------------------------------------------------------------------------------------

def linear(p, name, x):
    return F.linear(x, p[name + ".weight"], p.get(name + ".bias"))


def split(x, heads):
    return x.view(BATCH, LENGTH, heads, HEAD).transpose(1, 2)


def merge(x):
    return x.transpose(1, 2).reshape(BATCH * LENGTH, WIDTH)


def gpt2(p, x):
    normed = F.layer_norm(x, (WIDTH,), p["ln_1.weight"], p["ln_1.bias"], 1e-5)
    q, k, v = (split(part, HEADS) for part in linear(p, "attn.c_attn", normed).split(WIDTH, dim=1))
    attention = merge(F.scaled_dot_product_attention(q, k, v, is_causal=True))
    middle = x + linear(p, "attn.c_proj", attention)
    normed = F.layer_norm(middle, (WIDTH,), p["ln_2.weight"], p["ln_2.bias"], 1e-5)
    return attention, middle + linear(p, "mlp.c_proj", F.gelu(linear(p, "mlp.c_fc", normed), approximate="tanh"))


def rope(x, cos, sin):
    left, right = x.chunk(2, dim=-1)
    return torch.cat([left * cos - right * sin, right * cos + left * sin], dim=-1)


def llama(p, x):
    normed = F.rms_norm(x, (WIDTH,), p["input_layernorm.weight"], 1e-5)
    q = rope(split(linear(p, "self_attn.q_proj", normed), HEADS), p["cos"], p["sin"])
    k = rope(split(linear(p, "self_attn.k_proj", normed), KV_HEADS), p["cos"], p["sin"])
    v = split(linear(p, "self_attn.v_proj", normed), KV_HEADS)
    attention = merge(F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True))
    middle = x + linear(p, "self_attn.o_proj", attention)
    normed = F.rms_norm(middle, (WIDTH,), p["post_attention_layernorm.weight"], 1e-5)
    gated = F.silu(linear(p, "mlp.gate_proj", normed)) * linear(p, "mlp.up_proj", normed)
    return attention, middle + linear(p, "mlp.down_proj", gated)


def record_decoder_block(recording, block):
    x = recording.random_input("x", (BATCH * LENGTH, WIDTH)).requires_grad_()
    target = recording.target(BATCH * LENGTH, CLASSES)
    recording.linear("lm_head", WIDTH, CLASSES, bias=False)

    attention, y = block(recording.tensors, x)
    recording.result("attention", attention)
    recording.result("y", y)
    recording.gradients(F.cross_entropy(linear(recording.tensors, "lm_head", y), target), x)

    parameters = recording.parameters
    optimizer = torch.optim.AdamW(parameters.values(), lr=0.1, betas=(0.9, 0.999), eps=1e-8, weight_decay=0.1)
    for p in parameters.values():
        optimizer.state[p] = {"step": torch.tensor(9.0), "exp_avg": torch.full_like(p, 1e-3),
                              "exp_avg_sq": torch.full_like(p, 1e-4)}
    optimizer.step()
    recording.results("next ", parameters)
    recording.save()


def record_gpt2():
    recording = Recording("gpt2", 2)
    for name in "ln_1", "ln_2":
        recording.parameter(name + ".weight", (WIDTH,), 0.1, mean=1)
        recording.parameter(name + ".bias", (WIDTH,), 0.1)
    recording.linear("attn.c_attn", WIDTH, 3 * WIDTH, bias=True)
    recording.linear("attn.c_proj", WIDTH, WIDTH, bias=True)
    recording.linear("mlp.c_fc", WIDTH, 4 * WIDTH, bias=True)
    recording.linear("mlp.c_proj", 4 * WIDTH, WIDTH, bias=True)
    record_decoder_block(recording, gpt2)


def record_llama():
    recording = Recording("llama", 3)
    angles = np.outer(np.arange(LENGTH), 10000.0 ** (-np.arange(HEAD // 2) / (HEAD // 2)))
    for name, table in ("cos", np.cos(angles)), ("sin", np.sin(angles)):
        recording.input(name, table)
    for name in "input_layernorm", "post_attention_layernorm":
        recording.parameter(name + ".weight", (WIDTH,), 0.1, mean=1)
    recording.linear("self_attn.q_proj", WIDTH, HEADS * HEAD, bias=False)
    recording.linear("self_attn.k_proj", WIDTH, KV_HEADS * HEAD, bias=False)
    recording.linear("self_attn.v_proj", WIDTH, KV_HEADS * HEAD, bias=False)
    recording.linear("self_attn.o_proj", HEADS * HEAD, WIDTH, bias=False)
    recording.linear("mlp.gate_proj", WIDTH, 80, bias=False)
    recording.linear("mlp.up_proj", WIDTH, 80, bias=False)
    recording.linear("mlp.down_proj", 80, WIDTH, bias=False)
    record_decoder_block(recording, llama)


# ---- The bottleneck of a ResNet ---------------------------------------------------------------------------------------

def bottleneck(p, running, x, training):
    def convolution_norm(number, x, padding):
        convolved = F.conv2d(x, p[f"conv{number}.weight"], padding=padding)
        return F.batch_norm(convolved, running[f"bn{number}.running_mean"], running[f"bn{number}.running_var"],
                            p[f"bn{number}.weight"], p[f"bn{number}.bias"], training, momentum=0.1, eps=1e-5)
    inner = F.relu(convolution_norm(1, x, padding=0))
    inner = F.relu(convolution_norm(2, inner, padding=1))
    return F.relu(convolution_norm(3, inner, padding=0) + x)


def record_bottleneck():
    recording = Recording("bottleneck", 4)
    outer, inner, classes = 16, 4, 10
    x = recording.random_input("x", (2, outer, 8, 8)).requires_grad_()
    target = recording.target(2, classes)
    running = {}
    for number, (inputs, outputs, size) in enumerate([(outer, inner, 1), (inner, inner, 3), (inner, outer, 1)], 1):
        bn = f"bn{number}"
        recording.parameter(f"conv{number}.weight", (outputs, inputs, size, size), (inputs * size * size) ** -0.5)
        recording.parameter(bn + ".weight", (outputs,), 0.1, mean=1)
        recording.parameter(bn + ".bias", (outputs,), 0.1)
        for name, mean in (bn + ".running_mean", 0), (bn + ".running_var", 1):
            running[name] = recording.random_input(name, (outputs,), 0.1, mean)
    recording.linear("fc", outer, classes, bias=True)

    recording.result("y", bottleneck(recording.tensors, running, x, training=False))
    y = bottleneck(recording.tensors, running, x, training=True)
    recording.result("train y", y)
    recording.results("next ", running)
    logits = linear(recording.tensors, "fc", F.adaptive_avg_pool2d(y, 1).flatten(1))
    recording.gradients(F.cross_entropy(logits, target), x)

    parameters = recording.parameters
    optimizer = torch.optim.SGD(parameters.values(), lr=0.1, momentum=0.9, weight_decay=0.01)
    for p in parameters.values():
        optimizer.state[p] = {"momentum_buffer": torch.full_like(p, 1e-3)}
    optimizer.step()
    recording.results("next ", parameters)
    recording.save()


record_gpt2()
record_llama()
record_bottleneck()
