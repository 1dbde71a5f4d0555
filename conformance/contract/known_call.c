/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls whose results are known.
 */
#include "known_call.h"

bool kw_known_call_make(const kw_op *op, kw_dtype dtype, int64_t numel, kw_known_call *out) {
  if (!kw_test_call_make(op, dtype, numel, &out->call)) return false;
  if (out->call.in_place || kw_test_call_random(&out->call)) {
    kw_test_call_free(&out->call);
    return false;
  }
  out->want = NULL;
  kw_known_call_learn(out);
  return true;
}

void kw_known_call_learn(kw_known_call *known) {
  kw_tensor *outs[KW_MAX_RESULTS] = {NULL};
  free(known->want);
  KW_CHECK_OK(kw_test_call_run(&known->call, NULL, outs));
  KW_CHECK_OK(kw_device_synchronize(kw_contract.device));
  KW_CHECK_OK(kw_test_call_results(&known->call, outs, &known->want, &known->size));
  const kw_tensor *first = kw_test_call_result(&known->call, outs, 0);
  known->form = first ? *kw_tensor_describe(first) : (kw_tensor_ref){.dtype = KW_DTYPE_NONE};
  known->form.mem = NULL;
  for (uint32_t r = 0; r < known->call.info.result_count; r++) kw_tensor_release(outs[r]);
}

void kw_known_call_free(kw_known_call *known) {
  kw_test_call_free(&known->call);
  free(known->want);
}
