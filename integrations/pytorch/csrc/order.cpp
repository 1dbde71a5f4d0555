/* SPDX-License-Identifier: Apache-2.0
 *
 * The order by PyTorch's rule: of two dimensions the one with the smaller strides is the faster, the first argument
 * that can tell decides, and otherwise they stay as they are.
 */
#include "order.h"
#include "device.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/TensorBase.h>
#include <ATen/ops/empty_strided.h>

#include <algorithm>

namespace torch_keyway {

namespace {

bool is_here(const c10::IValue &value) {
  return value.isTensor() && value.toTensor().defined() && value.toTensor().device().type() == device_type;
}

/* Positive: dimension `a` is slower than `b`. 0: nobody can tell. */
int compare(const std::vector<Order::Numbers> &strides, const Order::Numbers &shape, size_t a, size_t b) {
  for (const Order::Numbers &of_one : strides) {
    const int64_t first = of_one[a], second = of_one[b];
    if (first == 0 || second == 0) continue;
    if (first != second) return first > second ? 1 : -1;
    if (shape[a] > shape[b]) return 1;
  }
  return 0;
}

}  // namespace

bool Order::is_any(c10::ArrayRef<c10::IValue> arguments, bool (*holds)(const at::Tensor &)) {
  return std::any_of(arguments.begin(), arguments.end(), [&](const c10::IValue &value) {
    if (value.isTensor()) return value.toTensor().defined() && holds(value.toTensor());
    if (!value.isTensorList()) return false;
    const std::vector<at::Tensor> list = value.toTensorVector();
    return std::any_of(list.begin(), list.end(), holds);
  });
}

std::optional<Order> Order::of(c10::ArrayRef<c10::IValue> arguments) {
  size_t rank = 0;
  for (const c10::IValue &value : arguments) {
    if (is_here(value)) rank = std::max(rank, static_cast<size_t>(value.toTensor().dim()));
  }
  Numbers shape(rank, 1);
  for (const c10::IValue &value : arguments) {
    if (!is_here(value)) continue;
    const c10::IntArrayRef sizes = value.toTensor().sizes();
    for (size_t i = 0; i < sizes.size(); ++i) {
      if (sizes[i] != 1) shape[rank - sizes.size() + i] = sizes[i];
    }
  }
  std::vector<Numbers> strides; /* 0 where an argument is stretched, or has no such dimension */
  for (const c10::IValue &value : arguments) {
    if (!is_here(value)) continue;
    const at::Tensor &tensor = value.toTensor();
    Numbers &of_one = strides.emplace_back(rank, 0);
    const size_t missing = rank - static_cast<size_t>(tensor.dim());
    for (size_t i = missing; i < rank; ++i) {
      const auto d = static_cast<int64_t>(i - missing);
      if (tensor.size(d) == shape[i]) of_one[i] = tensor.stride(d) * static_cast<int64_t>(tensor.itemsize());
    }
  }

  Order order;
  for (size_t i = 0; i < rank; ++i) order.dims_.push_back(rank - 1 - i); /* the fastest first */
  for (size_t i = 1; i < rank; ++i) {
    size_t moved = i;
    for (size_t j = i; j-- > 0;) {
      const int slower = compare(strides, shape, order.dims_[j], order.dims_[moved]);
      if (slower < 0) break;
      if (slower == 0) continue;
      std::swap(order.dims_[j], order.dims_[moved]);
      moved = j;
    }
  }
  std::reverse(order.dims_.begin(), order.dims_.end());
  if (std::is_sorted(order.dims_.begin(), order.dims_.end())) return std::nullopt;
  return order;
}

Order::Numbers Order::turn(c10::IntArrayRef numbers, int64_t missing) const {
  const size_t front = dims_.size() - numbers.size();
  Numbers turned;
  for (const size_t dim : dims_) turned.push_back(dim < front ? missing : numbers[dim - front]);
  return turned;
}

void Order::restore(const at::Tensor &result) const {
  Numbers sizes(result.sizes().begin(), result.sizes().end());
  Numbers strides(result.strides().begin(), result.strides().end());
  for (size_t i = 0; i < dims_.size(); ++i) {
    sizes[dims_[i]] = result.size(static_cast<int64_t>(i));
    strides[dims_[i]] = result.stride(static_cast<int64_t>(i));
  }
  result.unsafeGetTensorImpl()->set_sizes_and_strides(sizes, strides);
}

/* ---- Fake tensors ------------------------------------------------------------------------------------------------ */

namespace {

AskFake ask_fake;

/* Where there is a next element. */
bool lies_by(const at::Tensor &tensor, c10::IntArrayRef strides) {
  for (int64_t i = 0; i < tensor.dim(); ++i) {
    const auto d = static_cast<size_t>(i);
    if (tensor.size(i) > 1 && tensor.stride(i) != strides[d]) return false;
  }
  return true;
}

}  // namespace

void set_ask_fake(AskFake function) {
  ask_fake = std::move(function);
}

void lay_as_fake(const c10::OperatorHandle &handle, c10::ArrayRef<c10::IValue> arguments,
                 c10::SmallVectorImpl<at::Tensor> &results) {
  const std::vector<std::vector<int64_t>> wanted = ask_fake(handle.schema(), arguments);
  if (wanted.size() != results.size()) return;
  const at::AutoDispatchBelowADInplaceOrView guard;
  for (size_t i = 0; i < results.size(); ++i) {
    const at::Tensor &have = results[i];
    if (!have.defined() || static_cast<size_t>(have.dim()) != wanted[i].size() || lies_by(have, wanted[i])) continue;
    results[i] = at::empty_strided(have.sizes(), wanted[i], have.options()).copy_(have);
  }
}

}  // namespace torch_keyway
