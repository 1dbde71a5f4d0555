/* SPDX-License-Identifier: Apache-2.0
 *
 * Manifests: what each key means, and what is said of one that cannot be.
 */
#include "isolate/manifest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <keyway/keyway.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/keyway-manifest-XXXXXX";
static char plugin[64], name[64];

static kw_status read_manifest(const char *text, kw_manifest *out_manifest) {
  FILE *file = fopen(name, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
  chmod(name, 0644);
  return kw_manifest_read(plugin, out_manifest);
}

static void without_one_nothing_is_allowed(void **state) {
  (void)state;
  kw_manifest manifest;
  unlink(name);
  assert_int_equal(kw_manifest_read(plugin, &manifest), KW_OK);
  assert_false(manifest.isolate || manifest.execute || manifest.network);
  assert_int_equal(manifest.device_count, 0);
  kw_manifest_free(&manifest);
}

static void each_key_is_read(void **state) {
  (void)state;
  kw_manifest manifest;
  assert_int_equal(
      read_manifest("{\"isolate\": true, \"execute\": false, \"network\": true, \"devices\": [\"/dev/dri\"]}",
                    &manifest),
      KW_OK);
  assert_true(manifest.isolate && !manifest.execute && manifest.network);
  assert_int_equal(manifest.device_count, 1);
  assert_string_equal(manifest.devices[0], "/dev/dri");
  kw_manifest_free(&manifest);
}

static void expect_refused(const char *text, kw_status expected, const char *said) {
  kw_manifest manifest;
  const kw_status status = read_manifest(text, &manifest);
  kw_manifest_free(&manifest);
  if (status != expected || strstr(kw_error_message(), said) == NULL) {
    fail_msg("%s: status %d, '%s' instead of '%s'", text, status, kw_error_message(), said);
  }
}

static void what_makes_no_sense_is_said(void **state) {
  (void)state;
  expect_refused("{", KW_ERR_INVALID_ARGUMENT, "is no JSON");
  expect_refused("", KW_ERR_INVALID_ARGUMENT, "is no JSON");
  expect_refused("[]", KW_ERR_INVALID_ARGUMENT, "is no JSON object");
  expect_refused("{\"exceute\": true}", KW_ERR_INVALID_ARGUMENT, "'exceute' is none of");
  expect_refused("{\"execute\": 1}", KW_ERR_INVALID_ARGUMENT, "'execute' is true or false");
  expect_refused("{\"devices\": \"/dev/dri\"}", KW_ERR_INVALID_ARGUMENT, "paths below /dev/");
  expect_refused("{\"devices\": [\"/etc/passwd\"]}", KW_ERR_INVALID_ARGUMENT, "paths below /dev/");
  expect_refused("{\"devices\": [\"/dev/../etc\"]}", KW_ERR_INVALID_ARGUMENT, "paths below /dev/");
  expect_refused("{\"devices\": [1]}", KW_ERR_INVALID_ARGUMENT, "paths below /dev/");
}

static void one_that_others_may_write_is_refused(void **state) {
  (void)state;
  kw_manifest manifest;
  assert_int_equal(read_manifest("{}", &manifest), KW_OK);
  chmod(name, 0666);
  assert_int_equal(kw_manifest_read(plugin, &manifest), KW_ERR_PERMISSION);
  assert_non_null(strstr(kw_error_message(), "others may write it"));
  kw_manifest_free(&manifest);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(without_one_nothing_is_allowed),
      cmocka_unit_test(each_key_is_read),
      cmocka_unit_test(what_makes_no_sense_is_said),
      cmocka_unit_test(one_that_others_may_write_is_refused),
  };
  if (mkdtemp(folder) == NULL) return 1;
  snprintf(plugin, sizeof plugin, "%s/some.so", folder);
  snprintf(name, sizeof name, "%s/some.keyway.json", folder);
  const int failures = cmocka_run_group_tests(tests, NULL, NULL);
  unlink(name);
  rmdir(folder);
  return failures;
}
