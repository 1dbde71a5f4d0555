/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls each of which shows: the same op on the same arguments, each time into another place.
 */
#include "soak.h"

#include <stdio.h>

enum { NUMEL = 16, LARGEST = 1024, LEAST_STRIDE = 256 };

bool kw_soak_is_plain(const kw_op *op, const kw_op_info *info) {
  if (info->result_count != 1 || info->counted || kw_op_result_alias(op, 0) >= 0) return false;
  for (uint32_t i = 0; i < info->arg_count; i++) {
    kw_arg_info arg = {.struct_size = sizeof arg};
    if (kw_op_get_arg(op, i, &arg) != KW_OK || arg.flags & KW_ARG_MUTATED || arg.tag == KW_TAG_GENERATOR) return false;
  }
  return kw_test_op_repeats(op);
}

/* The call's result, copied to `want`. False where the device does not run it, or it is too large. */
static bool learn(kw_soak_call *c, const kw_op *op, kw_dtype dtype, kw_tensor_ref *out_form) {
  if (kw_op_support(op, kw_contract.device, dtype) != KW_SUPPORT_KERNEL) return false;
  if (!kw_test_call_make(op, dtype, NUMEL, &c->call)) return false;
  kw_tensor *out = NULL;
  KW_CHECK_OK(kw_test_call_run(&c->call, NULL, &out));
  KW_CHECK_OK(kw_test_call_results(&c->call, &out, &c->want, &c->size));
  *out_form = *kw_tensor_describe(out);
  kw_tensor_release(out);
  if (c->size > 0 && c->size <= LARGEST && !c->call.in_place) return true;
  kw_test_call_free(&c->call);
  free(c->want);
  return false;
}

static bool choose(kw_soak_call *c, bool pointwise, kw_tensor_ref *out_form) {
  const uint32_t count = kw_op_count(), start = (uint32_t)(kw_contract.seed * 97 % count);
  for (uint32_t i = 0; i < count; i++) {
    const kw_op *op = kw_op_at((start + i) % count);
    kw_op_info info = {.struct_size = sizeof info};
    KW_CHECK_OK(kw_op_get_info(op, &info));
    if (info.pointwise != pointwise || !kw_soak_is_plain(op, &info)) continue;
    for (int kind = 0; kind < KW_TEST_KINDS; kind++) {
      if (learn(c, op, kw_test_kinds[kind], out_form)) return true;
    }
  }
  return false;
}

void kw_soak_call_make(uint64_t places, kw_soak_call *out) {
  kw_device_info info = {.struct_size = sizeof info};
  kw_tensor_ref form;
  KW_CHECK_OK(kw_device_get_info(kw_contract.device, &info));
  *out = (kw_soak_call){.places = places, .stride = LEAST_STRIDE};
  if (!choose(out, true, &form) && !choose(out, false, &form)) {
    kw_contract_not_tried("%s has no op with one result that is the same each time", kw_contract.device_name);
  }
  while (out->stride < out->size || out->stride % info.offset_alignment) out->stride *= 2;
  const int64_t bytes = (int64_t)(places * out->stride);
  KW_CHECK_OK(kw_tensor_create(kw_contract.device, KW_U8, 1, &bytes, &out->memory));
  out->results = kw_test_memory(places * sizeof *out->results);
  out->bytes = kw_test_memory((size_t)bytes);
  for (uint64_t i = 0; i < places; i++) {
    KW_CHECK_OK(kw_tensor_reinterpret(out->memory, form.dtype, form.rank, form.shape, form.strides, i * out->stride,
                                      &out->results[i]));
  }
}

void kw_soak_call_free(kw_soak_call *c) {
  for (uint64_t i = 0; i < c->places; i++) kw_tensor_release(c->results[i]);
  kw_tensor_release(c->memory);
  kw_test_call_free(&c->call);
  free(c->results);
  free(c->bytes);
  free(c->want);
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
  for (size_t k = 0; k < c->size; k++) untouched = untouched && got[k] == (unsigned char)~c->want[k];
  return untouched;
}

void kw_soak_call_clear(kw_soak_call *c, uint64_t places) {
  kw_tensor *slice = part(c, 0, places);
  for (uint64_t i = 0; i < places; i++) {
    for (size_t k = 0; k < c->size; k++) c->bytes[i * c->stride + k] = (unsigned char)~c->want[k];
  }
  KW_CHECK_OK(kw_tensor_write(slice, c->bytes));
  kw_tensor_release(slice);
}

kw_status kw_soak_call_run(const kw_soak_call *c, kw_stream *stream, uint64_t place) {
  return kw_test_call_run(&c->call, stream, &c->results[place]);
}

void kw_soak_call_check(kw_soak_call *c, uint64_t places, const char *object, uint64_t first) {
  kw_tensor *slice = part(c, 0, places);
  uint64_t wrong = 0, first_wrong = 0;
  bool untouched = true;
  KW_CHECK_OK(kw_tensor_read(slice, c->bytes));
  kw_tensor_release(slice);
  for (uint64_t i = places; i-- > 0;) {
    const unsigned char *got = c->bytes + i * c->stride;
    if (memcmp(got, c->want, c->size) == 0) continue;
    wrong++;
    first_wrong = i;
    untouched = is_untouched(c, got);
  }
  KW_CHECK(wrong == 0, "%s %s left %s (%s; %s of the %s that were looked at then are wrong)", object,
           kw_soak_number(first + first_wrong + 1), untouched ? "no result" : "a wrong result", c->call.info.name,
           kw_soak_number(wrong), kw_soak_number(places));
}

void kw_soak_call_check_over(kw_soak_call *c, kw_stream *stream, uint64_t place, const char *object) {
  kw_tensor *slice = part(c, place, 1);
  KW_CHECK_OK(kw_tensor_read_async(slice, c->bytes, stream));
  KW_CHECK_OK(kw_stream_synchronize(stream));
  kw_tensor_release(slice);
  KW_CHECK(memcmp(c->bytes, c->want, c->size) == 0, "%s finds %s (%s)", object,
           is_untouched(c, c->bytes) ? "no result of it yet" : "a wrong result of it", c->call.info.name);
}
