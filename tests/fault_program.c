/* SPDX-License-Identifier: Apache-2.0
 *
 * An application for the fault layer: a fixed row of steps on a device, and what came of each, one a line.
 */
#include <keyway/keyway.h>

#include <stdio.h>
#include <string.h>

static kw_device *device;

static void say(const char *step, kw_status status) {
  char text[600] = "";
  if (status != KW_OK) snprintf(text, sizeof text, ": %s", kw_error_message());
  for (char *at = text; *at != 0; ++at)
    if (*at == '\n') *at = ' ';
  printf("%s: %s%s\n", step, status == KW_OK ? "ok" : kw_status_name(status), text);
}

/* A tensor of so many MiB, written, doubled, read. */
static void round_trip(const char *name, int64_t mebibytes) {
  static float numbers[2 << 18];
  char step[32];
  const int64_t size = mebibytes << 18;
  kw_tensor *x = NULL, *sum = NULL;
  numbers[5] = 2.5f;
  kw_status status = kw_tensor_create(device, KW_F32, 1, &size, &x);
  snprintf(step, sizeof step, "%s create", name);
  say(step, status);
  if (status != KW_OK) return;
  snprintf(step, sizeof step, "%s write", name);
  const kw_status written = kw_tensor_write(x, numbers);
  say(step, written);
  const kw_value args[] = {kw_arg_tensor(x), kw_arg_tensor(x)};
  status = kw_op_call(kw_op_find("add.Tensor"), NULL, args, 2, &sum, 1);
  snprintf(step, sizeof step, "%s add", name);
  say(step, status);
  snprintf(step, sizeof step, "%s wait", name);
  say(step, kw_stream_synchronize(kw_stream_default(device)));
  if (status == KW_OK) {
    status = kw_tensor_read(sum, numbers);
    if (status == KW_OK && written == KW_OK && numbers[5] != 5) printf("%s: wrong\n", name);
    snprintf(step, sizeof step, "%s read", name);
    say(step, status);
  }
  kw_tensor_release(x);
  kw_tensor_release(sum);
}

int main(int argc, char **argv) {
  kw_status status = kw_device_open(argc > 1 ? argv[1] : "cpu:0", &device);
  say("open", status);
  if (status != KW_OK) return 0;
  round_trip("first", 1);
  round_trip("second", 2);
  round_trip("third", 1);
  say("close", kw_device_close(device));
  status = kw_device_open(argc > 1 ? argv[1] : "cpu:0", &device);
  say("open again", status);
  if (status == KW_OK) {
    round_trip("fourth", 1);
    kw_device_close(device);
  }
  return 0;
}
