/* SPDX-License-Identifier: Apache-2.0
 *
 * A run as data.
 */
#include "run/run.h"

#include "case/value.h"

#include <stdlib.h>

/* Fisher and Yates'. */
void kw_run_shuffle(uint64_t seed, uint32_t first, kw_run_ref *io_refs, uint32_t count) {
  for (uint32_t i = count; i > 1; i--) {
    uint32_t counter[4] = {i, first, 0, 0x5bf}, key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)}, random[4];
    kw_philox(counter, key, random);
    uint32_t other = random[0] % i;
    kw_run_ref swap = io_refs[i - 1];
    io_refs[i - 1] = io_refs[other];
    io_refs[other] = swap;
  }
}

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
