/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensors of other libraries that follow DLPack, with whatever shape, strides, dtype and flags. What is taken and lies
 * within the memory is read, viewed and exported again.
 */
#include "input.h"
#include "tensor/interop.h"
#include "testing/test_device.h"

#include <keyway/dlpack.h>
#include <keyway/interop.h>

#define MEMORY 4096 /* bytes that the other library's tensor has */

static _Alignas(64) unsigned char memory[MEMORY];

/* An input: what a foreign tensor says of itself. Lengths of 0 to 7 and 8 bytes of anything. */
typedef struct foreign {
  uint8_t versioned, flags, device_type, code, bits, lanes, offset, has_strides;
  int8_t ndim;
  uint8_t reserved[7];
  int64_t numbers[2 * (KW_MAX_RANK + 1)]; /* shape and strides */
} foreign;

static unsigned deleted;

static void delete_versioned(DLManagedTensorVersioned *self) {
  (void)self;
  ++deleted;
}

static void delete_unversioned(DLManagedTensor *self) {
  (void)self;
  ++deleted;
}

/* Uses a tensor that was taken. */
static void use(kw_tensor *tensor) {
  const kw_tensor_ref *ref = &tensor->ref;
  static unsigned char copy[MEMORY * 16];
  INPUT_CHECK(ref->rank <= KW_MAX_RANK && kw_dtype_size(ref->dtype) > 0);
  if (kw_ref_extent(ref) > MEMORY / 2 || ref->numel > MEMORY) return; /* the foreign tensor lies about its size */
  INPUT_CHECK(kw_tensor_read(tensor, copy) == KW_OK);
  DLManagedTensor *out = NULL;
  if (kw_tensor_to_dlpack_unversioned(tensor, NULL, &out) == KW_OK) out->deleter(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static test_device *device;
  if (device == NULL) device = test_device_open("test:0", TEST_NATIVE_ALL | KW_NATIVE_INTEROP);
  foreign from = {0};
  memcpy(&from, data, size < sizeof from ? size : sizeof from);
  const DLTensor dl = {.data = memory,
                       .device = {from.device_type % 20, 0},
                       .ndim = from.ndim,
                       .dtype = {from.code, from.bits, from.lanes},
                       .shape = from.numbers,
                       .strides = from.has_strides & 1 ? from.numbers + KW_MAX_RANK + 1 : NULL,
                       .byte_offset = from.offset};
  DLManagedTensorVersioned versioned = {
      .version = {1, from.versioned}, .flags = from.flags, .deleter = delete_versioned, .dl_tensor = dl};
  DLManagedTensor unversioned = {.deleter = delete_unversioned, .dl_tensor = dl};
  kw_tensor *tensor = NULL;
  deleted = 0;
  kw_status status = from.versioned & 1 ? kw_tensor_from_dlpack(&device->device, &versioned, &tensor)
                                        : kw_tensor_from_dlpack_unversioned(&device->device, &unversioned, &tensor);
  INPUT_CHECK((status == KW_OK) == (tensor != NULL));
  if (status == KW_OK) use(tensor);
  kw_tensor_release(tensor);
  INPUT_CHECK(deleted == (status == KW_OK ? 1u : 0u));
  INPUT_CHECK(test_stats(device).live == 0);
  return 0;
}
