# SPDX-License-Identifier: Apache-2.0
"""Models that train on the device as on the CPU, step by step."""

import pytest
import torch
import torch_keyway
from torch import nn
from torch.nn import functional as F


class Convolutional(nn.Module):
    """Two convolutions, batch norm, pooling; which third of the image is brightest."""

    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(1, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.second = nn.Conv2d(8, 16, 3, stride=2, padding=1)
        self.out = nn.Linear(16 * 4, 3)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.first(x))), 2)
        return self.out(F.adaptive_avg_pool2d(F.gelu(self.second(x)), 2).flatten(1))

    @staticmethod
    def batch(generator):
        x, y = torch.randn(8, 1, 12, 12, generator=generator), torch.randint(0, 3, (8,), generator=generator)
        for image, third in zip(x, y):
            image[:, :, 4 * third : 4 * third + 4] += 1
        return x, y


class Transformer(nn.Module):
    """Two encoder layers under a causal mask; what comes next where every number is the one before plus 5."""

    def __init__(self):
        super().__init__()
        self.tokens = nn.Embedding(23, 32)
        self.places = nn.Parameter(torch.randn(12, 32) * 0.02)
        self.layers = nn.TransformerEncoder(nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True), 2)
        self.out = nn.Linear(32, 23)

    def forward(self, x):
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1], device=x.device)
        return self.out(self.layers(self.tokens(x) + self.places, mask=mask, is_causal=True)).transpose(1, 2)

    @staticmethod
    def batch(generator):
        x = (torch.randint(0, 23, (4, 1), generator=generator) + 5 * torch.arange(13)) % 23
        return x[:, :-1], x[:, 1:]


def train(kind, device, steps, make_optimizer):
    torch.manual_seed(1)
    model = kind().to(device)
    optimizer = make_optimizer(model.parameters())
    generator, losses = torch.Generator().manual_seed(2), []
    for _ in range(steps):
        x, y = (t.to(device) for t in kind.batch(generator))
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.detach())
    return torch.stack(losses).cpu()


OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.003),
    "adamw, foreach": lambda p: torch.optim.AdamW(p, lr=0.003, foreach=True),
    "adamw, fused": lambda p: torch.optim.AdamW(p, lr=0.003, fused=True),
    "adagrad, fused": lambda p: torch.optim.Adagrad(p, lr=0.01, fused=True),
    "adam, fused, the rate a tensor": lambda p: torch.optim.Adam(p, lr=torch.tensor(0.003), fused=True),
}


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
@pytest.mark.parametrize("kind", [Convolutional, Transformer])
def test_a_few_steps(device, kind, optimizer):
    losses, expected = (train(kind, each, 4, OPTIMIZERS[optimizer]) for each in (device, torch.device("cpu")))
    torch.testing.assert_close(losses, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.long
@pytest.mark.parametrize("kind, optimizer", [(Convolutional, "sgd"), (Transformer, "adamw, fused")])
def test_two_hundred_steps(device, figure, kind, optimizer):
    """Rounding grows from step to step: the curves stay within a thousandth of where training began, and both learn."""
    losses, expected = (train(kind, each, 200, OPTIMIZERS[optimizer]) for each in (device, torch.device("cpu")))
    figure(f"{kind.__name__} on {torch_keyway.keyway_name(device)}, 200 steps: loss from {expected[0]:.3f} to "
           f"{expected[-10:].mean():.3f}, at most {(losses - expected).abs().max():.2e} from PyTorch's CPU")
    assert (losses - expected).abs().max() <= 1e-3 * expected[0]
    assert losses[-10:].mean() < 0.5 * losses[0]
