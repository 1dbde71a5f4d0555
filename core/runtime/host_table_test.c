/* SPDX-License-Identifier: Apache-2.0
 *
 * When the host's services are there for a plugin, and when they are over.
 */
#include "runtime/host_table.h"

#include "base/fork.h"
#include "plugin/plugin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static kw_plugin plugin = {.key = "npu", .vendor = "acme"};

static void body(void *user, int64_t begin, int64_t end) {
  *(int64_t *)user += end - begin;
}

/* How many of all functions do nothing and say KW_ERR_UNSUPPORTED; each is asked for what it would refuse itself with
 * another status, or would do. */
static int count_over(void) {
  const kw_host_api *host = &kw_host_services;
  int64_t done = 0;
  uint32_t threads = 0;
  void *memory = NULL;
  const kw_status answers[] = {
      host->set_error(&plugin, KW_ERR_IO, "text"),
      host->log(&plugin, KW_LOG_DEBUG, "text"),
      host->register_kernel(&plugin, NULL),
      host->define_op(&plugin, NULL),
      host->report_async_error(&plugin, 0, 0, KW_OK, "text"),
      host->run_callback(&plugin, 0),
      host->parallel_for(&plugin, 1, 1, body, &done),
      host->thread_count(&plugin, &threads),
      host->host_alloc(&plugin, 1, 1, &memory),
      host->host_free(&plugin, NULL),
      host->report_build(&plugin, NULL, "module", 1, false),
      host->devices_changed(&plugin),
  };
  const size_t pointers = (sizeof *host - offsetof(kw_host_api, set_error)) / sizeof host->set_error;
  assert_int_equal(sizeof answers / sizeof answers[0], pointers); /* a new one belongs here */
  int over = 0;
  for (size_t i = 0; i < pointers; ++i) over += answers[i] == KW_ERR_UNSUPPORTED;
  if (memory != NULL) host->host_free(&plugin, memory);
  return over;
}

enum { ALL = (sizeof(kw_host_api) - offsetof(kw_host_api, set_error)) / sizeof(void *) };

static void no_member_is_null(void **state) {
  (void)state;
  const char *table = (const char *)&kw_host_services;
  for (size_t at = offsetof(kw_host_api, set_error); at < kw_host_services.struct_size; at += sizeof(void *)) {
    void (*fn)(void);
    memcpy(&fn, table + at, sizeof fn);
    assert_true(fn != NULL);
  }
}

static void they_are_there(void **state) {
  (void)state;
  assert_int_equal(count_over(), 0);
}

static void they_end_with_the_plugin(void **state) {
  (void)state;
  atomic_store(&plugin.ended, true);
  assert_int_equal(count_over(), ALL);
  atomic_store(&plugin.ended, false);
}

static void they_end_in_a_forked_child(void **state) {
  (void)state;
  int status = -1;
  pid_t pid = fork();
  if (pid == 0) {
    kw_fork_mark_child();
    _exit(count_over() == ALL ? 0 : 1);
  }
  assert_int_equal(waitpid(pid, &status, 0), pid);
  assert_int_equal(status, 0);
  assert_int_equal(count_over(), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(no_member_is_null),
      cmocka_unit_test(they_are_there),
      cmocka_unit_test(they_end_with_the_plugin),
      cmocka_unit_test(they_end_in_a_forked_child),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
