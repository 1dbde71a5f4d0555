# SPDX-License-Identifier: Apache-2.0
"""Golden vectors: attention. Keyway's own forms are composed of the library's softmax and products, and their gradients
come from its automatic differentiation."""
import math

import torch

from golden import add, compose, FLOATS, of, tensor


def hidden(rows, keys, left, right, length=None):
    """Whether key j is hidden from query i, which stands at key i + length - rows."""
    length = keys if length is None else length
    place = torch.arange(rows)[:, None] + length - rows
    j = torch.arange(keys)[None, :]
    hide = j >= length
    if left >= 0:
        hide = hide | (j < place - left)
    if right >= 0:
        hide = hide | (j > place + right)
    return hide


class Problem:
    """One dense attention: [batch, heads, rows, width] of everything."""

    def __init__(self, query, key, value, mask, scale, softcap, hide):
        group = query.shape[1] // key.shape[1]
        self.key, self.value = key.repeat_interleave(group, 1), value.repeat_interleave(group, 1)
        self.query, self.mask, self.softcap, self.hide = query, mask, softcap, hide
        self.scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale

    def scores(self):
        scores = self.query @ self.key.transpose(-1, -2) * self.scale
        if self.softcap > 0:
            scores = self.softcap * torch.tanh(scores / self.softcap)
        if self.mask is not None and self.mask.dtype != torch.bool:
            scores = scores + self.mask
        if self.mask is not None and self.mask.dtype == torch.bool:
            scores = scores.masked_fill(~self.mask, -math.inf)
        return scores.masked_fill(self.hide, -math.inf)

    def weights(self):
        """Of a row that sees nothing: 0."""
        scores = self.scores()
        nothing = (scores == -math.inf).all(-1, keepdim=True)
        return torch.softmax(scores.masked_fill(nothing, 0), -1).masked_fill(nothing, 0)

    def results(self):
        lse = torch.logsumexp(self.scores(), -1)
        return self.weights() @ self.value, lse if lse.dtype == torch.float64 else lse.to(torch.float32)

    def magnitudes(self, dtype):
        """By the formula of the op reference, with n for growth(n)."""
        scores, weights, value, terms = self.scores(), self.weights(), self.value.abs(), self.key.shape[2]
        drift = (self.query.abs() @ self.key.abs().transpose(-1, -2)) * abs(self.scale) * (self.query.shape[-1] + 4)
        drift = drift + 7 * self.softcap
        if self.mask is not None and self.mask.dtype != torch.bool:
            drift = drift + 2 * self.mask.abs()
        drift = (drift + scores.amax(-1, True) - scores).where(weights > 0, 0)
        mean = (weights * drift).sum(-1, True)
        rounding = {"f16": 2.0**12, "bf16": 2.0**15}.get(dtype, 0)
        out = (weights * (drift + mean + 2 * terms + 16 + rounding)) @ value
        floor = (0.25 if dtype == "f16" else 0) * value.sum(-2, True)
        lse = torch.logsumexp(scores, -1).abs()
        return out + floor, 2 * mean[..., 0] + terms + 8 + 4 * math.log(max(terms, 1)) + lse.where(lse < math.inf, 0)


# Each form as dense problems, and how their results are put together.

def whole(query, key, value, mask=None, scale=None, softcap=0, left=-1, right=-1):
    hide = hidden(query.shape[2], key.shape[2], left, right)
    return [Problem(query, key, value, mask, scale, softcap, hide)], lambda parts: parts[0]


def decode(query, key, value, lengths, scale=None, softcap=0, left=-1):
    hide = torch.stack([hidden(query.shape[2], key.shape[2], left, 0, int(n)) for n in lengths])[:, None]
    return [Problem(query, key, value, None, scale, softcap, hide)], lambda parts: parts[0]


def varlen(query, key, value, starts_q, starts_k, scale=None, softcap=0, left=-1, right=-1):
    problems = []
    for b in range(len(starts_q) - 1):
        q, k, v = (x[starts[b]:starts[b + 1]].transpose(0, 1)[None]
                   for x, starts in [(query, starts_q), (key, starts_k), (value, starts_k)])
        problems += whole(q, k, v, None, scale, softcap, left, right)[0]
    return problems, lambda parts: (torch.cat([out[0].transpose(0, 1) for out, _ in parts]),
                                    torch.cat([lse[0].transpose(0, 1) for _, lse in parts]))


def paged(query, key, value, table, lengths, mask=None, scale=None, softcap=0, left=-1, right=0):
    k, v = (x[table.long()].flatten(1, 2).transpose(1, 2) for x in (key, value))
    hide = torch.stack([hidden(query.shape[2], k.shape[2], left, right, int(n)) for n in lengths])[:, None]
    return [Problem(query, k, v, mask, scale, softcap, hide)], lambda parts: parts[0]


def add_form(op, form, dtype, *args):
    def results(*wide):
        problems, join = form(*wide)
        return join([p.results() for p in problems])

    def magnitude(*wide):
        problems, join = form(*wide)
        return list(join([p.magnitudes(dtype) for p in problems]))

    compose(op)(results)
    add(op, *args, terms=1, magnitude=magnitude)


def sdpa_magnitude(dtype):
    def magnitude(query, key, value, mask=None, dropout=0, causal=False, scale=None, grouped=False):
        lead = torch.broadcast_shapes(query.shape[:-3], key.shape[:-3], value.shape[:-3])
        q, k, v = (x.reshape((-1,) + x.shape[-3:]) if x.dim() > 2 else x[None, None] for x in (query, key, value))
        hide = torch.ones(q.shape[-2], k.shape[-2]).tril().logical_not() & causal
        k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
        problem = Problem(q, k, v, mask, scale, 0, hide)
        out = problem.magnitudes(dtype)[0]
        return [out.reshape(lead + out.shape[1:]) if query.dim() > 2 else out[0, 0]]
    return magnitude


# Gradients: by automatic differentiation of the forward op, which needs neither its results nor the formula.

@compose("keyway::attention_backward")
def gradients(grad, query, key, value, out, lse, mask=None, scale=None, softcap=0, left=-1, right=-1):
    inputs = [x.to(torch.float64).requires_grad_() for x in (query, key, value)]
    wide_mask = mask if mask is None or mask.dtype == torch.bool else mask.to(torch.float64)
    problem = whole(*inputs, wide_mask, scale, softcap, left, right)[0][0]
    found = torch.autograd.grad(problem.results()[0], inputs, grad.to(torch.float64))
    return [g.to(query.dtype) for g in found]


def gradients_magnitude(grad, query, key, value, *_):
    """The largest that any term can be, times as many roundings as there can be: coarse, but far below a wrong sign or
    factor."""
    terms = 64 * (query.shape[2] + key.shape[2] + value.shape[3])
    score = (grad.abs().amax() * value.abs().amax() * value.shape[3]) * terms
    return [score * key.abs().amax() + torch.zeros_like(query), score * query.abs().amax() + torch.zeros_like(key),
            terms * grad.abs().amax() + torch.zeros_like(value)]


FORM = "scaled_dot_product_attention"
for dtype in FLOATS:
    q, k, v = tensor(dtype, [2, 2, 3, 4]), tensor(dtype, [2, 1, 5, 4]), tensor(dtype, [2, 1, 5, 2])
    full = [tensor(dtype, [2, 2, 5, 4]), tensor(dtype, [2, 2, 5, 2])]
    choice = torch.tensor([[True, False, True, True, False], [False] * 5, [True] * 5])
    bias = tensor(dtype, [2, 1, 3, 5])
    bound = sdpa_magnitude(dtype)
    add(FORM, q, *full, terms=1, magnitude=bound)
    add(FORM, q, *full, choice, terms=1, magnitude=bound)
    add(FORM, q, *full, bias, 0.0, False, 0.25, terms=1, magnitude=bound)
    add(FORM, q, *full, None, 0.0, True, terms=1, magnitude=bound)
    add(FORM, q, k, v, None, 0.0, False, None, True, terms=1, magnitude=bound)
    add(FORM, q[0, 0], k[0, 0], v[0, 0], terms=1, magnitude=bound)

    add_form("keyway::attention", whole, dtype, q, k, v)
    add_form("keyway::attention", whole, dtype, q, k, v, choice, 0.25)
    add_form("keyway::attention", whole, dtype, q, k, v, bias, None, 1.5)
    add_form("keyway::attention", whole, dtype, q, k, v, None, None, 0.0, 1, 0)
    add_form("keyway::attention", whole, dtype, full[0], q, q, None, None, 0.0, 0, 1)
    odd, plain = of(dtype, [[[[math.nan, 1.0], [1.0, 2.0]]]]), of(dtype, [[[[0.5, 1.0], [-1.0, 2.0], [0.0, 0.25]]]])
    add_form("keyway::attention", whole, dtype, odd, plain, plain)  # the library's fused kernel gives 0 for such a row
    add_form("keyway::attention_decode", decode, dtype, q, k, v, torch.tensor([5, 1]))
    add_form("keyway::attention_decode", decode, dtype, q, k, v, torch.tensor([0, 4], dtype=torch.int32), 0.5, 2.0, 1)
    rows = [x.transpose(1, 2).flatten(0, 1) for x in (q, k, v)]
    starts = [torch.tensor([0, 1, 1, 6]), torch.tensor([0, 4, 8, 10])]
    add_form("keyway::attention_varlen", varlen, dtype, *rows, *starts)
    add_form("keyway::attention_varlen", varlen, dtype, *rows, *starts, 0.3, 2.0, 1, 1)
    pages = [tensor(dtype, [5, 2, 1, 4]), tensor(dtype, [5, 2, 1, 3])]
    table, lengths = torch.tensor([[4, 0, 2], [1, 4, 3]]), torch.tensor([5, 3])
    tree = torch.tensor([[True, True, True, False, False, False], [True, True, False, True, False, False],
                         [True, False, True, False, True, False]])
    add_form("keyway::attention_paged", paged, dtype, q, *pages, table, lengths)
    add_form("keyway::attention_paged", paged, dtype, q, *pages, table, lengths, tree, None, 0.0, -1, -1)
    add_form("keyway::attention_paged", paged, dtype, q, *pages, table, lengths, None, 0.7, 3.0, 2, 0)

for dtype in ["f32", "f64"]: # narrower results of the forward op would be rounded ones
    q, k, v = tensor(dtype, [2, 2, 3, 4]), tensor(dtype, [2, 1, 5, 4]), tensor(dtype, [2, 1, 5, 2])
    grad = tensor(dtype, [2, 2, 3, 2])
    for options in [(), (choice, 0.25), (tensor(dtype, [3, 5]), None, 1.5), (None, None, 0.0, 1, 0)]:
        wide = [x.to(torch.float64) if isinstance(x, torch.Tensor) and x.dtype != torch.bool else x
                for x in (q, k, v) + options]
        out, lse = (x.to(q.dtype) for x in whole(*wide)[0][0].results())
        add("keyway::attention_backward", grad, q, k, v, out, lse, *options, terms=1, magnitude=gradients_magnitude)
