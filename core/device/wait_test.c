/* SPDX-License-Identifier: Apache-2.0
 *
 * Waits that end at a limit, and devices that are abandoned after one.
 */
#include "device/open.h"
#include "op/op.h"
#include "tensor/transfer.h"
#include "testing/test_device.h"

enum { COUNT = 1000, LIMIT = 2500000 }; /* ns; the test device's limits have passed at once */

static test_device *test;
static kw_stream *stream; /* held up by its gate */
static kw_tensor *tensor;
static int32_t values[COUNT];

static int open_gated(void **state) {
  (void)state;
  test = test_device_open("test:0", TEST_NATIVE_ALL);
  stream = test->device.default_stream;
  assert_ok(kw_tensor_create(&test->device, KW_I32, 1, (int64_t[]){COUNT}, &tensor));
  for (int i = 0; i < COUNT; ++i) values[i] = i * 3;
  assert_ok(kw_tensor_write(tensor, values));
  test_gate(stream, true);
  assert_ok(kw_tensor_write_async(tensor, values, stream));
  return 0;
}

static int close_gated(void **state) {
  (void)state;
  test_gate(stream, false);
  assert_ok(kw_stream_synchronize(stream));
  assert_null(stream->held);
  kw_tensor_release(tensor);
  test_device_close(test);
  return 0;
}

/* ---- Limits ------------------------------------------------------------------------------------------------------ */

static void a_wait_ends_at_its_limit(void **state) {
  (void)state;
  kw_stream *other;
  assert_ok(kw_stream_create(&test->device, &other));
  assert_int_equal(kw_stream_synchronize_for(stream, 0), KW_ERR_TIMEOUT);
  assert_error("kw_stream_synchronize_for");
  assert_error("the default stream of test:0 has not finished;");
  assert_int_equal(kw_stream_synchronize_for(stream, LIMIT), KW_ERR_TIMEOUT);
  assert_error("has not finished within 2.5 ms; the op enqueued on it last is none");
  assert_error("kw_device_abandon");
  atomic_store(&stream->last_call, (uint64_t)kw_op_find("add.Tensor")->id << KW_CALL_ID_BITS | 7);
  assert_int_equal(kw_device_synchronize_for(&test->device, LIMIT), KW_ERR_TIMEOUT);
  assert_error("the op enqueued on it last is add.Tensor");
  assert_ok(kw_stream_synchronize_for(other, 0));
  test_gate(stream, false);
  assert_ok(kw_stream_synchronize_for(stream, 0));
  assert_ok(kw_device_synchronize_for(&test->device, LIMIT));
  assert_ok(kw_stream_destroy(other));
}

/* It is the next wait's to tell. */
static void a_late_error_outlasts_it(void **state) {
  (void)state;
  kw_late_error_keep(stream, KW_ERR_IO, "late");
  assert_int_equal(kw_stream_synchronize_for(stream, LIMIT), KW_ERR_TIMEOUT);
  test_gate(stream, false);
  assert_int_equal(kw_stream_synchronize_for(stream, LIMIT), KW_ERR_IO);
  assert_ok(kw_stream_synchronize(stream));
}

static void an_event_names_its_stream(void **state) {
  (void)state;
  kw_event *event;
  assert_ok(kw_event_create(&test->device, &event));
  assert_ok(kw_event_record(event, stream));
  assert_int_equal(kw_event_synchronize_for(event, LIMIT), KW_ERR_TIMEOUT);
  assert_error("kw_event_synchronize_for");
  assert_error("an event was not passed: the default stream of test:0");
  test_gate(stream, false);
  assert_ok(kw_event_synchronize_for(event, 0));
  assert_ok(kw_event_destroy(event));
}

/* Without a native query the poll is synchronize's. */
static void a_query_does_not_wait(void **state) {
  (void)state;
  test->plugin.native &= ~KW_NATIVE_QUERY;
  assert_int_equal(kw_stream_query(stream), KW_ERR_NOT_READY);
  test_gate(stream, false);
  assert_ok(kw_stream_query(stream));
}

static void a_limit_of_nothing_is_refused(void **state) {
  (void)state;
  assert_int_equal(kw_device_set_wait_limit(&test->device, 0), KW_ERR_INVALID_ARGUMENT);
  assert_error("limit of 0");
  assert_int_equal(kw_device_set_wait_limit(NULL, 1), KW_ERR_INVALID_ARGUMENT);
}

/* ---- The device's limit ------------------------------------------------------------------------------------------ */

/* The copy comes when nobody waits for it any more: not to the application's memory. */
static void reads_do_not_come_late(void **state) {
  (void)state;
  int32_t got[COUNT];
  memset(got, 0xc5, sizeof got);
  assert_ok(kw_device_set_wait_limit(&test->device, LIMIT));
  assert_int_equal(kw_tensor_read(tensor, got), KW_ERR_TIMEOUT);
  assert_error("kw_tensor_read");
  test_gate(stream, false);
  for (int i = 0; i < COUNT; ++i) assert_int_equal(got[i], (int32_t)0xc5c5c5c5);
  assert_ok(kw_tensor_read(tensor, got));
  assert_memory_equal(got, values, sizeof got);
}

/* It reads what the application gave, whatever has become of that. */
static void writes_keep_their_source(void **state) {
  (void)state;
  int32_t given[COUNT], got[COUNT];
  for (int i = 0; i < COUNT; ++i) given[i] = -i;
  assert_ok(kw_device_set_wait_limit(&test->device, LIMIT));
  assert_int_equal(kw_tensor_write(tensor, given), KW_ERR_TIMEOUT);
  memset(given, 0xc5, sizeof given);
  test_gate(stream, false);
  assert_ok(kw_tensor_read(tensor, got));
  for (int i = 0; i < COUNT; ++i) assert_int_equal(got[i], -i);
}

static void it_holds_for_whatever_waits(void **state) {
  (void)state;
  kw_stream *other;
  kw_event *event;
  assert_ok(kw_stream_create(&test->device, &other));
  assert_ok(kw_event_create(&test->device, &event));
  test_gate(other, true);
  assert_ok(kw_tensor_write_async(tensor, values, other));
  assert_ok(kw_event_record(event, other));
  assert_ok(kw_device_set_wait_limit(&test->device, LIMIT));
  assert_int_equal(kw_stream_synchronize(stream), KW_ERR_TIMEOUT);
  assert_int_equal(kw_device_synchronize(&test->device), KW_ERR_TIMEOUT);
  assert_int_equal(kw_event_synchronize(event), KW_ERR_TIMEOUT);
  assert_int_equal(kw_stream_destroy(other), KW_ERR_TIMEOUT);
  assert_error("kw_stream_destroy");
  kw_tensor *copy = NULL;
  assert_int_equal(kw_tensor_to(tensor, &test->device, &copy), KW_ERR_TIMEOUT);
  assert_null(copy);
  assert_int_equal(kw_stream_synchronize_for(other, 0), KW_ERR_TIMEOUT); /* it lives on */
  test_gate(other, false);
  assert_ok(kw_event_destroy(event));
  assert_ok(kw_stream_destroy(other));
}

/* Memory that a stream may still use is not given to anybody. */
static void memory_in_use_stays_in_use(void **state) {
  (void)state;
  kw_stream *other;
  kw_tensor *shared;
  assert_ok(kw_stream_create(&test->device, &other));
  assert_ok(kw_tensor_create_on(other, KW_I32, 1, (int64_t[]){COUNT}, &shared));
  assert_ok(kw_tensor_write_async(shared, values, stream));
  kw_tensor_release(shared);
  assert_ok(kw_device_set_wait_limit(&test->device, LIMIT));
  assert_ok(kw_memory_trim(&test->device));
  assert_int_equal(test->freed_in_use, 0);
  test_gate(stream, false);
  assert_ok(kw_stream_destroy(other));
}

/* ---- Abandoning -------------------------------------------------------------------------------------------------- */

static unsigned calls_of(const test_device *device) {
  unsigned sum = 0;
  for (int i = 0; i < TEST_SLOT_COUNT; ++i) sum += device->calls[i];
  return sum;
}

static void no_slot_is_called_any_more(void **state) {
  (void)state;
  test_device *gone = test_device_open("test:1", TEST_NATIVE_ALL | KW_NATIVE_HOST_MEMORY);
  kw_device *device = &gone->device;
  kw_stream *held;
  kw_event *event;
  kw_tensor *there;
  void *memory;
  int32_t got[COUNT];
  assert_ok(kw_stream_create(device, &held));
  assert_ok(kw_event_create(device, &event));
  assert_ok(kw_tensor_create_on(held, KW_I32, 1, (int64_t[]){COUNT}, &there));
  assert_ok(kw_host_alloc(device, 100, &memory));
  test_gate(held, true);
  assert_ok(kw_tensor_write_async(there, values, held));
  assert_ok(kw_event_record(event, held));
  assert_int_equal(kw_stream_synchronize_for(held, LIMIT), KW_ERR_TIMEOUT);
  const unsigned before = calls_of(gone);
  assert_ok(kw_device_abandon(device));
  assert_ok(kw_device_abandon(device));
  assert_int_equal(kw_stream_synchronize(held), KW_ERR_DEVICE_LOST);
  assert_int_equal(kw_stream_query(held), KW_ERR_DEVICE_LOST);
  assert_int_equal(kw_device_synchronize(device), KW_ERR_DEVICE_LOST);
  assert_int_equal(kw_event_synchronize(event), KW_ERR_DEVICE_LOST);
  assert_int_equal(kw_tensor_read(there, got), KW_ERR_DEVICE_LOST);
  assert_error("test:1 was abandoned");
  assert_ok(kw_event_destroy(event));
  kw_tensor_release(there);
  assert_ok(kw_host_free(device, memory));
  assert_ok(kw_memory_trim(device));
  assert_ok(kw_stream_destroy(held));
  assert_int_equal(calls_of(gone), before);
  assert_int_equal(kw_device_abandon(NULL), KW_ERR_INVALID_ARGUMENT);
}

static kw_status give_info(void *plugin, uint32_t index, kw_device_info *out_info) {
  (void)plugin, (void)index;
  out_info->total_memory = 1 << 20;
  return KW_OK;
}

static test_device *next;

static kw_status open_next(void *plugin, uint32_t index, const kw_open_info *info, void **out_device) {
  (void)plugin, (void)index, (void)info;
  *out_device = next;
  return KW_OK;
}

/* The last wait of all ends, too, and the plugin keeps the device. */
static void what_hangs_is_not_closed(void **state) {
  (void)state;
  kw_device *device, *again = NULL;
  bool first;
  next = test_device_open("test:2", TEST_NATIVE_ALL);
  next->plugin.device.info = give_info;
  next->plugin.device.open = open_next;
  assert_ok(kw_device_open_at(&next->plugin, 0, "test:2", &(kw_options){0}, &first, &device));
  assert_ok(kw_device_set_wait_limit(device, LIMIT));
  kw_tensor *there;
  assert_ok(kw_tensor_create(device, KW_I32, 1, (int64_t[]){COUNT}, &there));
  test_gate(device->default_stream, true);
  assert_ok(kw_tensor_write_async(there, values, device->default_stream));
  kw_tensor_release(there);
  assert_ok(kw_device_close(device));
  assert_int_equal(atomic_load(&next->plugin.open_devices), 1); /* which keeps it from being shut down */
  assert_int_equal(kw_device_open_at(&next->plugin, 0, "test:2", &(kw_options){0}, &first, &again), KW_ERR_DEVICE_LOST);
  assert_error("was abandoned");
  assert_int_equal(kw_device_close(device), KW_ERR_INVALID_ARGUMENT);
}

int main(void) {
  if (kw_op_table_build() != KW_OK) return 1;
#define GATED(test) cmocka_unit_test_setup_teardown(test, open_gated, close_gated)
  const struct CMUnitTest tests[] = {
      GATED(a_wait_ends_at_its_limit),
      GATED(a_late_error_outlasts_it),
      GATED(an_event_names_its_stream),
      GATED(a_query_does_not_wait),
      GATED(a_limit_of_nothing_is_refused),
      GATED(reads_do_not_come_late),
      GATED(writes_keep_their_source),
      GATED(it_holds_for_whatever_waits),
      GATED(memory_in_use_stays_in_use),
      cmocka_unit_test(no_slot_is_called_any_more),
      cmocka_unit_test(what_hangs_is_not_closed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
