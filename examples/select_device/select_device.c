/* SPDX-License-Identifier: Apache-2.0
 *
 * Four lines that people know from PyTorch's private-use device, in C. The device is chosen by name at run time; no
 * line below names one.
 *
 *     rename_privateuse1_backend("my_hardware_device")          kw_device_rename
 *     x = ones_upwards((2, 3), device="my_hardware_device")     kw_device_open, kw_tensor_create, kw_tensor_write
 *     y = x + x                                                 kw_op_call
 *     print(y)                                                  kw_tensor_format
 *
 * Exit status: 0 done, 1 the device failed, 2 wrong usage, or no such device or plugin.
 */
#include <keyway/keyway.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: select_device [--plugin FILE]... [DEVICE]\n"
    "\n"
    "Renames the DEVICE's key to my_hardware_device, makes x of shape (2, 3) there, prints y = x + x and which device\n"
    "computed it. DEVICE is a name as in `keyway list` (npu:0) or a policy (gpu); default: auto.\n"
    "\n"
    "  --plugin FILE   load this plugin too\n"
    "  --help          print this\n"
    "\n"
    "Exit status: 0 done, 1 the device failed, 2 wrong usage, or no such device or plugin.\n";

/* Ends the program when a call failed; Keyway has the text. */
static void check(kw_status status, int exit_status) {
  if (status != KW_OK) {
    fprintf(stderr, "select_device: %s\n", kw_error_message());
    exit(exit_status);
  }
}

/* "npu:1" -> key "npu", and the name under which the renamed device is asked for: "my_hardware_device:1". */
static void split_name(const char *name, char key[80], char renamed[80]) {
  const char *colon = strrchr(name, ':');
  size_t key_length = colon != NULL ? (size_t)(colon - name) : strlen(name);
  snprintf(key, 80, "%.*s", (int)key_length, name);
  snprintf(renamed, 80, "my_hardware_device%s", colon != NULL ? colon : "");
}

/* The four lines. `name` is what the device is called before it is renamed. */
static void run(const char *name) {
  char key[80], renamed[80];
  split_name(name, key, renamed);

  kw_device *device;
  kw_tensor *x, *y = NULL;
  const float values[] = {1, 2, 3, 4, 5, 6};

  check(kw_device_rename(key, "my_hardware_device"), 1);

  check(kw_device_open(renamed, &device), 1);
  check(kw_tensor_create(device, KW_F32, 2, (const int64_t[]){2, 3}, &x), 1);
  check(kw_tensor_write(x, values), 1);

  kw_value arguments[] = {kw_arg_tensor(x), kw_arg_tensor(x)};
  check(kw_op_call(kw_op_find("add.Tensor"), NULL, arguments, 2, &y, 1), 1);

  char text[256];
  check(kw_tensor_format(y, text, sizeof text), 1);
  printf("y = %s\n", text);

  kw_device_info info = {.struct_size = sizeof info};
  kw_counters counters = {.struct_size = sizeof counters};
  check(kw_device_get_info(kw_tensor_device(y), &info), 1);
  check(kw_device_get_counters(kw_tensor_device(y), &counters), 1);
  bool emulated = (info.flags & KW_DEVICE_EMULATED) != 0 && !strstr(info.name, "emulated");
  printf("ran on %s, which is %s: %s%s; kernel launches there: %" PRIu64 ", calls that fell back to the CPU: %" PRIu64
         "\n",
         renamed, name, info.name, emulated ? " (emulated)" : "", counters.launches, counters.fallbacks);

  kw_tensor_release(y);
  kw_tensor_release(x);
  check(kw_device_close(device), 1);
}

int main(int argc, char **argv) {
  const char *wanted = "auto";
  bool named = false;
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--help") == 0) {
      fputs(usage, stdout);
      return 0;
    }
    if (strcmp(argv[i], "--plugin") == 0 && i + 1 < argc) {
      check(kw_plugin_load(argv[++i]), 2);
    } else if (argv[i][0] != '-' && !named) {
      wanted = argv[i];
      named = true;
    } else {
      fprintf(stderr, "select_device: cannot make sense of '%s'; see select_device --help\n", argv[i]);
      return 2;
    }
  }

  /* A policy such as "auto" becomes a name by opening; so does "acme.npu" or a stable id. */
  kw_device *device;
  check(kw_device_open(wanted, &device), 2);
  char name[80];
  snprintf(name, sizeof name, "%s", kw_device_name(device));
  run(name);
  check(kw_device_close(device), 1);
  return 0;
}
