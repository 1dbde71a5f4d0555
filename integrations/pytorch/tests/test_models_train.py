# SPDX-License-Identifier: Apache-2.0
"""Models as people bring them, trained on the device beside PyTorch's CPU: language models by their losses, a residual
network, which is chaotic, by its gradients and by how far its weights go astray."""

import copy
import functools
import math

import pytest
import torch
import torch_keyway
from test_training import train
from torch import nn
from torch.nn import functional as F

WORDS, LENGTH, BATCH = 97, 24, 4


class LanguageModel(nn.Module):
    """The next word is five times the last one and one of eight more: a loss of log(8), about 2.08, is the best there is."""

    rate = 1e-3

    @staticmethod
    def batch(generator):
        words = [torch.randint(0, WORDS, (BATCH,), generator=generator)]
        for more in torch.randint(0, 8, (LENGTH, BATCH), generator=generator):
            words.append((5 * words[-1] + more) % WORDS)
        words = torch.stack(words, 1)
        return words[:, :-1], words[:, 1:]


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(width, bias=False) for _ in range(2))
        self.attention = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.wide = nn.Linear(width, 4 * width, bias=False)
        self.narrow = nn.Linear(4 * width, width, bias=False)

    def forward(self, x):
        qkv = self.attention(self.norms[0](x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        seen = F.scaled_dot_product_attention(*qkv, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).flatten(2))
        return x + self.narrow(F.gelu(self.wide(self.norms[1](x))))


class NanoGPT(LanguageModel):
    """What embeds the words is the last layer as well."""

    def __init__(self, width=64, heads=4, layers=3):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, width), nn.Embedding(LENGTH, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm = nn.LayerNorm(width, bias=False)
        self.out = nn.Linear(width, WORDS, bias=False)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.normal_(parameter, std=0.02)
        self.out.weight = self.words.weight

    def forward(self, x):
        places = torch.arange(x.shape[1], device=x.device)
        return self.out(self.norm(self.blocks(self.words(x) + self.places(places)))).transpose(1, 2)


class Recurrent(LanguageModel):
    """An LSTM of two layers."""

    rate = 1e-2

    def __init__(self, width=64):
        super().__init__()
        self.words = nn.Embedding(WORDS, width)
        self.lstm = nn.LSTM(width, width, num_layers=2, batch_first=True)
        self.out = nn.Linear(width, WORDS)

    def forward(self, x):
        return self.out(self.lstm(self.words(x))[0]).transpose(1, 2)


SMALL = {"vocab_size": WORDS, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}


def llama():
    from transformers import LlamaConfig, LlamaForCausalLM

    return LlamaForCausalLM(LlamaConfig(**SMALL, num_key_value_heads=2, max_position_embeddings=64))


def gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel

    sizes = {"vocab_size": WORDS, "n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 64}
    still = {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
    return GPT2LMHeadModel(GPT2Config(**sizes, **still, bos_token_id=0, eos_token_id=None))


class Llama(LanguageModel):
    def __init__(self):
        super().__init__()
        self.model = llama()

    def forward(self, x):
        return self.model(x).logits.transpose(1, 2)


class GPT2(Llama):
    """Tied, like NanoGPT."""

    def __init__(self):
        nn.Module.__init__(self)
        self.model = gpt2()


class Bert(Llama):
    """Fills in what is hidden, here one word of seven, and says all others again."""

    hidden = 0

    def __init__(self):
        from transformers import BertConfig, BertForMaskedLM

        nn.Module.__init__(self)
        still = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
        self.model = BertForMaskedLM(BertConfig(**SMALL, **still, max_position_embeddings=64))

    @staticmethod
    def batch(generator):
        words, _ = LanguageModel.batch(generator)
        return words.where(torch.rand(words.shape, generator=generator) > 1 / 7, Bert.hidden), words


LANGUAGE_MODELS = [NanoGPT, Recurrent, Llama, GPT2, Bert]


def furthest(kind, device, steps):
    """The largest part by which a loss is another than on PyTorch's CPU, and the first and the last loss there."""
    if kind in (Llama, GPT2, Bert):
        pytest.importorskip("transformers", reason="pip install transformers brings the model")
    adamw = functools.partial(torch.optim.AdamW, lr=kind.rate)
    losses, expected = (train(kind, each, steps, adamw) for each in (device, torch.device("cpu")))
    return ((losses - expected).abs() / expected).max().item(), expected[0].item(), expected[-1].item()


@pytest.mark.parametrize("kind", LANGUAGE_MODELS)
def test_language_models_begin_as_on_the_cpu(device, kind):
    assert furthest(kind, device, 3)[0] <= 1e-4


@pytest.mark.long
@pytest.mark.parametrize("kind", LANGUAGE_MODELS)
def test_language_models_train_as_on_the_cpu(device, figure, kind):
    apart, first, last = furthest(kind, device, 100)
    figure(f"{kind.__name__} on {torch_keyway.keyway_name(device)}, 100 steps: loss from {first:.3f} to {last:.3f}, "
           f"at most {apart:.2e} of it from PyTorch's CPU")
    assert apart <= 1e-4
    assert last < 0.8 * first


# ---- A residual network -----------------------------------------------------------------------------------------------


def images(steps, batch=4, size=64, moved=False):
    """Batches of images and classes; `moved`: every number by one ULP."""
    generator = torch.Generator().manual_seed(3)
    for _ in range(steps):
        x = torch.randn(batch, 3, size, size, generator=generator)
        yield x.nextafter(torch.tensor(math.inf)) if moved else x, torch.randint(0, 10, (batch,), generator=generator)


def steps_of_resnet18(device, batches, rate, smooth=False):
    """The model after each step, with its gradients."""
    models = pytest.importorskip("torchvision.models", reason="pip install torchvision brings the model")
    torch.manual_seed(1)
    model = models.resnet18(num_classes=10)
    for module in model.modules():
        if smooth and hasattr(module, "relu"):
            module.relu = nn.SiLU()
    model.to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)
    for x, y in batches:
        optimizer.zero_grad()
        F.cross_entropy(model(x.to(device)), y.to(device)).backward()
        optimizer.step()
        yield model


def test_gradients_of_resnet18(device):
    """With a smooth function in the place of ReLU, about whose corner rounding decides: on PyTorch's CPU, too, a gradient there
    moves by a hundredth when the images move by one ULP."""
    for model, reference in zip(*(steps_of_resnet18(each, images(3), 0.01, smooth=True) for each in (device, "cpu"))):
        for (name, parameter), expected in zip(model.named_parameters(), reference.parameters()):
            apart = (parameter.grad.cpu() - expected.grad).norm() / expected.grad.norm()
            assert apart <= 1e-4, f"{name}: {apart:.2e}"


@functools.cache
def weights_of_resnet18(device, moved=False):
    *_, model = steps_of_resnet18(device, images(100, 8, 32, moved), 0.001)
    return nn.utils.parameters_to_vector(model.cpu().parameters()).detach()


@pytest.mark.long
def test_resnet18_goes_no_further_astray_than_the_cpu(device, figure):
    here = weights_of_resnet18("cpu")
    apart, moved = ((there - here).norm().item() for there in (weights_of_resnet18(device), weights_of_resnet18("cpu", True)))
    figure(f"resnet18 on {torch_keyway.keyway_name(device)}, 100 steps: weights {apart:.2e} from PyTorch's CPU, where they are "
           f"{moved:.2e} apart when the images move by one ULP")
    assert apart <= 3 * moved


# ---- Text -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [llama, gpt2])
def test_generate_with_a_cache(device, make):
    pytest.importorskip("transformers", reason="pip install transformers brings the model")
    torch.manual_seed(1)
    model = make().eval()
    there = copy.deepcopy(model).to(device)
    words, _ = LanguageModel.batch(torch.Generator().manual_seed(2))
    how = {"max_new_tokens": 16, "do_sample": False, "use_cache": True, "pad_token_id": 0}
    here = model.generate(words[:2, :8], **how)
    assert there.generate(words[:2, :8].to(device), **how).tolist() == here.tolist()
    assert here.shape == (2, 24)
