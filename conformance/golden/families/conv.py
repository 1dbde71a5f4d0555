# SPDX-License-Identifier: Apache-2.0
"""Golden vectors: convolution, its gradients, im2col and col2im."""
import torch

from golden import add, call, FLOATS, tensor

ALL = [True, True, True]

# shape of the input, shape of the weight, stride, padding, dilation, transposed, output_padding, groups
MOVES = [
    ([2, 2, 7], [3, 2, 3], [2], [1], [2], False, [0], 1),
    ([2, 3, 4], [3, 2, 4], [3], [1], [1], True, [2], 1),
    ([1, 4, 5, 6], [6, 2, 3, 2], [2, 1], [1, 0], [1, 2], False, [0, 0], 2),
    ([1, 4, 3, 4], [4, 1, 2, 3], [1, 2], [0, 1], [1, 1], True, [0, 1], 4),
    ([1, 2, 4, 3, 5], [2, 2, 2, 3, 2], [1, 1, 2], [0, 1, 1], [2, 1, 1], False, [0, 0, 0], 1),
    ([1, 2, 2, 3, 2], [2, 1, 2, 2, 2], [2, 1, 1], [0, 0, 1], [1, 1, 1], True, [1, 0, 0], 1),
]


def terms_of(weight, transposed, groups):
    taps = 1
    for size in weight[2:]:
        taps *= size
    return taps * (weight[0] // groups if transposed else weight[1]) + 1


def backward_magnitude(grad, x, weight, bias_sizes, *rest):
    stride, padding, dilation, transposed, extra, groups, _ = rest
    moves = (stride, padding, dilation, transposed, extra, groups)
    grad_x, grad_w, grad_b = torch.ops.aten.convolution_backward(grad.abs(), x.abs(), weight.abs(), bias_sizes, *moves, ALL)
    return [grad_x, grad_w, grad_b]


for dtype in FLOATS:
    for shape, weight, *moves in MOVES:
        x, w = tensor(dtype, shape), tensor(dtype, weight)
        channels = weight[1] * moves[5] if moves[3] else weight[0]
        bias = tensor(dtype, [channels]) if moves[5] == 1 else None
        add("convolution", x, w, bias, *moves, terms=terms_of(weight, moves[3], moves[5]))
        grad = tensor(dtype, list(call("convolution", [x, w, None, *moves])[0].shape))
        for mask in [ALL, [True, False, True], [False, True, False]] if dtype == "f32" else [ALL]:
            add("convolution_backward", grad, x, w, [channels], *moves, mask, terms=1 + grad.numel() * weight[1],
                magnitude=backward_magnitude)
    x = tensor(dtype, [2, 2, 4, 5])
    for kernel, dilation, padding, stride in [([2, 2], [1, 1], [0, 0], [1, 1]), ([3, 2], [1, 2], [1, 2], [2, 1])]:
        add("im2col", x, kernel, dilation, padding, stride)
        add("im2col", x[0], kernel, dilation, padding, stride)
        columns = tensor(dtype, list(call("im2col", [x, kernel, dilation, padding, stride])[0].shape))
        for c in [columns, columns[1]]:
            add("col2im", c, [4, 5], kernel, dilation, padding, stride, terms=kernel[0] * kernel[1])
