/* SPDX-License-Identifier: Apache-2.0
 *
 * Stretches of addresses that stand for tensors.
 */
#include "device/address.h"
#include "tensor/transfer.h"

#include "base/error.h"
#include "base/fork.h"
#include "base/ref.h"

#include <inttypes.h>

static kw_status check(const char *function, const kw_tensor *tensor) {
  kw_status status = kw_tensor_check(function, "tensor", tensor);
  if (status == KW_OK) status = kw_fork_check();
  if (status != KW_OK) return status;
  return kw_tensor_check_contiguous(function, tensor, "Give the tensor that it is a view of.");
}

/* The stretch that starts at the address, under the lock. */
static kw_status find_start(const char *function, const void *address, kw_stretch **out_stretch) {
  *out_stretch = kw_stretch_find(address);
  if (*out_stretch != NULL && (*out_stretch)->start == (uintptr_t)address) return KW_OK;
  return kw_fail(KW_ERR_NOT_FOUND, "%s: %p is not where a stretch of addresses starts: was it released?", function,
                 address);
}

kw_status kw_address_reserve(kw_tensor *tensor, void **out_address) {
  static const char function[] = "kw_address_reserve";
  kw_status status = check(function, tensor);
  if (status != KW_OK) return status;
  if (out_address == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument out_address is NULL.", function);
  kw_tensor_retain(tensor);
  status = kw_stretch_take(tensor->device, kw_ref_bytes(&tensor->ref), tensor->ref.alignment, tensor, out_address);
  if (status == KW_OK) return KW_OK;
  kw_tensor_release(tensor);
  return kw_wrap(status, "%s", function);
}

kw_status kw_address_assign(void *address, kw_tensor *tensor) {
  static const char function[] = "kw_address_assign";
  kw_stretch *stretch;
  kw_status status = check(function, tensor);
  if (status != KW_OK) return status;
  kw_tensor *before = NULL, *view = NULL;
  kw_stretch_lock();
  status = find_start(function, address, &stretch);
  if (status == KW_OK) {
    before = stretch->owner;
    if (before->device != tensor->device || stretch->size != kw_ref_bytes(&tensor->ref)) {
      status = kw_fail(KW_ERR_INVALID_ARGUMENT,
                       "%s: argument tensor has %" PRIu64 " bytes on %s, the stretch %" PRIu64
                       " on %s; they have to be alike.",
                       function, kw_ref_bytes(&tensor->ref), tensor->device->name, stretch->size, before->device->name);
    } else {
      kw_tensor_retain(tensor);
      view = stretch->view;
      stretch->owner = tensor;
      stretch->view = NULL;
    }
  }
  kw_stretch_unlock();
  if (view != NULL) kw_tensor_release(view);
  if (status == KW_OK) kw_tensor_release(before);
  return status;
}

kw_status kw_address_release(void *address) {
  kw_stretch *stretch;
  kw_tensor *tensor = NULL, *view = NULL;
  if (address == NULL) return KW_OK;
  kw_status status = kw_fork_check();
  if (status != KW_OK) return status;
  kw_stretch_lock();
  status = find_start("kw_address_release", address, &stretch);
  if (status == KW_OK) {
    tensor = stretch->owner;
    view = stretch->view;
    kw_stretch_give(stretch);
  }
  kw_stretch_unlock();
  if (view != NULL) kw_tensor_release(view);
  kw_tensor_release(tensor);
  return status;
}

kw_device *kw_address_device(const void *address) {
  return kw_fork_happened() ? NULL : kw_stretch_device(address); /* a thread that is not here may hold the lock */
}

/* ---- Views ------------------------------------------------------------------------------------------------------- */

/* What a view is asked to be; `offset` counts from the memory's start. */
typedef struct wanted {
  kw_dtype dtype;
  uint32_t rank;
  const int64_t *shape, *strides;
  uint64_t offset;
} wanted;

static bool is_wanted(const kw_tensor *tensor, const wanted *w) {
  const kw_tensor_ref *ref = &tensor->ref;
  if (ref->dtype != w->dtype || ref->rank != w->rank || ref->offset != w->offset) return false;
  for (uint32_t d = 0; d < w->rank; ++d) {
    if (ref->shape[d] != w->shape[d] || ref->strides[d] != w->strides[d]) return false;
  }
  return true;
}

/* A tensor is the same for whoever holds it, so one that was made before will do: most who ask for a view ask for the
 * same one again. Under the lock. */
static kw_tensor *find_view(const kw_stretch *stretch, const wanted *w) {
  if (is_wanted(stretch->owner, w)) return stretch->owner;
  return stretch->view != NULL && is_wanted(stretch->view, w) ? stretch->view : NULL;
}

kw_status kw_tensor_at(const void *address, kw_dtype dtype, uint32_t rank, const int64_t *shape, const int64_t *strides,
                       kw_tensor **out_view) {
  static const char function[] = "kw_tensor_at";
  kw_status status = kw_fork_check();
  if (status != KW_OK) return status;
  const bool may_be_there = out_view != NULL && (rank == 0 || (shape != NULL && strides != NULL));
  kw_tensor *before = NULL;
  kw_stretch_lock();
  kw_stretch *stretch = kw_stretch_find(address);
  if (stretch == NULL) {
    status = kw_fail(KW_ERR_NOT_FOUND, "%s: %p lies in no stretch of addresses (kw_address_reserve): was it released?",
                     function, address);
  } else {
    kw_tensor *owner = stretch->owner;
    const wanted w = {dtype, rank, shape, strides, owner->ref.offset + ((uintptr_t)address - stretch->start)};
    kw_tensor *found = may_be_there ? find_view(stretch, &w) : NULL;
    if (found == NULL) {
      /* Of the buffer, of which the owner may be a part. */
      status = kw_tensor_reinterpret(owner, dtype, rank, shape, strides, w.offset - owner->buffer->offset, out_view);
      status = status == KW_OK ? KW_OK : kw_wrap(status, "%s", function);
      if (status == KW_OK) {
        before = stretch->view;
        stretch->view = found = *out_view;
      }
    }
    if (status == KW_OK) {
      kw_tensor_retain(found);
      *out_view = found;
    }
  }
  kw_stretch_unlock();
  if (before != NULL) kw_tensor_release(before);
  return status;
}
