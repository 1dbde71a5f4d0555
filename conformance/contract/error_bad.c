/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls with indices and one wrong one among them: making them, what is told of it, and guards around their results.
 */
#include "error_bad.h"

#include "call_needs.h"

#include <stdio.h>

bool kw_bad_counts_from_end(const char *op) {
  return strcmp(op, "index.Tensor") == 0 || strcmp(op, "index_put") == 0;
}

kw_tensor *kw_bad_indices(const kw_tensor *like, kw_dtype dtype, int64_t place, int64_t bad) {
  const kw_tensor_ref *ref = kw_tensor_describe(like);
  kw_tensor *made = NULL;
  KW_CHECK_OK(kw_tensor_create(kw_contract.device, dtype, ref->rank, ref->shape, &made));
  int64_t *wide = kw_test_memory((size_t)ref->numel * sizeof *wide);
  KW_CHECK_OK(kw_tensor_read(like, wide));
  wide[place] = bad;
  int32_t *narrow = (int32_t *)(void *)wide;
  for (int64_t i = 0; dtype == KW_I32 && i < ref->numel; i++) narrow[i] = (int32_t)wide[i];
  KW_CHECK_OK(kw_tensor_write(made, wide));
  free(wide);
  return made;
}

/* ---- Results with guards ----------------------------------------------------------------------------------------- */

void kw_guarded_make(const kw_test_call *call, kw_tensor *const *like, kw_guarded *out) {
  for (uint32_t r = 0; r < call->info.result_count; r++) {
    const kw_tensor_ref *ref = kw_tensor_describe(like[r]);
    const int64_t room = 3 * ref->numel;
    size_t size = 3 * kw_test_bytes_of(like[r]);
    void *bytes = kw_test_memory(size);
    kw_test_pattern(bytes, size, r);
    KW_CHECK_OK(kw_tensor_create(kw_contract.device, ref->dtype, 1, &room, &out->around[r]));
    KW_CHECK_OK(kw_tensor_write(out->around[r], bytes));
    KW_CHECK_OK(
        kw_tensor_as_strided(out->around[r], ref->rank, ref->shape, ref->strides, ref->numel, &out->results[r]));
    free(bytes);
  }
}

void kw_guarded_end(const kw_test_call *call, kw_guarded *g) {
  char what[160];
  snprintf(what, sizeof what, "memory next to the result of %s with an error in its data", call->info.name);
  for (uint32_t r = 0; r < call->info.result_count; r++) {
    size_t third = kw_test_bytes_of(g->results[r]);
    unsigned char *want = kw_test_memory(3 * third), *got = kw_test_memory(3 * third);
    kw_test_pattern(want, 3 * third, r);
    KW_CHECK_OK(kw_tensor_read(g->around[r], got));
    memcpy(got + third, want + third, third);
    kw_test_same(got, want, 3 * third, what);
    kw_tensor_release(g->results[r]);
    kw_tensor_release(g->around[r]);
    free(want);
    free(got);
  }
}

/* ---- What is told ------------------------------------------------------------------------------------------------ */

/* Whether the text says that the op was run by another one, and names an index argument of that. */
static bool names_serving_argument(const char *text) {
  kw_op_info info = {.struct_size = sizeof info};
  kw_arg_info arg = {.struct_size = sizeof arg};
  for (uint32_t i = 0; i < kw_op_count(); i++) {
    KW_CHECK_OK(kw_op_get_info(kw_op_at(i), &info));
    for (uint32_t a = 0; a < info.arg_count; a++) {
      char by[160];
      KW_CHECK_OK(kw_op_get_arg(kw_op_at(i), a, &arg));
      snprintf(by, sizeof by, ", by %s: argument '%s':", info.name, arg.name);
      if (kw_test_is_index(info.name, &arg) && strstr(text, by)) return true;
    }
  }
  return false;
}

void kw_bad_expect_told(const kw_test_call *call, uint32_t index, kw_stream *stream, kw_status status, int64_t bad) {
  const char *op = call->info.name, *argument = call->args[index].info.name;
  char quoted[64];
  snprintf(quoted, sizeof quoted, "'%s'", argument);
  if (status == KW_OK) status = kw_stream_synchronize(stream);
  KW_CHECK(status == KW_ERR_INVALID_ARGUMENT, "%s with index %lld in '%s', of %lld places: expected %s, got %s", op,
           (long long)bad, argument, (long long)call->places, kw_status_name(KW_ERR_INVALID_ARGUMENT),
           status == KW_OK ? "KW_OK" : kw_error_message());
  bool argument_named = strstr(kw_error_message(), quoted) || names_serving_argument(kw_error_message());
  KW_CHECK(strstr(kw_error_message(), op) && argument_named,
           "%s with index %lld in '%s': the text does not name both: %s", op, (long long)bad, argument,
           kw_error_message());
  KW_CHECK_OK(kw_stream_synchronize(stream)); /* once */
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static bool has_indices(const kw_op *op) {
  kw_op_info info = {.struct_size = sizeof info};
  KW_CHECK_OK(kw_op_get_info(op, &info));
  for (uint32_t i = 0; i < info.arg_count; i++) {
    kw_arg_info arg = {.struct_size = sizeof arg};
    KW_CHECK_OK(kw_op_get_arg(op, i, &arg));
    if (info.level != KW_LEVEL_VENDOR && kw_test_is_index(info.name, &arg)) return true;
  }
  return false;
}

bool kw_bad_next_call(uint32_t *at, int64_t numel, kw_test_call *out_call) {
  while (*at < kw_op_count()) {
    const kw_op *op = kw_op_at((*at)++);
    const bool floats = kw_op_support(op, kw_contract.device, KW_F32) != KW_SUPPORT_NONE;
    const kw_dtype dtype = floats ? KW_F32 : KW_I64; /* what counts has no floats */
    if (kw_op_support(op, kw_contract.device, dtype) == KW_SUPPORT_NONE || !has_indices(op)) continue;
    if (kw_test_call_make(op, dtype, numel, out_call)) return true;
  }
  return false;
}
