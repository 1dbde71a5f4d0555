/* SPDX-License-Identifier: Apache-2.0
 *
 * Traces that `keyway trace` judges.
 */
#include "cli/trace_file.h"
#include "input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  kw_trace_file trace;
  char message[512];
  if (!kw_trace_file_read(input_file(data, size), &trace, message, sizeof message)) return 0;
  kw_trace_verdict sum = {0};
  for (size_t i = 0; i < trace.row_count; i++) {
    kw_trace_verdict verdict = kw_trace_judge(&trace, &trace.rows[i], 1000);
    kw_trace_verdict_add(&sum, &verdict);
  }
  kw_trace_verdict_holds(&sum);
  kw_trace_file_free(&trace);
  return 0;
}
