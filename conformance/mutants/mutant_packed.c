/* SPDX-License-Identifier: Apache-2.0
 *
 * A product that packs its second matrix: the cpu plugin's own, on a dense copy.
 */
#include "mutant_packed.h"

#include <string.h>

enum { SECOND = 1, FORMAT = 7 };

static kw_status (*own_pack)(const kw_call *call, uint32_t arg, kw_mem mem, uint64_t offset);

static kw_status packed_size(const kw_call *call, uint32_t arg, uint64_t *out_size, uint64_t *out_format) {
  const kw_tensor_ref *matrix = call->args[arg].u.tensor;
  *out_size = (uint64_t)matrix->numel * kw_mutant_item_size(matrix->dtype);
  *out_format = FORMAT;
  return KW_OK;
}

void kw_mutant_pack_now(const kw_tensor_ref *matrix, void *to) {
  const uint64_t item = kw_mutant_item_size(matrix->dtype);
  for (int64_t i = 0; i < matrix->numel; i++) {
    memcpy((char *)to + (uint64_t)i * item, kw_mutant_at(matrix, i), (size_t)item);
  }
}

kw_status kw_mutant_pack(const kw_call *call, uint32_t arg, kw_mem mem, uint64_t offset) {
  kw_status status = kw_mutant_real.stream.synchronize(call->device, call->stream, KW_WAIT_FOREVER);
  if (status == KW_OK) kw_mutant_pack_now(call->args[arg].u.tensor, kw_mutant_memory_at(mem, offset));
  return status;
}

const kw_packed *kw_mutant_packed_of(const kw_call *call) {
  return call->extra && call->extra->packed ? call->extra->packed[SECOND] : NULL;
}

kw_status kw_mutant_launch_with(const kw_call *call, const kw_packed *packed) {
  kw_mutant_copy copy;
  kw_mutant_copy_call(call, &copy);
  kw_tensor_ref *matrix = &copy.arg_tensors[SECOND];
  if (packed) {
    matrix->mem = packed->mem;
    matrix->offset = packed->offset;
    for (uint32_t d = matrix->rank; d-- > 0;) {
      matrix->strides[d] = d + 1 == matrix->rank ? 1 : matrix->strides[d + 1] * matrix->shape[d + 1];
    }
  }
  copy.extra.packed = NULL;
  return kw_mutant_launch_real(&copy.call);
}

kw_status kw_mutant_launch_packed(const kw_call *call) {
  return kw_mutant_launch_with(call, kw_mutant_packed_of(call));
}

static void kernel(kw_kernel_desc *kernel) {
  kernel->packable = 1u << SECOND;
  kernel->packed_size = packed_size;
  kernel->pack = own_pack;
}

void kw_mutant_packs(kw_mutant *mutant,
                     kw_status (*pack)(const kw_call *call, uint32_t arg, kw_mem mem, uint64_t offset),
                     kw_status (*launch)(const kw_call *call)) {
  own_pack = pack ? pack : kw_mutant_pack;
  mutant->op = "mm";
  mutant->launch = launch ? launch : kw_mutant_launch_packed;
  mutant->kernel = kernel;
}
