/* SPDX-License-Identifier: Apache-2.0
 *
 * A device that never finishes: a read of it ends at the limit, another device computes meanwhile, and after it was
 * abandoned the process ends as any other. A program without a test framework, since its end is what is tested.
 */
#include "child.h"

#include <keyway/test.h>
#include <stdio.h>

enum { COUNT = 1000, LIMIT = 50000000 }; /* ns */

static kw_device *open_from(const char *plugin, const char *name) {
  kw_device *device;
  CHECK_OK(kw_plugin_load(plugin));
  CHECK_OK(kw_device_open(name, &device));
  return device;
}

static kw_tensor *tensor_of(kw_device *device, const float *values) {
  kw_tensor *tensor;
  CHECK_OK(kw_tensor_create(device, KW_F32, 1, (const int64_t[]){COUNT}, &tensor));
  CHECK_OK(kw_tensor_write(tensor, values));
  return tensor;
}

static kw_tensor *doubled(kw_tensor *x) {
  kw_tensor *sum = NULL;
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(x)};
  CHECK_OK(kw_op_call(kw_op_find("add.Tensor"), NULL, args, 2, &sum, 1));
  return sum;
}

static void check_computes(kw_device *device, const float *values) {
  float got[COUNT];
  kw_tensor *x = tensor_of(device, values), *sum = doubled(x);
  CHECK_OK(kw_tensor_read(sum, got));
  for (int i = 0; i < COUNT; ++i) CHECK(got[i] == 2 * values[i]);
  kw_tensor_release(x);
  kw_tensor_release(sum);
}

int main(void) {
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY | KW_INIT_TEST};
  static float values[COUNT], got[COUNT];
  for (int i = 0; i < COUNT; ++i) values[i] = (float)i;
  CHECK_OK(kw_init(&options));
  kw_device *hangs = open_from(HANG_PLUGIN, HANG_DEVICE), *other = open_from(CPU_PLUGIN, "cpu:0"), *again;
  CHECK(kw_device_order_fault(other, KW_FAULT_HOLD, 1) == KW_ERR_UNSUPPORTED);
  CHECK_CONTAINS(kw_error_message(), "keyway.test/1");
  check_computes(hangs, values);
  CHECK_OK(kw_device_set_wait_limit(hangs, LIMIT));
  kw_tensor *x = tensor_of(hangs, values);
  CHECK_OK(kw_device_order_fault(hangs, KW_FAULT_HOLD, 1));
  kw_tensor *sum = doubled(x);
  CHECK(kw_tensor_read(sum, got) == KW_ERR_TIMEOUT);
  CHECK_CONTAINS(kw_error_message(), "kw_tensor_read");
  CHECK_CONTAINS(kw_error_message(), "the default stream of " HANG_DEVICE " has not finished within 50 ms");
  CHECK_CONTAINS(kw_error_message(), "add.Tensor");
  check_computes(other, values);
  CHECK_OK(kw_device_abandon(hangs));
  CHECK(kw_tensor_read(sum, got) == KW_ERR_DEVICE_LOST);
  CHECK_CONTAINS(kw_error_message(), HANG_DEVICE " was abandoned");
  for (int i = 0; i < COUNT; ++i) CHECK(got[i] == 0); /* no late copy has come here */
  check_computes(other, values);
  kw_tensor_release(x);
  kw_tensor_release(sum);
  CHECK_OK(kw_device_close(hangs));
  CHECK(kw_device_open(HANG_DEVICE, &again) == KW_ERR_DEVICE_LOST);
  CHECK_OK(kw_device_close(other));
  return 0;
}
