/* SPDX-License-Identifier: Apache-2.0
 *
 * Dtypes, the memory of storages and the addresses that stand for it, views for Keyway, and results that become
 * PyTorch's.
 */
#include "tensor.h"
#include "device.h"
#include "graph.h"
#include "memory.h"
#include "status.h"

#include <ATen/core/TensorBase.h>
#include <c10/core/StorageImpl.h>
#include <c10/core/TensorImpl.h>

#include <keyway/interop.h>

#include <array>

namespace torch_keyway {

/* ---- Dtypes ------------------------------------------------------------------------------------------------------ */

namespace {

constexpr c10::ScalarType scalar_types[] = {
    c10::ScalarType::Bool,         c10::ScalarType::Byte,          c10::ScalarType::Char,
    c10::ScalarType::Short,        c10::ScalarType::Int,           c10::ScalarType::Long,
    c10::ScalarType::Half,         c10::ScalarType::BFloat16,      c10::ScalarType::Float,
    c10::ScalarType::Double,       c10::ScalarType::Float8_e4m3fn, c10::ScalarType::Float8_e5m2,
    c10::ScalarType::ComplexFloat, c10::ScalarType::ComplexDouble};

constexpr kw_dtype no_dtype = std::size(scalar_types);

/* The other way round. */
constexpr auto dtypes = [] {
  std::array<kw_dtype, static_cast<size_t>(c10::ScalarType::NumOptions)> all{};
  for (kw_dtype &dtype : all) dtype = no_dtype;
  for (kw_dtype dtype = 0; dtype < no_dtype; ++dtype) all[static_cast<size_t>(scalar_types[dtype])] = dtype;
  return all;
}();

}  // namespace

kw_dtype dtype_of(c10::ScalarType type) {
  const kw_dtype dtype = static_cast<size_t>(type) < dtypes.size() ? dtypes[static_cast<size_t>(type)] : no_dtype;
  if (C10_LIKELY(dtype != no_dtype)) return dtype;
  TORCH_CHECK_TYPE(false, "Keyway has no dtype ", c10::toString(type), ". Cast the tensor on the CPU first");
}

bool is_known(kw_dtype dtype) {
  return dtype < no_dtype;
}

c10::ScalarType dtype_of(kw_dtype dtype) {
  TORCH_CHECK(is_known(dtype), "PyTorch has no counterpart of Keyway's dtype ", dtype);
  return scalar_types[dtype];
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

namespace {

/* A storage's context is its address, which stands for a tensor of its bytes. */
void free_memory(void *address) {
  kw_address_release(address);
}

c10::DataPtr own(const Handle &bytes, c10::DeviceIndex index) {
  void *address;
  check(kw_address_reserve(bytes.get(), &address));
  return {address, address, &free_memory, c10::Device(device_type, index)};
}

/* Where a storage begins: not where a stretch of addresses does if someone else, as the other side of DLPack, has made
 * the storage of an address. Whoever holds such a storage keeps the memory alive. */
const char *address_of(const c10::StorageImpl *storage) {
  return static_cast<const char *>(storage->data_ptr().get());
}

Handle view_at(const char *address, kw_dtype dtype, c10::IntArrayRef sizes, c10::IntArrayRef strides) {
  kw_tensor *view;
  check(kw_tensor_at(address, dtype, static_cast<uint32_t>(sizes.size()), sizes.data(), strides.data(), &view));
  return Handle(view);
}

struct Allocator final : c10::DeviceAllocator {
  c10::DataPtr allocate(size_t size) override {
    const c10::DeviceIndex index = current_device();
    return own(new_bytes(size, index), index);
  }
  c10::DeleterFnPtr raw_deleter() const override {
    return nullptr;
  }
  void copy_data(void *, const void *, std::size_t) const override {
    TORCH_CHECK_NOT_IMPLEMENTED(false, "device memory of Keyway is copied by tensors, not by addresses");
  }
  bool initialized() override {
    return device_count() > 0;
  }
  void emptyCache(c10::MempoolId_t) override {
    empty_caches();
  }
  /* Keyway itself notes which streams use which memory. */
  void recordStream(const c10::DataPtr &, c10::Stream) override {}
  c10::CachingDeviceAllocator::DeviceStats getDeviceStats(c10::DeviceIndex index) override {
    return memory_stats(index);
  }
  void resetAccumulatedStats(c10::DeviceIndex index) override {
    reset_accumulated_stats(index);
  }
  void resetPeakStats(c10::DeviceIndex index) override {
    reset_peak_stats(index);
  }
  std::pair<size_t, size_t> getMemoryInfo(c10::DeviceIndex index) override {
    return memory_info(index);
  }
};

Allocator the_allocator;
c10::AllocatorRegisterer<device_type> registered(&the_allocator);

}  // namespace

Handle new_bytes(size_t size, c10::DeviceIndex index) {
  kw_tensor *bytes;
  const int64_t shape = static_cast<int64_t>(size);
  check(kw_tensor_create_on(current_stream(index), KW_U8, 1, &shape, &bytes));
  return Handle(bytes);
}

Handle bytes_of(const c10::Storage &storage, size_t offset, size_t size) {
  const char *address = address_of(storage.unsafeGetStorageImpl()) + (size > 0 ? offset : 0);
  return view_at(address, KW_U8, static_cast<int64_t>(size), int64_t{1});
}

c10::Storage storage_on(const Handle &memory, size_t size, c10::DeviceIndex index) {
  return c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), size, own(memory, index),
                                               &the_allocator, true);
}

void move_storage(const c10::Storage &storage, const Handle &bytes) {
  check(kw_address_assign(storage.data_ptr().get_context(), bytes.get()));
}

void copy_elements(const Handle &from, const Handle &to, kw_stream *stream) {
  static const kw_op *copy = kw_op_find("copy_");
  const kw_value args[] = {kw_arg_tensor(to.get()), kw_arg_tensor(from.get())};
  check(kw_op_call(copy, stream, args, 2, nullptr, 0));
}

c10::Allocator *allocator() {
  return &the_allocator;
}

c10::DeviceIndex index_of_address(const void *address) {
  const kw_device *device = kw_address_device(address);
  for (c10::DeviceIndex index = 0; index < device_count(); ++index) {
    if (device_at(index) == device) return index;
  }
  TORCH_CHECK(false, "the address lies in no storage of Keyway's: it was freed, or made by someone else");
}

void resize_storage(const c10::Storage &storage, size_t size) {
  c10::StorageImpl *impl = storage.unsafeGetStorageImpl();
  TORCH_CHECK(impl->resizable(), "the storage cannot be resized");
  const c10::DeviceIndex index = impl->device().index();
  Handle bytes = new_bytes(size, index);
  const auto kept = static_cast<int64_t>(std::min(size, impl->nbytes()));
  if (kept > 0) {
    kw_tensor *part;
    check(kw_tensor_slice(bytes.get(), 0, 0, kept, 1, &part));
    copy_elements(bytes_of(storage, 0, static_cast<size_t>(kept)), Handle(part), current_stream(index));
  }
  impl->set_data_ptr_noswap(own(bytes, index));
  impl->set_nbytes(size);
}

/* ---- Views and results ------------------------------------------------------------------------------------------- */

Handle view_of(const at::Tensor &tensor, c10::IntArrayRef sizes, c10::IntArrayRef strides) {
  const c10::TensorImpl *impl = tensor.unsafeGetTensorImpl();
  const char *address = address_of(impl->unsafe_storage().unsafeGetStorageImpl());
  if (impl->numel() > 0) address += impl->storage_offset() * static_cast<int64_t>(impl->itemsize());
  return view_at(address, dtype_of(tensor.scalar_type()), sizes, strides);
}

Handle view_of(const at::Tensor &tensor) {
  const c10::TensorImpl *impl = tensor.unsafeGetTensorImpl();
  return view_of(tensor, impl->sizes(), impl->strides());
}

at::Tensor tensor_on(c10::Storage storage, at::ScalarType type) {
  return at::detail::make_tensor_base<c10::TensorImpl>(
      std::move(storage), c10::DispatchKeySet(c10::DispatchKey::PrivateUse1), c10::scalarTypeToTypeMeta(type));
}

at::Tensor wrap(Handle result, c10::DeviceIndex index) {
  const kw_tensor_ref *ref = kw_tensor_describe(result.get());
  const at::ScalarType type = dtype_of(ref->dtype);
  const size_t size = static_cast<size_t>(ref->numel) * c10::elementSize(type); /* results are contiguous */
  const c10::IntArrayRef shape(ref->shape, ref->rank);
  at::Tensor tensor = tensor_on(storage_on(result, size, index), type);
  tensor.unsafeGetTensorImpl()->set_sizes_contiguous(shape);
  return tensor;
}

void deliver(Handle result, const at::Tensor &target) {
  const c10::TensorImpl *impl = target.unsafeGetTensorImpl();
  const kw_tensor_ref *ref = kw_tensor_describe(result.get());
  c10::StorageImpl *storage = impl->unsafe_storage().unsafeGetStorageImpl();
  const bool all_of_it = ref->dtype == dtype_of(target.scalar_type()) && impl->storage_offset() == 0 &&
                         impl->is_contiguous() && storage->data_ptr().get_deleter() == &free_memory &&
                         storage->nbytes() == static_cast<size_t>(impl->numel()) * impl->itemsize();
  if (all_of_it && !has_graphs()) {
    check(kw_address_assign(storage->data_ptr().get_context(), result.get())); /* views of the storage see it, too */
  } else {
    target.copy_(wrap(std::move(result), target.device().index()));
  }
}

}  // namespace torch_keyway
