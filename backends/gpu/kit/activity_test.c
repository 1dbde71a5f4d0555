/* SPDX-License-Identifier: Apache-2.0
 *
 * Marks of commands become records: over a driver whose commands pass when a test says so.
 */
#include "kit/activity.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* ---- The driver -------------------------------------------------------------------------------------------------- */

typedef struct fake_mark {
  bool passed, failed;
  int asked, drops;
  uint64_t begin;
} fake_mark;

static uint64_t fake_clock;

static bool mark_passed(kw_gpu_device *device, void *mark) {
  (void)device;
  ++((fake_mark *)mark)->asked;
  return ((fake_mark *)mark)->passed;
}

static bool mark_times(kw_gpu_device *device, void *mark, uint64_t *out_begin, uint64_t *out_end) {
  (void)device;
  *out_begin = ((fake_mark *)mark)->begin;
  *out_end = *out_begin + 5;
  return !((fake_mark *)mark)->failed;
}

static void mark_drop(kw_gpu_device *device, void *mark) {
  (void)device;
  ++((fake_mark *)mark)->drops;
}

static kw_status device_now(kw_gpu_device *device, uint64_t *out_ns) {
  (void)device;
  *out_ns = fake_clock++;
  return KW_OK;
}

static const kw_gpu_driver driver = {
    .mark_passed = mark_passed, .mark_times = mark_times, .mark_drop = mark_drop, .device_now = device_now};

/* ---- A device ---------------------------------------------------------------------------------------------------- */

enum { MARKS = 8 };
static kw_gpu_device device;
static kw_gpu_stream stream;
static fake_mark marks[MARKS];
static kw_activity records[MARKS];
static uint64_t dropped;

static int set_up(void **state) {
  (void)state;
  device = (kw_gpu_device){.driver = &driver};
  stream = (kw_gpu_stream){.device = &device, .token = 77};
  for (int i = 0; i < MARKS; ++i) marks[i] = (fake_mark){.passed = true, .begin = 10 * (uint64_t)i};
  assert_int_equal(kw_gpu_activity_start(&device), KW_OK);
  return kw_gpu_activity_slots.record(&device, 1);
}

static int tear_down(void **state) {
  (void)state;
  kw_gpu_activity_finish(&device);
  return 0;
}

static uint32_t drain(uint32_t capacity) {
  uint32_t count = UINT32_MAX;
  dropped = UINT64_MAX;
  assert_int_equal(kw_gpu_activity_slots.drain(&device, records, sizeof *records, capacity, &count, &dropped), KW_OK);
  return count;
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

static void records_say_what_they_are_of(void **state) {
  (void)state;
  kw_gpu_activity_note(&stream, KW_ACTIVITY_LAUNCH, 31, &marks[0]);
  kw_gpu_activity_note(&stream, KW_ACTIVITY_COPY, 0, &marks[1]);
  kw_gpu_activity_note(&stream, KW_ACTIVITY_FILL, 32, &marks[2]); /* of a launch that is no more than that */
  kw_gpu_activity_note(&stream, KW_ACTIVITY_GRAPH, 33, &marks[3]);
  assert_int_equal(drain(MARKS), 4);
  static const struct {
    kw_activity_kind kind;
    uint64_t call_id, launch_id;
  } wanted[] = {
      {KW_ACTIVITY_LAUNCH, 31, 0}, {KW_ACTIVITY_COPY, 0, 0}, {KW_ACTIVITY_LAUNCH, 32, 0}, {KW_ACTIVITY_GRAPH, 0, 33}};
  for (uint64_t i = 0; i < 4; ++i) {
    assert_int_equal(records[i].kind, wanted[i].kind);
    assert_int_equal(records[i].call_id, wanted[i].call_id);
    assert_int_equal(records[i].launch_id, wanted[i].launch_id);
    assert_int_equal(records[i].stream_token, 77);
    assert_int_equal(records[i].begin, 10 * i);
    assert_int_equal(records[i].end, 10 * i + 5);
    assert_int_equal(marks[i].drops, 1);
  }
  assert_int_equal(drain(MARKS), 0);
}

static void what_has_not_passed_stays(void **state) {
  (void)state;
  for (int i = 0; i < 4; ++i) kw_gpu_activity_note(&stream, KW_ACTIVITY_LAUNCH, 1 + (uint64_t)i, &marks[i]);
  marks[2].passed = marks[3].passed = false;
  assert_int_equal(drain(MARKS), 2);
  assert_int_equal(marks[2].drops, 0);
  marks[2].passed = true;
  assert_int_equal(drain(MARKS), 1);
  assert_int_equal(records[0].call_id, 3);
  kw_gpu_activity_finish(&device);
  assert_int_equal(marks[3].drops, 1);
}

static void few_at_a_time(void **state) {
  (void)state;
  for (int i = 0; i < 5; ++i) kw_gpu_activity_note(&stream, KW_ACTIVITY_LAUNCH, 1 + (uint64_t)i, &marks[i]);
  for (uint64_t call = 1; call <= 5; ++call) {
    assert_int_equal(drain(1), 1);
    assert_int_equal(records[0].call_id, call);
  }
  assert_int_equal(marks[0].asked, 1);
  assert_int_equal(marks[4].asked, 1); /* once is enough for what has passed */
}

static void a_command_that_failed_has_no_record(void **state) {
  (void)state;
  marks[0].failed = true;
  kw_gpu_activity_note(&stream, KW_ACTIVITY_LAUNCH, 1, &marks[0]);
  kw_gpu_activity_note(&stream, KW_ACTIVITY_LAUNCH, 2, &marks[1]);
  assert_int_equal(drain(MARKS), 1);
  assert_int_equal(records[0].call_id, 2);
  assert_int_equal(marks[0].drops, 1);
}

static void when_nobody_drains_the_rest_is_counted(void **state) {
  (void)state;
  enum { KEPT = 65536, MORE = 3 };
  for (int i = 0; i < KEPT + MORE; ++i) kw_gpu_activity_note(&stream, KW_ACTIVITY_COPY, 0, &marks[0]);
  assert_int_equal(marks[0].drops, MORE);
  assert_int_equal(drain(MARKS), MARKS);
  assert_int_equal(dropped, MORE);
  assert_int_equal(drain(MARKS), MARKS);
  assert_int_equal(dropped, 0);
}

static void off_is_off(void **state) {
  (void)state;
  assert_true(kw_gpu_activity_on(&device));
  assert_int_equal(kw_gpu_activity_slots.record(&device, 0), KW_OK);
  assert_false(kw_gpu_activity_on(&device));
  static const kw_gpu_driver without;
  kw_gpu_device other = {.driver = &without};
  assert_int_equal(kw_gpu_activity_start(&other), KW_OK);
  assert_false(kw_gpu_activity_on(&other));
  kw_gpu_activity_finish(&other);
}

static void the_clock_is_one_of_its_readings(void **state) {
  (void)state;
  uint64_t device_ns = 0, host_ns = 0, before = fake_clock;
  assert_int_equal(kw_gpu_activity_slots.clock(&device, &device_ns, &host_ns), KW_OK);
  assert_true(device_ns >= before && device_ns < fake_clock && host_ns > 0);
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(records_say_what_they_are_of),
      TEST(what_has_not_passed_stays),
      TEST(few_at_a_time),
      TEST(a_command_that_failed_has_no_record),
      TEST(when_nobody_drains_the_rest_is_counted),
      TEST(off_is_off),
      TEST(the_clock_is_one_of_its_readings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
