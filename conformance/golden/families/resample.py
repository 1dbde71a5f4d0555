# SPDX-License-Identifier: Apache-2.0
"""Golden vectors: upsampling, grid_sampler_2d and their gradients."""
import torch

from golden import add, FLOATS, tensor

# Off every jump of the nearest element: input and output sizes of up to three dimensions.
SIZES = [([5, 3, 2], [10, 7, 3]), ([7, 4, 2], [3, 5, 3])]


def scaled(op, factor):
    """As large as the inputs' largest value times a factor, for each element of each result."""
    def bound(*args):
        results = getattr(torch.ops.aten, op).default(*args)
        results = results if isinstance(results, tuple) else (results,)
        peak = 1.0
        for a in args:
            if isinstance(a, torch.Tensor):
                peak *= max(1.0, float(a.abs().max()))
        return [torch.full_like(r, peak * factor) if r is not None else None for r in results]
    return bound


for dtype in FLOATS:
    for sizes, outs in SIZES:
        for dims, suffix in [(1, "1d"), (2, "2d"), (3, "3d")]:
            x, to = tensor(dtype, [1, 2] + sizes[:dims]), outs[:dims]
            names = [f"upsample_nearest{suffix}"] + (["_upsample_nearest_exact2d"] if dims == 2 else [])
            for op in names:
                add(op, x, to)
                if op != "upsample_nearest2d":  # the library's CPU kernel does not look at its scales
                    add(op, x, to, *[to[d] / sizes[d] * 1.125 for d in range(dims)])
            smooth = {1: ["upsample_linear1d"], 2: ["upsample_bilinear2d", "upsample_bicubic2d"], 3: ["upsample_trilinear3d"]}
            for op in smooth[dims]:
                for align in [False, True]:
                    add(op, x, to, align, terms=4, magnitude=scaled(op, 64))
                add(op, x, to, False, *[to[d] / sizes[d] * 0.75 for d in range(dims)], terms=4, magnitude=scaled(op, 64))
        shape, to = [1, 2] + sizes[:2], outs[:2]
        grad = tensor(dtype, [1, 2] + to)
        op = "upsample_nearest2d_backward"
        add(op, grad, to, shape, terms=4, magnitude=scaled(op, 64))
        op = "upsample_bilinear2d_backward"
        for align in [False, True]:
            add(op, grad, to, shape, align, terms=4, magnitude=scaled(op, 64))
        add(op, grad, to, shape, False, 1.5, 1.75, terms=4, magnitude=scaled(op, 64))

    x, grid = tensor(dtype, [1, 2, 5, 7]), tensor(dtype, [1, 3, 4, 2], -1.5, 1.5)
    grad = tensor(dtype, [1, 2, 3, 4])
    for mode in [0, 1, 2]:
        for padding in [0, 1, 2]:
            for align in [False, True] if dtype == "f32" else [padding == 1]:
                op = "grid_sampler_2d"
                add(op, x, grid, mode, padding, align, terms=4, magnitude=scaled(op, 256))
                op = "grid_sampler_2d_backward"
                add(op, grad, x, grid, mode, padding, align, [True, True], terms=4, magnitude=scaled(op, 512))
    add(op, grad, x, grid, 0, 0, False, [True, False], terms=4, magnitude=scaled(op, 512))
