/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies between two devices that nobody waits for (kw_tensor_copy_async), while one of the two is lost, or hangs and
 * is abandoned: the other's stream goes on and says so, and the process ends as any other. Each case in a child.
 */
#include "child.h"

#include <keyway/test.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

enum { COUNT = 1000 };

static kw_device *cpu, *npu;
static kw_stream *on_cpu, *on_npu;
static kw_tensor *of_cpu, *of_npu;
static float ones[COUNT], twos[COUNT];

static kw_tensor *tensor_on(kw_stream *stream) {
  kw_tensor *tensor;
  CHECK_OK(kw_tensor_create_on(stream, KW_F32, 1, (const int64_t[]){COUNT}, &tensor));
  CHECK_OK(kw_tensor_write_async(tensor, ones, stream));
  CHECK_OK(kw_stream_synchronize(stream));
  return tensor;
}

static void open_both(void) {
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY | KW_INIT_TEST};
  for (int i = 0; i < COUNT; ++i) twos[i] = 2 * (ones[i] = 1);
  CHECK_OK(kw_init(&options));
  CHECK_OK(kw_plugin_load(CPU_PLUGIN));
  CHECK_OK(kw_plugin_load(NPU_PLUGIN));
  CHECK_OK(kw_device_open("cpu:0", &cpu));
  CHECK_OK(kw_device_open("npu:0", &npu));
  CHECK_OK(kw_stream_create(cpu, &on_cpu));
  CHECK_OK(kw_stream_create(npu, &on_npu));
  of_cpu = tensor_on(on_cpu);
  of_npu = tensor_on(on_npu);
}

/* From here on work on the device fails as ordered; the first is a launch. */
static void order(kw_fault fault) {
  const kw_value args[] = {kw_arg_tensor(of_npu), kw_arg_tensor(of_npu)};
  CHECK_OK(kw_device_order_fault(npu, fault, 1));
  CHECK_OK(kw_op_call(kw_op_find("add.Tensor"), on_npu, args, 2, &of_npu, 1));
}

static void check_cpu_works(void) {
  float got[COUNT];
  CHECK_OK(kw_tensor_write_async(of_cpu, twos, on_cpu));
  CHECK_OK(kw_tensor_read_async(of_cpu, got, on_cpu));
  CHECK_OK(kw_stream_synchronize(on_cpu));
  for (int i = 0; i < COUNT; ++i) CHECK(got[i] == 2);
}

static void check_told(void) {
  CHECK(kw_stream_synchronize(on_cpu) == KW_ERR_INTERNAL);
  CHECK_CONTAINS(kw_error_message(), "the device that the copy waited for was lost");
  check_cpu_works();
}

static void close_both(void) {
  kw_tensor_release(of_cpu);
  kw_tensor_release(of_npu);
  CHECK_OK(kw_stream_destroy(on_cpu));
  kw_stream_destroy(on_npu);
  CHECK_OK(kw_device_close(npu));
  CHECK_OK(kw_device_close(cpu));
}

static sem_t go_on;

static void wait_to_go_on(void *user) {
  (void)user;
  sem_wait(&go_on);
}

/* Once go_on is posted the device is lost; what comes until then is enqueued as ever. */
static void lose_later(void) {
  CHECK(sem_init(&go_on, 0, 0) == 0);
  CHECK_OK(kw_stream_call_host(on_npu, wait_to_go_on, NULL));
  order(KW_FAULT_LOSE);
}

static void source_is_lost(void) {
  open_both();
  lose_later();
  CHECK_OK(kw_tensor_copy_async(of_cpu, on_cpu, of_npu, on_npu));
  CHECK(sem_post(&go_on) == 0);
  check_told();
  CHECK(kw_stream_synchronize(on_npu) == KW_ERR_DEVICE_LOST);
  CHECK(kw_tensor_copy_async(of_cpu, on_cpu, of_npu, on_npu) == KW_ERR_DEVICE_LOST);
  close_both();
  CHECK_OK(kw_device_open("npu:0", &npu));
  CHECK_OK(kw_device_close(npu));
}

static void destination_is_lost(void) {
  open_both();
  lose_later();
  CHECK_OK(kw_tensor_copy_async(of_npu, on_npu, of_cpu, on_cpu));
  CHECK(sem_post(&go_on) == 0);
  CHECK(kw_stream_synchronize(on_npu) == KW_ERR_DEVICE_LOST);
  CHECK_OK(kw_stream_synchronize(on_cpu));
  check_cpu_works();
  close_both();
}

static void hang_and_abandon(kw_tensor *to, kw_stream *to_stream, kw_tensor *from, kw_stream *from_stream) {
  order(KW_FAULT_HOLD);
  CHECK_OK(kw_tensor_copy_async(to, to_stream, from, from_stream));
  CHECK(kw_stream_synchronize_for(to_stream, 1000000) == KW_ERR_TIMEOUT);
  CHECK_OK(kw_device_abandon(npu));
}

static void source_is_abandoned(void) {
  open_both();
  hang_and_abandon(of_cpu, on_cpu, of_npu, on_npu);
  check_told();
  close_both();
}

/* The function that would let the other stream go on runs then, since nothing else would run it. */
static void source_is_abandoned_and_its_stream_destroyed(void) {
  open_both();
  hang_and_abandon(of_cpu, on_cpu, of_npu, on_npu);
  CHECK_OK(kw_stream_destroy(on_npu));
  on_npu = NULL;
  check_told();
  close_both();
}

static void destination_is_abandoned(void) {
  open_both();
  hang_and_abandon(of_npu, on_npu, of_cpu, on_cpu);
  CHECK_OK(kw_stream_synchronize(on_cpu));
  check_cpu_works();
  close_both();
}

#define CHILD(name)                       \
  static void test_##name(void **state) { \
    (void)state;                          \
    run_child(name);                      \
  }
CHILD(source_is_lost)
CHILD(destination_is_lost)
CHILD(source_is_abandoned)
CHILD(source_is_abandoned_and_its_stream_destroyed)
CHILD(destination_is_abandoned)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_source_is_lost),
      cmocka_unit_test(test_destination_is_lost),
      cmocka_unit_test(test_source_is_abandoned),
      cmocka_unit_test(test_source_is_abandoned_and_its_stream_destroyed),
      cmocka_unit_test(test_destination_is_abandoned),
  };
  int failures = cmocka_run_group_tests(tests, NULL, NULL);
  remove_scratch();
  return failures;
}
