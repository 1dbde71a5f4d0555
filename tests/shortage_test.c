/* SPDX-License-Identifier: Apache-2.0
 *
 * The library's start when memory, files or processes are short: of all the calls that may fail for that, each one
 * fails once, in a process of its own. Either nothing is missing then, or the start says why it failed and the next one
 * works.
 *
 * The program contains the library, and the linker puts the functions below between the library and libc.
 */
#include "child.h"
#include "op_table.h"

#include <dirent.h>
#include <errno.h>
#include <keyway/keyway.h>
#include <pthread.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- Calls that fail --------------------------------------------------------------------------------------------- */

static atomic_bool armed;
static atomic_int calls, failing_call;
static atomic_int *shared_failed; /* with the parent: whether there was such a call */

/* Whether this call is the one that fails. */
static bool fails(int error) {
  if (!armed || ++calls != failing_call) return false;
  *shared_failed = 1;
  errno = error;
  return true;
}

#define INSTEAD_OF(type, failure, error, name, parameters, arguments) \
  type __real_##name parameters;                                      \
  type __wrap_##name parameters;                                      \
  type __wrap_##name parameters {                                     \
    return fails(error) ? failure : __real_##name arguments;          \
  }

INSTEAD_OF(void *, NULL, ENOMEM, malloc, (size_t size), (size))
INSTEAD_OF(void *, NULL, ENOMEM, calloc, (size_t count, size_t size), (count, size))
INSTEAD_OF(void *, NULL, ENOMEM, realloc, (void *old, size_t size), (old, size))
INSTEAD_OF(char *, NULL, ENOMEM, strdup, (const char *text), (text))
INSTEAD_OF(char *, NULL, ENOMEM, strndup, (const char *text, size_t size), (text, size))
INSTEAD_OF(char *, NULL, ENOMEM, realpath, (const char *path, char *resolved), (path, resolved))
INSTEAD_OF(int, -1, ENOMEM, stat, (const char *path, struct stat *info), (path, info))
INSTEAD_OF(int, -1, ENOMEM, access, (const char *path, int mode), (path, mode))
INSTEAD_OF(int, -1, EMFILE, pipe2, (int ends[2], int flags), (ends, flags))
INSTEAD_OF(int, -1, ENOMEM, fstatat, (int folder, const char *path, struct stat *info, int flags),
           (folder, path, info, flags))
INSTEAD_OF(int, -1, ENFILE, scandirat,
           (int folder, const char *path, struct dirent ***out, int (*filter)(const struct dirent *),
            int (*compare)(const struct dirent **, const struct dirent **)),
           (folder, path, out, filter, compare))
INSTEAD_OF(int, EAGAIN, EAGAIN, posix_spawn,
           (pid_t * out, const char *path, const posix_spawn_file_actions_t *actions,
            const posix_spawnattr_t *attributes, char *const *arguments, char *const *environment),
           (out, path, actions, attributes, arguments, environment))
INSTEAD_OF(int, ENOMEM, ENOMEM, pthread_atfork, (void (*prepare)(void), void (*parent)(void), void (*child)(void)),
           (prepare, parent, child))

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...) { /* the library creates no file with it */
  return fails(EMFILE) ? -1 : __real_open(path, flags);
}

int __real_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...);
int __wrap_openat(int folder, const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return fails(EMFILE) ? -1 : __real_openat(folder, path, flags, mode);
}

/* ---- One process for each call ----------------------------------------------------------------------------------- */

/* Runs `body` once for each of the calls that may fail. It arms them itself. */
static void fail_each_call(void (*body)(void)) {
  shared_failed = mmap(NULL, sizeof *shared_failed, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  assert_true(shared_failed != MAP_FAILED);
  int call = 0;
  do {
    *shared_failed = 0;
    failing_call = ++call;
    run_child(body);
  } while (*shared_failed != 0);
  assert_true(call > 10);
  munmap((void *)shared_failed, sizeof *shared_failed);
}

static void check_ops(void) {
  CHECK(kw_op_count() == kw_op_table_count);
  for (uint32_t i = 0; i < kw_op_table_count; i++) {
    kw_op_info info = {.struct_size = sizeof info};
    CHECK_OK(kw_op_get_info(kw_op_at(i), &info));
    CHECK(strncmp(info.schema, kw_op_table[i].schema, strlen(info.schema)) == 0);
  }
}

static void make_op_table(void) {
  armed = true;
  if (kw_op_count() == 0) {
    CHECK_CONTAINS(kw_error_message(), "no memory for the op table");
    CHECK(strstr(kw_error_message(), "column") == NULL);
  }
  check_ops();
}

static void the_op_table_is_whole(void **state) {
  (void)state;
  fail_each_call(make_op_table);
}

static void check_devices(void) {
  uint32_t count = 0, reports = 0;
  CHECK_OK(kw_device_count(&count));
  CHECK(count == 2);
  CHECK_OK(kw_plugin_count(&reports));
  CHECK(reports == 2); /* the plugin, and the directory that nobody may look into */
  kw_plugin_directory directory = {.struct_size = sizeof directory};
  CHECK_OK(kw_plugin_get_directory(0, &directory));
  CHECK(directory.state == KW_DIRECTORY_SEARCHED && strcmp(directory.path, scratch_path("plugins")) == 0);
  CHECK_OK(kw_plugin_get_directory(1, &directory));
  CHECK(directory.state == KW_DIRECTORY_REFUSED);
  kw_plugin_report report = {.struct_size = sizeof report};
  CHECK_OK(kw_plugin_get_report(0, &report));
  CHECK(report.reached == KW_STAGE_INIT && report.kernel_count == 3 && strcmp(report.key, "plain") == 0);
}

static void start(void) {
  check_ops();
  armed = true;
  kw_status status = kw_init(NULL);
  if (status != KW_OK) {
    CHECK(status == KW_ERR_OUT_OF_MEMORY);
    CHECK_CONTAINS(kw_error_message(), "did not start");
    CHECK_OK(kw_init(NULL));
  }
  kw_device *device;
  status = kw_device_open("plain:1", &device);
  if (status != KW_OK) {
    CHECK(status == KW_ERR_OUT_OF_MEMORY);
    CHECK_OK(kw_device_open("plain:1", &device));
  }
  armed = false;
  check_devices();
  CHECK_OK(kw_device_close(device));
}

static void start_with_cache(void) {
  setenv("KEYWAY_PLUGIN_PATH", scratch_path("plugins:relative"), 1);
  start();
}

static void start_without_cache(void) {
  unsetenv("HOME");
  unsetenv("XDG_CACHE_HOME");
  start_with_cache();
}

static void the_library_starts_at_the_second_try(void **state) {
  (void)state;
  mkdir(scratch_path("plugins"), 0700);
  copy_file(fixture_path("plain"), scratch_path("plugins/plain.so"));
  fail_each_call(start_with_cache);
  fail_each_call(start_without_cache);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_op_table_is_whole),
      cmocka_unit_test(the_library_starts_at_the_second_try),
  };
  int failures = cmocka_run_group_tests(tests, NULL, NULL);
  remove_scratch();
  return failures;
}
