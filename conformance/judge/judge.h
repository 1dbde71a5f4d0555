/* SPDX-License-Identifier: Apache-2.0
 *
 * Judging: from the raw outputs of one run of a case to its result.
 */
#ifndef KEYWAY_CONFORMANCE_JUDGE_H
#define KEYWAY_CONFORMANCE_JUDGE_H

#include "judge/result.h"
#include "wire/case_run.h"

/* Judges what a worker sent about a case of `op`, made with this seed on a device that may replace subnormals of the
 * dtypes in `flush` (KW_DTYPE_BIT) by zero, and adds it to what is known about the case. Returns the checksum of what
 * the oracle expects, 0 without one. */
uint32_t kw_judge_run(const kw_suite_op *op, const kw_case_run *ran, uint64_t seed, uint64_t flush,
                      kw_case_result *io_result);

#endif /* KEYWAY_CONFORMANCE_JUDGE_H */
