/* SPDX-License-Identifier: Apache-2.0
 *
 * An application that lets Ctrl-C end its calls, and goes on.
 */
#include <keyway/keyway.h>

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SIDE 512
#define COUNT (SIDE * SIDE)

static volatile sig_atomic_t stop;
static float numbers[COUNT], got[COUNT];

/* As the C standard has handlers say what came. That other threads look there meanwhile is a race by its letter. */
__attribute__((no_sanitize("thread"))) static void on_interrupt(int signal) {
  (void)signal;
  stop = 1;
}

static kw_tensor *make_square(kw_device *device) {
  kw_tensor *tensor = NULL;
  for (int i = 0; i < COUNT; i++) numbers[i] = (float)(i % 7);
  assert_int_equal(kw_tensor_create(device, KW_F32, 2, (int64_t[]){SIDE, SIDE}, &tensor), KW_OK);
  assert_int_equal(kw_tensor_write(tensor, numbers), KW_OK);
  return tensor;
}

static kw_device *open_device(const char *plugin, const char *name) {
  kw_device *device = NULL;
  assert_int_equal(kw_plugin_load(plugin), KW_OK);
  assert_int_equal(kw_device_open(name, &device), KW_OK);
  return device;
}

static void an_interrupt_ends_a_call(void **state) {
  (void)state;
  kw_device *device = open_device(INTERRUPTS_PLUGIN, "interrupts:0");
  kw_tensor *x = make_square(device), *sum = NULL;
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(x)};
  signal(SIGINT, on_interrupt);
  kw_cancel_watch(&stop);
  assert_int_equal(kw_op_call(kw_op_find("add.Tensor"), NULL, args, 2, &sum, 1), KW_ERR_CANCELLED);
  assert_true(stop);
  assert_null(sum);
  assert_non_null(strstr(kw_error_message(), "the application cancelled the call"));
  assert_string_equal(kw_status_name(KW_ERR_CANCELLED), "cancelled");
  stop = 0;
  assert_int_equal(kw_op_call(kw_op_find("add.Tensor"), NULL, args, 2, &sum, 1), KW_OK);
  kw_cancel_watch(NULL);
  assert_int_equal(kw_tensor_read(sum, got), KW_OK);
  for (int i = 0; i < COUNT; i++) assert_true(got[i] == 2 * numbers[i]);
  kw_tensor_release(x);
  kw_tensor_release(sum);
  assert_int_equal(kw_device_close(device), KW_OK);
}

/* Kernels of several families, once with the flag set, once without, once with nobody watching. */
static void kernels_of_the_cpu_pass_it_on(void **state) {
  (void)state;
  kw_device *device = open_device(CPU_PLUGIN, "cpu:0");
  kw_tensor *x = make_square(device);
  const struct {
    const char *op;
    uint32_t count;
    kw_value args[3];
  } calls[] = {{"add.Tensor", 2, {kw_arg_tensor(x), kw_arg_tensor(x)}},
               {"exp", 1, {kw_arg_tensor(x)}},
               {"mm", 2, {kw_arg_tensor(x), kw_arg_tensor(x)}},
               {"sum", 1, {kw_arg_tensor(x)}},
               {"_softmax", 3, {kw_arg_tensor(x), kw_arg_int(-1), kw_arg_bool(false)}}};
  for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
    for (int round = 0; round < 3; round++) {
      kw_tensor *out = NULL;
      stop = round == 0;
      kw_cancel_watch(round < 2 ? &stop : NULL);
      const kw_status status = kw_op_call(kw_op_find(calls[i].op), NULL, calls[i].args, calls[i].count, &out, 1);
      if (status != (round == 0 ? KW_ERR_CANCELLED : KW_OK)) {
        fail_msg("%s, round %d: %s: %s", calls[i].op, round, kw_status_name(status), kw_error_message());
      }
      kw_tensor_release(out);
    }
  }
  kw_tensor_release(x);
  assert_int_equal(kw_device_close(device), KW_OK);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_interrupt_ends_a_call),
      cmocka_unit_test(kernels_of_the_cpu_pass_it_on),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
