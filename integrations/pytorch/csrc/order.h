/* SPDX-License-Identifier: Apache-2.0
 *
 * In which order dimensions lie in memory. PyTorch promises that what is computed element by element lies as its
 * arguments do, and meta tensors count on that; results of Keyway's are row-major.
 */
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/ivalue.h>
#include <c10/util/ArrayRef.h>
#include <c10/util/SmallVector.h>

#include <optional>

namespace torch_keyway {

class Order {
 public:
  using Numbers = c10::SmallVector<int64_t, 5>;

  /* Whether any of these lies otherwise than row-major: cheap, for what each call asks. */
  static bool may_differ(c10::ArrayRef<c10::IValue> arguments) {
    for (const c10::IValue &value : arguments) {
      if (value.isTensor() && value.toTensor().defined() && !value.toTensor().is_contiguous()) return true;
    }
    return false;
  }
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

}  // namespace torch_keyway
