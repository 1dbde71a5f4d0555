/* SPDX-License-Identifier: Apache-2.0
 *
 * The cells of nn.LSTM and nn.GRU: of a device PyTorch asks for one as an operator, with its gradient. The products are
 * made outside; what comes in are the gates before they are activated.
 */
#include <ATen/TensorOperators.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/sigmoid_backward.h>
#include <ATen/ops/tanh_backward.h>
#include <ATen/ops/zeros_like.h>
#include <torch/library.h>

#include <tuple>
#include <vector>

namespace torch_keyway {

namespace {

using OptionalTensor = std::optional<at::Tensor>;

bool is_given(const OptionalTensor &tensor) {
  return tensor.has_value() && tensor->defined();
}

at::Tensor with_bias(const at::Tensor &gates, const OptionalTensor &bias) {
  return is_given(bias) ? gates + *bias : gates;
}

at::Tensor sum_of_bias(const at::Tensor &gates, bool has_bias) {
  return has_bias ? gates.sum(0) : at::Tensor();
}

/* ---- LSTM: what to take in, what to forget, the new, what to let out --------------------------------------------- */

/* The gates as activated are kept for the gradient. */
std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell(const at::Tensor &input_gates, const at::Tensor &hidden_gates,
                                                         const at::Tensor &cx, const OptionalTensor &input_bias,
                                                         const OptionalTensor &hidden_bias) {
  const at::Tensor gates = with_bias(input_gates, input_bias) + with_bias(hidden_gates, hidden_bias);
  std::vector<at::Tensor> parts = gates.chunk(4, 1);
  at::Tensor &in = parts[0].sigmoid_(), &forget = parts[1].sigmoid_(), &cell = parts[2].tanh_(),
             &out = parts[3].sigmoid_();
  const at::Tensor cy = forget * cx + in * cell;
  return {out * cy.tanh(), cy, gates};
}

/* Of the gates, of cx, of a bias. */
std::tuple<at::Tensor, at::Tensor, at::Tensor> lstm_cell_backward(const OptionalTensor &grad_hy,
                                                                  const OptionalTensor &grad_cy, const at::Tensor &cx,
                                                                  const at::Tensor &cy, const at::Tensor &gates,
                                                                  bool has_bias) {
  const std::vector<at::Tensor> parts = gates.chunk(4, 1);
  const at::Tensor &in = parts[0], &forget = parts[1], &cell = parts[2], &out = parts[3];
  at::Tensor grad = is_given(grad_cy) ? *grad_cy : at::Tensor(), grad_out;
  if (is_given(grad_hy)) {
    const at::Tensor shown = cy.tanh(), through = at::tanh_backward(*grad_hy * out, shown);
    grad = grad.defined() ? grad + through : through;
    grad_out = at::sigmoid_backward(*grad_hy * shown, out);
  } else {
    grad_out = at::zeros_like(out);
  }
  const at::Tensor grad_gates = at::cat({at::sigmoid_backward(grad * cell, in), at::sigmoid_backward(grad * cx, forget),
                                         at::tanh_backward(grad * in, cell), grad_out},
                                        1);
  return {grad_gates, grad * forget, sum_of_bias(grad_gates, has_bias)};
}

/* ---- GRU: how much of the old the new sees, how much of it stays, the new -----------------------------------------
 */

std::tuple<at::Tensor, at::Tensor> gru_cell(const at::Tensor &input_gates, const at::Tensor &hidden_gates,
                                            const at::Tensor &hx, const OptionalTensor &input_bias,
                                            const OptionalTensor &hidden_bias) {
  const std::vector<at::Tensor> input = with_bias(input_gates, input_bias).chunk(3, 1);
  const std::vector<at::Tensor> hidden = with_bias(hidden_gates, hidden_bias).chunk(3, 1);
  const at::Tensor reset = (input[0] + hidden[0]).sigmoid(), stay = (input[1] + hidden[1]).sigmoid();
  const at::Tensor fresh = (input[2] + reset * hidden[2]).tanh();
  return {fresh + stay * (hx - fresh), at::cat({reset, stay, fresh, hx, hidden[2]}, 1)};
}

/* Of the gates from the input, of those from the state, of hx, of either's bias. */
std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, at::Tensor> gru_cell_backward(const at::Tensor &grad_hy,
                                                                                         const at::Tensor &kept,
                                                                                         bool has_bias) {
  const std::vector<at::Tensor> parts = kept.chunk(5, 1);
  const at::Tensor &reset = parts[0], &stay = parts[1], &fresh = parts[2], &hx = parts[3], &hidden = parts[4];
  const at::Tensor grad_hx = grad_hy * stay;
  const at::Tensor grad_fresh = at::tanh_backward(grad_hy - grad_hx, fresh);
  const at::Tensor grad_reset = at::sigmoid_backward(grad_fresh * hidden, reset);
  const at::Tensor grad_stay = at::sigmoid_backward(grad_hy * (hx - fresh), stay);
  const at::Tensor grad_input = at::cat({grad_reset, grad_stay, grad_fresh}, 1);
  const at::Tensor grad_hidden = at::cat({grad_reset, grad_stay, grad_fresh * reset}, 1);
  return {grad_input, grad_hidden, grad_hx, sum_of_bias(grad_input, has_bias), sum_of_bias(grad_hidden, has_bias)};
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_thnn_fused_lstm_cell", &lstm_cell);
  m.impl("_thnn_fused_lstm_cell_backward_impl", &lstm_cell_backward);
  m.impl("_thnn_fused_gru_cell", &gru_cell);
  m.impl("_thnn_fused_gru_cell_backward", &gru_cell_backward);
}

}  // namespace

}  // namespace torch_keyway
