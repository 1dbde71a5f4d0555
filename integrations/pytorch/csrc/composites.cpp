/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators that are ops of Keyway under other arguments.
 */
#include "device.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/_native_batch_norm_legit.h>
#include <ATen/ops/_native_batch_norm_legit_no_training.h>
#include <ATen/ops/_transformer_encoder_layer_fwd_native.h>
#include <ATen/ops/linear.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/zeros_like.h>
#include <torch/library.h>

#include <cmath>
#include <limits>
#include <string_view>
#include <tuple>
#include <vector>

namespace torch_keyway {

namespace {

/* Statistics are those of the batch, and the running ones change along, or the running ones alone. */
std::tuple<at::Tensor, at::Tensor, at::Tensor> native_batch_norm(const at::Tensor &input,
                                                                 const std::optional<at::Tensor> &weight,
                                                                 const std::optional<at::Tensor> &bias,
                                                                 const std::optional<at::Tensor> &running_mean,
                                                                 const std::optional<at::Tensor> &running_var,
                                                                 bool training, double momentum, double eps) {
  if (!running_mean.has_value() || !running_mean->defined()) {
    return at::_native_batch_norm_legit(input, weight, bias, training, momentum, eps);
  }
  if (!training) {
    return at::_native_batch_norm_legit_no_training(input, weight, bias, *running_mean, *running_var, momentum, eps);
  }
  at::Tensor mean = *running_mean, var = *running_var;
  return at::_native_batch_norm_legit(input, weight, bias, mean, var, training, momentum, eps);
}

bool equal(const at::Tensor &self, const at::Tensor &other) {
  return self.sizes() == other.sizes() && self.eq(other).all().item<bool>();
}

bool is_set_to(const at::Tensor &self, const at::Tensor &source) {
  return self.storage().unsafeGetStorageImpl() == source.storage().unsafeGetStorageImpl() &&
         self.storage_offset() == source.storage_offset() && self.sizes() == source.sizes() &&
         self.strides() == source.strides();
}

/* Up to and including the largest integer that the dtype holds along with all below it. */
at::Tensor &random_(at::Tensor &self, std::optional<at::Generator> generator) {
  return self.random_(0, std::nullopt, std::move(generator));
}

at::Tensor &random_to(at::Tensor &self, int64_t to, std::optional<at::Generator> generator) {
  return self.random_(0, to, std::move(generator));
}

at::Tensor &bernoulli_of_tensor(at::Tensor &self, const at::Tensor &p, std::optional<at::Generator> generator) {
  return self.copy_(p.to(self.device()).expand(self.sizes()).bernoulli(std::move(generator)));
}

at::Tensor searchsorted_of_scalar(const at::Tensor &sorted_sequence, const at::Scalar &self, bool out_int32, bool right,
                                  std::optional<std::string_view> side, const std::optional<at::Tensor> &sorter) {
  return at::searchsorted(sorted_sequence, at::scalar_tensor(self, sorted_sequence.options()), out_int32, right, side,
                          sorter);
}

/* ---- nn.MultiheadAttention and nn.TransformerEncoder without gradients ---------------------------------------------
 */

/* True in a mask is a key that is not seen; numbers are added. */
std::optional<at::Tensor> bias_of(const std::optional<at::Tensor> &mask, std::optional<int64_t> mask_type,
                                  const at::Tensor &query) {
  constexpr int64_t of_keys = 1; /* a row for each sample */
  if (!mask.has_value() || !mask->defined()) return std::nullopt;
  at::Tensor bias = mask->to(query.scalar_type());
  if (mask->scalar_type() == at::kBool) {
    bias = at::zeros_like(bias).masked_fill(*mask, -std::numeric_limits<double>::infinity());
  }
  return mask_type == of_keys ? bias.unsqueeze(1).unsqueeze(1) : bias;
}

std::tuple<at::Tensor, at::Tensor> multi_head_attention(const at::Tensor &query, const at::Tensor &key,
                                                        const at::Tensor &value, int64_t, int64_t heads,
                                                        const at::Tensor &weight, const at::Tensor &bias,
                                                        const at::Tensor &out_weight, const at::Tensor &out_bias,
                                                        const std::optional<at::Tensor> &mask, bool need_weights,
                                                        bool average_weights, std::optional<int64_t> mask_type) {
  const std::vector<at::Tensor> weights = weight.chunk(3), biases = bias.chunk(3);
  const auto split = [&](const at::Tensor &x, size_t i) {
    return at::linear(x, weights[i], biases[i]).unflatten(-1, {heads, -1}).transpose(1, 2);
  };
  const at::Tensor q = split(query, 0), k = split(key, 1), v = split(value, 2);
  const std::optional<at::Tensor> mask_bias = bias_of(mask, mask_type, q);
  at::Tensor seen, shares;
  if (need_weights) {
    shares = q.div(std::sqrt(static_cast<double>(q.size(-1)))).matmul(k.transpose(-2, -1));
    if (mask_bias.has_value()) shares = shares.add(*mask_bias);
    shares = shares.softmax(-1);
    seen = shares.matmul(v);
    if (average_weights) shares = shares.mean(1);
  } else {
    seen = at::scaled_dot_product_attention(q, k, v, mask_bias);
  }
  return {at::linear(seen.transpose(1, 2).flatten(2), out_weight, out_bias), shares};
}

/* Said of whatever would become a nested tensor: there are none here, and the encoder pads. */
bool is_left_aligned(const at::Tensor &, const at::Tensor &) {
  return false;
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_native_multi_head_attention", &multi_head_attention);
  m.impl("_nested_tensor_from_mask_left_aligned", &is_left_aligned);
  m.impl("_transformer_encoder_layer_fwd", &at::native::transformer_encoder_layer_forward);
  m.impl("native_batch_norm", &native_batch_norm);
  m.impl("equal", &equal);
  m.impl("is_set_to", &is_set_to);
  m.impl("random_", &random_);
  m.impl("random_.to", &random_to);
  m.impl("bernoulli_.Tensor", &bernoulli_of_tensor);
  m.impl("searchsorted.Scalar", &searchsorted_of_scalar);
}

}  // namespace

}  // namespace torch_keyway
