/* SPDX-License-Identifier: Apache-2.0
 *
 * What needs no kernel or another device: allocation, views, storages, copies, reading one number.
 */
#include "device.h"
#include "pinned.h"
#include "status.h"
#include "tensor.h"

#include <ATen/EmptyTensor.h>
#include <ATen/native/Resize.h>
#include <ATen/native/TensorFactories.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/set_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

namespace torch_keyway {

namespace {

/* ---- Allocation -------------------------------------------------------------------------------------------------- */

constexpr c10::DispatchKeySet key_set(c10::DispatchKey::PrivateUse1);

/* The device to change to, if it is another than the current one. */
std::optional<at::Device> other_device(std::optional<at::Device> device) {
  const bool is_other = device.has_value() && device->has_index() && device->index() != current_device();
  return is_other ? device : std::nullopt;
}

at::Tensor empty(at::IntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                 std::optional<at::Device> device, std::optional<bool>, std::optional<at::MemoryFormat> format) {
  const c10::OptionalDeviceGuard guard(other_device(device));
  return at::detail::empty_generic(size, allocator(), key_set, c10::dtype_or_default(dtype), format);
}

at::Tensor empty_strided(at::IntArrayRef size, at::IntArrayRef stride, std::optional<at::ScalarType> dtype,
                         std::optional<at::Layout>, std::optional<at::Device> device, std::optional<bool>) {
  const c10::OptionalDeviceGuard guard(other_device(device));
  return at::detail::empty_strided_generic(size, stride, allocator(), key_set, c10::dtype_or_default(dtype));
}

/* Zeros that take no memory: what derivatives give for one that is known to be 0. */
at::Tensor zero_without_memory(at::IntArrayRef size, std::optional<at::ScalarType> dtype, std::optional<at::Layout>,
                               std::optional<at::Device> device, std::optional<bool>) {
  const c10::OptionalDeviceGuard guard(other_device(device));
  at::native::ZeroTensorAllocator nothing(at::Device(device_type, current_device()));
  return at::detail::empty_generic(size, &nothing, key_set.add(c10::DispatchKey::ZeroTensor),
                                   c10::dtype_or_default(dtype), std::nullopt);
}

/* ---- Shapes and storages in place -------------------------------------------------------------------------------- */

void hold(const at::Tensor &self, size_t bytes) {
  if (self.numel() > 0 && bytes > self.storage().nbytes()) resize_storage(self.storage(), bytes);
}

const at::Tensor &resize_(const at::Tensor &self, at::IntArrayRef size, std::optional<at::MemoryFormat> format) {
  at::TensorImpl *impl = self.unsafeGetTensorImpl();
  if (self.sizes() != size) impl->set_sizes_contiguous(size);
  if (format.has_value()) impl->empty_tensor_restride(*format);
  hold(self, at::detail::computeStorageNbytes(self.sizes(), self.strides(), self.itemsize(), self.storage_offset()));
  return self;
}

at::Tensor &set_storage_(at::Tensor &self, at::Storage source, int64_t offset, at::IntArrayRef size,
                         at::IntArrayRef stride) {
  at::native::checkSetStorage(self, std::move(source), offset, size, stride);
  at::TensorImpl *impl = self.unsafeGetTensorImpl();
  if (stride.data() != nullptr) {
    impl->set_sizes_and_strides(size, stride, offset);
  } else {
    impl->set_storage_offset(offset);
    impl->set_sizes_contiguous(size);
  }
  hold(self, at::detail::computeStorageNbytes(self.sizes(), self.strides(), self.itemsize(), offset));
  return self;
}

at::Tensor &set_whole_storage_(at::Tensor &self, at::Storage source) {
  const auto count = static_cast<int64_t>(source.nbytes() / self.itemsize());
  return set_storage_(self, std::move(source), 0, count, {});
}

at::Tensor &set_nothing_(at::Tensor &self) {
  const at::Tensor empty = at::empty({0}, self.options());
  return set_storage_(self, empty.storage(), 0, 0, {});
}

/* ---- Copies ------------------------------------------------------------------------------------------------------ */

/* A copy whose host end is pageable is waited for: how long that lives is not known. */
void finish(kw_stream *stream, bool non_blocking, const at::Tensor &host) {
  if (non_blocking && is_pinned(host.const_data_ptr())) {
    use_pinned(host.const_data_ptr(), stream);
  } else {
    check(kw_stream_synchronize(stream));
  }
}

void copy_on_device(const at::Tensor &from, const at::Tensor &to) {
  /* Parts of one storage that interleave would be taken for overlapping. */
  if (from.is_alias_of(to)) return copy_on_device(from.clone(), to);
  copy_elements(view_of(from), view_of(to), current_stream(to.device().index()));
}

void copy_from_host(const at::Tensor &from, const at::Tensor &to, bool non_blocking) {
  const at::Tensor host = from.to(to.scalar_type()).contiguous();
  if (!to.is_contiguous()) {
    const at::Tensor packed = at::empty(to.sizes(), to.options());
    copy_from_host(host, packed, non_blocking);
    return copy_on_device(packed, to);
  }
  kw_stream *stream = current_stream(to.device().index());
  const Handle target = view_of(to);
  check(kw_tensor_write_async(target.get(), host.const_data_ptr(), stream));
  finish(stream, non_blocking, host);
}

void copy_to_host(const at::Tensor &from, const at::Tensor &to, bool non_blocking) {
  const at::Tensor packed = from.contiguous();
  const bool direct = to.is_contiguous() && to.scalar_type() == from.scalar_type();
  const at::Tensor host = direct ? to : at::empty(from.sizes(), from.options().device(at::kCPU));
  kw_stream *stream = current_stream(from.device().index());
  const Handle source = view_of(packed);
  check(kw_tensor_read_async(source.get(), host.mutable_data_ptr(), stream));
  finish(stream, direct && non_blocking, host);
  if (!direct) to.copy_(host);
}

/* Through host memory; both devices' streams have passed it afterwards. */
void copy_across(const at::Tensor &from, const at::Tensor &to) {
  copy_from_host(from.cpu(), to, false);
}

/* Without PyTorch's marks that say to take numbers conjugated or negated. */
at::Tensor carry_out(const at::Tensor &self) {
  if (self.device().is_cpu()) return self.resolve_conj().resolve_neg();
  if (self.is_neg()) return self._neg_view().neg();
  if (!self.is_conj()) return self;
  const at::Tensor plain = self.conj().clone();
  at::view_as_real(plain).select(-1, 1).neg_();
  return plain;
}

at::Tensor copy_from(const at::Tensor &marked, const at::Tensor &target, bool non_blocking) {
  if (target.numel() == 0) return target;
  if (target.is_conj()) return copy_from(marked.conj(), target.conj(), non_blocking);
  if (target.is_neg()) return copy_from(marked._neg_view(), target._neg_view(), non_blocking);
  const at::Tensor from = carry_out(marked).expand(target.sizes());
  if (from.device() == target.device()) {
    copy_on_device(from, target);
  } else if (from.device().is_cpu()) {
    copy_from_host(from, target, non_blocking);
  } else if (target.device().is_cpu()) {
    copy_to_host(from, target, non_blocking);
  } else {
    copy_across(from, target);
  }
  return target;
}

at::Tensor copy_from_and_resize(const at::Tensor &self, const at::Tensor &target) {
  target.resize_(self.sizes());
  return copy_from(self, target, false);
}

at::Scalar local_scalar_dense(const at::Tensor &self) {
  return self.cpu().item();
}

at::Tensor &zero_(at::Tensor &self) {
  return self.fill_(0);
}

/* Keyway itself notes which streams use which memory. */
void record_stream(at::Tensor &, at::Stream) {}

/* A dense tensor whose shape and memory are all that it is: of CPU, of this device, or of another that PyTorch knows.
 */
bool is_plain(const at::Tensor &tensor) {
  constexpr c10::DispatchKeySet backends{c10::BackendComponent::CPUBit,  c10::BackendComponent::CUDABit,
                                         c10::BackendComponent::HIPBit,  c10::BackendComponent::MPSBit,
                                         c10::BackendComponent::XPUBit,  c10::BackendComponent::HPUBit,
                                         c10::BackendComponent::MTIABit, c10::BackendComponent::PrivateUse1Bit};
  const c10::DispatchKeySet keys = tensor.key_set();
  return keys.has_any(c10::DispatchKeySet(c10::DispatchKey::Dense)) && keys.has_any(backends);
}

/* Whether `tensor.data = from` may move a tensor to this device or away from it, as PyTorch allows it among its own
 * devices. Module.to() moves parameters that way. Where it is refused, it puts new parameters in their place, which no
 * optimizer knows, and of which modules that shared one get one each. */
bool has_compatible_shallow_copy_type(const at::Tensor &tensor, const at::Tensor &from) {
  return tensor.key_set() == from.key_set() || (is_plain(tensor) && is_plain(from));
}

TORCH_LIBRARY_IMPL(aten, PrivateUse1, m) {
  m.impl("_has_compatible_shallow_copy_type", &has_compatible_shallow_copy_type);
  m.impl("empty.memory_format", &empty);
  m.impl("empty_strided", &empty_strided);
  m.impl("_efficientzerotensor", &zero_without_memory);
  m.impl("as_strided", &at::native::as_strided_tensorimpl);
  m.impl("view", &at::native::view);
  m.impl("_reshape_alias", &at::native::_reshape_alias);
  m.impl("unfold", &at::native::unfold);
  m.impl("view_as_real", &at::native::view_as_real);
  m.impl("view_as_complex", &at::native::view_as_complex);
  m.impl("resize_", &resize_);
  m.impl("set_.source_Storage_storage_offset", &set_storage_);
  m.impl("set_.source_Storage", &set_whole_storage_);
  m.impl("set_.source_Tensor", &at::native::set_tensor_);
  m.impl("set_", &set_nothing_);
  m.impl("_copy_from", &copy_from);
  m.impl("_copy_from_and_resize", &copy_from_and_resize);
  m.impl("_local_scalar_dense", &local_scalar_dense);
  m.impl("zero_", &zero_);
  m.impl("record_stream", &record_stream);
}

/* Copies see the marks and carry them out; PyTorch's way of doing so is a copy. */
TORCH_LIBRARY_IMPL(aten, Conjugate, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
}
TORCH_LIBRARY_IMPL(aten, Negative, m) {
  m.impl("_copy_from", torch::CppFunction::makeFallthrough());
}

}  // namespace

}  // namespace torch_keyway
