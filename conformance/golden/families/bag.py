# SPDX-License-Identifier: Apache-2.0
"""Golden vectors: embedding bags. The library leaves the last three results of a sum undefined, and their shapes to the
kernel at hand; they are made here."""
import torch

from golden import add, compose, FLOATS, tensor

MODES = ["sum", "mean", "max"]


def bags_of(indices, offsets, include_last, padding):
    ends = offsets[1:].tolist() + ([] if include_last else [len(indices)])
    places = torch.zeros(len(indices), dtype=torch.int64)
    sizes = []
    for b, (start, end) in enumerate(zip(offsets.tolist(), ends)):
        places[start:end] = b
        sizes.append(int((indices[start:end] != padding).sum()))
    return places, torch.tensor(sizes, dtype=torch.int64)


@compose("_embedding_bag")
def bag(weight, indices, offsets, _grad=False, mode=0, _sparse=False, scales=None, include_last=False, padding=-1):
    result = torch.ops.aten._embedding_bag(weight, indices, offsets, False, mode, False, scales, include_last, padding)
    places, sizes = bags_of(indices, offsets, include_last, padding)
    return [result[0], places, sizes, result[3].long() if mode == 2 else torch.zeros_like(sizes)]


def magnitude(weight, indices, offsets, _grad=False, mode=0, _sparse=False, scales=None, include_last=False,
              padding=-1):
    if mode == 2:
        return [torch.zeros_like(r) for r in bag(weight, indices, offsets, False, mode, False, None, include_last,
                                                 padding)]
    absolute = None if scales is None else scales.abs()
    out = bag(weight.abs(), indices, offsets, False, mode, False, absolute, include_last, padding)
    return [out[0] * (len(indices) + 4)] + out[1:]


# The example of the library's documentation: two bags, of 1 2 4 5 and 4 3 2 9.
INDICES, OFFSETS = torch.tensor([1, 2, 4, 5, 4, 3, 2, 9]), torch.tensor([0, 4])
for dtype in FLOATS:
    weight, scales = tensor(dtype, [10, 3]), tensor(dtype, [8])
    for mode in range(3):
        add("_embedding_bag", weight, INDICES, OFFSETS, False, mode, terms=1, magnitude=magnitude)
        add("_embedding_bag", weight, INDICES.int(), torch.tensor([0, 0, 5, 8], dtype=torch.int32), False, mode, False,
            None, True, 2, terms=1, magnitude=magnitude)
    add("_embedding_bag", weight, INDICES, OFFSETS, False, 0, False, scales, terms=1, magnitude=magnitude)
