/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls each of which shows: the same op on the same arguments, each time into another place.
 */
#include "soak.h"

#include <stdio.h>

enum { NUMEL = 16, LARGEST = 1024, LEAST_STRIDE = 256 };

static bool is_plain(const kw_op *op, const kw_op_info *info) {
  if (info->result_count != 1 || info->counted || kw_op_result_alias(op, 0) >= 0) return false;
  for (uint32_t i = 0; i < info->arg_count; i++) {
    kw_arg_info arg = {.struct_size = sizeof arg};
    if (kw_op_get_arg(op, i, &arg) != KW_OK || arg.flags & KW_ARG_MUTATED || arg.tag == KW_TAG_GENERATOR) return false;
  }
  return kw_test_op_repeats(op);
}

bool kw_soak_choose(bool pointwise, bool (*take)(void *user, const kw_op *op, kw_dtype dtype), void *user) {
  const uint32_t count = kw_op_count(), start = (uint32_t)(kw_contract.seed * 97 % count);
  for (uint32_t i = 0; i < count; i++) {
    const kw_op *op = kw_op_at((start + i) % count);
    kw_op_info info = {.struct_size = sizeof info};
    KW_CHECK_OK(kw_op_get_info(op, &info));
    if (info.pointwise != pointwise || !is_plain(op, &info)) continue;
    for (int kind = 0; kind < KW_TEST_KINDS; kind++) {
      if (kw_op_support(op, kw_contract.device, kw_test_kinds[kind]) != KW_SUPPORT_KERNEL) continue;
      if (take(user, op, kw_test_kinds[kind])) return true;
    }
  }
  return false;
}

static bool take_small(void *user, const kw_op *op, kw_dtype dtype) {
  kw_known_call *known = user;
  if (!kw_known_call_make(op, dtype, NUMEL, known)) return false;
  if (known->size > 0 && known->size <= LARGEST) return true;
  kw_known_call_free(known);
  return false;
}

void kw_soak_call_make(uint64_t places, kw_soak_call *out) {
  kw_device_info info = {.struct_size = sizeof info};
  const kw_known_call *known = &out->known;
  KW_CHECK_OK(kw_device_get_info(kw_contract.device, &info));
  *out = (kw_soak_call){.places = places, .stride = LEAST_STRIDE};
  if (!kw_soak_choose(true, take_small, &out->known) && !kw_soak_choose(false, take_small, &out->known)) {
    kw_contract_not_tried("%s has no op with one result that is the same each time", kw_contract.device_name);
  }
  while (out->stride < known->size || out->stride % info.offset_alignment) out->stride *= 2;
  const int64_t bytes = (int64_t)(places * out->stride);
  KW_CHECK_OK(kw_tensor_create(kw_contract.device, KW_U8, 1, &bytes, &out->memory));
  out->results = kw_test_memory(places * sizeof *out->results);
  out->bytes = kw_test_memory((size_t)bytes);
  for (uint64_t i = 0; i < places; i++) {
    KW_CHECK_OK(kw_tensor_reinterpret(out->memory, known->form.dtype, known->form.rank, known->form.shape,
                                      known->form.strides, i * out->stride, &out->results[i]));
  }
}

void kw_soak_call_free(kw_soak_call *c) {
  for (uint64_t i = 0; i < c->places; i++) kw_tensor_release(c->results[i]);
  kw_tensor_release(c->memory);
  kw_known_call_free(&c->known);
  free(c->results);
  free(c->bytes);
}

/* The bytes of the places from `first` on, as a tensor. */
static kw_tensor *part(const kw_soak_call *c, uint64_t first, uint64_t places) {
  kw_tensor *slice = NULL;
  KW_CHECK_OK(
      kw_tensor_slice(c->memory, 0, (int64_t)(first * c->stride), (int64_t)((first + places) * c->stride), 1, &slice));
  return slice;
}

static bool is_untouched(const kw_soak_call *c, const unsigned char *got) {
  bool untouched = true;
  for (size_t k = 0; k < c->known.size; k++) untouched = untouched && got[k] == (unsigned char)~c->known.want[k];
  return untouched;
}

void kw_soak_call_clear(kw_soak_call *c, uint64_t places) {
  kw_tensor *slice = part(c, 0, places);
  for (uint64_t i = 0; i < places; i++) {
    for (size_t k = 0; k < c->known.size; k++) c->bytes[i * c->stride + k] = (unsigned char)~c->known.want[k];
  }
  KW_CHECK_OK(kw_tensor_write(slice, c->bytes));
  kw_tensor_release(slice);
}

kw_status kw_soak_call_run(const kw_soak_call *c, kw_stream *stream, uint64_t place) {
  return kw_test_call_run(&c->known.call, stream, &c->results[place]);
}

void kw_soak_call_check(kw_soak_call *c, uint64_t places, const char *object, uint64_t first) {
  kw_tensor *slice = part(c, 0, places);
  uint64_t wrong = 0, first_wrong = 0;
  bool untouched = true;
  KW_CHECK_OK(kw_tensor_read(slice, c->bytes));
  kw_tensor_release(slice);
  for (uint64_t i = places; i-- > 0;) {
    const unsigned char *got = c->bytes + i * c->stride;
    if (memcmp(got, c->known.want, c->known.size) == 0) continue;
    wrong++;
    first_wrong = i;
    untouched = is_untouched(c, got);
  }
  KW_CHECK(wrong == 0, "%s %s left %s (%s; %s of the %s that were looked at then are wrong)", object,
           kw_soak_number(first + first_wrong + 1), untouched ? "no result" : "a wrong result", c->known.call.info.name,
           kw_soak_number(wrong), kw_soak_number(places));
}

void kw_soak_call_check_over(kw_soak_call *c, kw_stream *stream, uint64_t place, const char *object) {
  kw_tensor *slice = part(c, place, 1);
  KW_CHECK_OK(kw_tensor_read_async(slice, c->bytes, stream));
  KW_CHECK_OK(kw_stream_synchronize(stream));
  kw_tensor_release(slice);
  KW_CHECK(memcmp(c->bytes, c->known.want, c->known.size) == 0, "%s finds %s (%s)", object,
           is_untouched(c, c->bytes) ? "no result of it yet" : "a wrong result of it", c->known.call.info.name);
}
