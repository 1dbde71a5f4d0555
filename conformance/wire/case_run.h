/* SPDX-License-Identifier: Apache-2.0
 *
 * One of the two runs of a case, and what came out of it: every kernel that took it, and the default
 * path, each with its status, its raw output and what was found around it.
 */
#ifndef KEYWAY_CONFORMANCE_CASE_RUN_H
#define KEYWAY_CONFORMANCE_CASE_RUN_H

#include "wire/protocol.h"
#include "case/signature.h"

#define KW_CASE_RUN_PATHS 9 /* the default path and up to eight kernels */

/* Outputs are filled with this byte before a run, and so is everything around tensors: NaN in run 0, large in run 1. */
static inline unsigned char kw_case_run_poison(uint32_t run) {
  return run ? 0x7f : 0xff;
}

typedef struct kw_case_run_output {
  kw_dtype dtype; /* KW_DTYPE_NONE: the call gave no such result, and the rest is zero */
  uint32_t rank;
  int64_t shape[KW_MAX_RANK];
  const void *data; /* densely packed */
  size_t length;
  kw_dtype expected_dtype; /* KW_DTYPE_NONE when there is none: only a vendor's op ships its own reference's result */
  const void *expected;
  size_t expected_length;
  const void *magnitude; /* as expected: what the reference makes of absolute values, where the op adds up; or NULL */
} kw_case_run_output;

typedef struct kw_case_run_path {
  const char *kernel;     /* "" for the default path */
  kw_math_mode math_mode; /* how exactly it has to be; the default path: the highest */
  kw_status status;
  const char *message; /* of a failing status */
  const char *defect;  /* "input 1 changed", "guard zone after output 0 changed"; "" when none was seen */
  uint32_t output_count;
  kw_case_run_output outputs[KW_SUITE_RESULTS];
} kw_case_run_path;

typedef struct kw_case_run {
  const char *id;
  uint32_t run;
  uint64_t launches, decomposed, fallbacks, modules_built, modules_cached, build_ns;
  double seconds; /* that the worker took */
  uint32_t path_count;
  kw_case_run_path paths[KW_CASE_RUN_PATHS];
} kw_case_run;

void kw_case_run_write(const kw_case_run *result, kw_message *message);
/* Pointers of the result point into the message. False when it is malformed. */
bool kw_case_run_read(kw_message *message, kw_case_run *out_result);

#endif /* KEYWAY_CONFORMANCE_CASE_RUN_H */
