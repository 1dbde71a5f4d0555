/* SPDX-License-Identifier: Apache-2.0
 *
 * One call of an op on behalf of an operator: the stack's values as Keyway's, the call, its results on the stack.
 */
#include "binding.h"
#include "device.h"
#include "fallback.h"
#include "generator.h"
#include "order.h"
#include "settings.h"
#include "status.h"
#include "tensor.h"

#include <ATen/core/stack.h>
#include <ATen/native/TypeProperties.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/scalar_tensor.h>
#include <c10/util/SmallVector.h>

#include <algorithm>
#include <array>
#include <list>

namespace torch_keyway {

namespace {

constexpr size_t max_args = 32, max_results = 8;

kw_value scalar_value(const at::Scalar &scalar) {
  if (scalar.isBoolean()) return kw_arg_scalar_bool(scalar.toBool());
  if (scalar.isIntegral(false)) return kw_arg_scalar_i64(scalar.toLong());
  if (scalar.isFloatingPoint()) return kw_arg_scalar_f64(scalar.toDouble());
  const c10::complex<double> number = scalar.toComplexDouble();
  kw_value value = {KW_TAG_SCALAR, KW_SCALAR_C128, 0, {0}};
  value.u.c[0] = number.real();
  value.u.c[1] = number.imag();
  return value;
}

/* The value of a tensor of rank 0 on the CPU; Python's numbers come without a call. */
at::Scalar number_in(const at::Tensor &tensor) {
  switch (tensor.scalar_type()) {
    case at::ScalarType::Double:
      return *tensor.const_data_ptr<double>();
    case at::ScalarType::Long:
      return *tensor.const_data_ptr<int64_t>();
    case at::ScalarType::Bool:
      return *tensor.const_data_ptr<bool>();
    default:
      return tensor.item();
  }
}

inline bool is_here(const at::Tensor &tensor) {
  return tensor.defined() && tensor.device().type() == device_type;
}

inline bool is_channels_last(const at::Tensor &tensor) {
  return tensor.suggest_memory_format() == at::MemoryFormat::ChannelsLast;
}

/* A call in the making; what its values point to lives as long as it. */
class Call {
 public:
  Call(const Binding &binding, const c10::OperatorHandle &handle, c10::ArrayRef<c10::IValue> stack)
      : binding_(binding), handle_(handle), stack_(stack), op_(binding.op) {
    if (C10_UNLIKELY(binding.keeps_order && Order::may_differ(stack))) order_ = Order::of(stack);
    find_device();
    for (size_t i = 0; i < binding.arguments.size(); ++i) add(i);
    if (binding.dtype >= 0 && values_[binding.dtype].tag == KW_TAG_NONE) add_dtype();
  }

  kw_status run(c10::SmallVectorImpl<Handle> &results);
  /* The same of one result, written where `target` has its elements. False where it cannot be: the shape or the dtype
   * is another, or an argument lies there in another way. */
  bool run_into(const at::Tensor &target);
  /* Throws where a tensor is on another device of ours: Keyway would call both by its own names. */
  void check_devices() const;
  /* Whether all tensors are of dtypes that the op is defined for. */
  bool has_dtypes() const;
  c10::DeviceIndex index() const {
    return index_;
  }
  /* A result as a tensor of PyTorch's. */
  at::Tensor wrapped(Handle result) const {
    at::Tensor tensor = wrap(std::move(result), index_);
    if (order_.has_value()) order_->restore(tensor);
    if (C10_UNLIKELY(binding_.keeps_format) && tensor.dim() == 4 && is_channels_last(stack_[0].toTensor()))
      return tensor.contiguous(at::MemoryFormat::ChannelsLast);
    return tensor;
  }

 private:
  const c10::IValue &from(size_t i) const {
    return stack_[binding_.arguments[i].from];
  }

  /* Of the first tensor on a device, or as the operator's argument says. */
  void find_device();
  bool take_device(const at::Tensor &tensor);

  void add(size_t i);
  void add_ints(size_t i, const c10::IValue &value);
  void add_tensor(size_t i, const at::Tensor &tensor);
  [[noreturn]] void fail_elsewhere(int argument, const at::Tensor &tensor) const;
  /* A number from the CPU: as a Scalar where an op takes one and the number has no say in the dtype, otherwise as a
   * tensor of the dtype that all promote to. */
  void add_number(size_t i, const at::Tensor &number);
  /* Lists of indices may lie on the CPU. */
  void add_tensors(size_t i, const c10::IValue &value);
  /* Where no tensor says the dtype of the result: that of out=, or PyTorch's default. */
  void add_dtype();

  kw_status call(kw_tensor **outs, unsigned count);

  kw_value keep(const at::Tensor &tensor);
  /* The dtype that the tensors of the call promote to, and a number that is not NULL. */
  at::ScalarType promoted(const at::Tensor *number) const;
  int64_t max_rank() const;

  const Binding &binding_;
  const c10::OperatorHandle &handle_;
  const c10::ArrayRef<c10::IValue> stack_;
  const kw_op *op_;
  c10::DeviceIndex index_ = 0;
  std::array<kw_value, max_args> values_;
  std::list<c10::SmallVector<int64_t, 6>> ints_;
  std::list<c10::SmallVector<kw_tensor *, 8>> lists_;
  c10::SmallVector<Handle, 8> views_;
  std::optional<Order> order_;            /* of the result, if the arguments are turned to make it */
  const c10::TensorImpl *last_ = nullptr; /* whose view is the last one */
};

kw_status Call::call(kw_tensor **outs, unsigned count) {
  follow_settings(binding_.adds_products);
  return kw_op_call(op_, current_stream(index_), values_.data(), static_cast<uint32_t>(binding_.arguments.size()), outs,
                    count);
}

kw_status Call::run(c10::SmallVectorImpl<Handle> &results) {
  std::array<kw_tensor *, max_results> outs;
  std::fill_n(outs.begin(), binding_.result_count, nullptr);
  const kw_status status = call(outs.data(), binding_.result_count);
  if (status != KW_OK) return status;
  for (size_t i = 0; i < binding_.result_count; ++i) results.emplace_back(outs[i]);
  return KW_OK;
}

bool Call::run_into(const at::Tensor &target) {
  if (!is_here(target)) return false;
  Handle view;
  kw_tensor *out = target.unsafeGetTensorImpl() == last_ ? views_.back().get() : (view = view_of(target)).get();
  return call(&out, 1) == KW_OK;
}

bool Call::has_dtypes() const {
  kw_op_info info{};
  info.struct_size = sizeof info;
  check(kw_op_get_info(op_, &info));
  return std::all_of(views_.begin(), views_.end(), [&](const Handle &view) {
    return kw_dtype_mask_has(info.dtypes, kw_tensor_describe(view.get())->dtype);
  });
}

void Call::find_device() {
  for (const c10::IValue &value : stack_) {
    if (value.isTensor()) {
      if (take_device(value.toTensor())) return;
    } else if (value.isTensorList()) {
      for (const at::Tensor &tensor : value.toTensorVector()) {
        if (take_device(tensor)) return;
      }
    }
  }
  index_ = current_device();
  if (binding_.device >= 0 && stack_[binding_.device].isDevice()) {
    const c10::Device device = stack_[binding_.device].toDevice();
    if (device.has_index()) index_ = device.index();
  }
}

bool Call::take_device(const at::Tensor &tensor) {
  if (!is_here(tensor)) return false;
  index_ = tensor.device().index();
  return true;
}

void Call::add(size_t i) {
  const Argument &argument = binding_.arguments[i];
  if (argument.from < 0 || from(i).isNone()) {
    values_[i] = argument.from < 0 ? argument.absent : kw_arg_none();
    if (argument.tag == KW_TAG_GENERATOR) values_[i] = kw_arg_generator(generator_of(default_generator(index_)));
    return;
  }
  const c10::IValue &value = from(i);
  switch (argument.tag) {
    case KW_TAG_TENSOR:
      return add_tensor(i, value.toTensor());
    case KW_TAG_TENSOR_LIST:
      return add_tensors(i, value);
    case KW_TAG_INT:
      values_[i] = kw_arg_int(value.toInt());
      break;
    case KW_TAG_INT_LIST:
      return add_ints(i, value);
    case KW_TAG_FLOAT:
      values_[i] = kw_arg_float(value.toDouble());
      break;
    case KW_TAG_BOOL:
      values_[i] = kw_arg_bool(value.toBool());
      break;
    case KW_TAG_STRING:
      values_[i] = kw_arg_string(value.toStringRef().c_str());
      break;
    case KW_TAG_SCALAR:
      values_[i] = scalar_value(value.toScalar());
      break;
    case KW_TAG_DTYPE:
      values_[i] = kw_arg_dtype(dtype_of(value.toScalarType()));
      break;
    case KW_TAG_GENERATOR:
      values_[i] = kw_arg_generator(generator_of(value.toGenerator()));
      break;
    default:
      TORCH_INTERNAL_ASSERT(false, "an argument of an unknown kind");
  }
}

void Call::add_ints(size_t i, const c10::IValue &value) {
  c10::SmallVector<int64_t, 6> &ints = ints_.emplace_back();
  if (value.isBoolList()) {
    for (const bool b : value.toBoolList()) ints.push_back(b);
  } else {
    for (const int64_t n : value.toIntList()) ints.push_back(n);
  }
  values_[i] = kw_arg_int_list(ints.data(), static_cast<uint32_t>(ints.size()));
}

kw_value Call::keep(const at::Tensor &tensor) {
  if (tensor.unsafeGetTensorImpl() != last_) {
    if (order_.has_value() && tensor.dim() > 0) {
      views_.push_back(view_of(tensor, order_->turn(tensor.sizes(), 1), order_->turn(tensor.strides(), 0)));
    } else {
      views_.push_back(view_of(tensor));
    }
  }
  last_ = tensor.unsafeGetTensorImpl();
  return kw_arg_tensor(views_.back().get());
}

void Call::add_tensor(size_t i, const at::Tensor &tensor) {
  if (!tensor.defined()) {
    values_[i] = kw_arg_none();
  } else if (is_here(tensor)) {
    values_[i] = keep(tensor);
  } else if (tensor.device().is_cpu() && tensor.dim() == 0) {
    add_number(i, tensor);
  } else {
    fail_elsewhere(binding_.arguments[i].from, tensor);
  }
}

void Call::fail_elsewhere(int argument, const at::Tensor &tensor) const {
  TORCH_CHECK(false, handle_.operator_name(), ": argument '", handle_.schema().arguments()[argument].name(), "' is on ",
              tensor.device(), ", others are on ", c10::Device(device_type, index_), ". Move it there with .to()");
}

void Call::check_devices() const {
  const auto check_one = [&](size_t argument, const at::Tensor &tensor) {
    if (is_here(tensor) && tensor.device().index() != index_) fail_elsewhere(static_cast<int>(argument), tensor);
  };
  for (size_t i = 0; i < stack_.size(); ++i) {
    if (stack_[i].isTensor()) check_one(i, stack_[i].toTensor());
    if (!stack_[i].isTensorList()) continue;
    for (const at::Tensor &tensor : stack_[i].toTensorVector()) check_one(i, tensor);
  }
}

void Call::add_number(size_t i, const at::Tensor &number) {
  const kw_op *scalar_op = binding_.arguments[i].scalar_op;
  const at::ScalarType type = promoted(&number);
  const bool silent = max_rank() > 0 && type == promoted(nullptr);
  if (scalar_op != nullptr && op_ == binding_.op && (silent || number.unsafeGetTensorImpl()->is_wrapped_number())) {
    op_ = scalar_op;
    values_[i] = scalar_value(number_in(number));
  } else {
    values_[i] = keep(at::full({}, number_in(number), number.options().dtype(type).device(device_type, index_)));
  }
}

at::ScalarType Call::promoted(const at::Tensor *number) const {
  at::native::ResultTypeState state{};
  if (number != nullptr) state = at::native::update_result_type_state(*number, state);
  for (const c10::IValue &other : stack_) {
    if (other.isTensor() && is_here(other.toTensor())) {
      state = at::native::update_result_type_state(other.toTensor(), state);
    }
  }
  return at::native::result_type(state);
}

int64_t Call::max_rank() const {
  int64_t rank = 0;
  for (const c10::IValue &value : stack_) {
    if (value.isTensor() && is_here(value.toTensor())) rank = std::max(rank, value.toTensor().dim());
  }
  return rank;
}

void Call::add_tensors(size_t i, const c10::IValue &value) {
  c10::SmallVector<kw_tensor *, 8> &list = lists_.emplace_back();
  const auto add_entry = [&](const at::Tensor &tensor) {
    if (!tensor.defined()) return list.push_back(nullptr);
    keep(is_here(tensor) ? tensor : tensor.to(c10::Device(device_type, index_)));
    list.push_back(views_.back().get());
  };
  if (value.isTensorList()) {
    for (const at::Tensor &tensor : value.toTensorVector()) add_entry(tensor);
  } else {
    for (const std::optional<at::Tensor> &tensor : value.toOptionalTensorVector()) {
      add_entry(tensor.value_or(at::Tensor()));
    }
  }
  values_[i] = kw_arg_tensor_list(list.data(), static_cast<uint32_t>(list.size()));
}

void Call::add_dtype() {
  if (!views_.empty()) return;
  if (binding_.written) {
    values_[binding_.dtype] = kw_arg_dtype(dtype_of(stack_[binding_.targets[0]].toTensor().scalar_type()));
  } else {
    const bool is_float =
        std::any_of(stack_.begin(), stack_.end(), [](const c10::IValue &value) { return value.isDouble(); });
    const at::ScalarType type = is_float ? c10::get_default_dtype_as_scalartype() : at::ScalarType::Long;
    values_[binding_.dtype] = kw_arg_dtype(dtype_of(type));
  }
}

/* The first tensor on a device of ours; nullptr where numbers and lists are all that there is. */
const at::Tensor *first_here(c10::ArrayRef<c10::IValue> values) {
  for (const c10::IValue &value : values) {
    if (value.isTensor() && is_here(value.toTensor())) return &value.toTensor();
  }
  return nullptr;
}

/* Puts a result into the argument of an out= or in-place variant. */
void write(const Binding &binding, const c10::OperatorHandle &handle, int argument, Handle result,
           c10::ArrayRef<c10::IValue> values) {
  const at::Tensor &target = values[argument].toTensor();
  const at::Tensor *const other = first_here(values);
  TORCH_CHECK(other == nullptr || target.device() == other->device(), handle.operator_name(), ": argument '",
              handle.schema().arguments()[argument].name(), "' is on ", target.device(), ", others are on ",
              other->device(), ". Move it there with .to()");
  const kw_tensor_ref *ref = kw_tensor_describe(result.get());
  const c10::IntArrayRef shape(ref->shape, ref->rank);
  if (target.sizes() != shape) {
    TORCH_CHECK(handle.schema().arguments()[argument].is_out(), handle.operator_name(), ": the result has shape ",
                shape, ", which does not fit the tensor to change in place, of shape ", target.sizes());
    target.resize_(shape);
    const auto order = binding.by_elements ? Order::of(values.slice(0, argument)) : std::nullopt; /* of the arguments */
    if (order.has_value()) order->restore(target.resize_(order->turn(shape, 1)));
  }
  deliver(std::move(result), target);
}

bool is_for(Binding::Rule rule, c10::ArrayRef<c10::IValue> values) {
  switch (rule) {
    case Binding::Rule::for_images:
      return Order::is_any(values, [](const at::Tensor &tensor) {
        return tensor.suggest_memory_format() != at::MemoryFormat::Contiguous;
      });
    case Binding::Rule::for_turned:
      return Order::is_any(values, [](const at::Tensor &tensor) { return !tensor.is_contiguous(); });
    default:
      return rule == Binding::Rule::always;
  }
}

}  // namespace

bool Binding::call(const c10::OperatorHandle &handle, c10::ArrayRef<c10::IValue> values,
                   c10::SmallVectorImpl<at::Tensor> &returned) {
  Call call(*this, handle, values);
  if (written && pointwise && targets.size() == 1 && call.run_into(values[targets[0]].toTensor())) {
    returned.push_back(values[targets[0]].toTensor());
    return true;
  }
  c10::SmallVector<Handle, 2> results;
  const kw_status status = call.run(results);
  if (status != KW_OK) {
    call.check_devices();
    /* What a device lacks Keyway has sent to the CPU already, if it may; what the op is not defined for is PyTorch's.
     */
    if (status != KW_ERR_INVALID_ARGUMENT || kw_fallback_get() == KW_FALLBACK_OFF || call.has_dtypes()) fail(status);
    return false;
  }
  for (size_t i = 0; i < targets.size(); ++i) {
    if (targets[i] < 0) {
      returned.push_back(results[i].get() != nullptr ? call.wrapped(std::move(results[i])) : at::Tensor());
      continue;
    }
    if (written) write(*this, handle, targets[i], std::move(results[i]), values);
    returned.push_back(values[targets[i]].toTensor());
  }
  if (C10_UNLIKELY(rule != Rule::none) && is_for(rule, values)) lay_as_fake(handle, values, returned);
  return true;
}

void Binding::operator()(const c10::OperatorHandle &handle, c10::DispatchKeySet, torch::jit::Stack *stack) {
  const size_t count = handle.schema().arguments().size();
  c10::SmallVector<at::Tensor, 4> returned;
  if (!call(handle, torch::jit::last(*stack, count), returned)) return run_on_cpu(handle, stack);
  torch::jit::drop(*stack, count);
  for (at::Tensor &tensor : returned) stack->emplace_back(std::move(tensor));
}

}  // namespace torch_keyway
