/* SPDX-License-Identifier: Apache-2.0
 *
 * DLPack, out and in: tensors that two libraries of one process share without a copy.
 */
#include <keyway/dlpack.h>

#include "base/error.h"
#include "base/fork.h"
#include "device/wait.h"
#include "tensor/interop.h"
#include "tensor/transfer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Dtypes ------------------------------------------------------------------------------------------------------ */

static const struct {
  kw_dtype dtype;
  DLDataType type;
} dtypes[] = {
    {KW_BOOL, {KW_DL_BOOL, 8, 1}},
    {KW_U8, {kDLUInt, 8, 1}},
    {KW_I8, {kDLInt, 8, 1}},
    {KW_I16, {kDLInt, 16, 1}},
    {KW_I32, {kDLInt, 32, 1}},
    {KW_I64, {kDLInt, 64, 1}},
    {KW_F16, {kDLFloat, 16, 1}},
    {KW_BF16, {kDLBfloat, 16, 1}},
    {KW_F32, {kDLFloat, 32, 1}},
    {KW_F64, {kDLFloat, 64, 1}},
    {KW_F8E4M3FN, {KW_DL_FLOAT8_E4M3FN, 8, 1}},
    {KW_F8E5M2, {KW_DL_FLOAT8_E5M2, 8, 1}},
    {KW_C64, {kDLComplex, 64, 1}},
    {KW_C128, {kDLComplex, 128, 1}},
    {KW_U16, {kDLUInt, 16, 1}},
    {KW_U32, {kDLUInt, 32, 1}},
    {KW_U64, {kDLUInt, 64, 1}},
    {KW_F8E4M3FNUZ, {KW_DL_FLOAT8_E4M3FNUZ, 8, 1}},
    {KW_F8E5M2FNUZ, {KW_DL_FLOAT8_E5M2FNUZ, 8, 1}},
    {KW_F8E8M0, {KW_DL_FLOAT8_E8M0FNU, 8, 1}},
    {KW_C32, {kDLComplex, 32, 1}},
    {KW_I4X2, {kDLInt, 4, 2}},
    {KW_U4X2, {kDLUInt, 4, 2}},
    {KW_F4E2M1X2, {KW_DL_FLOAT4_E2M1FN, 4, 2}},
};
#define DTYPES (sizeof dtypes / sizeof dtypes[0])

static kw_status dtype_out(kw_dtype dtype, DLDataType *out_type) {
  for (size_t i = 0; i < DTYPES; ++i) {
    if (dtypes[i].dtype != dtype) continue;
    *out_type = dtypes[i].type;
    return KW_OK;
  }
  return kw_fail(KW_ERR_UNSUPPORTED, "DLPack has no %s; export it as bytes (kw_tensor_reinterpret)",
                 kw_dtype_name(dtype));
}

static kw_status dtype_in(DLDataType type, kw_dtype *out_dtype) {
  for (size_t i = 0; i < DTYPES; ++i) {
    if (memcmp(&dtypes[i].type, &type, sizeof type) != 0) continue;
    *out_dtype = dtypes[i].dtype;
    return KW_OK;
  }
  return kw_fail(KW_ERR_UNSUPPORTED, "there is no dtype for DLPack's code %u of %u bits and %u lanes", type.code,
                 type.bits, type.lanes);
}

/* ---- Out --------------------------------------------------------------------------------------------------------- */

/* What a consumer gets, and keeps alive until it calls the deleter. */
typedef struct exported {
  union {
    DLManagedTensorVersioned versioned;
    DLManagedTensor unversioned;
  } as;
  kw_tensor *tensor;
  int64_t shape[KW_MAX_RANK], strides[KW_MAX_RANK];
} exported;

static void end_export(exported *made) {
  kw_tensor_release(made->tensor);
  free(made);
}

static void delete_versioned(DLManagedTensorVersioned *self) {
  end_export(self->manager_ctx);
}

static void delete_unversioned(DLManagedTensor *self) {
  end_export(self->manager_ctx);
}

static kw_status wait_on_device(const char *function, kw_stream *consumer, kw_stream *producer) {
  kw_status status = kw_stream_may_not_record(function, producer);
  return status == KW_OK ? kw_stream_follow(function, consumer, producer) : status;
}

/* The consumer's stream, or for NULL this call, waits for all work that uses the tensor's memory. */
static kw_status wait_for_users(const char *function, const kw_tensor *tensor, kw_stream *consumer) {
  kw_status status = KW_OK;
  for (kw_stream *stream = NULL; (stream = kw_stream_pin_next(tensor->device, stream)) != NULL;) {
    bool passed;
    if (status != KW_OK || stream == consumer || !kw_buffer_used_on(tensor->buffer, stream)) continue;
    status = consumer ? wait_on_device(function, consumer, stream) : kw_stream_wait(function, stream, &passed);
  }
  return status;
}

static kw_status check_export(const char *function, const kw_tensor *tensor, kw_stream *consumer, const void *out) {
  kw_status status = kw_tensor_check(function, "tensor", tensor);
  if (status != KW_OK) return status;
  if (out == NULL) return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument out is NULL.", function);
  status = kw_fork_check();
  if (status == KW_OK) status = kw_device_check(tensor->device);
  if (status == KW_OK) status = kw_tensor_check_contents(function, tensor);
  if (status != KW_OK) return status;
  if (consumer == NULL) return kw_stream_may_wait(function);
  status = kw_stream_resolve(function, tensor->device, consumer, &consumer);
  return status == KW_OK ? kw_stream_may_not_record(function, consumer) : status;
}

/* Where `data` is a pointer that others add to, and not a handle. */
static bool has_addresses(int32_t device_type) {
  return device_type != kDLExtDev && device_type != kDLOpenCL && device_type != kDLVulkan && device_type != kDLMetal &&
         device_type != kDLWebGPU;
}

/* The device and address of the tensor's memory, by the plugin's own words where it has such. */
static void describe_place(const kw_tensor *tensor, DLTensor *dl) {
  kw_native_handle native = {.struct_size = sizeof native};
  kw_status status = kw_tensor_native_handle(tensor, &native);
  if (status != KW_OK) kw_error_clear();
  if (status != KW_OK || native.dl_device_type == 0) {
    native = (kw_native_handle){
        .dl_device_type = kDLExtDev, .dl_device_id = (int32_t)tensor->device->index, .handle = tensor->ref.mem};
  }
  dl->device = (DLDevice){(DLDeviceType)native.dl_device_type, native.dl_device_id};
  const bool added = has_addresses(native.dl_device_type);
  dl->data = added ? (char *)native.handle + tensor->ref.offset : native.handle;
  dl->byte_offset = added ? 0 : tensor->ref.offset;
}

static kw_status export_tensor(const char *function, kw_tensor *tensor, kw_stream *consumer, DLTensor *dl,
                               exported *made) {
  const kw_tensor_ref *ref = &tensor->ref;
  kw_status status = dtype_out(ref->dtype, &dl->dtype);
  if (status == KW_OK) status = wait_for_users(function, tensor, consumer);
  if (status != KW_OK) return status;
  if (consumer) kw_buffer_use(tensor->buffer, consumer);
  describe_place(tensor, dl);
  memcpy(made->shape, ref->shape, sizeof made->shape);
  memcpy(made->strides, ref->strides, sizeof made->strides);
  dl->ndim = ref->rank;
  dl->shape = made->shape;
  dl->strides = made->strides;
  kw_tensor_retain(tensor);
  made->tensor = tensor;
  return KW_OK;
}

static kw_status no_host_memory(const char *function) {
  return kw_fail(KW_ERR_OUT_OF_MEMORY, "%s: the host is out of memory.", function);
}

kw_status kw_tensor_to_dlpack(kw_tensor *tensor, kw_stream *consumer, DLManagedTensorVersioned **out) {
  static const char function[] = "kw_tensor_to_dlpack";
  kw_status status = check_export(function, tensor, consumer, out);
  if (status != KW_OK) return status;
  exported *made = calloc(1, sizeof *made);
  if (made == NULL) return no_host_memory(function);
  DLManagedTensorVersioned *managed = &made->as.versioned;
  status = export_tensor(function, tensor, consumer, &managed->dl_tensor, made);
  if (status != KW_OK) {
    free(made);
    return kw_wrap(status, "%s", function);
  }
  managed->version = (DLPackVersion){DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  managed->flags = tensor->buffer->read_only ? DLPACK_FLAG_BITMASK_READ_ONLY : 0;
  managed->manager_ctx = made;
  managed->deleter = delete_versioned;
  *out = managed;
  return KW_OK;
}

kw_status kw_tensor_to_dlpack_unversioned(kw_tensor *tensor, kw_stream *consumer, DLManagedTensor **out) {
  static const char function[] = "kw_tensor_to_dlpack_unversioned";
  kw_status status = check_export(function, tensor, consumer, out);
  if (status != KW_OK) return status;
  if (tensor->buffer->read_only) {
    return kw_fail(KW_ERR_UNSUPPORTED,
                   "%s: the tensor is read-only, which DLPack says from version 1.0 on. Use kw_tensor_to_dlpack.",
                   function);
  }
  exported *made = calloc(1, sizeof *made);
  if (made == NULL) return no_host_memory(function);
  DLManagedTensor *managed = &made->as.unversioned;
  status = export_tensor(function, tensor, consumer, &managed->dl_tensor, made);
  if (status != KW_OK) {
    free(made);
    return kw_wrap(status, "%s", function);
  }
  managed->manager_ctx = made;
  managed->deleter = delete_unversioned;
  *out = managed;
  return KW_OK;
}

/* ---- In ---------------------------------------------------------------------------------------------------------- */

static void KW_CALL end_versioned(void *user) {
  DLManagedTensorVersioned *managed = user;
  if (managed->deleter != NULL) managed->deleter(managed);
}

static void KW_CALL end_unversioned(void *user) {
  DLManagedTensor *managed = user;
  if (managed->deleter != NULL) managed->deleter(managed);
}

/* From elements of 4 bits, which lie two to a byte, to pairs of them. */
static kw_status pair_elements(kw_tensor_ref *ref) {
  const uint32_t last = ref->rank - 1u;
  bool pairs = ref->rank > 0 && ref->shape[last] % 2 == 0 && (ref->strides[last] == 1 || ref->numel == 0);
  for (uint32_t d = 0; pairs && d < last; ++d) {
    pairs = ref->strides[d] % 2 == 0 || ref->shape[d] <= 1;
    ref->strides[d] /= 2;
  }
  if (!pairs) {
    return kw_fail(KW_ERR_UNSUPPORTED,
                   "its elements of 4 bits are no pairs: the last dimension has to be dense and of an even size, and "
                   "rows have to begin with a byte. Copy the tensor to such a one where it was made");
  }
  ref->shape[last] /= 2;
  ref->numel /= 2;
  return KW_OK;
}

/* The place and shape of what comes in, checked. ref: dtype, rank, shape, strides, numel. */
static kw_status read_shape(const DLTensor *dl, bool padded, kw_tensor_ref *ref) {
  const bool singles = dl->dtype.bits == 4 && dl->dtype.lanes == 1; /* not pairs */
  if (dl->dtype.bits < 8 && padded) {
    return kw_fail(KW_ERR_UNSUPPORTED, "its elements of %u bits have a byte each: pack them two to a byte",
                   dl->dtype.bits);
  }
  if (dl->ndim < 0 || dl->ndim > KW_MAX_RANK || (dl->ndim > 0 && dl->shape == NULL)) {
    return kw_fail(dl->ndim > KW_MAX_RANK ? KW_ERR_UNSUPPORTED : KW_ERR_INVALID_ARGUMENT,
                   "its rank is %d%s; at most %d is taken", dl->ndim, dl->shape == NULL ? ", without a shape" : "",
                   KW_MAX_RANK);
  }
  ref->rank = (uint8_t)dl->ndim;
  kw_status status = dtype_in((DLDataType){dl->dtype.code, dl->dtype.bits, singles ? 2 : dl->dtype.lanes}, &ref->dtype);
  if (status == KW_OK) status = kw_shape_check("its shape", ref->dtype, ref->rank, dl->shape, &ref->numel);
  if (status != KW_OK) return status;
  if (dl->strides == NULL) kw_shape_contiguous_strides(ref->rank, dl->shape, ref->strides);
  for (uint32_t d = 0; d < ref->rank; ++d) {
    ref->shape[d] = dl->shape[d];
    if (dl->strides != NULL) ref->strides[d] = dl->strides[d];
    if (ref->strides[d] >= 0) continue;
    if (ref->shape[d] > 1) {
      return kw_fail(KW_ERR_UNSUPPORTED, "the stride of dimension %u is negative: copy the tensor where it was made",
                     d);
    }
    ref->strides[d] = 0; /* never stepped */
  }
  return singles ? pair_elements(ref) : KW_OK;
}

static bool is_host_memory(DLDeviceType type) {
  return type == kDLCPU || type == kDLCUDAHost || type == kDLROCMHost || type == kDLCUDAManaged;
}

static kw_status import_host(kw_device *device, const DLTensor *dl, const kw_tensor_ref *ref, uint64_t flags,
                             kw_deleter deleter, void *managed, kw_tensor **out_tensor) {
  if (!is_host_memory(dl->device.device_type)) {
    return kw_fail(KW_ERR_UNSUPPORTED,
                   "its memory is of DLPack's device type %d and was not exported by this Keyway: only host memory is "
                   "taken from others. Copy it to the host first.",
                   (int)dl->device.device_type);
  }
  if (ref->numel == 0) { /* nothing to share */
    kw_status status = kw_tensor_create(device, ref->dtype, ref->rank, ref->shape, out_tensor);
    if (status == KW_OK) deleter(managed);
    return status;
  }
  char *first = (char *)dl->data + dl->byte_offset;
  if (dl->data == NULL || (uintptr_t)first % kw_dtype_size(ref->dtype) != 0) {
    return kw_fail(KW_ERR_UNSUPPORTED,
                   "its first element is at %p, no multiple of the %zu bytes of %s: copy the tensor", (void *)first,
                   kw_dtype_size(ref->dtype), kw_dtype_name(ref->dtype));
  }
  const kw_external_memory memory = {
      .struct_size = sizeof memory, .kind = KW_HANDLE_HOST, .flags = flags, .size = kw_ref_extent(ref), .host = first};
  return kw_tensor_on_import(device, &memory, deleter, managed, ref->dtype, ref->rank, ref->shape, ref->strides,
                             out_tensor);
}

static kw_status check_import(const char *function, kw_device *device, const void *managed, kw_tensor **out_tensor) {
  if (device == NULL || managed == NULL || out_tensor == NULL) {
    return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: argument %s is NULL.", function,
                   device == NULL    ? "device"
                   : managed == NULL ? "managed"
                                     : "out_tensor");
  }
  kw_status status = kw_fork_check();
  return status == KW_OK ? kw_device_check(device) : status;
}

/* dl_flags: DLPACK_FLAG_BITMASK_*. own: what this library exported, or NULL. */
static kw_status import_tensor(const char *function, kw_device *device, const DLTensor *dl, uint64_t dl_flags,
                               const exported *own, kw_deleter deleter, void *managed, kw_tensor **out_tensor) {
  kw_status status;
  if (own != NULL && own->tensor->device == device) {
    status = kw_tensor_alias(own->tensor, out_tensor);
    if (status == KW_OK) deleter(managed);
  } else {
    kw_tensor_ref ref = {.struct_size = sizeof ref};
    const uint64_t flags = dl_flags & DLPACK_FLAG_BITMASK_READ_ONLY ? KW_EXTERNAL_READ_ONLY : 0;
    status = read_shape(dl, dl_flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED, &ref);
    if (status == KW_OK) status = import_host(device, dl, &ref, flags, deleter, managed, out_tensor);
  }
  return status == KW_OK ? KW_OK : kw_wrap(status, "%s", function);
}

kw_status kw_tensor_from_dlpack(kw_device *device, DLManagedTensorVersioned *managed, kw_tensor **out_tensor) {
  static const char function[] = "kw_tensor_from_dlpack";
  kw_status status = check_import(function, device, managed, out_tensor);
  if (status != KW_OK) return status;
  if (managed->version.major != DLPACK_MAJOR_VERSION) {
    return kw_fail(KW_ERR_UNSUPPORTED, "%s: the tensor follows DLPack %u.%u, this library %d.%d. Ask for that version.",
                   function, managed->version.major, managed->version.minor, DLPACK_MAJOR_VERSION,
                   DLPACK_MINOR_VERSION);
  }
  const exported *own = managed->deleter == delete_versioned ? managed->manager_ctx : NULL;
  return import_tensor(function, device, &managed->dl_tensor, managed->flags, own, end_versioned, managed, out_tensor);
}

kw_status kw_tensor_from_dlpack_unversioned(kw_device *device, DLManagedTensor *managed, kw_tensor **out_tensor) {
  static const char function[] = "kw_tensor_from_dlpack_unversioned";
  kw_status status = check_import(function, device, managed, out_tensor);
  if (status != KW_OK) return status;
  const exported *own = managed->deleter == delete_unversioned ? managed->manager_ctx : NULL;
  return import_tensor(function, device, &managed->dl_tensor, 0, own, end_unversioned, managed, out_tensor);
}
