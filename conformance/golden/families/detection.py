# SPDX-License-Identifier: Apache-2.0
"""Golden vectors: object detection, composed of the library's elementwise ops; the gradient of roi_align comes from its
automatic differentiation. Boxes without area, of which torchvision divides 0 by 0, are as the op reference has them."""
import math

import torch

from golden import add, compose, FLOATS, of, random, tensor


def widths(boxes):
    return (boxes[..., 2:] - boxes[..., :2]).clamp(min=0)


def area(boxes):
    return widths(boxes).prod(-1)


def share(part, whole):
    return torch.where(whole == 0, torch.zeros_like(part), part / whole)


def overlap(a, b):
    """Intersection, union and hull of [n, 1, 4] and [1, m, 4]."""
    inner = torch.cat([torch.maximum(a[..., :2], b[..., :2]), torch.minimum(a[..., 2:], b[..., 2:])], -1)
    outer = torch.cat([torch.minimum(a[..., :2], b[..., :2]), torch.maximum(a[..., 2:], b[..., 2:])], -1)
    return area(inner), area(a) + area(b) - area(inner), area(outer)


@compose("keyway::box_iou")
def box_iou(boxes1, boxes2):
    inner, union, _ = overlap(boxes1[:, None], boxes2[None])
    return share(inner, union)


@compose("keyway::generalized_box_iou")
def generalized_box_iou(boxes1, boxes2):
    inner, union, hull = overlap(boxes1[:, None], boxes2[None])
    return share(inner, union) - share(hull - union, hull)


@compose("torchvision::nms")
def nms(dets, scores, threshold):
    order = torch.sort(scores, stable=True, descending=True).indices.tolist()
    above = box_iou(dets, dets) > threshold
    kept = []
    for i in order:
        if not any(above[k, i] for k in kept):
            kept.append(i)
    return torch.tensor(kept, dtype=torch.int64)


def weights(start, bin_size, bins, samples, size):
    """[bins, size]: what each element along one dimension has in the mean of each bin's samples."""
    out = torch.zeros(bins, size, dtype=torch.float64)
    for b in range(bins):
        for s in range(samples):
            at = start + b * bin_size + (s + 0.5) * bin_size / samples
            if not -1 <= at <= size:
                continue
            at = min(max(at, 0.0), size - 1.0)
            out[b] += (1 - (torch.arange(size, dtype=torch.float64) - at).abs()).clamp(min=0)
    return out / max(samples, 1)


@compose("torchvision::roi_align")
def roi_align(input, rois, scale, height, width, ratio, aligned):
    results = []
    for image, *corners in rois.to(torch.float64).tolist():
        sides = []
        for low, high, bins, size in ((corners[1], corners[3], height, input.shape[2]),
                                      (corners[0], corners[2], width, input.shape[3])):
            start = low * scale - 0.5 * aligned
            length = high * scale - 0.5 * aligned - start
            length = length if aligned else max(length, 1.0)
            samples = ratio if ratio > 0 else max(math.ceil(length / bins), 0)
            sides.append(weights(start, length / bins, bins, samples, size))
        results.append(sides[0] @ input[int(image)].to(torch.float64) @ sides[1].T)
    if not results:
        return input.new_zeros(0, input.shape[1], height, width)
    return torch.stack(results).to(input.dtype)


@compose("torchvision::_roi_align_backward")
def roi_align_backward(grad, rois, scale, height, width, batch, channels, rows, columns, ratio, aligned):
    input = torch.zeros(batch, channels, rows, columns, dtype=torch.float64, requires_grad=True)
    result = roi_align(input, rois, scale, height, width, ratio, aligned)
    return torch.autograd.grad(result, input, grad.to(torch.float64))[0].to(grad.dtype)


def reach(rois, scale):
    """How far a coordinate may be off, in eps."""
    return 10 * (1 + 2 * float(rois[:, 1:].abs().max()) * scale)


def align_bound(input, rois, scale, *rest):
    """As the op reference states it, with the largest element for each."""
    most = float(input.abs().max())
    return [torch.full_like(roi_align(input, rois, scale, *rest), most * (8 * reach(rois, scale) + 40))]


def gradient_bound(grad, rois, scale, *rest):
    total = roi_align_backward(grad.abs(), rois, scale, *rest)
    return [torch.full_like(total, float(total.max()) * (8 * reach(rois, scale) + 40))]


def boxes(dtype, count, grid):
    """Corners that are multiples of 1 / grid: exact in every dtype for small grids."""
    corners = random.randint(0, 12 * grid, (count, 2)) / grid
    sides = random.randint(0, 8 * grid, (count, 2)) / grid
    return torch.from_numpy(corners).repeat(1, 2).add_(torch.cat([torch.zeros(count, 2), torch.from_numpy(sides)], 1)
                                                       ).to(tensor(dtype, [1]).dtype)


def regions(dtype, count, images):
    out = torch.zeros(count, 5, dtype=torch.float64)
    out[:, 0] = torch.from_numpy(random.randint(0, images, count))
    out[:, 1:] = boxes("f64", count, 4)
    return out.to(tensor(dtype, [1]).dtype)


ODD = [[1, 1, 1, 1], [0, 0, 2, 2], [2, 2, 0, 0], [1, 0, 1, 5], [0, 0, math.inf, 2], [0, math.nan, 2, 2], [5, 5, 6, 6]]
for dtype in FLOATS:
    add("keyway::box_iou", boxes(dtype, 5, 4), boxes(dtype, 4, 4))
    add("keyway::box_iou", of(dtype, ODD), of(dtype, ODD))
    add("keyway::generalized_box_iou", boxes(dtype, 5, 4), boxes(dtype, 4, 4))
    add("keyway::generalized_box_iou", of(dtype, ODD), of(dtype, ODD))
    for threshold in (0.6180339887498949, 0.3819660112501051, 0.0):
        add("torchvision::nms", boxes(dtype, 17, 1), tensor(dtype, [17]), threshold)
    add("torchvision::nms", of(dtype, [[0, 0, 4, 2], [1, 0, 3, 2], [0, 0, 4, 2], [3, 3, 3, 3], [3, 3, 3, 3]]),
        of(dtype, [1, math.nan, 2, 0, -0.0]), 0.5)
    settings = ((2, 1.0, True), (3, 0.5, False), (0, 1.0, True), (-1, 0.5, False))
    for ratio, scale, aligned in settings if dtype in ("f32", "f64") else settings[:1]:
        rois = regions(dtype, 3, 2)
        add("torchvision::roi_align", tensor(dtype, [2, 1, 5, 6]), rois, scale, 2, 4, ratio, aligned, terms=1,
            magnitude=align_bound)
        add("torchvision::_roi_align_backward", tensor(dtype, [3, 1, 2, 4]), rois, scale, 2, 4, 2, 1, 5, 6, ratio,
            aligned, terms=1, magnitude=gradient_bound)
