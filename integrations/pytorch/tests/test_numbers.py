# SPDX-License-Identifier: Apache-2.0
"""Few bits and many directions: quantized products and layers, forward-mode derivatives, flex_attention."""

import pytest
import torch
from torch.nn import functional as F


def close(on_device, expected, **tolerances):
    torch.testing.assert_close(on_device.cpu(), expected, **tolerances)


@pytest.mark.parametrize("rows", [False, True])
def test_scaled_products_of_eight_bits(device, rows):
    a, b = (torch.randn(16, 32).to(torch.float8_e4m3fn) for _ in range(2))
    scale_a, scale_b = (torch.rand(16, 1), torch.rand(1, 16)) if rows else (torch.tensor(0.5), torch.tensor(2.0))
    expected = (a.float() @ b.float().t() * scale_a * scale_b).bfloat16()
    there = torch._scaled_mm(a.to(device), b.to(device).t(), scale_a.to(device), scale_b.to(device), out_dtype=torch.bfloat16)
    close(there, expected, rtol=1e-2, atol=1e-3)


def test_weights_of_eight_bits(device):
    x, weight, scales = torch.randn(4, 32), torch.randint(-128, 127, (8, 32), dtype=torch.int8), torch.rand(8)
    expected = x @ (weight.float() * scales[:, None]).t()
    close(torch._weight_int8pack_mm(x.to(device), weight.to(device), scales.to(device)), expected, rtol=1e-4, atol=1e-3)


def test_a_linear_layer_with_quantized_weights_and_inputs(device):
    """As torch.export's quantizers write it, by quantized_decomposed, and as one op of Keyway's."""
    import torch.ao.quantization.fx._decomposed  # noqa: F401, defines the operators
    quantized = torch.ops.quantized_decomposed
    x, weight = torch.randn(4, 16), torch.randn(8, 16)
    results = []
    for each in ("cpu", device):
        xq = quantized.quantize_per_tensor(x.to(each), 0.02, 3, -128, 127, torch.int8)
        wq = quantized.quantize_per_tensor(weight.to(each), 0.03, 0, -127, 127, torch.int8)
        xd = quantized.dequantize_per_tensor(xq, 0.02, 3, -128, 127, torch.int8)
        wd = quantized.dequantize_per_tensor(wq, 0.03, 0, -127, 127, torch.int8)
        results.append(F.linear(xd, wd))
    close(results[1], results[0])


@pytest.mark.parametrize("channels", [False, True])
def test_training_with_quantization_in_mind(device, channels):
    x, scale = torch.randn(3, 8), torch.tensor([0.1, 0.2, 0.05]) if channels else 0.1
    zero = torch.tensor([0, 3, -2], dtype=torch.int32) if channels else 2
    values, gradients = [], []
    for each in ("cpu", device):
        y = x.clone().to(each).requires_grad_()
        if channels:
            out = torch.fake_quantize_per_channel_affine(y, scale.to(each), zero.to(each), 0, -8, 7)
        else:
            out = torch.fake_quantize_per_tensor_affine(y, scale, zero, -8, 7)
        out.sum().backward()
        values.append(out.detach().cpu())
        gradients.append(y.grad.cpu())
    close(values[1], values[0])
    assert torch.equal(*gradients) and 0 < gradients[0].sum() < x.numel()


def test_forward_mode(device):
    """Derivatives carried along, alone and around those of backward."""
    x, direction = torch.randn(4), torch.randn(4)

    def f(t):
        return torch.tanh(t @ t) * torch.softmax(t, 0) + t.exp()

    for transform in (lambda f: torch.func.jvp(f, (x_,), (d_,))[1], lambda f: torch.func.jacfwd(f)(x_),
                      lambda f: torch.func.hessian(lambda t: f(t).sum())(x_), lambda f: torch.func.vmap(f)(torch.stack([x_, d_]))):
        x_, d_ = x, direction
        expected = transform(f)
        x_, d_ = x.to(device), direction.to(device)
        close(transform(f), expected, rtol=1e-4, atol=1e-5)


def test_flex_attention(device):
    """Loaded after the device was registered or before, with what scores are changed by, masks and gradients."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
    q, k, v = (torch.randn(1, 2, 128, 8) for _ in range(3))
    results = []
    for each in ("cpu", device):
        mask = create_block_mask(lambda b, h, i, j: i >= j, None, None, 128, 128, device=each)
        results.append(flex_attention(q.to(each), k.to(each), v.to(each), block_mask=mask,
                                      score_mod=lambda score, b, h, i, j: score + 0.01 * (i - j)))
    close(results[1], results[0], rtol=1e-4, atol=1e-5)
    query, expected = q.to(device).requires_grad_(), q.clone().requires_grad_()
    flex_attention(query, k.to(device), v.to(device)).sum().backward()
    F.scaled_dot_product_attention(expected, k, v).sum().backward()
    close(query.grad, expected.grad, rtol=1e-3, atol=1e-5)
