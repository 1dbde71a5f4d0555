#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: compare.py MODEL PROGRAM DEVICE

Runs the program embeddings on sentences.txt and holds its vectors against recorded.f32, which record.py made: the cosine
of each pair is 0.9999 or more. MODEL is a folder with model.safetensors and vocab.txt.
"""
import array
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).parent
WIDTH, LEAST = 384, 0.9999


def vectors(path):
    numbers = array.array("f", path.read_bytes())
    if sys.byteorder == "big":
        numbers.byteswap()
    return [numbers[at:at + WIDTH] for at in range(0, len(numbers), WIDTH)]


def cosine(a, b):
    return sum(x * y for x, y in zip(a, b)) / (sum(x * x for x in a) * sum(y * y for y in b)) ** 0.5


model, program, device = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
recorded = vectors(FOLDER / "recorded.f32")
with tempfile.TemporaryDirectory() as folder, open(FOLDER / "sentences.txt", "rb") as sentences:
    out = Path(folder) / "vectors.f32"
    run = subprocess.run([program, device, model / "model.safetensors", model / "vocab.txt", out], stdin=sentences,
                         stdout=subprocess.PIPE, text=True)
    if run.returncode != 0:
        sys.exit(f"embeddings {device}: exit status {run.returncode}")
    found = vectors(out)
if len(found) != len(recorded):
    sys.exit(f"embeddings {device}: {len(found)} vectors; {len(recorded)} are recorded")
cosines = [cosine(a, b) for a, b in zip(found, recorded)]
print(f"{device}: {len(cosines)} sentences, cosines with what is recorded from {min(cosines):.7f}")
printed = [[float(number) for number in line.split()] for line in run.stdout.splitlines()]
off = max(abs(printed[i][j] - cosine(a, b)) for i, a in enumerate(recorded) for j, b in enumerate(recorded))
print(f"{device}: cosines between sentences as printed are off by {off:.4f} at most")
if not min(cosines) >= LEAST or not off <= 1e-3:
    sys.exit(f"embeddings {device}: {', '.join(f'{c:.7f}' for c in cosines)}, {off}; wanted are {LEAST} or more, 0.001 at most")
