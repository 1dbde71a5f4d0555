/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators that are ops of Keyway under other arguments.
 */
#include "device.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/_native_batch_norm_legit.h>
#include <ATen/ops/_native_batch_norm_legit_no_training.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/searchsorted.h>
#include <torch/library.h>

#include <string_view>
#include <tuple>

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

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
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
