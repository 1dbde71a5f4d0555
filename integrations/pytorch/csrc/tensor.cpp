/* SPDX-License-Identifier: Apache-2.0
 *
 * Dtypes, the memory of storages and its made-up addresses, views for Keyway, and results that become PyTorch's.
 */
#include "tensor.h"
#include "device.h"
#include "status.h"

#include <ATen/core/TensorBase.h>
#include <c10/core/StorageImpl.h>
#include <c10/core/TensorImpl.h>

#include <map>
#include <memory>
#include <mutex>

namespace torch_keyway {

/* ---- Dtypes ------------------------------------------------------------------------------------------------------ */

namespace {

constexpr c10::ScalarType scalar_types[] = {
    c10::ScalarType::Bool,         c10::ScalarType::Byte,          c10::ScalarType::Char,
    c10::ScalarType::Short,        c10::ScalarType::Int,           c10::ScalarType::Long,
    c10::ScalarType::Half,         c10::ScalarType::BFloat16,      c10::ScalarType::Float,
    c10::ScalarType::Double,       c10::ScalarType::Float8_e4m3fn, c10::ScalarType::Float8_e5m2,
    c10::ScalarType::ComplexFloat, c10::ScalarType::ComplexDouble};

}  // namespace

kw_dtype dtype_of(c10::ScalarType type) {
  for (kw_dtype dtype = 0; dtype < std::size(scalar_types); ++dtype) {
    if (scalar_types[dtype] == type) return dtype;
  }
  TORCH_CHECK_TYPE(false, "Keyway has no dtype ", c10::toString(type), ". Cast the tensor on the CPU first");
}

c10::ScalarType dtype_of(kw_dtype dtype) {
  TORCH_CHECK(dtype < std::size(scalar_types), "PyTorch has no counterpart of Keyway's dtype ", dtype);
  return scalar_types[dtype];
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

namespace {

/* What a storage holds. The tensor changes when a result is delivered to the storage, while other threads may read. */
struct Memory {
  std::mutex mutex;
  Handle bytes;
  c10::DeviceIndex index;
  std::map<uintptr_t, Memory *>::iterator place; /* in `addresses` */
};

/* By their first address; only ever added at the end. */
std::mutex addresses_mutex;
std::map<uintptr_t, Memory *> addresses;

void free_memory(void *context) {
  auto *memory = static_cast<Memory *>(context);
  {
    std::lock_guard<std::mutex> lock(addresses_mutex);
    addresses.erase(memory->place);
  }
  delete memory;
}

c10::DataPtr own(Handle bytes, size_t size, c10::DeviceIndex index) {
  constexpr uintptr_t alignment = 512;
  static uintptr_t next = uintptr_t{1} << 62; /* non-canonical on x86-64 and AArch64 */
  auto memory = std::make_unique<Memory>();
  memory->bytes = std::move(bytes);
  memory->index = index;
  std::lock_guard<std::mutex> lock(addresses_mutex);
  void *address = reinterpret_cast<void *>(next);
  memory->place = addresses.emplace_hint(addresses.end(), next, memory.get());
  next += (size / alignment + 1) * alignment;
  return {address, memory.release(), &free_memory, c10::Device(device_type, index)};
}

/* A storage's memory, and where in it the storage begins: not at 0 where someone else, as the other side of DLPack, has
 * made the storage of an address. Whoever holds such a storage keeps the memory alive. */
struct Place {
  Memory *memory;
  uint64_t offset;
};

Place find_address(const void *data) {
  std::lock_guard<std::mutex> lock(addresses_mutex);
  const auto address = reinterpret_cast<uintptr_t>(data);
  auto after = addresses.upper_bound(address);
  TORCH_CHECK(after != addresses.begin(),
              "the tensor has no memory of Keyway: its storage was freed, or made by someone else");
  --after;
  return {after->second, address - after->first};
}

Place memory_of(const c10::StorageImpl *storage) {
  const c10::DataPtr &data = storage->data_ptr();
  auto *memory = data.cast_context<Memory>(&free_memory);
  return memory != nullptr ? Place{memory, 0} : find_address(data.get());
}

Handle new_bytes(size_t size, c10::DeviceIndex index) {
  kw_tensor *bytes;
  const int64_t shape = static_cast<int64_t>(size);
  check(kw_tensor_create_on(current_stream(index), KW_U8, 1, &shape, &bytes));
  return Handle(bytes);
}

struct Allocator final : c10::Allocator {
  c10::DataPtr allocate(size_t size) override {
    const c10::DeviceIndex index = current_device();
    return own(new_bytes(size, index), size, index);
  }
  c10::DeleterFnPtr raw_deleter() const override {
    return nullptr;
  }
  void copy_data(void *, const void *, std::size_t) const override {
    TORCH_CHECK_NOT_IMPLEMENTED(false, "device memory of Keyway is copied by tensors, not by addresses");
  }
};

Allocator the_allocator;
c10::AllocatorRegisterer<device_type> registered(&the_allocator);

}  // namespace

c10::Allocator *allocator() {
  return &the_allocator;
}

c10::DeviceIndex index_of_address(const void *address) {
  return find_address(address).memory->index;
}

void resize_storage(const c10::Storage &storage, size_t size) {
  c10::StorageImpl *impl = storage.unsafeGetStorageImpl();
  TORCH_CHECK(impl->resizable(), "the storage cannot be resized");
  const c10::DeviceIndex index = impl->device().index();
  Handle bytes = new_bytes(size, index);
  const auto kept = static_cast<int64_t>(std::min(size, impl->nbytes()));
  if (kept > 0) {
    const Place place = memory_of(impl);
    const int64_t stride = 1;
    kw_tensor *from, *to;
    check(kw_tensor_reinterpret(place.memory->bytes.get(), KW_U8, 1, &kept, &stride, place.offset, &from));
    const Handle hold_from(from);
    check(kw_tensor_reinterpret(bytes.get(), KW_U8, 1, &kept, &stride, 0, &to));
    const Handle hold_to(to);
    const kw_value args[] = {kw_arg_tensor(to), kw_arg_tensor(from)};
    check(kw_op_call(kw_op_find("copy_"), current_stream(index), args, 2, nullptr, 0));
  }
  impl->set_data_ptr_noswap(own(std::move(bytes), size, index));
  impl->set_nbytes(size);
}

/* ---- Views and results ------------------------------------------------------------------------------------------- */

Handle view_of(const at::Tensor &tensor) {
  const c10::TensorImpl *impl = tensor.unsafeGetTensorImpl();
  const auto sizes = impl->sizes(), strides = impl->strides();
  const auto [memory, start] = memory_of(impl->unsafe_storage().unsafeGetStorageImpl());
  const uint64_t offset = start + static_cast<uint64_t>(impl->storage_offset()) * impl->itemsize();
  kw_tensor *view;
  std::lock_guard<std::mutex> lock(memory->mutex);
  check(kw_tensor_reinterpret(memory->bytes.get(), dtype_of(tensor.scalar_type()), static_cast<uint32_t>(sizes.size()),
                              sizes.data(), strides.data(), offset, &view));
  return Handle(view);
}

at::Tensor wrap(Handle result, c10::DeviceIndex index) {
  const kw_tensor_ref *ref = kw_tensor_describe(result.get());
  const at::ScalarType type = dtype_of(ref->dtype);
  const size_t size = static_cast<size_t>(ref->numel) * c10::elementSize(type); /* results are contiguous */
  const c10::IntArrayRef shape(ref->shape, ref->rank), strides(ref->strides, ref->rank);
  auto storage = c10::make_intrusive<c10::StorageImpl>(c10::StorageImpl::use_byte_size_t(), size,
                                                       own(std::move(result), size, index), &the_allocator, true);
  at::Tensor tensor = at::detail::make_tensor_base<c10::TensorImpl>(c10::Storage(std::move(storage)),
                                                                    c10::DispatchKeySet(c10::DispatchKey::PrivateUse1),
                                                                    c10::scalarTypeToTypeMeta(type));
  tensor.unsafeGetTensorImpl()->set_sizes_and_strides(shape, strides);
  return tensor;
}

void deliver(Handle result, const at::Tensor &target) {
  const c10::TensorImpl *impl = target.unsafeGetTensorImpl();
  const kw_tensor_ref *ref = kw_tensor_describe(result.get());
  c10::StorageImpl *storage = impl->unsafe_storage().unsafeGetStorageImpl();
  const bool all_of_it = ref->dtype == dtype_of(target.scalar_type()) && impl->storage_offset() == 0 &&
                         impl->is_contiguous() && storage->data_ptr().get_deleter() == &free_memory &&
                         storage->nbytes() == static_cast<size_t>(impl->numel()) * impl->itemsize();
  if (all_of_it) {
    const Place place = memory_of(storage);
    std::lock_guard<std::mutex> lock(place.memory->mutex);
    place.memory->bytes = std::move(result); /* the old one goes with `result` */
  } else {
    target.copy_(wrap(std::move(result), target.device().index()));
  }
}

}  // namespace torch_keyway
