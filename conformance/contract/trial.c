/* SPDX-License-Identifier: Apache-2.0
 *
 * A call that works, made wrong in one place: the refusal that has to come, and what it must leave alone.
 */
#include "trial.h"

#include <stdio.h>

unsigned char *kw_trial_contents(const kw_tensor *tensor) {
  unsigned char *bytes = kw_test_memory(kw_test_bytes_of(tensor));
  KW_CHECK_OK(kw_tensor_read(tensor, bytes));
  return bytes;
}

static bool names_argument(const kw_trial *t, uint32_t index) {
  char quoted[64];
  snprintf(quoted, sizeof quoted, "'%s'", t->call.args[index].info.name);
  return strstr(kw_error_message(), quoted) != NULL;
}

static bool names_any(const kw_trial *t) {
  for (uint32_t i = 0; i < t->call.info.arg_count; i++) {
    if (names_argument(t, i)) return true;
  }
  return strstr(kw_error_message(), "result") != NULL;
}

void kw_trial_check_refusal(const kw_trial *t, kw_status status, int argument, const char *what) {
  const char *op = t->call.info.name, *message = kw_error_message();
  KW_CHECK(status == KW_ERR_INVALID_ARGUMENT, "%s, %s: expected %s, got %s%s%s", op, what,
           kw_status_name(KW_ERR_INVALID_ARGUMENT), status == KW_OK ? "KW_OK" : kw_status_name(status),
           status == KW_OK ? "" : ": ", status == KW_OK ? "" : message);
  KW_CHECK(strstr(message, op), "%s, %s: the text does not name the op: %s", op, what, message);
  if (argument >= 0) {
    KW_CHECK(names_argument(t, (uint32_t)argument), "%s, %s: the text does not name the argument '%s': %s", op, what,
             t->call.args[argument].info.name, message);
  } else if (argument == KW_TRIAL_ANY_ARGUMENT) {
    KW_CHECK(names_any(t), "%s, %s: the text names no argument: %s", op, what, message);
  }
}

/* A plan for the wrong call is refused, or where the plan cannot know, its run. */
static void refuse_plan(kw_trial *t, kw_tensor **outs, uint32_t out_count, int argument, const char *what) {
  kw_stream *stream = kw_stream_default(kw_contract.device);
  kw_plan *plan = NULL;
  kw_error_clear();
  kw_status status = kw_plan_make(t->call.op, stream, t->values, t->given, outs, out_count, NULL, &plan);
  if (t->by_address && status == KW_OK) {
    status = kw_plan_run(plan, stream, t->values, t->given, outs, out_count);
  } else {
    KW_CHECK(!plan, "%s, %s: kw_plan_make refused and gave a plan", t->call.info.name, what);
  }
  kw_trial_check_refusal(t, status, argument, what);
  kw_plan_destroy(plan);
}

void kw_trial_refuse_with(kw_trial *t, kw_tensor **outs, uint32_t out_count, int argument, const char *what) {
  kw_stream *stream = kw_stream_default(kw_contract.device);
  kw_tensor *passed[KW_MAX_RESULTS + 1] = {NULL}, *before[KW_MAX_RESULTS + 1];
  if (outs) memcpy(passed, outs, KW_MAX_RESULTS * sizeof *outs);
  memcpy(before, passed, sizeof before);
  kw_error_clear();
  kw_status status = kw_op_call(t->call.op, stream, t->values, t->given, passed, out_count);
  kw_trial_check_refusal(t, status, argument, what);
  refuse_plan(t, passed, out_count, argument, what);
  KW_CHECK(memcmp(passed, before, sizeof before) == 0, "%s, %s: refused, but outs[] changed", t->call.info.name, what);
}

void kw_trial_refuse(kw_trial *t, int argument, const char *what) {
  kw_trial_refuse_with(t, NULL, t->call.info.result_count, argument, what);
  kw_trial_refuse_with(t, t->outs, t->call.info.result_count, argument, what);
}

void kw_trial_reset(kw_trial *t) {
  kw_test_call_values(&t->call, t->values);
  t->given = t->call.given;
}

void kw_trial_refuse_value(kw_trial *t, uint32_t index, kw_value value, const char *what) {
  char text[160];
  snprintf(text, sizeof text, "%s for '%s'", what, t->call.args[index].info.name);
  t->values[index] = value;
  if (t->given <= index) t->given = index + 1;
  kw_trial_refuse(t, (int)index, text);
  kw_trial_reset(t);
}
