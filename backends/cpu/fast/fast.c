/* SPDX-License-Identifier: Apache-2.0
 *
 * The fast kernels: which instruction set they use, and what is made of a plan.
 */
#include "fast.h"

#include "capability.h"
#include "number.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- Instruction set --------------------------------------------------------------------------------------------- */

static pthread_once_t chosen_once = PTHREAD_ONCE_INIT;
static kw_isa table;
static const kw_isa *chosen;
static const char *why_not;

static void choose(void) {
  const kw_capability level =
      kw_capability_choose(kw_capability_features(), secure_getenv("KEYWAY_CPU_CAPABILITY"), &why_not);
  switch (level) {
    case KW_CAPABILITY_REFERENCE:
      return;
#if defined(__x86_64__)
    case KW_CAPABILITY_AVX512:
      kw_isa_fill_avx512(&table);
      break;
    case KW_CAPABILITY_AVX2:
      kw_isa_fill_avx2(&table);
      break;
#endif
    default:
      kw_isa_fill_baseline(&table);
  }
  chosen = &table;
}

const kw_isa *kw_fast_choose(const char **out_why) {
  pthread_once(&chosen_once, choose);
  *out_why = why_not;
  return chosen;
}

const kw_isa *kw_fast_isa(void) {
  return chosen;
}

/* ---- Lanes ------------------------------------------------------------------------------------------------------- */

kw_lane kw_lane_of(kw_dtype dtype) {
  if (dtype == KW_F64) return KW_LANE_F64;
  if (dtype == KW_I64) return KW_LANE_I64;
  return kw_number_is_integer(dtype) ? KW_LANE_I32 : KW_LANE_F32;
}

int64_t kw_lane_size(kw_lane lane) {
  return lane == KW_LANE_F32 || lane == KW_LANE_I32 ? 4 : 8;
}

bool kw_lane_is_native(kw_dtype dtype) {
  return dtype == KW_F32 || dtype == KW_F64 || dtype == KW_I32 || dtype == KW_I64;
}

void kw_lanes_fill(void *lanes, const void *lane, kw_lane type, int64_t n) {
  if (kw_lane_size(type) == 4) {
    int32_t value;
    memcpy(&value, lane, sizeof value);
    for (int64_t i = 0; i < n; i++) ((int32_t *)lanes)[i] = value;
  } else {
    int64_t value;
    memcpy(&value, lane, sizeof value);
    for (int64_t i = 0; i < n; i++) ((int64_t *)lanes)[i] = value;
  }
}

void kw_lanes_fill_number(void *lanes, double number, kw_lane type, int64_t n) {
  const float narrow = (float)number;
  kw_lanes_fill(lanes, type == KW_LANE_F32 ? (const void *)&narrow : &number, type, n);
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

const kw_fast_family *kw_fast_families(void) {
  static kw_fast_family (*const all[])(void) = {kw_fast_pointwise, kw_fast_reductions, kw_fast_softmax,
                                                kw_fast_norms,     kw_fast_product,    kw_fast_convolution};
  enum { COUNT = sizeof all / sizeof *all };
  static kw_fast_family families[COUNT + 1];
  for (uint32_t i = 0; i < COUNT; i++) families[i] = all[i]();
  return families;
}

static kw_status make_plan(const kw_call *call, void *plan) {
  const kw_fast_kernel *kernel = call->user;
  memset(plan, 0, kernel->plan_size);
  return kernel->plan(kernel, call, plan);
}

kw_status kw_fast_can_implement(const kw_call *call) {
  const kw_fast_kernel *kernel = call->user;
  _Alignas(16) char plan[KW_FAST_PLAN_LIMIT];
  if (kernel->serves) return kernel->serves(call);
  return make_plan(call, plan);
}

kw_status kw_fast_prepare(const kw_call *call, void **out_prepared) {
  const kw_fast_kernel *kernel = call->user;
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
