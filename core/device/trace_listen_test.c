/* SPDX-License-Identifier: Apache-2.0
 *
 * The trace given to a function, on cpu:0: launches and what became of them on the device, begun and ended while calls
 * run.
 */
#include <keyway/keyway.h>

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define assert_ok(status) assert_int_equal(status, KW_OK)

enum { LIMIT = 1000 };

typedef struct heard {
  kw_trace_event events[LIMIT]; /* without their detail */
  char names[LIMIT][16];
  int count;
} heard;

static kw_device *cpu;
static heard all; /* one call of the function at a time */

static void KW_CALL hear(const kw_trace_event *event, void *user) {
  heard *to = user;
  if (to->count == LIMIT) return;
  to->events[to->count] = *event;
  strncpy(to->names[to->count++], event->name, sizeof to->names[0] - 1);
}

static int of_category(const char *category, const char *name) {
  int count = 0;
  for (int i = 0; i < all.count; ++i) {
    count += strcmp(all.events[i].category, category) == 0 && strcmp(all.names[i], name) == 0;
  }
  return count;
}

static uint64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (uint64_t)time.tv_sec * UINT64_C(1000000000) + (uint64_t)time.tv_nsec;
}

static int open_cpu(void **state) {
  (void)state;
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY};
  if (kw_init(&options) != KW_OK || kw_plugin_load(CPU_PLUGIN) != KW_OK) return -1;
  return kw_device_open("cpu:0", &cpu) == KW_OK ? 0 : -1;
}

static int close_cpu(void **state) {
  (void)state;
  return kw_device_close(cpu) == KW_OK ? 0 : -1;
}

static kw_tensor *ones(void) {
  kw_tensor *tensor = NULL;
  const float values[4] = {1, 1, 1, 1};
  assert_ok(kw_tensor_create(cpu, KW_F32, 2, (int64_t[]){2, 2}, &tensor));
  assert_ok(kw_tensor_write(tensor, values));
  return tensor;
}

/* relu of it, `times` over: the second call is ready for the fast path. */
static void call(kw_tensor *x, int times) {
  static const kw_op *op;
  if (op == NULL) op = kw_op_find("relu");
  for (int i = 0; i < times; ++i) {
    kw_tensor *out = NULL;
    assert_ok(kw_op_call(op, NULL, (kw_value[]){kw_arg_tensor(x)}, 1, &out, 1));
    kw_tensor_release(out);
  }
}

static void launches_and_what_the_device_did(void **state) {
  (void)state;
  kw_tensor *x = ones();
  call(x, 5);
  assert_ok(kw_device_synchronize(cpu));
  memset(&all, 0, sizeof all);
  const uint64_t before = now();
  assert_ok(kw_trace_listen(hear, &all));
  call(x, 5);
  assert_ok(kw_device_synchronize(cpu));
  assert_int_equal(kw_trace_listen(hear, &all), KW_ERR_BUSY);
  assert_non_null(strstr(kw_error_message(), "there is a function already"));
  assert_ok(kw_trace_listen(NULL, NULL));
  const uint64_t after = now();
  assert_int_equal(of_category("launch", "relu"), 5);
  assert_int_equal(of_category("device", "relu"), 5);
  assert_int_equal(of_category("op", "relu"), 5);
  for (int i = 0; i < all.count; ++i) {
    const kw_trace_event *event = &all.events[i];
    assert_int_equal(event->struct_size, sizeof *event);
    assert_true(event->begin_ns >= before && event->begin_ns <= event->end_ns && event->end_ns <= after);
    const bool of_device = strcmp(event->category, "device") == 0;
    assert_ptr_equal(event->device, of_device ? cpu : NULL);
    if (!of_device) continue;
    int launches = 0; /* one of the host's, on the same stream, that began no later */
    for (int j = 0; j < all.count; ++j) {
      const kw_trace_event *other = &all.events[j];
      launches += strcmp(other->category, "launch") == 0 && other->call == event->call &&
                  other->stream == event->stream && other->begin_ns <= event->begin_ns;
    }
    assert_int_equal(launches, 1);
  }
  const int heard_so_far = all.count;
  call(x, 5);
  assert_ok(kw_device_synchronize(cpu));
  assert_int_equal(all.count, heard_so_far);
  kw_tensor_release(x);
}

static void a_device_that_is_opened_later(void **state) {
  (void)state;
  memset(&all, 0, sizeof all);
  assert_ok(kw_device_close(cpu));
  assert_ok(kw_trace_listen(hear, &all));
  assert_ok(kw_device_open("cpu:0", &cpu));
  kw_tensor *x = ones();
  call(x, 2);
  assert_ok(kw_device_synchronize(cpu));
  assert_ok(kw_trace_listen(NULL, NULL));
  assert_int_equal(of_category("device", "relu"), 2);
  kw_tensor_release(x);
}

static void *call_on(void *stop) {
  kw_tensor *x = ones();
  while (!atomic_load((atomic_bool *)stop)) call(x, 10);
  kw_tensor_release(x);
  return NULL;
}

static void while_threads_call(void **state) {
  (void)state;
  pthread_t threads[2];
  atomic_bool stop = false;
  kw_tensor *x = ones();
  for (int i = 0; i < 2; ++i) assert_int_equal(pthread_create(&threads[i], NULL, call_on, &stop), 0);
  for (int round = 0; round < 50; ++round) {
    memset(&all, 0, sizeof all);
    assert_ok(kw_trace_listen(hear, &all));
    call(x, 1);
    assert_ok(kw_device_synchronize(cpu));
    assert_ok(kw_trace_listen(NULL, NULL));
    assert_true(of_category("launch", "relu") >= 1 || all.count == LIMIT);
  }
  atomic_store(&stop, true);
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  kw_tensor_release(x);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(launches_and_what_the_device_did),
      cmocka_unit_test(a_device_that_is_opened_later),
      cmocka_unit_test(while_threads_call),
  };
  return cmocka_run_group_tests(tests, open_cpu, close_cpu);
}
