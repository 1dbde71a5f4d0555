/* SPDX-License-Identifier: Apache-2.0
 *
 * `torch.autocast`: which dtype an op's floats should have is Keyway's table, the same on all devices.
 */
#include "autocast.h"
#include "device.h"
#include "tensor.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/stack.h>
#include <torch/library.h>

namespace torch_keyway {

namespace {

using at::autocast::cached_cast;

/* Calls `function` on every tensor among the values. */
template <typename Function>
void for_tensors(c10::ArrayRef<c10::IValue> values, Function function) {
  for (const c10::IValue &value : values) {
    if (value.isTensor()) {
      function(value.toTensor());
    } else if (value.isTensorList()) {
      for (const at::Tensor &tensor : value.toTensorVector()) function(tensor);
    }
  }
}

struct Autocast final : c10::OperatorKernel {
  Autocast(const kw_op *cast_op, kw_cast_policy cast_policy) : op(cast_op), policy(cast_policy) {}

  /* What floats become; nothing where the device has the op in no kernel of that dtype. */
  std::optional<at::ScalarType> target(c10::ArrayRef<c10::IValue> values) const {
    at::ScalarType type = at::kFloat;
    if (policy != KW_CAST_F32) type = at::autocast::get_autocast_dtype(device_type);
    if (policy == KW_CAST_WIDEST) {
      for_tensors(values, [&](const at::Tensor &tensor) {
        if (at::autocast::is_autocast_eligible(tensor, device_type) && tensor.scalar_type() == at::kFloat) {
          type = at::kFloat;
        }
      });
    }
    if (policy == KW_CAST_LOWER) {
      kw_device *device = device_at(current_device());
      for_tensors(values, [&](const at::Tensor &tensor) {
        if (tensor.defined() && tensor.device().type() == device_type) device = device_at(tensor.device().index());
      });
      if (kw_op_support(op, device, dtype_of(type)) == KW_SUPPORT_NONE) return std::nullopt;
    }
    return type;
  }

  void operator()(const c10::OperatorHandle &handle, c10::DispatchKeySet, torch::jit::Stack *stack) {
    const size_t count = handle.schema().arguments().size();
    const std::optional<at::ScalarType> type = target(torch::jit::last(*stack, count));
    const c10::impl::ExcludeDispatchKeyGuard once(c10::DispatchKey::AutocastPrivateUse1);
    for (size_t i = stack->size() - count; type.has_value() && i < stack->size(); ++i) {
      c10::IValue &value = (*stack)[i];
      if (value.isTensor()) {
        value = cached_cast(*type, value.toTensor(), device_type);
      } else if (value.isTensorList()) {
        std::vector<at::Tensor> tensors = value.toTensorVector();
        for (at::Tensor &tensor : tensors) tensor = cached_cast(*type, tensor, device_type);
        value = std::move(tensors);
      }
    }
    handle.callBoxed(stack);
  }

  const kw_op *op;
  kw_cast_policy policy;
};

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) {
  m.fallback(torch::CppFunction::makeFallthrough());
}

}  // namespace

std::optional<c10::BoxedKernel> autocast_kernel(const kw_op *op) {
  const kw_cast_policy policy = kw_op_cast_policy(op);
  if (policy == KW_CAST_NONE) return std::nullopt;
  return c10::BoxedKernel::makeFromFunctor(std::make_unique<Autocast>(op, policy));
}

}  // namespace torch_keyway
