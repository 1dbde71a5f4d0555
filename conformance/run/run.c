/* SPDX-License-Identifier: Apache-2.0
 *
 * A run as data.
 */
#include "run/run.h"

#include <stdlib.h>

void kw_run_free(kw_run *run) {
  for (uint32_t i = 0; i < run->case_count; i++) {
    free(run->cases[i].id);
    kw_case_result_free(&run->cases[i].result);
    free(run->cases[i].smallest);
    free(run->cases[i].smallest_tensors);
    free(run->cases[i].after);
  }
  for (uint32_t i = 0; i < run->unclaimed_count; i++) free(run->unclaimed[i]);
  free(run->cases);
  free(run->unclaimed);
  for (uint32_t i = 0; run->without_cases && i < run->facts.op_count; i++) free(run->without_cases[i]);
  free(run->without_cases);
  for (uint32_t i = 0; i < run->before_count; i++) free(run->before[i].id);
  free(run->before);
  free(run->before_refs);
  kw_device_facts_free(&run->facts);
}
