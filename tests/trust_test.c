/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of the plugins that may be opened: no code of any other ever runs, constructors included. The machine's own
 * list is tried in a mount namespace with another /etc, and as another user, where this is root.
 */
#include "child.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <keyway/keyway.h>
#include <sched.h>
#include <setjmp.h>
#include <sha256.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- One try ----------------------------------------------------------------------------------------------------- */

/* What the next child finds. */
static struct {
  char folder[300]; /* with marking.so, whose constructor leaves a mark */
  char list[300];   /* KEYWAY_TRUST; "": as unset */
  bool allowed;
  const char *words; /* of why, or why not */
  bool named;        /* by kw_plugin_load */
  const char *isolated;
  uid_t user;
} now;

static void name_list(const char *path) {
  snprintf(now.list, sizeof now.list, "%s", path);
}

static void reset(void) {
  memset(&now, 0, sizeof now);
  snprintf(now.folder, sizeof now.folder, "%s", scratch_path("plugins"));
  name_list(scratch_path("list"));
}

static kw_plugin_report report_of_marking(void) {
  kw_plugin_report report = {.struct_size = sizeof report};
  for (uint32_t i = 0; kw_plugin_get_report(i, &report) == KW_OK; i++)
    if (strstr(report.path, "/marking.so") != NULL) return report;
  fprintf(stderr, "no report names marking.so\n");
  exit(1);
}

static void start(void) {
  char path[sizeof now.folder + 16];
  snprintf(path, sizeof path, "%s/marking.so", now.folder);
  if (now.user != 0 && (setgroups(0, NULL) != 0 || setgid(now.user) != 0 || setuid(now.user) != 0)) abort();
  setenv("LEAVES_MARK_AT", scratch_path("mark"), 1);
  setenv("KEYWAY_TRUST", now.list, 1);
  if (now.isolated != NULL) setenv("KEYWAY_ISOLATE", now.isolated, 1);
  if (!now.named) {
    setenv("KEYWAY_PLUGIN_PATH", now.folder, 1);
    return;
  }
  const kw_init_options bare = {.struct_size = sizeof bare, .flags = KW_INIT_NO_DISCOVERY};
  CHECK_OK(kw_init(&bare));
  CHECK(kw_plugin_load(path) == (now.allowed ? KW_OK : KW_ERR_PERMISSION));
}

static void try(void) {
  kw_device *device;
  start();
  const kw_plugin_report report = report_of_marking();
  CHECK_CONTAINS(now.allowed ? report.trust : report.reason, now.words);
  CHECK(report.status == (now.allowed ? KW_OK : KW_ERR_PERMISSION));
  const kw_status opened = kw_device_open("leaves_mark:0", &device);
  CHECK((opened == KW_OK) == now.allowed);
}

static bool take_mark(void) {
  const bool there = access(scratch_path("mark"), F_OK) == 0;
  unlink(scratch_path("mark"));
  return there;
}

static void expect(bool allowed, const char *words) {
  now.allowed = allowed;
  now.words = words;
  run_child(try);
  assert_int_equal(take_mark(), allowed);
}

/* "sha256 HEX" of a file, in a static buffer. */
static const char *line_of(const char *path) {
  static char line[SHA256_DIGEST_STRING_LENGTH + 8] = "sha256 ";
  if (SHA256File(path, line + 7) == NULL) abort();
  return line;
}

static const char *plugin(void) {
  return scratch_path("plugins/marking.so");
}

static void write_list(const char *text) {
  write_text(scratch_path("list"), text);
  chmod(scratch_path("list"), 0600);
}

static int fresh_plugin(void **state) {
  (void)state;
  mkdir(scratch_path("plugins"), 0755);
  chmod(scratch_path("plugins"), 0755);
  unlink(plugin());
  unlink(scratch_path("plugins/marking.so.minisig"));
  unlink(scratch_path("list"));
  copy_file(fixture_path("leaves_mark"), plugin());
  chmod(plugin(), 0755);
  take_mark();
  reset();
  return 0;
}

/* ---- One list ---------------------------------------------------------------------------------------------------- */

static void without_a_list_all_may(void **state) {
  (void)state;
  name_list("");
  expect(true, "");
}

static void what_is_not_listed_never_runs(void **state) {
  (void)state;
  char line[200];
  snprintf(line, sizeof line, "adds the line: %s marking.so", line_of(plugin()));
  write_list("# nothing\n");
  expect(false, line);
  now.isolated = "*";
  expect(false, line);
  now.named = true;
  expect(false, line);
  now.isolated = NULL;
  expect(false, line);
}

static void the_line_that_is_asked_for_allows_it(void **state) {
  (void)state;
  char text[200];
  snprintf(text, sizeof text, "# ours\n\n%s marking.so\n", line_of(plugin()));
  write_list(text);
  expect(true, "list, line 3: sha256");
  now.named = true;
  expect(true, "list, line 3: sha256");
}

/* In place, and of another time even where the file system's clock stands. */
static void change_byte(void) {
  const int file = open(plugin(), O_RDWR);
  const off_t last = lseek(file, -1, SEEK_END);
  const struct timespec times[] = {{.tv_sec = 1}, {.tv_sec = 1}};
  char byte;
  if (pread(file, &byte, 1, last) != 1) abort();
  byte ^= 1;
  if (pwrite(file, &byte, 1, last) != 1 || futimens(file, times) != 0 || close(file) != 0) abort();
}

static void a_changed_byte_is_another_file(void **state) {
  (void)state;
  write_list(line_of(plugin()));
  change_byte();
  expect(false, "no rule in ");
}

/* Between listing and opening, in place. */
static void open_after_change(void) {
  kw_device *device;
  start();
  CHECK_OK(report_of_marking().status);
  change_byte();
  unlink(scratch_path("mark")); /* the helper's */
  CHECK(kw_device_open("leaves_mark:0", &device) == KW_ERR_PERMISSION);
  CHECK_CONTAINS(kw_error_message(), "adds the line: sha256 ");
  const kw_plugin_report report = report_of_marking();
  CHECK(report.status == KW_ERR_PERMISSION && report.trust[0] == '\0');
}

static void what_is_opened_is_what_was_allowed(void **state) {
  (void)state;
  write_list(line_of(plugin()));
  run_child(open_after_change);
  assert_false(take_mark());
}

/* The process of the plugin, the only child; 0 on a kernel that does not tell. */
static pid_t process_of_plugin(void) {
  glob_t lists;
  long child = 0;
  if (glob("/proc/self/task/*/children", 0, NULL, &lists) != 0) return 0;
  for (size_t i = 0; i < lists.gl_pathc && child == 0; i++) child = strtol(read_text(lists.gl_pathv[i]), NULL, 10);
  globfree(&lists);
  CHECK(child != 0);
  return (pid_t)child;
}

static void open_apart_after_change(void) {
  kw_device *device;
  siginfo_t info;
  start();
  CHECK_OK(kw_device_open("leaves_mark:0", &device));
  CHECK_OK(kw_device_close(device));
  const pid_t child = process_of_plugin();
  if (child == 0) return;
  change_byte();
  kill(child, SIGKILL);
  waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT);
  kw_status status;
  do { /* until its end is known */
    sched_yield();
    status = kw_device_open("leaves_mark:0", &device);
  } while (status == KW_ERR_DEVICE_LOST);
  CHECK(status == KW_ERR_PERMISSION);
  CHECK_CONTAINS(kw_error_message(), "adds the line: sha256 ");
}

static void so_it_is_where_a_process_starts_again(void **state) {
  (void)state;
  write_list(line_of(plugin()));
  now.isolated = "*";
  run_child(open_apart_after_change);
}

static void a_folder_allows_what_is_in_it(void **state) {
  (void)state;
  char text[300];
  snprintf(text, sizeof text, "folder %s/\n", scratch_path("plugins"));
  write_list(text);
  expect(true, "line 1: folder");
  snprintf(text, sizeof text, "folder %s\n", scratch_directory()); /* not what is below it */
  write_list(text);
  expect(false, "no rule in ");
  snprintf(text, sizeof text, "folder %s_more\n", scratch_path("plugins"));
  write_list(text);
  expect(false, "no rule in ");
}

/* Whoever may write it may exchange it after it was looked at. */
static void files_of_others_are_not_vouched_for(void **state) {
  (void)state;
  write_list(line_of(plugin()));
  chmod(plugin(), 0757);
  now.named = true;
  expect(false, "is in force, and the file may be written by everyone");
}

/* ---- Lists that allow nothing ------------------------------------------------------------------------------------ */

static void look_at_list(void) {
  kw_trust_file file = {.struct_size = sizeof file};
  start();
  CHECK_OK(kw_plugin_get_trust_file(0, &file));
  CHECK_CONTAINS(file.path, now.list);
  CHECK_CONTAINS(file.reason, now.words);
  CHECK(file.rule_count == 0);
  CHECK(kw_plugin_get_trust_file(1, &file) == KW_ERR_NOT_FOUND);
}

static void expect_none(const char *words) {
  expect(false, words);
  run_child(look_at_list);
}

static void a_list_that_cannot_be_read_allows_nothing(void **state) {
  (void)state;
  char text[300];
  write_list(line_of(plugin()));
  name_list(scratch_path("no_list"));
  expect_none("there is no file ");
  name_list("list");
  expect_none("is named by its whole path");
  name_list(scratch_path("plugins"));
  expect_none("it is no file");
  name_list(scratch_path("list"));
  chmod(now.list, 0602);
  expect_none("may be written by everyone");
  chmod(now.list, 0600);
  snprintf(text, sizeof text, "%s\r\n", line_of(plugin()));
  write_list(text);
  expect_none("line 1: it has a control character, number 13");
  snprintf(text, sizeof text, "%s\nallow all\n", line_of(plugin()));
  write_list(text);
  expect_none("line 2: a rule begins with");
  if (!may_be_other()) return; /* what it owns it may read, or take back */
  write_list(line_of(plugin()));
  assert_int_equal(chown(now.list, OTHER, 0), 0);
  expect_none("belongs to user 12345");
}

static void a_list_that_may_not_be_read_allows_nothing(void **state) {
  (void)state;
  write_list(line_of(plugin()));
  chmod(now.list, 0);
  if (geteuid() != 0) {
    expect_none("it cannot be read: Permission denied");
    return;
  }
  if (!may_be_other()) skip(); /* root may read all */
  now.user = OTHER;
  chmod(plugin(), 0644);
  now.allowed = false;
  now.words = "it cannot be read: Permission denied";
  run_child(look_at_list);
  assert_false(take_mark());
}

/* ---- Signatures -------------------------------------------------------------------------------------------------- */

static bool shell(const char *format, ...) {
  char command[2048], words[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(words, sizeof words, format, arguments);
  va_end(arguments);
  snprintf(command, sizeof command, "cd %s && { %s; } >shell.log 2>&1", scratch_directory(), words);
  return system(command) == 0;
}

static bool make_keys(void) {
  return access(scratch_path("other.pub"), F_OK) == 0 ||
         (shell("minisign -G -W -p own.pub -s own.sec") && shell("minisign -G -W -p other.pub -s other.sec"));
}

static void sign(const char *options) {
  if (!shell("minisign -S %s -m plugins/marking.so", options)) fail_msg("%s", read_text(scratch_path("shell.log")));
}

static void what_a_listed_key_has_signed_may_be_opened(void **state) {
  (void)state;
  if (!make_keys()) skip(); /* minisign is not there */
  if (dlopen("libsodium.so.23", RTLD_NOW) == NULL && dlopen("libsodium.so.26", RTLD_NOW) == NULL) skip();
  assert_true(shell("echo minisign $(tail -n 1 own.pub) >list; chmod 600 list"));
  expect(false, "adds the line: sha256 ");
  sign("-s own.sec");
  run_child(start);
  expect(true, "line 1: minisign");
  sign("-l -s own.sec");
  expect(true, "line 1: minisign");
  sign("-s other.sec");
  expect(false, "its signature does not count: no rule has its key, ");
  sign("-s own.sec -t one");
  assert_true(shell("sed -i 's/^trusted comment: one/trusted comment: two/' plugins/marking.so.minisig"));
  expect(false, "its signature does not count: its trusted comment was changed");
  sign("-s own.sec");
  change_byte();
  expect(false, "its signature does not count: the file was changed after it was signed");
  write_text(scratch_path("plugins/marking.so.minisig"), "good\n");
  expect(false, "its signature does not count: it is no signature of minisign's");
  assert_true(shell("echo minisign $(tail -n 1 other.pub) >>list"));
  sign("-s other.sec");
  expect(true, "line 2: minisign");
}

/* ---- The machine's list ------------------------------------------------------------------------------------------ */

static bool in_other_etc;

/* From here on /etc is one of this process and its children alone, with the list and a plugin. */
static int enter_other_etc(void **state) {
  (void)state;
  if (!may_be_other() || unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      mount("none", "/etc", "tmpfs", 0, "mode=755") != 0) {
    return 0; /* each test skips itself */
  }
  in_other_etc = true;
  mkdir("/etc/keyway", 0755);
  mkdir("/etc/plugins", 0755);
  copy_file(fixture_path("leaves_mark"), "/etc/plugins/marking.so");
  return 0;
}

#define MACHINES_LIST "/etc/keyway/trust"

static void write_machines(const char *text) {
  unlink(MACHINES_LIST);
  write_text(MACHINES_LIST, text);
  chmod(MACHINES_LIST, 0644);
}

static void root_alone_writes_the_machines_list(void **state) {
  (void)state;
  if (!in_other_etc) skip();
  static const char not_roots[] =
      "/etc/keyway/trust allows no plugin at all: all that 'namei -l /etc/keyway/trust' shows";
  snprintf(now.folder, sizeof now.folder, "%s", "/etc/plugins");
  name_list("");
  expect(true, "");
  write_machines("");
  expect(false, "no rule in /etc/keyway/trust allows it");
  write_machines("folder /etc/plugins\n");
  expect(true, "/etc/keyway/trust, line 1: folder");
  chmod(MACHINES_LIST, 0664);
  expect(false, not_roots);
  chmod(MACHINES_LIST, 0644);
  if (chown(MACHINES_LIST, OTHER, OTHER) != 0) abort();
  expect(false, not_roots);
  if (chown(MACHINES_LIST, 0, 0) != 0 || chown("/etc/keyway", OTHER, 0) != 0) abort();
  expect(false, not_roots);
  if (chown("/etc/keyway", 0, 0) != 0) abort();
  unlink(MACHINES_LIST);
  if (symlink("/etc/no_list", MACHINES_LIST) != 0) abort();
  expect(false, "/etc/keyway/trust allows no plugin at all: there is no file");
  write_machines("folder /etc/plugins\n");
  if (chown("/etc/plugins", OTHER, 0) != 0) abort();
  now.named = true; /* found, it would be refused as of another user */
  expect(false, "is in force, and the folder /etc/plugins belongs to user 12345");
  if (chown("/etc/plugins", 0, 0) != 0 || chmod("/etc/plugins", 01777) != 0) abort();
  expect(false, "no rule in /etc/keyway/trust allows it");
}

static void the_environment_only_takes_away(void **state) {
  (void)state;
  if (!in_other_etc) skip();
  char line[300];
  chmod("/etc/plugins", 0755);
  snprintf(now.folder, sizeof now.folder, "%s", "/etc/plugins");
  snprintf(line, sizeof line, "%s\n", line_of("/etc/plugins/marking.so"));
  write_machines("");
  write_list(line);
  expect(false, "no rule in /etc/keyway/trust allows it");
  write_machines(line);
  write_list("");
  expect(false, "list allows it; who trusts it adds the line: ");
  write_list("allow all\n");
  expect(false, "list allows no plugin at all: line 1: a rule begins with");
  write_list("folder /etc/plugins\n");
  expect(true, "/etc/keyway/trust, line 1: sha256; ");
  expect(true, "list, line 1: folder");
}

/* With a folder, a plugin and a list of his own. */
static void another_user_gets_around_nothing(void **state) {
  (void)state;
  if (!in_other_etc) skip();
  char line[300];
  static const char *const of_other[] = {"plugins", "plugins/marking.so", "list"};
  snprintf(line, sizeof line, "%s\n", line_of(plugin()));
  write_list(line);
  for (size_t i = 0; i < 3; i++)
    if (chown(scratch_path(of_other[i]), OTHER, OTHER) != 0) abort();
  chmod(scratch_directory(), 01777); /* the mark could be made */
  now.user = OTHER;
  write_machines("folder /etc/plugins\n");
  expect(false, "no rule in /etc/keyway/trust allows it");
  snprintf(line, sizeof line, "folder %s\n", scratch_path("plugins"));
  write_machines(line);
  expect(false, "no rule in /etc/keyway/trust allows it"); /* the folder is not root's */
  name_list("");
  expect(false, "no rule in /etc/keyway/trust allows it");
  chmod("/etc/keyway", 0700);
  expect(false, "/etc/keyway/trust allows no plugin at all: ");
  chmod("/etc/keyway", 0755);
  chmod(scratch_directory(), 0755);
}

int main(void) {
  chmod(scratch_directory(), 0755); /* the other user gets through */
  const struct CMUnitTest of_one[] = {
      cmocka_unit_test_setup(without_a_list_all_may, fresh_plugin),
      cmocka_unit_test_setup(what_is_not_listed_never_runs, fresh_plugin),
      cmocka_unit_test_setup(the_line_that_is_asked_for_allows_it, fresh_plugin),
      cmocka_unit_test_setup(a_changed_byte_is_another_file, fresh_plugin),
      cmocka_unit_test_setup(what_is_opened_is_what_was_allowed, fresh_plugin),
      cmocka_unit_test_setup(so_it_is_where_a_process_starts_again, fresh_plugin),
      cmocka_unit_test_setup(a_folder_allows_what_is_in_it, fresh_plugin),
      cmocka_unit_test_setup(files_of_others_are_not_vouched_for, fresh_plugin),
      cmocka_unit_test_setup(a_list_that_cannot_be_read_allows_nothing, fresh_plugin),
      cmocka_unit_test_setup(a_list_that_may_not_be_read_allows_nothing, fresh_plugin),
      cmocka_unit_test_setup(what_a_listed_key_has_signed_may_be_opened, fresh_plugin),
  };
  const struct CMUnitTest of_the_machine[] = {
      cmocka_unit_test_setup(root_alone_writes_the_machines_list, fresh_plugin),
      cmocka_unit_test_setup(the_environment_only_takes_away, fresh_plugin),
      cmocka_unit_test_setup(another_user_gets_around_nothing, fresh_plugin),
  };
  int failures = cmocka_run_group_tests(of_one, NULL, NULL);
  failures += cmocka_run_group_tests(of_the_machine, enter_other_etc, NULL);
  remove_scratch();
  return failures;
}
