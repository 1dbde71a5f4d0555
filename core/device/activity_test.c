/* SPDX-License-Identifier: Apache-2.0
 *
 * From a device's clock to the host's, and from records to the trace, by a device that was told what to say.
 */
#include "device/activity.h"

#include "base/trace.h"
#include "testing/test_device.h"

#include <cjson/cJSON.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Clocks ------------------------------------------------------------------------------------------------------ */

static void between_two_pairs_a_line(void **state) {
  (void)state;
  const kw_clock_pair from = {1000, 5000000}, to = {2000, 5002000}; /* a clock that counts half as fast */
  assert_int_equal(kw_clock_to_host(from, to, 1000), 5000000);
  assert_int_equal(kw_clock_to_host(from, to, 1500), 5001000);
  assert_int_equal(kw_clock_to_host(from, to, 2000), 5002000);
  for (uint64_t length = 1; length < 300; ++length) { /* a clock as fast as the host's keeps every length */
    const kw_clock_pair end = {1000 + length, 5000000 + length};
    for (uint64_t ns = 0; ns <= length; ++ns) assert_int_equal(kw_clock_to_host(from, end, 1000 + ns), 5000000 + ns);
  }
}

static void outside_at_the_hosts_speed(void **state) {
  (void)state;
  const kw_clock_pair from = {1000, 5000000}, to = {1001, 5000100};
  assert_int_equal(kw_clock_to_host(from, to, 900), 4999900);
  assert_int_equal(kw_clock_to_host(from, to, 2001), 5001100);
  assert_int_equal(kw_clock_to_host(from, from, 1500), 5000500);
  assert_int_equal(kw_clock_to_host((kw_clock_pair){1000, 10}, to, 5), 0);
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

#define BEHIND UINT64_C(77000000) /* the device's clock is so far behind the host's, in nanoseconds */

static char path[] = "activity_test_XXXXXX";
static unsigned records_left = 300; /* more than are asked for at a time */
static uint64_t token, first_begin;
static uint32_t is_on;

static kw_status record(void *device, uint32_t on) {
  (void)device;
  is_on = on;
  return KW_OK;
}

static kw_status read_clock(void *device, uint64_t *out_device_ns, uint64_t *out_host_ns) {
  (void)device;
  *out_host_ns = kw_trace_now();
  *out_device_ns = *out_host_ns - BEHIND;
  return KW_OK;
}

static kw_status read_no_clock(void *device, uint64_t *out_device_ns, uint64_t *out_host_ns) {
  (void)device, (void)out_device_ns, (void)out_host_ns;
  return KW_ERR_IO;
}

static kw_status drain(void *device, void *out, uint32_t record_size, uint32_t capacity, uint32_t *out_count,
                       uint64_t *out_dropped) {
  (void)device;
  for (*out_count = 0; *out_count < capacity && records_left > 0; ++*out_count, --records_left) {
    const bool copy = records_left % 2 != 0, in_graph = records_left % 4 == 0; /* recorded as launch 5 of all */
    const kw_activity fact = {.kind = copy ? KW_ACTIVITY_COPY : KW_ACTIVITY_LAUNCH,
                              .node = in_graph ? 3 : 0,
                              .call_id = in_graph ? 5 : records_left,
                              .launch_id = in_graph ? records_left : 0,
                              .stream_token = token,
                              .begin = first_begin - BEHIND,
                              .end = first_begin - BEHIND + 2000};
    kw_activity_store(out, record_size, *out_count, &fact);
  }
  *out_dropped = 0;
  return KW_OK;
}

static void wait_once(void) {
  test_device *test = test_device_open("test:0", 0);
  test->plugin.activity = (kw_activity_api){.record = record, .clock = read_no_clock, .drain = drain};
  test->plugin.native |= KW_NATIVE_ACTIVITY;
  is_on = 2;
  kw_activity_open(&test->device);
  if (is_on != 0) exit(8); /* nothing records for nobody */
  kw_activity_record(&test->device, false);
  test->plugin.activity.clock = read_clock;
  kw_activity_record(&test->device, true);
  kw_activity_record(&test->device, false);
  if (is_on != 0) exit(7);
  kw_activity_record(&test->device, true);
  if (records_left != 0) exit(6); /* what was left then is nobody's */
  records_left = 300;
  kw_stream *stream = test->device.default_stream;
  kw_activity_name_stream(stream);
  token = stream->token;
  first_begin = kw_trace_now();
  if (is_on != 1 || kw_stream_synchronize(stream) != KW_OK || records_left != 0) exit(9);
  kw_activity_close(&test->device);
  test_device_close(test);
}

static cJSON *trace_of_a_wait(void) {
  const int file = mkstemp(path);
  assert_true(file >= 0);
  const pid_t child = fork();
  if (child == 0) {
    setenv("KEYWAY_TRACE", path, 1);
    kw_trace_start();
    wait_once();
    exit(0);
  }
  int code = -1;
  assert_int_equal(waitpid(child, &code, 0), child);
  assert_int_equal(code, 0);
  static char text[1 << 20];
  const ssize_t size = read(file, text, sizeof text - 1);
  assert_true(size > 0);
  close(file);
  unlink(path);
  cJSON *document = cJSON_Parse(text);
  assert_non_null(document);
  return document;
}

static double number(const cJSON *event, const char *name) {
  const cJSON *item = cJSON_GetObjectItemCaseSensitive(event, name);
  assert_true(cJSON_IsNumber(item));
  return item->valuedouble;
}

static void records_are_spans_on_the_hosts_clock(void **state) {
  (void)state;
  cJSON *document = trace_of_a_wait(), *event;
  unsigned spans = 0, rows = 0, launches = 0;
  double row = 0, before = 0, after = 0;
  cJSON_ArrayForEach(event, cJSON_GetObjectItemCaseSensitive(document, "traceEvents")) {
    const cJSON *category = cJSON_GetObjectItemCaseSensitive(event, "cat");
    if (!category) { /* the name of the stream's row */
      row = number(event, "tid");
      ++rows;
    } else if (strcmp(category->valuestring, "sync") == 0) {
      before = number(event, "ts");
      after = before + number(event, "dur");
    } else if (strcmp(category->valuestring, "device") == 0) {
      const cJSON *args = cJSON_GetObjectItemCaseSensitive(event, "args");
      assert_true(number(event, "tid") == row);
      assert_true(number(event, "dur") == 2);
      assert_true(number(event, "ts") <= after && number(event, "ts") > before - 1e6);
      assert_true(number(args, "call") == 300 - spans); /* a graph's launch has the place of its call */
      if (spans % 4 == 0) assert_true(number(args, "node") == 3);
      launches += strcmp(cJSON_GetObjectItemCaseSensitive(event, "name")->valuestring, "launch") == 0;
      ++spans;
    }
  }
  assert_int_equal(rows, 1);
  assert_int_equal(spans, 300);
  assert_int_equal(launches, 150);
  cJSON_Delete(document);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(between_two_pairs_a_line),
      cmocka_unit_test(outside_at_the_hosts_speed),
      cmocka_unit_test(records_are_spans_on_the_hosts_clock),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
