/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults that a test driver injects (KEYWAY_ENGINE_FAULT), one kind a child: each gives the documented status with the
 * driver's own text in its message, the other device goes on, and closing gives back all there is, which the test
 * driver counts. The build says which backend (KEYWAY_FAULTS_*) and puts the driver in place.
 */
#include "child.h"

#include <keyway/keyway.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FIRST KEYWAY_FAULTS_KEY ":0"
#define SECOND KEYWAY_FAULTS_KEY ":1"

static kw_device *open_with(const char *faults, const char *name) {
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY};
  kw_device *device;
  setenv("KEYWAY_ENGINE_DEVICES", "2", 1);
  setenv("KEYWAY_ENGINE_FAULT", faults, 1);
  setenv("KEYWAY_MODULE_CACHE", KEYWAY_FAULTS_CACHE, 1); /* one child compiles for all */
  CHECK_OK(kw_init(&options));
  CHECK_OK(kw_plugin_load(KEYWAY_FAULTS_PLUGIN));
  CHECK_OK(kw_device_open(name, &device));
  return device;
}

static kw_tensor *tensor_of(kw_device *device, float value) {
  kw_tensor *tensor;
  CHECK_OK(kw_tensor_create(device, KW_F32, 1, (const int64_t[]){1}, &tensor));
  CHECK_OK(kw_tensor_write(tensor, &value));
  return tensor;
}

/* One launch. */
static kw_status call(const char *op, kw_tensor *x, kw_tensor **out) {
  *out = NULL;
  return kw_op_call(kw_op_find(op), NULL, (kw_value[]){kw_arg_tensor(x)}, 1, out, 1);
}

/* The device computes: -3 is the negative of 3. */
static void check_works(kw_device *device) {
  kw_tensor *x = tensor_of(device, 3), *y;
  float value = 0;
  CHECK_OK(call("neg", x, &y));
  CHECK_OK(kw_tensor_read(y, &value));
  CHECK(value == -3);
  kw_tensor_release(x);
  kw_tensor_release(y);
}

static void check_another_works(void) {
  kw_device *other;
  CHECK_OK(kw_device_open(SECOND, &other));
  check_works(other);
  CHECK_OK(kw_device_close(other));
}

/* A host function that holds its stream. */
typedef struct gate {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool open;
  int passed;
} gate;

static void pass(void *user) {
  gate *gate = user;
  pthread_mutex_lock(&gate->lock);
  while (!gate->open) pthread_cond_wait(&gate->changed, &gate->lock);
  ++gate->passed;
  pthread_mutex_unlock(&gate->lock);
}

static void open_gate(gate *gate) {
  pthread_mutex_lock(&gate->lock);
  gate->open = true;
  pthread_cond_signal(&gate->changed);
  pthread_mutex_unlock(&gate->lock);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

/* More than there is. */
static void run_out_of_memory(void) {
  kw_device *device = open_with("", FIRST);
  kw_device_info info = {.struct_size = sizeof info};
  kw_tensor *half, *more = NULL;
  CHECK_OK(kw_device_get_info(device, &info));
  CHECK(info.flags & KW_DEVICE_EMULATED);
  const int64_t size = (int64_t)(info.total_memory / 8 * 5);
  CHECK_OK(kw_tensor_create(device, KW_U8, 1, &size, &half));
  CHECK(kw_tensor_create(device, KW_U8, 1, &size, &more) == KW_ERR_OUT_OF_MEMORY);
  CHECK_CONTAINS(kw_error_message(), "emulated");
  CHECK(more == NULL);
  check_another_works();
  check_works(device);
  kw_tensor_release(half);
  CHECK_OK(kw_tensor_create(device, KW_U8, 1, &size, &more));
  kw_tensor_release(more);
  CHECK_OK(kw_device_close(device));
}

/* The host frees its caches and asks once more. */
static void one_allocation_fails(void) {
  kw_device *device = open_with("alloc:2", FIRST);
  check_works(device);
  check_works(device);
  CHECK_OK(kw_device_close(device));
}

/* ---- Launches ---------------------------------------------------------------------------------------------------- */

static void refuse_a_launch(void) {
  kw_device *device = open_with("launch:2", FIRST);
  kw_tensor *x = tensor_of(device, 2), *y, *z;
  CHECK_OK(call("neg", x, &y));
  CHECK(call("abs", y, &z) == KW_ERR_INTERNAL);
  CHECK_CONTAINS(kw_error_message(), "emulated");
  CHECK_CONTAINS(kw_error_message(), "abs");
  CHECK(z == NULL);
  CHECK_OK(kw_device_synchronize(device)); /* nothing was enqueued */
  check_another_works();
  check_works(device);
  kw_tensor_release(x);
  kw_tensor_release(y);
  CHECK_OK(kw_device_close(device));
}

/* The second of three ops fails while it runs. Where a failure breaks the device (KEYWAY_FAULTS_LATE_IS_FATAL) the
 * runtime does not tell which op it was; otherwise a wait for the device tells it once, the stream's own wait takes it,
 * and the device goes on. */
static void fail_late(void) {
  kw_device *device = open_with("late:2", FIRST);
  kw_tensor *x = tensor_of(device, 2), *y[3];
  CHECK_OK(call("neg", x, &y[0]));
  CHECK_OK(call("abs", x, &y[1]));
  CHECK_OK(call("sin", x, &y[2]));
  CHECK(kw_device_synchronize(device) == (KEYWAY_FAULTS_LATE_IS_FATAL ? KW_ERR_DEVICE_LOST : KW_ERR_INTERNAL));
  CHECK_CONTAINS(kw_error_message(), "emulated");
  CHECK_CONTAINS(kw_error_message(), KEYWAY_FAULTS_LATE_IS_FATAL ? "sin" : "abs");
  CHECK(kw_device_synchronize(device) == (KEYWAY_FAULTS_LATE_IS_FATAL ? KW_ERR_DEVICE_LOST : KW_OK));
  kw_status taken = kw_stream_synchronize(kw_stream_default(device));
  CHECK(taken == (KEYWAY_FAULTS_LATE_IS_FATAL ? KW_ERR_DEVICE_LOST : KW_ERR_INTERNAL));
  CHECK_CONTAINS(kw_error_message(), KEYWAY_FAULTS_LATE_IS_FATAL ? "sin" : "abs");
  check_another_works();
  if (!KEYWAY_FAULTS_LATE_IS_FATAL) check_works(device);
  for (int i = 0; i < 3; ++i) kw_tensor_release(y[i]);
  kw_tensor_release(x);
  CHECK_OK(kw_device_close(device));
  CHECK_OK(kw_device_open(FIRST, &device));
  check_works(device);
  CHECK_OK(kw_device_close(device));
}

/* Who waits for an event meets the failure before the stream does, and it still is the stream's. */
static void fail_late_before_an_event(void) {
  kw_device *device = open_with("late:1", FIRST);
  gate gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0};
  kw_stream *stream;
  kw_event *event;
  kw_tensor *x = tensor_of(device, 2), *y = NULL;
  CHECK_OK(kw_stream_create(device, &stream));
  CHECK_OK(kw_event_create(device, &event));
  CHECK_OK(kw_stream_call_host(stream, pass, &gate));
  CHECK_OK(kw_op_call(kw_op_find("neg"), stream, (kw_value[]){kw_arg_tensor(x)}, 1, &y, 1));
  CHECK_OK(kw_event_record(event, stream));
  open_gate(&gate);
  CHECK(kw_event_synchronize(event) == (KEYWAY_FAULTS_LATE_IS_FATAL ? KW_ERR_DEVICE_LOST : KW_OK));
  if (KEYWAY_FAULTS_LATE_IS_FATAL) CHECK_CONTAINS(kw_error_message(), "emulated");
  CHECK(kw_stream_synchronize(stream) == (KEYWAY_FAULTS_LATE_IS_FATAL ? KW_ERR_DEVICE_LOST : KW_ERR_INTERNAL));
  if (!KEYWAY_FAULTS_LATE_IS_FATAL) {
    CHECK_CONTAINS(kw_error_message(), "emulated");
    check_works(device);
  }
  kw_tensor_release(x);
  kw_tensor_release(y);
  CHECK(kw_event_destroy(event) == KW_OK || KEYWAY_FAULTS_LATE_IS_FATAL);
  CHECK(kw_stream_destroy(stream) == KW_OK || KEYWAY_FAULTS_LATE_IS_FATAL);
  CHECK_OK(kw_device_close(device));
}

/* ---- Devices ----------------------------------------------------------------------------------------------------- */

static void lose_the_device(void) {
  kw_device *device = open_with("lost:2", FIRST), *again;
  kw_stream *stream;
  kw_event *event;
  kw_tensor *x = tensor_of(device, 2), *y, *z;
  CHECK_OK(kw_stream_create(device, &stream));
  CHECK_OK(kw_event_create(device, &event));
  CHECK_OK(call("neg", x, &y));
  CHECK_OK(kw_event_record(event, kw_stream_default(device)));
  kw_status status = call("abs", x, &z);
  if (status == KW_OK) status = kw_device_synchronize(device);
  CHECK(status == KW_ERR_DEVICE_LOST);
  CHECK_CONTAINS(kw_error_message(), "emulated");
  CHECK(kw_stream_synchronize(stream) == KW_ERR_DEVICE_LOST);
  CHECK(kw_device_open(FIRST, &again) == KW_ERR_DEVICE_LOST);
  check_another_works();
  kw_tensor_release(x);
  kw_tensor_release(y);
  kw_tensor_release(z);
  kw_event_destroy(event);
  kw_stream_destroy(stream);
  CHECK_OK(kw_device_close(device));
  CHECK_OK(kw_device_open(FIRST, &device));
  check_works(device);
  CHECK_OK(kw_device_close(device));
}

/* Work waits for a host function while the device is lost: no thread waits forever, and the function runs once. */
static void lose_the_device_with_work_in_flight(void) {
  kw_device *device = open_with("lost:2", FIRST);
  gate gate = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, 0};
  kw_stream *stream;
  kw_tensor *x = tensor_of(device, 2), *y = NULL, *z;
  CHECK_OK(kw_stream_create(device, &stream));
  CHECK_OK(kw_stream_call_host(stream, pass, &gate));
  CHECK_OK(kw_op_call(kw_op_find("neg"), stream, (kw_value[]){kw_arg_tensor(x)}, 1, &y, 1));
  CHECK(call("abs", x, &z) == KW_ERR_DEVICE_LOST || kw_device_synchronize(device) == KW_ERR_DEVICE_LOST);
  open_gate(&gate);
  CHECK(kw_stream_synchronize(stream) == KW_ERR_DEVICE_LOST);
  kw_tensor_release(x);
  kw_tensor_release(y);
  kw_tensor_release(z);
  kw_stream_destroy(stream);
  CHECK_OK(kw_device_close(device));
  CHECK(gate.passed == 1);
  CHECK_OK(kw_device_open(FIRST, &device));
  check_works(device);
  CHECK_OK(kw_device_close(device));
}

/* ---- The program ------------------------------------------------------------------------------------------------- */

/* A device that does not give back all it has says so as it is closed. */
static void run(void (*body)(void)) {
  run_child(body);
  assert_null(strstr(read_text(scratch_path("stderr")), "closing"));
}

#define CHILD(name)                       \
  static void test_##name(void **state) { \
    (void)state;                          \
    run(name);                            \
  }
CHILD(run_out_of_memory)
CHILD(one_allocation_fails)
CHILD(refuse_a_launch)
CHILD(fail_late)
CHILD(fail_late_before_an_event)
CHILD(lose_the_device)
CHILD(lose_the_device_with_work_in_flight)

/* What the test drivers say, which all count in steps of their own: MHz, kHz. */
static void tell_facts(void) {
  kw_device *device = open_with("", FIRST);
  kw_attribute value = {.struct_size = sizeof value};
  CHECK_OK(kw_device_attribute(device, "unified_memory", &value));
  CHECK(value.type == KW_ATTRIBUTE_BOOL && !value.u.b);
  CHECK_OK(kw_device_attribute(device, "core_clock_hz", &value));
  CHECK(value.u.i == KEYWAY_FAULTS_CORE_CLOCK);
  CHECK_OK(kw_device_attribute(device, "memory_clock_hz", &value));
  CHECK(value.u.i == KEYWAY_FAULTS_MEMORY_CLOCK);
  CHECK(kw_device_attribute(device, "numa_node", &value) == KW_ERR_NOT_FOUND); /* it has no place on a bus */
  CHECK_OK(kw_device_close(device));
}
CHILD(tell_facts)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_tell_facts),
      cmocka_unit_test(test_run_out_of_memory),
      cmocka_unit_test(test_one_allocation_fails),
      cmocka_unit_test(test_refuse_a_launch),
      cmocka_unit_test(test_fail_late),
      cmocka_unit_test(test_fail_late_before_an_event),
      cmocka_unit_test(test_lose_the_device),
      cmocka_unit_test(test_lose_the_device_with_work_in_flight),
  };
  int failures = cmocka_run_group_tests(tests, NULL, NULL);
  remove_scratch();
  return failures;
}
