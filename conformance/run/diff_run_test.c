/* SPDX-License-Identifier: Apache-2.0
 *
 * `keyway report diff` on reports of runs on cpu:0.
 */
#include "running.h"

#include <cjson/cJSON.h>

/* Two runs of the same have nothing different; one with an op more has that op. */
static void reports_are_compared(void **state) {
  (void)state;
  static const char *const ops[] = {"neg", "neg", "neg,abs"};
  static const char *const files[] = {"a.json", "b.json", "c.json"};
  for (int i = 0; i < 3; i++) {
    assert_int_equal(run((const char *[]){"--device", "cpu:0", "--op", ops[i], "--json", in_folder(files[i]), NULL}),
                     0);
  }
  assert_int_equal(run_report((const char *[]){"diff", in_folder("a.json"), in_folder("b.json"), NULL}), 0);
  output_contains("nothing is different: ");
  assert_int_equal(run_report((const char *[]){"diff", in_folder("a.json"), in_folder("c.json"), "--json",
                                               in_folder("diff.json"), NULL}),
                   1);
  output_contains("ops gained\n  abs: ");
  char *text = read_file("diff.json");
  cJSON *diff = cJSON_Parse(text);
  assert_true(cJSON_IsFalse(cJSON_GetObjectItem(diff, "same")));
  assert_true(cJSON_GetArraySize(cJSON_GetObjectItem(diff, "ops_gained")) > 3);
  assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItem(diff, "cases")), 0);
  cJSON_Delete(diff);
  free(text);
  assert_int_equal(run_report((const char *[]){"diff", in_folder("a.json"), NULL}), 2);
  output_contains("name two reports");
  assert_int_equal(run_report((const char *[]){"diff", in_folder("a.json"), in_folder("nothing.json"), NULL}), 2);
  output_contains("cannot be read");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(reports_are_compared)};
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
