/* SPDX-License-Identifier: Apache-2.0
 *
 * On a tree of files like the kernel's.
 */
#include "device/rapl.h"

#include <keyway/keyway.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[] = "rapl_test_XXXXXX";

static int make_root(void **state) {
  (void)state;
  strcpy(root + sizeof root - 7, "XXXXXX");
  return mkdtemp(root) ? 0 : -1;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *at) {
  (void)info, (void)type, (void)at;
  return remove(path);
}

static int remove_root(void **state) {
  (void)state;
  return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void put(const char *zone, const char *file, const char *text) {
  char path[256];
  snprintf(path, sizeof path, "%s/%s", root, zone);
  mkdir(path, 0700);
  snprintf(path, sizeof path, "%s/%s/%s", root, zone, file);
  FILE *stream = fopen(path, "w");
  assert_non_null(stream);
  fprintf(stream, "%s\n", text);
  fclose(stream);
}

static void put_zone(const char *zone, const char *name, const char *microjoules) {
  put(zone, "name", name);
  put(zone, "energy_uj", microjoules);
  put(zone, "max_energy_range_uj", "1000");
}

static void packages_and_memory_count(void **state) {
  (void)state;
  put_zone("intel-rapl:0", "package-0", "100");
  put_zone("intel-rapl:0:0", "core", "50"); /* part of the package */
  put_zone("intel-rapl:0:1", "dram", "7");
  put_zone("intel-rapl:1", "package-1", "200");
  put_zone("intel-rapl:2", "psys", "900"); /* holds the packages */
  put_zone("dtpm", "package-0", "9");      /* no counter of this kind */
  kw_rapl before, after;
  assert_int_equal(kw_rapl_read(root, &before), KW_OK);
  assert_int_equal(before.count, 3);
  put_zone("intel-rapl:0", "package-0", "160");
  put_zone("intel-rapl:0:0", "core", "90");
  put_zone("intel-rapl:0:1", "dram", "8");
  put_zone("intel-rapl:1", "package-1", "20"); /* has wrapped */
  assert_int_equal(kw_rapl_read(root, &after), KW_OK);
  assert_true(kw_rapl_between(&before, &after) == 60 + 1 + 820);
}

static void what_is_missing_is_said(void **state) {
  (void)state;
  kw_rapl rapl;
  assert_int_equal(kw_rapl_read("no such directory", &rapl), KW_ERR_UNSUPPORTED);
  assert_non_null(strstr(kw_error_message(), "No such file"));
  assert_int_equal(kw_rapl_read(root, &rapl), KW_ERR_UNSUPPORTED);
  assert_non_null(strstr(kw_error_message(), "no RAPL package"));
  put("intel-rapl:0", "name", "package-0"); /* without energy_uj */
  assert_int_equal(kw_rapl_read(root, &rapl), KW_ERR_UNSUPPORTED);
  assert_non_null(strstr(kw_error_message(), "energy_uj cannot be read"));
  put("intel-rapl:0", "energy_uj", "many");
  assert_int_equal(kw_rapl_read(root, &rapl), KW_ERR_UNSUPPORTED);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(packages_and_memory_count, make_root, remove_root),
      cmocka_unit_test_setup_teardown(what_is_missing_is_said, make_root, remove_root),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
