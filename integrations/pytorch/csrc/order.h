/* SPDX-License-Identifier: Apache-2.0
 *
 * In which order dimensions lie in memory. PyTorch promises that what is computed element by element lies as its
 * arguments do, and meta tensors count on that; results of Keyway's are row-major.
 */
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/SmallVector.h>

#include <functional>
#include <optional>
#include <vector>

namespace torch_keyway {

class Order {
 public:
  using Numbers = c10::SmallVector<int64_t, 5>;

  /* Whether any of these lies otherwise than row-major: cheap, for what each call asks. */
  static bool may_differ(c10::ArrayRef<c10::IValue> arguments) {
    const c10::TensorImpl *last = nullptr; /* often the next one as well */
    for (const c10::IValue &value : arguments) {
      if (!value.isTensor()) continue;
      const c10::TensorImpl *tensor = value.unsafeToTensorImpl();
      if (tensor == last || tensor == c10::UndefinedTensorImpl::singleton()) continue;
      if (!tensor->is_contiguous()) return true;
      last = tensor;
    }
    return false;
  }
  /* Whether this holds for any of them, also in lists. */
  static bool is_any(c10::ArrayRef<c10::IValue> arguments, bool (*holds)(const at::Tensor &));
  /* That of the result of an op of elements, among whose arguments these are; nothing where it is row-major. */
  static std::optional<Order> of(c10::ArrayRef<c10::IValue> arguments);

  /* An argument's sizes or strides with the dimensions turned so that the result is row-major; `missing` for those that
   * it lacks at the front. */
  Numbers turn(c10::IntArrayRef numbers, int64_t missing) const;
  /* Turns such a result back. */
  void restore(const at::Tensor &result) const;

 private:
  c10::SmallVector<size_t, 5> dims_; /* the slowest first */
};

/* Lays the results of an operator as PyTorch's fake tensors have them, for arguments that lie as these: what
 * torch.compile counts on. Python is asked, once for each kind of arguments, and results that lie otherwise are copied:
 * for operators that follow rules of their own. */
void lay_as_fake(const c10::OperatorHandle &handle, c10::ArrayRef<c10::IValue> arguments,
                 c10::SmallVectorImpl<at::Tensor> &results);
/* Says the strides of each result; nothing where they depend on the numbers. From any thread. */
using AskFake =
    std::function<std::vector<std::vector<int64_t>>(const c10::FunctionSchema &, c10::ArrayRef<c10::IValue> arguments)>;
void set_ask_fake(AskFake function);

}  // namespace torch_keyway
