/* SPDX-License-Identifier: Apache-2.0
 *
 * A host of scripts/abi_matrix.sh, built against the headers and the library of every version: loads the plugin that is
 * its argument, adds on npu:0, and asks for what later versions have. Exit status 3: the plugin was refused, and why.
 */
#include <keyway/keyway.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void need(kw_status status, const char *what) {
  if (status == KW_OK) return;
  printf("%s: %s: %s\n", what, kw_status_name(status), kw_error_message());
  exit(1);
}

static void add(kw_device *device) {
  const int64_t shape[] = {2};
  kw_tensor *x = NULL, *sum = NULL;
  float got[2] = {0};
  need(kw_tensor_create(device, KW_F32, 1, shape, &x), "kw_tensor_create");
  need(kw_tensor_write(x, (const float[]){1, 2}), "kw_tensor_write");
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(x)};
  need(kw_op_call(kw_op_find("add.Tensor"), NULL, args, 2, &sum, 1), "kw_op_call");
  need(kw_tensor_read(sum, got), "kw_tensor_read");
  kw_tensor_release(x);
  kw_tensor_release(sum);
  if (got[0] != 2 || got[1] != 4) {
    printf("1, 2 + 1, 2 is %g, %g\n", (double)got[0], (double)got[1]);
    exit(1);
  }
}

int main(int argc, char **argv) {
  const kw_init_options options = {.struct_size = sizeof options, .flags = KW_INIT_NO_DISCOVERY};
  kw_device *device = NULL;
  if (argc != 2) return 2;
  need(kw_init(&options), "kw_init");
  if (kw_plugin_load(argv[1]) != KW_OK) {
    printf("refused: %s\n", kw_error_message());
    return 3;
  }
#ifdef KW_OPTION_VALUE_LIMIT
  const kw_status option = kw_device_open("npu:0/pace=2", &device);
  printf("option: %s\n", kw_status_name(option));
  if (option == KW_OK) need(kw_device_close(device), "kw_device_close");
#endif
  need(kw_device_open("npu:0", &device), "kw_device_open");
  add(device);
#ifdef KW_ATTRIBUTE_TEXT_LIMIT
  kw_attribute later = {.struct_size = sizeof later};
  printf("status of a class: %s\n", kw_status_name(kw_device_attribute(device, "com.acme.later", &later)));
#endif
  need(kw_device_close(device), "kw_device_close");
  printf("ran\n");
  return 0;
}
