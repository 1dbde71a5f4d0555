/* SPDX-License-Identifier: Apache-2.0
 *
 * Discovery, probing, negotiation and the load report, on synthetic plugins.
 */
#include "child.h"

#include <dlfcn.h>
#include <fenv.h>
#include <keyway/keyway.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- Helpers ----------------------------------------------------------------------------------------------------- */

static void start_without_discovery(void) {
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY};
  CHECK_OK(kw_init(&options));
}

static uint32_t report_count(void) {
  uint32_t count;
  CHECK_OK(kw_plugin_count(&count));
  return count;
}

/* The report whose path ends so. There must be exactly one. */
static kw_plugin_report report_of(const char *path_end) {
  kw_plugin_report found = {0};
  uint32_t hits = 0;
  for (uint32_t i = 0; i < report_count(); i++) {
    kw_plugin_report report;
    report.struct_size = sizeof report;
    CHECK_OK(kw_plugin_get_report(i, &report));
    size_t length = strlen(report.path), end = strlen(path_end);
    if (length < end || strcmp(report.path + length - end, path_end) != 0) continue;
    found = report;
    hits++;
  }
  if (hits != 1) fprintf(stderr, "%u reports end with %s\n", hits, path_end);
  CHECK(hits == 1);
  return found;
}

/* Opens a device, adds 1 and 2 on it, and closes it. */
static void use_device(const char *name) {
  kw_device *device;
  kw_tensor *x, *y, *sum = NULL;
  const int64_t shape[] = {1};
  CHECK_OK(kw_device_open(name, &device));
  CHECK_OK(kw_tensor_create(device, KW_F32, 1, shape, &x));
  CHECK_OK(kw_tensor_create(device, KW_F32, 1, shape, &y));
  CHECK_OK(kw_tensor_write(x, (const float[]){1}));
  CHECK_OK(kw_tensor_write(y, (const float[]){2}));
  const kw_value arguments[] = {kw_arg_tensor(x), kw_arg_tensor(y)};
  CHECK_OK(kw_op_call(kw_op_find("add.Tensor"), NULL, arguments, 2, &sum, 1));
  float result = 0;
  CHECK_OK(kw_tensor_read(sum, &result));
  CHECK(result == 3);
  kw_tensor_release(x);
  kw_tensor_release(y);
  kw_tensor_release(sum);
  CHECK_OK(kw_device_close(device));
}

/* ---- Both ways across a minor version ---------------------------------------------------------------------------- */

static void load_newer(void) {
  start_without_discovery();
  CHECK_OK(kw_plugin_load(fixture_path("abi_1_7")));
  CHECK(report_count() == 1);
  kw_plugin_report newer = report_of("abi_1_7.so");
  CHECK(newer.reached == KW_STAGE_INIT && newer.abi_version == KW_ABI_MAKE(1, 7));
  CHECK(strcmp(newer.reason, "") == 0 && strcmp(newer.key, "newer") == 0 && strcmp(newer.vendor, "fixture") == 0);
  CHECK(newer.device_count == 1 && newer.kernel_count == 1);
  use_device("newer:0");
  kw_device *device;
  CHECK_OK(kw_device_open("newer", &device));
  CHECK(kw_device_native(device) == 0);
  /* What has a meaning in 1.7 and none here reads as zero. */
  kw_device_info info = {.struct_size = sizeof info};
  CHECK_OK(kw_device_get_info(device, &info));
  CHECK(info.reserved == 0 && info.flush_subnormal.bits[0] == KW_DTYPE_BIT(KW_F16));
  CHECK(info.flush_subnormal.bits[1] == 0);
  kw_kernel_info kernel = {.struct_size = sizeof kernel};
  CHECK_OK(kw_op_get_kernel(kw_op_find("add.Tensor"), device, 0, &kernel));
  CHECK(kernel.dtypes.bits[0] == KW_DTYPE_BIT(KW_F32) && kernel.dtypes.bits[1] == 0);
  CHECK_OK(kw_device_close(device));
}

static void a_later_minor_loads(void **state) {
  (void)state;
  run_child(load_newer);
}

/* ---- Everything that can be wrong with a candidate --------------------------------------------------------------- */

typedef struct expectation {
  const char *file;
  kw_stage reached;
  kw_status status;
  const char *reason; /* part of it */
} expectation;

static const expectation expectations[] = {
    {"keyway_fixture_abi_0_9.so", KW_STAGE_SYMBOL, KW_ERR_ABI_MISMATCH,
     "plugin ABI 0.9 and this Keyway serves 1.0 to 1.0"},
    {"keyway_fixture_abi_9.so", KW_STAGE_SYMBOL, KW_ERR_ABI_MISMATCH,
     "plugin ABI 9.0 and this Keyway serves 1.0 to 1.0"},
    {"keyway_fixture_query_no.so", KW_STAGE_SYMBOL, KW_ERR_ABI_MISMATCH, "needs plugin ABI 7.0"},
    {"keyway_fixture_no_symbol.so", KW_STAGE_FOUND, KW_ERR_UNSUPPORTED, "does not export keyway_plugin_query"},
    {"keyway_fixture_bad_sizes.so", KW_STAGE_SYMBOL, KW_ERR_ABI_MISMATCH, "keyway.memory/1 has struct_size 3735928559"},
    {"keyway_fixture_short_table.so", KW_STAGE_SYMBOL, KW_ERR_ABI_MISMATCH, "keyway.memory/1 has struct_size 32"},
    {"keyway_fixture_reserved_set.so", KW_STAGE_SYMBOL, KW_ERR_ABI_MISMATCH, "reserved in keyway.memory/1 is 7"},
    {"keyway_fixture_group_twice.so", KW_STAGE_SYMBOL, KW_ERR_ABI_MISMATCH, "group keyway.memory/1 is there twice"},
    {"keyway_fixture_missing_slot.so", KW_STAGE_SYMBOL, KW_ERR_ABI_MISMATCH, "required slot memory.copy is missing"},
    {"keyway_fixture_crash_constructor.so", KW_STAGE_FOUND, KW_ERR_INTERNAL,
     "crashed (SIGSEGV) while its constructors"},
    {"keyway_fixture_exit_constructor.so", KW_STAGE_FOUND, KW_ERR_INTERNAL,
     "code 3 while its constructors ran (dlopen): the licence has expired"},
    {"keyway_fixture_crash_query.so", KW_STAGE_SYMBOL, KW_ERR_INTERNAL, "crashed (SIGSEGV) in its query"},
    {"keyway_fixture_hang_probe.so", KW_STAGE_VERSION, KW_ERR_TIMEOUT, "did not answer within 2000 ms in its probe"},
    {"keyway_fixture_probe_no.so", KW_STAGE_VERSION, KW_ERR_NOT_FOUND, "no fixture chip is plugged in: plug one in"},
    {"keyway_fixture_init_fail.so", KW_STAGE_PROBE, KW_ERR_TIMEOUT, "fixtureInit: the firmware does not answer"},
    {"keyway_fixture_probe_silent.so", KW_STAGE_VERSION, KW_ERR_NOT_FOUND,
     "its probe says no, and gave no reason (set *out_reason): not found"},
    {"keyway_fixture_init_silent.so", KW_STAGE_PROBE, KW_ERR_OUT_OF_MEMORY,
     "its init failed: out of memory (the plugin gave no text: host->set_error)"},
    {"/a_directory.so", KW_STAGE_FOUND, KW_ERR_IO, "is a directory"},
    {"/empty.so", KW_STAGE_FOUND, KW_ERR_IO, "is empty (0 bytes)"},
    {"/text.so", KW_STAGE_FOUND, KW_ERR_IO, "not a shared object"},
    {"/truncated.so", KW_STAGE_FOUND, KW_ERR_IO, ""},
    {"/unreadable.so", KW_STAGE_FOUND, KW_ERR_IO, ""}, /* root reads it all the same, and finds no ELF header */
    {"/pipe.so", KW_STAGE_FOUND, KW_ERR_IO, "is not a regular file"},
    {"/dangling.so", KW_STAGE_FOUND, KW_ERR_NOT_FOUND, "no file"},
    {"/writable.so", KW_STAGE_FOUND, KW_ERR_PERMISSION, "may be written by everyone"},
    {"/open_directory", KW_STAGE_FOUND, KW_ERR_PERMISSION, "may be written by everyone"},
    {"/no_such_directory", KW_STAGE_FOUND, KW_ERR_NOT_FOUND, "no directory"},
    {"relative/plugins", KW_STAGE_FOUND, KW_ERR_INVALID_ARGUMENT, "relative"},
    {"KEYWAY_PLUGIN_PATH", KW_STAGE_FOUND, KW_ERR_INVALID_ARGUMENT, "current directory"},
};
#define EXPECTATION_COUNT (sizeof expectations / sizeof expectations[0])

/* A directory with every kind of file that is no plugin. Returns the search path to it and to the fixtures. */
static const char *make_bad_places(void) {
  static char search_path[4096];
  mkdir(scratch_path("bad"), 0700);
  mkdir(scratch_path("bad/a_directory.so"), 0700);
  write_text(scratch_path("bad/empty.so"), "");
  write_text(scratch_path("bad/text.so"), "#!/bin/sh\n");
  write_text(scratch_path("bad/truncated.so"), "\177ELF and nothing more");
  write_text(scratch_path("bad/unreadable.so"), "secret");
  chmod(scratch_path("bad/unreadable.so"), 0);
  mkfifo(scratch_path("bad/pipe.so"), 0600);
  if (symlink("nowhere", scratch_path("bad/dangling.so")) != 0) abort();
  if (symlink(fixture_path("plain"), scratch_path("bad/same_again.so")) != 0) abort();
  copy_file(fixture_path("plain"), scratch_path("bad/writable.so"));
  chmod(scratch_path("bad/writable.so"), 0707);
  write_text(scratch_path("bad/not_considered.so.txt"), "text");
  mkdir(scratch_path("open_directory"), 0700);
  chmod(scratch_path("open_directory"), 0777);
  snprintf(search_path, sizeof search_path, "%s::%s:relative/plugins:%s:%s:%s", KEYWAY_FIXTURES, scratch_path("bad"),
           scratch_path("open_directory"), scratch_path("no_such_directory"), KEYWAY_FIXTURES);
  return search_path;
}

/* The directories of make_bad_places and those behind them, in the order of the search. */
static void check_directories(void) {
  static const struct {
    const char *path_end, *origin;
    kw_directory_state state;
    const char *reason; /* part of it; NULL: not looked at, as the state, which depends on the machine */
  } expected[] = {
      {KEYWAY_FIXTURES, "KEYWAY_PLUGIN_PATH", KW_DIRECTORY_SEARCHED, ""},
      {"", "KEYWAY_PLUGIN_PATH", KW_DIRECTORY_REFUSED, "current directory"},
      {"/bad", "KEYWAY_PLUGIN_PATH", KW_DIRECTORY_SEARCHED, ""},
      {"relative/plugins", "KEYWAY_PLUGIN_PATH", KW_DIRECTORY_REFUSED, "relative"},
      {"/open_directory", "KEYWAY_PLUGIN_PATH", KW_DIRECTORY_REFUSED, "may be written by everyone"},
      {"/no_such_directory", "KEYWAY_PLUGIN_PATH", KW_DIRECTORY_ABSENT, "no directory"},
      {KEYWAY_FIXTURES, "KEYWAY_PLUGIN_PATH", KW_DIRECTORY_SEARCHED, ""},
      {"/home/.local/lib/keyway/plugins", "this user's", KW_DIRECTORY_ABSENT, "no directory"},
      {"/keyway/plugins", "beside libkeyway.so", KW_DIRECTORY_SEARCHED, NULL},
      {"/usr/local/lib/keyway/plugins", "this machine's", KW_DIRECTORY_SEARCHED, NULL},
      {"/usr/lib/keyway/plugins", "this system's", KW_DIRECTORY_SEARCHED, NULL},
  };
  const uint32_t count = sizeof expected / sizeof expected[0];
  kw_plugin_directory directory;
  for (uint32_t i = 0; i < count; i++) {
    directory.struct_size = sizeof directory;
    CHECK_OK(kw_plugin_get_directory(i, &directory));
    size_t length = strlen(directory.path), end = strlen(expected[i].path_end);
    CHECK(length >= end && strcmp(directory.path + length - end, expected[i].path_end) == 0);
    CHECK(end != 0 || length == 0);
    CHECK(strcmp(directory.origin, expected[i].origin) == 0);
    CHECK((directory.reason[0] == '\0') == (directory.state == KW_DIRECTORY_SEARCHED));
    if (expected[i].reason == NULL) continue;
    CHECK(directory.state == expected[i].state);
    CHECK_CONTAINS(directory.reason, expected[i].reason);
  }
  CHECK(kw_plugin_get_directory(count, &directory) == KW_ERR_NOT_FOUND);
  CHECK(kw_plugin_get_directory(0, NULL) == KW_ERR_INVALID_ARGUMENT);
}

static void discover_all(void) {
  setenv("KEYWAY_PLUGIN_PATH", make_bad_places(), 1);
  setenv("KEYWAY_PROBE_TIMEOUT_MS", "2000", 1);
  setenv("KEYWAY_LOG", "info", 1);
  for (size_t i = 0; i < EXPECTATION_COUNT; i++) {
    const expectation *expected = &expectations[i];
    kw_plugin_report report = report_of(expected->file);
    if (report.reached != expected->reached || report.status != expected->status) {
      fprintf(stderr, "%s: reached %s, %s: %s\n", report.path, kw_stage_name(report.reached),
              kw_status_name(report.status), report.reason);
    }
    CHECK(report.reached == expected->reached);
    CHECK(report.status == expected->status);
    CHECK_CONTAINS(report.reason, expected->reason);
    CHECK(report.reason[0] != '\0' && strchr(report.reason, '\n') == NULL);
  }
  CHECK(strcmp(report_of("probe_no.so").key, "probe_no") == 0); /* known from the helper */
  CHECK(report_of("fixture_plain.so").status == KW_OK);         /* once, though it has another name as well */
  use_device("plain");
  use_device("plain:1");
  use_device("newer");

  check_directories();

  kw_device *device;
  CHECK(kw_device_open("npu_of_nobody:0", &device) == KW_ERR_NOT_FOUND);
  CHECK_CONTAINS(kw_error_message(), "plain:0, plain:1");
  CHECK_CONTAINS(kw_error_message(), "keyway_fixture_abi_9.so (reached symbol): it was built for plugin ABI 9.0");
}

static void each_candidate_has_one_report(void **state) {
  (void)state;
  run_child(discover_all);
  const char *loads = strstr(read_text(scratch_path("stderr")), "keyway_fixture_plain.so: reached init");
  assert_non_null(loads);
  assert_null(strstr(loads + 1, "keyway_fixture_plain.so: reached")); /* not loaded by its other names */
}

/* ---- One file by name -------------------------------------------------------------------------------------------- */

static void start_with_later_flags(void) {
  kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY | UINT64_C(1) << 63};
  CHECK(kw_init(&options) == KW_ERR_UNSUPPORTED); /* critical: the caller insists */
  CHECK_CONTAINS(kw_error_message(), "0x8000000000000001");
  options.flags = KW_INIT_NO_DISCOVERY | UINT64_C(1) << 31;
  CHECK_OK(kw_init(&options));
}

static void later_flags_are_hints_or_refused(void **state) {
  (void)state;
  run_child(start_with_later_flags);
}

static void load_by_name(void) {
  start_without_discovery();
  CHECK(kw_init(NULL) == KW_ERR_BUSY);
  CHECK(report_count() == 0);
  CHECK_OK(kw_plugin_load(fixture_path("plain")));
  CHECK_OK(kw_plugin_load(fixture_path("plain")));
  CHECK(report_count() == 1);

  CHECK(kw_plugin_load("/no/such/file.so") == KW_ERR_NOT_FOUND);
  CHECK_CONTAINS(kw_error_message(), "/no/such/file.so");
  CHECK(report_count() == 1);
  CHECK(kw_plugin_load("/dev/null") == KW_ERR_IO);
  CHECK_CONTAINS(kw_error_message(), "is not a regular file");
  CHECK(report_count() == 2);

  CHECK(kw_plugin_load(fixture_path("probe_no")) == KW_ERR_NOT_FOUND);
  CHECK(kw_plugin_load(fixture_path("probe_no")) == KW_ERR_NOT_FOUND);
  CHECK(report_count() == 3); /* tried twice, reported once */

  copy_file(fixture_path("plain"), scratch_path("copy.so"));
  CHECK(kw_plugin_load(scratch_path("copy.so")) == KW_ERR_BUSY);
  CHECK_CONTAINS(kw_error_message(), "fixture.plain is already loaded from");

  copy_file(fixture_path("oom"), scratch_path("vouched.so"));
  chmod(scratch_path("vouched.so"), 0707);
  CHECK_OK(kw_plugin_load(scratch_path("vouched.so")));
  CHECK_CONTAINS(report_of("/vouched.so").reason, "the file may be written by everyone");
  CHECK(strstr(report_of("/vouched.so").reason, "warning") == NULL); /* the log says that it is one */
  use_device("plain");

  copy_file(fixture_path("texts"), scratch_path("alone.so"));
  write_text(scratch_path("alone.keyway.json"), "{\"isolate\": \"yes\"}");
  CHECK(kw_plugin_load(scratch_path("alone.so")) == KW_ERR_INVALID_ARGUMENT);
  CHECK_CONTAINS(kw_error_message(), "alone.so could not be opened\n  because: the manifest ");
  CHECK_CONTAINS(kw_error_message(), "'isolate' is true or false");
  CHECK(strstr(kw_error_message(), "was not loaded") == NULL); /* once is enough */

  kw_plugin_report report = {.struct_size = sizeof report};
  CHECK(kw_plugin_get_report(99, &report) == KW_ERR_NOT_FOUND);
  kw_plugin_directory directory = {.struct_size = sizeof directory};
  CHECK(kw_plugin_get_directory(0, &directory) == KW_ERR_NOT_FOUND); /* nothing was searched */
}

static void files_load_by_name(void **state) {
  (void)state;
  run_child(load_by_name);
}

/* ---- Foreign owners ---------------------------------------------------------------------------------------------- */

static void discover_foreign(void) {
  setenv("KEYWAY_PLUGIN_PATH", scratch_path("foreign"), 1);
  kw_plugin_report report = report_of("/foreign.so");
  CHECK(report.status == KW_ERR_PERMISSION);
  CHECK_CONTAINS(report.reason, "belongs to user 12345");
}

static void files_of_others_are_refused(void **state) {
  (void)state;
  if (!may_be_other()) skip();
  mkdir(scratch_path("foreign"), 0700);
  copy_file(fixture_path("plain"), scratch_path("foreign/foreign.so"));
  assert_int_equal(chown(scratch_path("foreign/foreign.so"), OTHER, OTHER), 0);
  run_child(discover_foreign);
}

/* ---- The cache of verdicts --------------------------------------------------------------------------------------- */

static void load_plain(void) {
  start_without_discovery();
  CHECK_OK(kw_plugin_load(fixture_path("plain")));
  CHECK(kw_plugin_load(fixture_path("crash_query")) == KW_ERR_INTERNAL);
}

static void load_plain_with_remark(void) {
  load_plain();
  CHECK(strcmp(report_of("plain.so").reason, "from the cache") == 0);
}

/* Where the cache keeps a plugin's entry. */
static const char *entry_of(const char *plugin) {
  return find_file_with(scratch_path("cache/keyway/probe"), plugin);
}

static void verdicts_are_remembered(void **state) {
  (void)state;
  run_child(load_plain);
  assert_non_null(entry_of("keyway_fixture_crash_query.so")); /* for a while */
  char entry[4096], edited[65536];
  assert_non_null(entry_of("keyway_fixture_plain.so"));
  snprintf(entry, sizeof entry, "%s", entry_of("keyway_fixture_plain.so"));

  /* What the cache says about the plugin is believed: the helper did not run again. */
  const char *text = read_text(entry), *remark = strstr(text, "\"reason\":\"\"");
  assert_non_null(remark);
  snprintf(edited, sizeof edited, "%.*s\"reason\":\"from the cache\"%s", (int)(remark - text), text,
           remark + strlen("\"reason\":\"\""));
  write_text(entry, edited);
  run_child(load_plain_with_remark);

  write_text(entry, "{\"truncated\": ");
  run_child(load_plain);
  assert_non_null(entry_of("keyway_fixture_plain.so")); /* written anew */
}

static void load_cached_copy(void) {
  start_without_discovery();
  kw_plugin_load(scratch_path("changing.so"));
}

static void a_changed_file_is_probed_again(void **state) {
  (void)state;
  copy_file(fixture_path("plain"), scratch_path("changing.so"));
  run_child(load_cached_copy);
  char before[65536];
  assert_non_null(entry_of("changing.so"));
  snprintf(before, sizeof before, "%s", read_text(entry_of("changing.so")));
  copy_file(fixture_path("empty"), scratch_path("changing.so"));
  run_child(load_cached_copy);
  assert_string_not_equal(before, read_text(entry_of("changing.so")));
}

static void many_at_once(void) {
  pid_t children[6];
  for (int i = 0; i < 6; i++) {
    children[i] = fork();
    if (children[i] == 0) {
      load_plain();
      exit(0);
    }
  }
  for (int i = 0; i < 6; i++) {
    int status;
    CHECK(waitpid(children[i], &status, 0) == children[i] && status == 0);
  }
  load_plain();
}

static void processes_share_the_cache(void **state) {
  (void)state;
  unlink(entry_of("keyway_fixture_plain.so"));
  run_child(many_at_once);
}

static void load_without_home(void) {
  unsetenv("HOME");
  unsetenv("XDG_CACHE_HOME");
  load_plain();
}

static void load_with_missing_home(void) {
  char home[64];
  snprintf(home, sizeof home, "/tmp/keyway-no-home-%d", (int)getpid());
  setenv("HOME", home, 1);
  unsetenv("XDG_CACHE_HOME");
  load_plain();
  CHECK(access(home, F_OK) != 0);
}

static void no_home_means_no_cache(void **state) {
  (void)state;
  run_child(load_without_home);
  run_child(load_with_missing_home);
}

/* ---- The helper -------------------------------------------------------------------------------------------------- */

static void load_with_fpu_constructor(void) {
  start_without_discovery();
  CHECK_OK(kw_plugin_load(fixture_path("fpu_constructor")));
  CHECK(fegetround() == FE_TONEAREST);
  CHECK_CONTAINS(report_of("fpu_constructor.so").reason, "loading it changes the floating-point state");
}

static void a_changed_process_state_is_remarked(void **state) {
  (void)state;
  run_child(load_with_fpu_constructor);
}

static void load_without_device(void) {
  start_without_discovery();
  kw_device *device;
  CHECK_OK(kw_plugin_load(fixture_path("without_device")));
  const char *reason = report_of("without_device.so").reason;
  CHECK(strcmp(reason, "the driver of the fixture gives wrong numbers") == 0);
  CHECK(kw_device_open("without_device:0", &device) == KW_ERR_NOT_FOUND);
  CHECK_CONTAINS(kw_error_message(), reason);
}

/* The process that looked at the plugin heard it, and nobody opens one that has no device. */
static void what_a_plugin_without_device_says_is_kept(void **state) {
  (void)state;
  run_child(load_without_device);
}

/* A library without its helper beside it: run by main in a process of its own. */
static void load_without_helper(void) {
  start_without_discovery();
  CHECK(kw_plugin_load(fixture_path("plain")) == KW_ERR_NOT_FOUND);
  CHECK_CONTAINS(kw_error_message(), "keyway-probe");
  CHECK_CONTAINS(kw_error_message(), getenv("LD_LIBRARY_PATH"));
  CHECK(report_of("plain.so").reached == KW_STAGE_FOUND);
}

static void run_without_helper(void) {
  Dl_info info;
  CHECK(dladdr((void *)(uintptr_t)kw_init, &info) != 0);
  mkdir(scratch_path("lib"), 0700);
  copy_file(info.dli_fname, scratch_path("lib/libkeyway.so.1"));
  setenv("LD_LIBRARY_PATH", scratch_path("lib"), 1);
  execl("/proc/self/exe", "loader_test", "load_without_helper", (char *)NULL);
  _exit(127);
}

static void nothing_is_opened_without_the_helper(void **state) {
  (void)state;
  run_child(run_without_helper);
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static void close_and_exit(void) {
  setenv("KEYWAY_LOG", "info", 1);
  start_without_discovery();
  CHECK_OK(kw_plugin_load(fixture_path("plain")));
  use_device("plain");
}

static kw_device *still_open;

static void exit_with_open_device(void) {
  setenv("KEYWAY_LOG", "info", 1);
  start_without_discovery();
  CHECK_OK(kw_plugin_load(fixture_path("plain")));
  CHECK_OK(kw_device_open("plain", &still_open));
}

static void plugins_are_shut_down_at_exit(void **state) {
  (void)state;
  run_child(close_and_exit);
  assert_non_null(strstr(read_text(scratch_path("stderr")), "fixture.plain: the fixture is shut down"));
  run_child(exit_with_open_device);
  assert_null(strstr(read_text(scratch_path("stderr")), "shut down"));
}

static void open_after_shortage(void) {
  start_without_discovery();
  CHECK(kw_plugin_load(fixture_path("init_oom_once")) == KW_ERR_OUT_OF_MEMORY);
  CHECK_CONTAINS(kw_error_message(), "no room for the firmware");
  kw_device *device;
  CHECK_OK(kw_device_open("init_oom_once", &device));
  CHECK(report_of("init_oom_once.so").reached == KW_STAGE_INIT);
  CHECK_OK(kw_device_close(device));
}

static void a_plugin_short_of_memory_is_tried_again(void **state) {
  (void)state;
  run_child(open_after_shortage);
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

static void load_many_kernels(void) {
  start_without_discovery();
  CHECK_OK(kw_plugin_load(fixture_path("many_kernels")));
  CHECK(report_of("many_kernels.so").kernel_count == 200001);
}

static void many_kernels_register_in_linear_time(void **state) {
  (void)state;
  run_child(load_many_kernels);
}

static void load_register_threads(void) {
  start_without_discovery();
  CHECK_OK(kw_plugin_load(fixture_path("register_threads")));
  CHECK(report_of("register_threads.so").kernel_count == 8000);
}

static void threads_of_init_register_kernels(void **state) {
  (void)state;
  run_child(load_register_threads);
}

/* ---- Forks ------------------------------------------------------------------------------------------------------- */

static void fork_after_start(void) {
  start_without_discovery();
  CHECK_OK(kw_plugin_load(fixture_path("plain")));
  kw_device *device, *other;
  CHECK_OK(kw_device_open("plain", &device));
  pid_t child = fork();
  if (child == 0) {
    CHECK(kw_device_open("plain", &other) == KW_ERR_UNSUPPORTED);
    CHECK_CONTAINS(kw_error_message(), "forked");
    CHECK(kw_device_close(device) == KW_ERR_UNSUPPORTED);
    CHECK(kw_device_synchronize(device) == KW_ERR_UNSUPPORTED);
    CHECK(kw_plugin_load(fixture_path("empty")) == KW_ERR_UNSUPPORTED);
    _exit(0);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  CHECK_OK(kw_device_close(device));
}

static void a_forked_child_is_told(void **state) {
  (void)state;
  run_child(fork_after_start);
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "load_without_helper") == 0) {
    load_without_helper();
    return 0;
  }
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_later_minor_loads),
      cmocka_unit_test(each_candidate_has_one_report),
      cmocka_unit_test(later_flags_are_hints_or_refused),
      cmocka_unit_test(files_load_by_name),
      cmocka_unit_test(files_of_others_are_refused),
      cmocka_unit_test(verdicts_are_remembered),
      cmocka_unit_test(a_changed_file_is_probed_again),
      cmocka_unit_test(processes_share_the_cache),
      cmocka_unit_test(no_home_means_no_cache),
      cmocka_unit_test(a_changed_process_state_is_remarked),
      cmocka_unit_test(what_a_plugin_without_device_says_is_kept),
      cmocka_unit_test(nothing_is_opened_without_the_helper),
      cmocka_unit_test(plugins_are_shut_down_at_exit),
      cmocka_unit_test(a_plugin_short_of_memory_is_tried_again),
      cmocka_unit_test(many_kernels_register_in_linear_time),
      cmocka_unit_test(threads_of_init_register_kernels),
      cmocka_unit_test(a_forked_child_is_told),
  };
  int failures = cmocka_run_group_tests(tests, NULL, NULL);
  remove_scratch();
  return failures;
}
