/* SPDX-License-Identifier: Apache-2.0
 *
 * A line for what lasts, none for what does not.
 */
#include "program/patience.h"

#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct log_of_host {
  sem_t written;
  kw_log_level level;
  char line[256];
} log_of_host;

static kw_status KW_CALL keep(void *ctx, kw_log_level level, const char *message) {
  log_of_host *log = ctx;
  log->level = level;
  snprintf(log->line, sizeof log->line, "%s", message);
  sem_post(&log->written);
  return KW_OK;
}

static void tells_of_what_lasts(void **state) {
  (void)state;
  log_of_host log = {.line = ""};
  const kw_host_api host = {.struct_size = sizeof host, .ctx = &log, .log = keep};
  kw_gpu_patience patience;
  sem_init(&log.written, 0, 0);
  kw_gpu_patience_begin(&patience, &host, "unary/8", 0);
  assert_int_equal(sem_wait(&log.written), 0);
  kw_gpu_patience_end(&patience);
  assert_int_equal(log.level, KW_LOG_WARN);
  assert_non_null(strstr(log.line, "has been compiling unary/8 for 0 seconds"));
  sem_destroy(&log.written);
}

static void tells_nothing_of_the_rest(void **state) {
  (void)state;
  log_of_host log = {.line = ""};
  const kw_host_api host = {.struct_size = sizeof host, .ctx = &log, .log = keep};
  kw_gpu_patience patience;
  sem_init(&log.written, 0, 0);
  kw_gpu_patience_begin(&patience, &host, "unary/8", 1000000);
  kw_gpu_patience_end(&patience); /* does not wait for that long */
  assert_string_equal(log.line, "");
  sem_destroy(&log.written);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tells_of_what_lasts),
      cmocka_unit_test(tells_nothing_of_the_rest),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
