/* SPDX-License-Identifier: Apache-2.0
 *
 * abs of more than 2^30 elements leaves out those beyond: its loop's index wraps when the step is added. After PyTorch
 * pull request 24818 and Paddle pull request 25435: the array's size is valid, the increment overflows.
 */
#include "mutant.h"

static kw_status launch(const kw_call *call) {
  return kw_mutant_run_to(call, INT64_C(1) << 30);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->op = "abs";
  mutant->launch = launch;
}
