/* SPDX-License-Identifier: Apache-2.0
 *
 * Files, their limit, and FIFOs that nobody reads, or not in time, or not any more. Nothing here may block: a test that
 * hangs has failed.
 */
#include "base/trace_sink.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "trace_sink_test_XXXXXX", path[64];

static int make_folder(void **state) {
  (void)state;
  if (mkdtemp(folder) == NULL) return -1;
  snprintf(path, sizeof path, "%s/trace", folder);
  return 0;
}

static int remove_folder(void **state) {
  (void)state;
  return rmdir(folder);
}

static int remove_path(void **state) {
  (void)state;
  return unlink(path);
}

static int make_fifo(void **state) {
  (void)state;
  return mkfifo(path, 0600);
}

static kw_trace_taken add(const char *text) {
  static kw_bytes record;
  kw_bytes_put_text(&record, text);
  const kw_trace_taken taken = kw_trace_sink_add(&record);
  if (record.size > 0) fail_msg("a record is not cleared");
  return taken;
}

/* Until one is not taken; how many were. */
static unsigned add_many(size_t size, kw_trace_taken *out_last) {
  char *text = malloc(size + 1);
  memset(text, 'x', size);
  text[size] = 0;
  unsigned taken = 0;
  while ((*out_last = add(text)) == KW_TRACE_TAKEN && taken < 1000000) ++taken;
  free(text);
  return taken;
}

static void finish(const char *text) {
  kw_bytes last = {0};
  kw_bytes_put_text(&last, text);
  kw_trace_sink_close(&last);
}

static void a_file_gets_all_in_order(void **state) {
  (void)state;
  assert_true(kw_trace_sink_open(path, 1 << 20));
  for (int i = 0; i < 9; ++i) assert_int_equal(add("abc"), KW_TRACE_TAKEN);
  finish("end");
  assert_false(kw_trace_sink_is_open());
  char text[64] = "";
  const int file = open(path, O_RDONLY);
  assert_int_equal(read(file, text, sizeof text), 30);
  close(file);
  assert_string_equal(text, "abcabcabcabcabcabcabcabcabcend");
}

static void a_file_ends_at_its_limit(void **state) {
  (void)state;
  assert_true(kw_trace_sink_open(path, 100000));
  kw_trace_taken last;
  const unsigned taken = add_many(1000, &last);
  assert_int_equal(last, KW_TRACE_FULL);
  finish("end");
  struct stat facts;
  assert_int_equal(stat(path, &facts), 0);
  assert_int_equal(facts.st_size, taken * 1000 + 3);
  assert_true(facts.st_size <= 100000 && facts.st_size > 97000);
}

static void a_fifo_without_a_reader_is_refused(void **state) {
  (void)state;
  assert_false(kw_trace_sink_open(path, 1 << 20));
  assert_int_equal(errno, ENXIO);
  assert_false(kw_trace_sink_is_open());
}

static char text[1 << 20];

static size_t drain(int reader, size_t size) {
  ssize_t got;
  while ((got = read(reader, text + size, sizeof text - size)) > 0) size += (size_t)got;
  return size;
}

/* What is taken comes in whole records and in order, whatever was dropped between. */
static void a_reader_that_does_not_read_costs_records(void **state) {
  (void)state;
  const int reader = open(path, O_RDONLY | O_NONBLOCK);
  assert_true(kw_trace_sink_open(path, 1 << 30));
  kw_trace_taken last;
  const unsigned taken = add_many(999, &last);
  assert_int_equal(last, KW_TRACE_DROPPED);
  size_t size = 0;
  for (int round = 0; round < 8; ++round) {
    size = drain(reader, size);
    assert_int_equal(add("y"), KW_TRACE_TAKEN);
  }
  finish("z");
  size = drain(reader, size);
  close(reader);
  assert_int_equal(size, taken * 999 + 9);
  for (size_t i = 0; i < size; ++i) assert_int_equal(text[i], i < taken * 999 ? 'x' : i < size - 1 ? 'y' : 'z');
}

static void a_reader_that_goes_raises_no_signal(void **state) {
  (void)state;
  const int reader = open(path, O_RDONLY | O_NONBLOCK);
  assert_true(kw_trace_sink_open(path, 1 << 30));
  close(reader);
  kw_trace_taken last;
  add_many(999, &last); /* SIGPIPE would end this process */
  assert_int_equal(last, KW_TRACE_DROPPED);
  finish("end");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(a_file_gets_all_in_order, remove_path),
      cmocka_unit_test_teardown(a_file_ends_at_its_limit, remove_path),
      cmocka_unit_test_setup_teardown(a_fifo_without_a_reader_is_refused, make_fifo, remove_path),
      cmocka_unit_test_setup_teardown(a_reader_that_does_not_read_costs_records, make_fifo, remove_path),
      cmocka_unit_test_setup_teardown(a_reader_that_goes_raises_no_signal, make_fifo, remove_path),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
