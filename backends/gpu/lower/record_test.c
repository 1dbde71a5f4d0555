/* SPDX-License-Identifier: Apache-2.0
 *
 * Recordings that fail: what one launch could not do the end says, and nothing is held back after it.
 */
#include "lower/record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool no_memory;
static kw_status launch_status;
static int launches;

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size) {
  return no_memory ? NULL : __real_malloc(size);
}

static kw_status set_error(void *ctx, kw_status status, const char *text) {
  (void)ctx, (void)text;
  return status;
}

static kw_status launch(kw_gpu_device *device, kw_gpu_stream *stream, const kw_gpu_launch *launched) {
  (void)device, (void)stream, (void)launched;
  ++launches;
  return launch_status;
}

static const kw_host_api host = {.struct_size = sizeof host, .set_error = set_error};
static const kw_gpu_driver driver = {.launch = launch};
static kw_gpu_device device = {.driver = &driver, .host = &host, .memories_lock = PTHREAD_MUTEX_INITIALIZER};
static kw_gpu_stream stream = {.device = &device};

static const kw_gpu_module module = {.name = "test", .sources = {""}};
static const kw_gpu_kernel joins = {&module, "kw_unary_kernel"}, stands_alone = {&module, "kw_sort_kernel"};

/* `kernel` from 64 numbers to themselves. */
static kw_status record(kw_gpu_recorder *recorder, const kw_gpu_kernel *kernel) {
  static char memory;
  const kw_elementwise block = {.numel = 64, .rank = 1, .flat = 1, .shape = {64}, .stride = {{1}, {1}}};
  const int32_t opcode = 0;
  const kw_gpu_arg args[] = {{.mem = &memory},
                             {.mem = &memory},
                             {.data = &block, .size = sizeof block},
                             {.data = &opcode, .size = sizeof opcode}};
  kw_gpu_step step = {.kind = KW_GPU_LAUNCH, .kernel = kernel, .dtype = KW_F32, .opcode = -1, .operand_count = 2};
  step.operands[0].from = KW_GPU_RESULT;
  step.operands[1].from = KW_GPU_ARGUMENT;
  step.values[step.value_count++].size = sizeof opcode;
  kw_gpu_recorder_call(recorder);
  return kw_gpu_recorder_launch(recorder, &step, &(kw_gpu_launch){.args = args, .arg_count = 4});
}

static int reset(void **state) {
  (void)state;
  no_memory = false;
  launch_status = KW_OK;
  launches = 0;
  return 0;
}

static void without_memory_nothing_is_held_back(void **state) {
  (void)state;
  kw_gpu_recorder *recorder = kw_gpu_recorder_create(&stream, true);
  uint32_t count;
  assert_int_equal(record(recorder, &joins), KW_OK);
  no_memory = true;
  assert_int_equal(record(recorder, &joins), KW_ERR_OUT_OF_MEMORY);
  no_memory = false;
  assert_int_equal(record(recorder, &joins), KW_ERR_OUT_OF_MEMORY);
  assert_int_equal(record(recorder, &stands_alone), KW_ERR_OUT_OF_MEMORY);
  assert_int_equal(kw_gpu_recorder_settle(recorder), KW_ERR_OUT_OF_MEMORY);
  kw_gpu_recorder_commands(recorder, &count);
  assert_int_equal(count, 0);
  kw_gpu_recorder_free(recorder);
}

static void a_command_without_memory_fails_the_end(void **state) {
  (void)state;
  kw_gpu_recorder *recorder = kw_gpu_recorder_create(&stream, true);
  assert_int_equal(record(recorder, &stands_alone), KW_OK);
  no_memory = true;
  assert_int_equal(record(recorder, &stands_alone), KW_ERR_OUT_OF_MEMORY);
  no_memory = false;
  assert_int_equal(kw_gpu_recorder_settle(recorder), KW_ERR_OUT_OF_MEMORY);
  kw_gpu_recorder_free(recorder);
}

/* Where the driver has graphs of its own it gets the commands at once. */
static void what_the_driver_refuses_fails_the_end(void **state) {
  (void)state;
  kw_gpu_recorder *recorder = kw_gpu_recorder_create(&stream, false);
  assert_int_equal(record(recorder, &stands_alone), KW_OK);
  launch_status = KW_ERR_UNSUPPORTED;
  assert_int_equal(record(recorder, &stands_alone), KW_ERR_UNSUPPORTED);
  launch_status = KW_OK;
  assert_int_equal(launches, 2);
  assert_int_equal(record(recorder, &stands_alone), KW_ERR_UNSUPPORTED);
  assert_int_equal(launches, 2);
  assert_int_equal(kw_gpu_recorder_settle(recorder), KW_ERR_UNSUPPORTED);
  kw_gpu_recorder_free(recorder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(without_memory_nothing_is_held_back, reset),
      cmocka_unit_test_setup(a_command_without_memory_fails_the_end, reset),
      cmocka_unit_test_setup(what_the_driver_refuses_fails_the_end, reset),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
