/* SPDX-License-Identifier: Apache-2.0
 *
 * What a case should give: the reference run in a wider type on the case's own inputs. Runs where no plugin is loaded.
 */
#ifndef KEYWAY_CONFORMANCE_ORACLE_H
#define KEYWAY_CONFORMANCE_ORACLE_H

#include "case/case.h"

/* Expected elements of one result, densely packed in row-major order. */
typedef struct kw_oracle_result {
  kw_dtype dtype; /* KW_DTYPE_WIDE for floating results that are judged by distance, otherwise the result's own */
  int64_t count;  /* the result's; of a counted op's first result those that are filled */
  void *values;
  kw_wide *magnitude; /* KW_CMP_ACCUMULATE on floats: what the row's magnitude op gives; otherwise NULL */
  kw_wide *quotient;  /* division with a rounding mode on floats: before rounding; otherwise NULL */
  void *low, *high;   /* KW_CMP_QUANTUM: as values, what the result lies between; otherwise NULL */
  void *flushed;      /* as values, with subnormal inputs replaced by zeros; NULL unless asked for and any was there */
  void *other;        /* as values, and as right. KW_CMP_WRITTEN: where the first writer of an element wins. Ops whose
                         intermediate results may overflow: where they do, what comes of it. Otherwise NULL */
} kw_oracle_result;

typedef struct kw_oracle_results {
  uint32_t count; /* kw_case.result_count */
  kw_oracle_result results[KW_SUITE_RESULTS];
} kw_oracle_results;

/* Computes what run `run` of the case should give. `flush`: dtypes (KW_DTYPE_BIT) whose subnormals the device may
 * replace by zero. KW_ERR_NOT_IMPLEMENTED when the reference lacks the op, KW_ERR_OUT_OF_MEMORY; out is zeroed then. */
kw_status kw_oracle_run(const kw_case *c, uint64_t seed, uint32_t run, uint64_t flush, kw_oracle_results *out);
/* The same of the case on other inputs: inputs[i] has the storage of tensor i as the case lays it out. */
kw_status kw_oracle_run_on(const kw_case *c, uint64_t seed, uint32_t run, uint64_t flush, const void *const *inputs,
                           kw_oracle_results *out);
/* The same in 113 bits, whatever the case's dtype is: what the oracle itself is held against. Slow. */
kw_status kw_oracle_run_wide(const kw_case *c, uint64_t seed, uint32_t run, uint64_t flush, const void *const *inputs,
                             kw_oracle_results *out);
/* A checksum of all values. */
uint32_t kw_oracle_checksum(const kw_oracle_results *oracle);
void kw_oracle_free(kw_oracle_results *oracle);

#endif /* KEYWAY_CONFORMANCE_ORACLE_H */
