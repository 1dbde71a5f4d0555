/* SPDX-License-Identifier: Apache-2.0
 *
 * The fast kernels of all families, and what is made of a plan.
 */
#include "fast.h"

#include <stdlib.h>
#include <string.h>

const kw_fast_family *kw_fast_families(void) {
#define FAMILY(name) kw_fast_##name,
  static kw_fast_family (*const all[])(void) = {KW_FAST_FAMILIES(FAMILY)};
#undef FAMILY
  enum { COUNT = sizeof all / sizeof *all };
  static kw_fast_family families[COUNT + 1];
  for (uint32_t i = 0; i < COUNT; i++) families[i] = all[i]();
  return families;
}

static kw_status make_plan(const kw_call *call, void *plan) {
  const kw_fast_kernel *kernel = call->user;
  if (plan) memset(plan, 0, kernel->plan_size);
  return kernel->make_plan(kernel, call, plan);
}

kw_status kw_fast_can_implement(const kw_call *call) {
  const kw_fast_kernel *kernel = call->user;
  _Alignas(16) char plan[KW_FAST_PLAN_LIMIT];
  if (!kw_call_is_known(call, (kw_dtype_mask){{KW_DTYPES_ANY, 0}})) return KW_ERR_NOT_IMPLEMENTED;
  if (kernel->serves) return kernel->serves(call);
  return make_plan(call, plan);
}

kw_status kw_fast_prepare(const kw_call *call, void **out_prepared) {
  const kw_fast_kernel *kernel = call->user;
  if (kernel->plan_size == 0) return make_plan(call, NULL);
  void *plan = malloc(kernel->plan_size);
  if (!plan) return KW_ERR_OUT_OF_MEMORY;
  kw_status status = make_plan(call, plan);
  if (status == KW_OK) {
    *out_prepared = plan;
  } else {
    free(plan);
  }
  return status;
}

kw_status kw_fast_release(void *user, void *prepared) {
  const kw_fast_kernel *kernel = user;
  if (kernel->drop) kernel->drop(prepared);
  free(prepared);
  return KW_OK;
}

kw_status kw_fast_packed_size(const kw_call *call, uint32_t arg, uint64_t *out_size, uint64_t *out_format) {
  const kw_fast_kernel *kernel = call->user;
  return kernel->packed_size(call->prepared, call, arg, out_size, out_format);
}
