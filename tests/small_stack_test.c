/* SPDX-License-Identifier: Apache-2.0
 *
 * What applications do, each step on a thread whose stack has KW_THREAD_STACK bytes: below it lies a page that nobody
 * may touch. How deep each went is printed, and may be three quarters: other compilers and C libraries need some, too.
 * A plugin that uses all of its own share is not measured; it has to fit.
 */
#include "attack/steps.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define PAINT 0xa5
#define DEEPEST (KW_THREAD_STACK / 4 * 3)

/* ---- On the thread ----------------------------------------------------------------------------------------------- */

static kw_status nothing(void) {
  return KW_OK;
}

static kw_status errors(void) {
  kw_device *device = NULL;
  kw_tensor *tensor = NULL, *none = NULL;
  const kw_value wrong[] = {kw_arg_int(1), kw_arg_none()};
  bool told = kw_device_open("no_such:0", &device) != KW_OK && strstr(kw_error_message(), "no_such") != NULL;
  told = told && kw_device_open("cpu:0/no_such=1", &device) != KW_OK && kw_plugin_load("/no/such.so") != KW_OK;
  if (!told || kw_device_open("cpu:0", &device) != KW_OK) return STEP_WRONG;
  told = kw_op_call(kw_op_find("add.Tensor"), NULL, wrong, 2, &none, 1) != KW_OK;
  told = told && kw_tensor_create(device, KW_F32, 1, (int64_t[]){INT64_MAX}, &tensor) != KW_OK;
  return kw_device_close(device) == KW_OK && told ? KW_OK : STEP_WRONG;
}

/* Enough elements for all threads of parallel_for. */
static kw_status deep_plugin(void) {
  enum { COUNT = 256 };
  kw_device *device = NULL;
  kw_tensor *tensor = NULL, *sum = NULL;
  float numbers[COUNT], got[COUNT] = {0};
  for (int i = 0; i < COUNT; i++) numbers[i] = (float)i;
  kw_status status = kw_plugin_load(DEEP_PLUGIN);
  if (status == KW_OK) status = kw_device_open("deep:0", &device);
  if (status == KW_OK) status = kw_tensor_create(device, KW_F32, 1, (int64_t[]){COUNT}, &tensor);
  if (status == KW_OK) status = kw_tensor_write(tensor, numbers);
  const kw_value args[] = {kw_arg_tensor(tensor), kw_arg_tensor(tensor)};
  if (status == KW_OK) status = kw_op_call(kw_op_find("add.Tensor"), NULL, args, 2, &sum, 1);
  if (status == KW_OK) status = kw_tensor_read(sum, got);
  if (status == KW_OK && got[COUNT - 1] != 2 * (COUNT - 1)) status = STEP_WRONG;
  if (status != KW_OK) snprintf(step_message, sizeof step_message, "%s", kw_error_message());
  kw_tensor_release(tensor);
  kw_tensor_release(sum);
  if (device != NULL) kw_device_close(device);
  return status;
}

static void *run_step(void *user) {
  const attack_step *step = user;
  step_device = "cpu:0";
  const kw_status status = step->run();
  if (status == KW_OK) return user;
  fprintf(stderr, "%s: status %d at %s: %s\n", step->name, status, step_where, step_message);
  return NULL;
}

/* ---- Around it --------------------------------------------------------------------------------------------------- */

/* How many bytes of stack the step used, with what the C library keeps of a thread there. */
static size_t depth_of(const attack_step *step) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  unsigned char *memory =
      mmap(NULL, page + KW_THREAD_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  assert_true(memory != MAP_FAILED);
  assert_int_equal(mprotect(memory, page, PROT_NONE), 0);
  memset(memory + page, PAINT, KW_THREAD_STACK);
  pthread_attr_t attributes;
  pthread_t thread;
  void *result;
  pthread_attr_init(&attributes);
  assert_int_equal(pthread_attr_setstack(&attributes, memory + page, KW_THREAD_STACK), 0);
  assert_int_equal(pthread_create(&thread, &attributes, run_step, (void *)(uintptr_t)step), 0);
  pthread_attr_destroy(&attributes);
  pthread_join(thread, &result);
  assert_non_null(result);
  size_t left = 0;
  while (left < KW_THREAD_STACK && memory[page + left] == PAINT) left++;
  munmap(memory, page + KW_THREAD_STACK);
  return KW_THREAD_STACK - left;
}

static void check_depth(const attack_step *step) {
  const size_t depth = depth_of(step);
  printf("%-12s %6zu of %u bytes\n", step->name, depth, KW_THREAD_STACK);
  if (depth > DEEPEST) fail_msg("%s leaves less than a quarter of KW_THREAD_STACK", step->name);
}

static void steps_leave_a_quarter(void **state) {
  (void)state;
  check_depth(&(attack_step){.name = "nothing", .run = nothing});
  for (const attack_step *step = attack_steps; step->name != NULL; step++) {
    if (strcmp(step->name, "start-alone") != 0) check_depth(step); /* the one before it has started the library */
  }
  check_depth(&(attack_step){.name = "errors", .run = errors});
}

static void a_plugin_has_its_share(void **state) {
  (void)state;
  depth_of(&(attack_step){.name = "deep plugin", .run = deep_plugin});
}

int main(void) {
  step_plugin = CPU_PLUGIN;
  step_other = NPU_PLUGIN;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steps_leave_a_quarter),
      cmocka_unit_test(a_plugin_has_its_share),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
