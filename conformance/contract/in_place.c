/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite launch: the result of a pointwise op may be exactly one of its arguments.
 */
#include "call.h"

/* The call once more with argument `index` as its result, which then holds what the other result holds. */
static void compare_in_place(const kw_test_call *call, uint32_t index, const unsigned char *want, size_t size) {
  kw_test_call copy;
  kw_test_call_copy(call, &copy);
  kw_tensor *outs[KW_MAX_RESULTS] = {copy.args[index].tensors[0]};
  unsigned char *got = NULL;
  size_t got_size = 0;
  kw_status status = kw_test_call_run(&copy, NULL, outs);
  KW_CHECK(status == KW_OK, "%s with argument %u as its result gave %s: %s", call->info.name, index,
           kw_status_name(status), kw_error_message());
  KW_CHECK_OK(kw_test_call_results(&copy, outs, &got, &got_size));
  KW_CHECK(got_size == size && memcmp(got, want, size) == 0,
           "%s with argument %u as its result computes something else than into memory of its own", call->info.name,
           index);
  free(got);
  kw_test_call_free(&copy);
}

/* How many arguments were tried as the result. None of an op that draws random numbers. */
static uint32_t in_place(const kw_op *op, kw_dtype dtype) {
  kw_test_call call;
  if (!kw_test_call_make(op, dtype, 1001, &call)) return 0;
  if (kw_test_call_random(&call)) {
    kw_test_call_free(&call);
    return 0;
  }
  kw_tensor *outs[KW_MAX_RESULTS] = {NULL};
  unsigned char *want = NULL;
  size_t size = 0;
  uint32_t compared = 0;
  KW_CHECK_OK(kw_test_call_run(&call, NULL, outs));
  KW_CHECK_OK(kw_test_call_results(&call, outs, &want, &size));
  const kw_tensor_ref *out = kw_tensor_describe(outs[0]);
  for (uint32_t i = 0; i < call.given; i++) {
    if (call.args[i].info.tag != KW_TAG_TENSOR || !call.args[i].tensors[0]) continue;
    const kw_tensor_ref *in = kw_tensor_describe(call.args[i].tensors[0]);
    if (in->dtype != out->dtype || in->rank != out->rank || out->numel == 0) continue;
    if (memcmp(in->shape, out->shape, out->rank * sizeof *out->shape) != 0) continue;
    compare_in_place(&call, i, want, size);
    compared++;
  }
  free(want);
  kw_tensor_release(outs[0]);
  kw_test_call_free(&call);
  return compared;
}

/* A pointwise op computes the same bits into an argument as into memory of its own. */
void kw_contract_launch_in_place(void **state) {
  (void)state;
  uint32_t compared = 0;
  for (uint32_t i = 0; i < kw_op_count(); i++) {
    const kw_op *op = kw_op_at(i);
    kw_op_info info = {.struct_size = sizeof info};
    KW_CHECK_OK(kw_op_get_info(op, &info));
    if (!info.pointwise || !kw_test_op_repeats(op)) continue;
    for (int kind = 0; kind < KW_TEST_KINDS; kind++) compared += in_place(op, kw_test_kinds[kind]);
  }
  if (compared == 0) kw_test_skip("the device has no pointwise op");
}
