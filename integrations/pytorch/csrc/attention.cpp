/* SPDX-License-Identifier: Apache-2.0
 *
 * scaled_dot_product_attention by keyway::attention, where that has its meaning; elsewhere PyTorch makes it of products
 * and a softmax.
 */
#include "device.h"

#include <ATen/SDPBackend.h>
#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/native/transformers/attention.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <keyway/keyway.h>
#include <torch/library.h>

#include <algorithm>
#include <array>
#include <tuple>

namespace torch_keyway {

namespace {

using OptionalTensor = std::optional<at::Tensor>;

bool has_op(const char *name, const at::Tensor &query) {
  static constexpr std::array<at::ScalarType, 4> types{at::kHalf, at::kBFloat16, at::kFloat, at::kDouble};
  static constexpr std::array<kw_dtype, 4> dtypes{KW_F16, KW_BF16, KW_F32, KW_F64};
  const auto *type = std::find(types.begin(), types.end(), query.scalar_type());
  return type != types.end() && kw_op_support(kw_op_find(name), device_at(query.device().index()),
                                              dtypes[type - types.begin()]) != KW_SUPPORT_NONE;
}

/* Of a causal one PyTorch counts queries and keys from the first, Keyway from the last. */
int64_t choose(const at::Tensor &query, const at::Tensor &key, const at::Tensor &value, const OptionalTensor &mask,
               double dropout, bool causal, std::optional<double>, bool) {
  const bool shapes = query.dim() == 4 && key.dim() == 4 && value.dim() == 4 && query.size(0) == key.size(0) &&
                      key.size(0) == value.size(0) && (!causal || query.size(2) == key.size(2));
  const bool training =
      at::GradMode::is_enabled() && (query.requires_grad() || key.requires_grad() || value.requires_grad());
  const bool mask_learns = at::GradMode::is_enabled() && mask.has_value() && mask->requires_grad();
  const bool fits = shapes && dropout == 0 && !mask_learns && !(causal && mask.has_value()) &&
                    query.scalar_type() == key.scalar_type() && key.scalar_type() == value.scalar_type() &&
                    has_op("keyway::attention", query) && (!training || has_op("keyway::attention_backward", query));
  return static_cast<int64_t>(fits ? at::SDPBackend::overrideable : at::SDPBackend::math);
}

/* -1 sees all keys behind a query's own, 0 none. */
int64_t window_right(bool causal) {
  return causal ? 0 : -1;
}

/* Attention's results lie as the tensors that they belong to, which PyTorch's meta tensors count on. */
at::Tensor as_it_lies(const at::Tensor &tensor, const at::Tensor &result) {
  if (tensor.sizes() != result.sizes()) return result;
  const at::Tensor placed = at::empty_like(tensor, result.options());
  return placed.strides() == result.strides() ? result : placed.copy_(result);
}

using Forward = std::tuple<at::Tensor, at::Tensor>(const at::Tensor &, const at::Tensor &, const at::Tensor &,
                                                   const OptionalTensor &, std::optional<double>, double, int64_t,
                                                   int64_t);
using Backward = std::tuple<at::Tensor, at::Tensor, at::Tensor>(const at::Tensor &, const at::Tensor &,
                                                                const at::Tensor &, const at::Tensor &,
                                                                const at::Tensor &, const at::Tensor &,
                                                                const OptionalTensor &, std::optional<double>, double,
                                                                int64_t, int64_t);

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor, c10::SymInt, c10::SymInt, at::Tensor, at::Tensor, at::Tensor>
attention(const at::Tensor &query, const at::Tensor &key, const at::Tensor &value, const OptionalTensor &mask, double,
          bool causal, bool, std::optional<double> scale) {
  static const auto op = c10::Dispatcher::singleton().findSchemaOrThrow("keyway::attention", "").typed<Forward>();
  auto [out, logsumexp] = op.call(query, key, value, mask, scale, 0, -1, window_right(causal));
  const at::Tensor none =
      at::empty({0}, query.options().dtype(at::kLong)); /* no sequences of different lengths, no random numbers */
  return {as_it_lies(query, out), logsumexp, none, none, query.size(2), key.size(2), none, none, none};
}

std::tuple<at::Tensor, at::Tensor, at::Tensor, at::Tensor> attention_backward(
    const at::Tensor &grad, const at::Tensor &query, const at::Tensor &key, const at::Tensor &value,
    const at::Tensor &mask, std::array<bool, 4>, const at::Tensor &out, const at::Tensor &logsumexp, const at::Tensor &,
    const at::Tensor &, c10::SymInt, c10::SymInt, double, bool causal, const at::Tensor &, const at::Tensor &,
    std::optional<double> scale) {
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("keyway::attention_backward", "").typed<Backward>();
  const OptionalTensor given = mask.defined() ? OptionalTensor(mask) : std::nullopt;
  auto [grad_query, grad_key, grad_value] =
      op.call(grad, query, key, value, out, logsumexp, given, scale, 0, -1, window_right(causal));
  return {as_it_lies(query, grad_query), as_it_lies(key, grad_key), as_it_lies(value, grad_value), at::Tensor()};
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_fused_sdp_choice", &choose);
  m.impl("_scaled_dot_product_fused_attention_overrideable", &attention);
  m.impl("_scaled_dot_product_fused_attention_overrideable_backward", &attention_backward);
}

}  // namespace

}  // namespace torch_keyway

namespace at::native {
REGISTER_PRIVATEUSE1_DISPATCH(_fused_sdp_choice_stub, &torch_keyway::choose)
}  // namespace at::native
