/* SPDX-License-Identifier: Apache-2.0
 *
 * Plugins where other users may have put or may change something, and users who try: as root, who can be two users.
 */
#include "child.h"

#include <fcntl.h>
#include <grp.h>
#include <keyway/keyway.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- Places ------------------------------------------------------------------------------------------------------ */

/* scratch/NAME/above/plugins/p.so, with `part` of that ("", "/above", ...) of this owner, group and mode. */
typedef struct place {
  const char *name, *part;
  uid_t owner;
  gid_t group;
  mode_t mode;
  const char *reason; /* NULL: it is fine */
} place;

static const place places[] = {
    {"plain", "/above/plugins/p.so", 0, 0, 0600, NULL},
    {"file_of_other", "/above/plugins/p.so", OTHER, 0, 0600, "the file belongs to user 12345"},
    {"file_for_all", "/above/plugins/p.so", 0, 0, 0602, "the file may be written by everyone"},
    {"file_for_group", "/above/plugins/p.so", 0, OTHER, 0620, "the file may be written by group 12345"},
    {"file_for_own_group", "/above/plugins/p.so", 0, 0, 0660, NULL}, /* root's is root's own */
    {"folder_of_other", "/above/plugins", OTHER, 0, 0755, "/plugins belongs to user 12345"},
    {"folder_for_all", "/above/plugins", 0, 0, 0777, "/plugins may be written by everyone"},
    {"folder_for_group", "/above/plugins", 0, OTHER, 0775, "/plugins may be written by group 12345"},
    {"above_of_other", "/above", OTHER, 0, 0755, "/above belongs to user 12345"},
    {"above_for_all", "/above", 0, 0, 0777, "/above may be written by everyone"},
    {"above_for_group", "/above", 0, OTHER, 0775, "/above may be written by group 12345"},
    {"above_sticky", "/above", 0, 0, 01777, NULL},
    {"sticky_of_other", "/above", OTHER, 0, 01777, "/above belongs to user 12345"},
    {"top_of_other", "", OTHER, 0, 0755, "top_of_other belongs to user 12345"},
};
enum { PLACES = sizeof places / sizeof places[0] };

static const char *path_in(const place *at, const char *part) {
  char name[256];
  snprintf(name, sizeof name, "%s%s", at->name, part);
  return scratch_path(name);
}

static void make(const place *at) {
  mkdir(path_in(at, ""), 0755);
  mkdir(path_in(at, "/above"), 0755);
  mkdir(path_in(at, "/above/plugins"), 0755);
  copy_file(fixture_path("plain"), path_in(at, "/above/plugins/p.so"));
  const char *part = path_in(at, at->part);
  if (chown(part, at->owner, at->group) != 0 || chmod(part, at->mode) != 0) abort();
}

/* The reports under the scratch directory: of the file or of its folder, whichever is the first with the place's name.
 */
static kw_plugin_report report_of(const char *name) {
  kw_plugin_report report = {.struct_size = sizeof report};
  for (uint32_t i = 0; kw_plugin_get_report(i, &report) == KW_OK; i++)
    if (strstr(report.path, name) != NULL) return report;
  fprintf(stderr, "no report names %s\n", name);
  exit(1);
}

static const place *searched;

static void search(void) {
  setenv("KEYWAY_PLUGIN_PATH", path_in(searched, "/above/plugins"), 1);
  const kw_plugin_report report = report_of(searched->name);
  CHECK(report.status == (searched->reason == NULL ? KW_OK : KW_ERR_PERMISSION));
  CHECK_CONTAINS(report.reason, searched->reason == NULL ? "" : searched->reason);
}

static void every_folder_on_the_way_is_looked_at(void **state) {
  (void)state;
  if (!may_be_other()) skip();
  for (int i = 0; i < PLACES; i++) {
    searched = &places[i];
    make(searched);
    run_child(search);
  }
}

/* ---- Links ------------------------------------------------------------------------------------------------------- */

static void search_by_link(void) {
  setenv("KEYWAY_PLUGIN_PATH", scratch_path("shared/link"), 1);
  const kw_plugin_report report = report_of("by_link");
  CHECK(report.status == KW_ERR_PERMISSION);
  CHECK_CONTAINS(report.reason, "the link ");
  CHECK_CONTAINS(report.reason, "belongs to user 12345");
}

static void search_by_own_link(void) {
  setenv("KEYWAY_PLUGIN_PATH", scratch_path("shared/own"), 1);
  CHECK(report_of("by_link").status == KW_OK);
}

static void links_of_others_are_refused(void **state) {
  (void)state;
  if (!may_be_other()) skip();
  const place good = {.name = "by_link", .part = "/above/plugins/p.so", .mode = 0600};
  make(&good);
  mkdir(scratch_path("shared"), 01777);
  chmod(scratch_path("shared"), 01777);
  assert_int_equal(symlink(path_in(&good, "/above/plugins"), scratch_path("shared/link")), 0);
  assert_int_equal(lchown(scratch_path("shared/link"), OTHER, OTHER), 0);
  assert_int_equal(symlink("../by_link/./above/../above/plugins", scratch_path("shared/own")), 0);
  run_child(search_by_link);
  run_child(search_by_own_link);
}

/* ---- Races ------------------------------------------------------------------------------------------------------- */

/* Another user, who owns the folder above, swaps a good folder of plugins for a bad one as fast as possible. */
static pid_t start_swapping(void) {
  const pid_t child = fork();
  if (child != 0) return child;
  if (setgroups(0, NULL) != 0 || setgid(OTHER) != 0 || setuid(OTHER) != 0) _exit(1);
  char good[300], bad[300], used[300];
  snprintf(good, sizeof good, "%s", scratch_path("race/good"));
  snprintf(bad, sizeof bad, "%s", scratch_path("race/bad"));
  snprintf(used, sizeof used, "%s", scratch_path("race/plugins"));
  for (;;) {
    rename(good, used);
    rename(used, good);
    rename(bad, used);
    rename(used, bad);
  }
}

static void search_in_race(void) {
  setenv("KEYWAY_PLUGIN_PATH", scratch_path("race/plugins"), 1);
  setenv("LEAVES_MARK_AT", scratch_path("mark"), 1);
  uint32_t count;
  CHECK_OK(kw_device_count(&count));
}

static void who_swaps_folders_runs_nothing(void **state) {
  (void)state;
  if (!may_be_other()) skip();
  mkdir(scratch_path("race"), 0755);
  mkdir(scratch_path("race/good"), 0755);
  mkdir(scratch_path("race/bad"), 0755);
  copy_file(fixture_path("plain"), scratch_path("race/good/p.so"));
  copy_file(fixture_path("leaves_mark"), scratch_path("race/bad/p.so"));
  static const char *const of_other[] = {"race", "race/good", "race/bad", "race/bad/p.so"};
  for (size_t i = 0; i < 4; i++) assert_int_equal(chown(scratch_path(of_other[i]), OTHER, OTHER), 0);
  const pid_t other = start_swapping();
  for (int i = 0; i < 30; i++) run_child(search_in_race);
  kill(other, SIGKILL);
  waitpid(other, NULL, 0);
  assert_int_equal(access(scratch_path("mark"), F_OK), -1);
}

/* The test's own sting: where nothing is unsafe, the mark is there. */
static void search_marking(void) {
  setenv("KEYWAY_PLUGIN_PATH", scratch_path("marking"), 1);
  setenv("LEAVES_MARK_AT", scratch_path("mark"), 1);
  CHECK(report_of("marking").status == KW_OK);
}

static void a_plugin_that_runs_leaves_its_mark(void **state) {
  (void)state;
  mkdir(scratch_path("marking"), 0700);
  copy_file(fixture_path("leaves_mark"), scratch_path("marking/p.so"));
  run_child(search_marking);
  assert_int_equal(access(scratch_path("mark"), F_OK), 0);
  unlink(scratch_path("mark"));
  unlink(find_file_with(scratch_path("cache/keyway/probe"), "marking/p.so"));
}

/* ---- The cache --------------------------------------------------------------------------------------------------- */

static void a_cache_that_others_may_write_is_not_used(void **state) {
  (void)state;
  mkdir(scratch_path("cache"), 0700);
  mkdir(scratch_path("cache/keyway"), 0700);
  chmod(scratch_path("cache/keyway"), 0777);
  run_child(search_marking);
  assert_non_null(strstr(read_text(scratch_path("stderr")), "may be written by everyone"));
  assert_null(find_file_with(scratch_path("cache/keyway/probe"), "marking/p.so"));
  chmod(scratch_path("cache/keyway"), 0700);
  run_child(search_marking);
  assert_non_null(find_file_with(scratch_path("cache/keyway/probe"), "marking/p.so"));
  unlink(scratch_path("mark"));
}

int main(void) {
  chmod(scratch_directory(), 0755); /* the other user gets through */
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_folder_on_the_way_is_looked_at),      cmocka_unit_test(links_of_others_are_refused),
      cmocka_unit_test(a_plugin_that_runs_leaves_its_mark),        cmocka_unit_test(who_swaps_folders_runs_nothing),
      cmocka_unit_test(a_cache_that_others_may_write_is_not_used),
  };
  const int failures = cmocka_run_group_tests(tests, NULL, NULL);
  remove_scratch();
  return failures;
}
