/* SPDX-License-Identifier: Apache-2.0
 *
 * For the tests of the fast kernels: the instruction sets of this processor, and a host whose loops come in pieces.
 */
#ifndef KEYWAY_CPU_FAST_TEST_FAST_H
#define KEYWAY_CPU_FAST_TEST_FAST_H

#include "capability.h"
#include "fast.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

/* The table of an instruction set, from KW_CAPABILITY_BASELINE on; NULL where this processor, or the library, has it
 * not. */
static inline const kw_isa *test_isa(kw_capability level) {
  static kw_isa tables[KW_CAPABILITY_COUNT];
  const char *why;
  if (kw_capability_choose(UINT32_MAX, kw_capability_features(), kw_capability_name(level), &why) != level) return NULL;
  kw_isa *table = &tables[level];
  if (level == KW_CAPABILITY_BASELINE) kw_isa_fill_baseline(table);
#if defined(__x86_64__)
  if (level == KW_CAPABILITY_AVX2) kw_isa_fill_avx2(table);
  if (level == KW_CAPABILITY_AVX512) kw_isa_fill_avx512(table);
  if (level == KW_CAPABILITY_AVX512_FP16) kw_isa_fill_avx512_fp16(table);
#endif
  return table;
}

/* `context` points to the size of the pieces at most; the last one comes first. */
static kw_status test_parallel_for(void *context, int64_t n, int64_t grain, kw_range_fn body, void *user) {
  const int64_t size = *(const int64_t *)context;
  (void)grain;
  for (int64_t begin = (n - 1) / size * size; n > 0 && begin >= 0; begin -= size) {
    body(user, begin, n - begin < size ? n : begin + size);
  }
  return KW_OK;
}

static kw_status test_host_alloc(void *context, uint64_t size, uint64_t alignment, void **out_pointer) {
  (void)context;
  *out_pointer = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  return *out_pointer ? KW_OK : KW_ERR_OUT_OF_MEMORY;
}

static kw_status test_host_free(void *context, void *pointer) {
  (void)context;
  free(pointer);
  return KW_OK;
}

/* A host that has what kernels call. */
static inline kw_host_api test_host(int64_t *piece) {
  return (kw_host_api){.struct_size = sizeof(kw_host_api),
                       .ctx = piece,
                       .parallel_for = test_parallel_for,
                       .host_alloc = test_host_alloc,
                       .host_free = test_host_free};
}

/* The fast kernel of an op; NULL where there is none. */
static inline const kw_fast_kernel *test_fast_kernel(const char *op) {
  for (const kw_fast_family *family = kw_fast_families(); family->count > 0; family++) {
    for (uint32_t i = 0; i < family->count; i++) {
      if (strcmp(family->kernels[i].op, op) == 0) return &family->kernels[i];
    }
  }
  return NULL;
}

/* Runs the fast kernel of the op that call->op names, on a host with so many threads. */
static inline kw_status test_fast_call_on(const kw_call *call, int64_t piece,
                                          kw_status (*thread_count)(void *context, uint32_t *out_count)) {
  kw_host_api host = test_host(&piece);
  host.thread_count = thread_count;
  const kw_fast_kernel *kernel = test_fast_kernel(call->op);
  if (!kernel) return KW_ERR_NOT_FOUND;
  kw_call mine = *call;
  void *plan = NULL;
  mine.user = (void *)(uintptr_t)kernel;
  kw_status status = kw_fast_prepare(&mine, &plan);
  if (status == KW_OK) status = kernel->run(&host, &mine, plan);
  kw_fast_release(mine.user, plan);
  return status;
}

/* The same for kernels that do not ask how many threads there are. */
static inline kw_status test_fast_call(const kw_call *call, int64_t piece) {
  return test_fast_call_on(call, piece, NULL);
}

#endif /* KEYWAY_CPU_FAST_TEST_FAST_H */
