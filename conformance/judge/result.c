/* SPDX-License-Identifier: Apache-2.0
 *
 * What came of a case.
 */
#include "judge/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *kw_outcome_name(kw_outcome outcome) {
  static const char *const names[KW_OUTCOME_COUNT] = {
      "not run", "pass", "fail", "crash", "timeout", "unimplemented", "not applicable", "inconclusive", "not tried"};
  return names[outcome];
}

bool kw_outcome_is_good(kw_outcome outcome) {
  return outcome == KW_OUTCOME_PASS || outcome == KW_OUTCOME_SKIP || outcome == KW_OUTCOME_NOT_TRIED;
}

void kw_case_result_mark(kw_case_result *result, kw_outcome outcome, const char *defect, const char *text) {
  bool died = outcome == KW_OUTCOME_CRASH || outcome == KW_OUTCOME_TIMEOUT; /* says more than what was found before */
  if (result->outcome != KW_OUTCOME_NONE && result->outcome != KW_OUTCOME_PASS && !died) return;
  result->outcome = outcome;
  snprintf(result->defect, sizeof result->defect, "%s", defect);
  free(result->text);
  result->text = text && *text ? strdup(text) : NULL;
}

void kw_case_result_free(kw_case_result *result) {
  free(result->text);
  result->text = NULL;
}
