/* SPDX-License-Identifier: Apache-2.0
 *
 * PyTorch's tensors as Keyway's and back. The memory of a storage is a Keyway tensor of bytes from the device's caching
 * allocator; shapes and strides stay PyTorch's business, and a Keyway view is made for each call.
 */
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Allocator.h>
#include <keyway/keyway.h>

#include <utility>

namespace torch_keyway {

/* One reference to a Keyway tensor. */
class Handle {
 public:
  Handle() = default;
  explicit Handle(kw_tensor *tensor) : tensor_(tensor) {}
  Handle(Handle &&other) noexcept : tensor_(std::exchange(other.tensor_, nullptr)) {}
  Handle &operator=(Handle &&other) noexcept {
    std::swap(tensor_, other.tensor_);
    return *this;
  }
  ~Handle() {
    if (tensor_ != nullptr) kw_tensor_release(tensor_);
  }
  kw_tensor *get() const {
    return tensor_;
  }
  kw_tensor *release() {
    return std::exchange(tensor_, nullptr);
  }

 private:
  kw_tensor *tensor_ = nullptr;
};

/* Throw for dtypes that the other side does not have. */
kw_dtype dtype_of(c10::ScalarType type);
c10::ScalarType dtype_of(kw_dtype dtype);
/* Whether PyTorch has a counterpart of it: dtype_of throws for others. */
bool is_known(kw_dtype dtype);

/* The allocator of storages on the current device, for the current stream. Their data pointers are addresses that stand
 * for the memory (kw_address_reserve): they can be compared and counted with, not followed. */
c10::Allocator *allocator();

/* The device of an address inside a storage; throws for others. */
c10::DeviceIndex index_of_address(const void *address);

/* A view of a tensor of this device for one call; throws when its storage is not of Keyway. */
Handle view_of(const at::Tensor &tensor);
/* The same from its first element on. */
Handle view_of(const at::Tensor &tensor, c10::IntArrayRef sizes, c10::IntArrayRef strides);
/* A tensor of no elements yet on a storage. */
at::Tensor tensor_on(c10::Storage storage, at::ScalarType type);
/* A new tensor that owns what a call has made. */
at::Tensor wrap(Handle result, c10::DeviceIndex index);

/* Puts what a call has made where `target` says, on any device, casting to its dtype: without a copy where the target
 * is all of its storage. Views of the target see it, too. Shapes are the same. */
void deliver(Handle result, const at::Tensor &target);

/* Grows or shrinks a storage; what both sizes hold stays. */
void resize_storage(const c10::Storage &storage, size_t size);

/* Memory of the current stream's. */
Handle new_bytes(size_t size, c10::DeviceIndex index);
/* Some of a storage's bytes: those of the memory that it has now. */
Handle bytes_of(const c10::Storage &storage, size_t offset, size_t size);
/* A storage at a new address on this memory. */
c10::Storage storage_on(const Handle &memory, size_t size, c10::DeviceIndex index);
/* Gives a storage other memory, of the same size: whoever holds the storage sees that. */
void move_storage(const c10::Storage &storage, const Handle &bytes);

/* Enqueues a copy between views of one device. */
void copy_elements(const Handle &from, const Handle &to, kw_stream *stream);

}  // namespace torch_keyway
