# SPDX-License-Identifier: Apache-2.0
"""Golden vectors: backwards of softmax and normalisation."""
from golden import add, dtype_arg, FLOATS, tensor


def softmax_backward_magnitude(grad, output, dim, _):
    return [output.abs() * (grad.abs() + (grad * output).abs().sum(dim, True)) * 4]


def log_softmax_backward_magnitude(grad, output, dim, _):
    return [grad.abs() + output.exp() * grad.abs().sum(dim, True) * 6]


for dtype in FLOATS:
    grad, y = tensor(dtype, [3, 4, 5], -4, 4), tensor(dtype, [3, 4, 5], 0, 1)
    for dim in [0, 1, -1]:
        add("_softmax_backward_data", grad, y, dim, dtype_arg(dtype), terms=grad.shape[dim],
            magnitude=softmax_backward_magnitude)
        add("_log_softmax_backward_data", grad, -y, dim, dtype_arg(dtype), terms=grad.shape[dim],
            magnitude=log_softmax_backward_magnitude)
