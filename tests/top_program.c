/* SPDX-License-Identifier: Apache-2.0
 *
 * A program for tests of `keyway top`: makes so many calls on a device, holds a stream of it busy, says so, and ends
 * when its stdin does.
 *
 * usage: top_program DEVICE CALLS [PLUGIN]
 */
#include <keyway/ops.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define OK(call)                                                           \
  do {                                                                     \
    if ((call) != KW_OK) {                                                 \
      fprintf(stderr, "top_program: %s: %s\n", #call, kw_error_message()); \
      return 1;                                                            \
    }                                                                      \
  } while (0)

static void KW_CALL wait_for_the_end(void *unused) {
  char byte;
  (void)unused;
  while (read(STDIN_FILENO, &byte, 1) > 0) {
  }
}

int main(int argc, char **argv) {
  kw_device *device;
  kw_stream *stream;
  kw_tensor *x, *y = NULL;
  const int64_t size = 1 << 16;
  if (argc < 3) return 2;
  if (argc > 3) OK(kw_plugin_load(argv[3]));
  OK(kw_device_open(argv[1], &device));
  OK(kw_tensor_create(device, KW_F32, 1, &size, &x));
  for (long i = 0; i < strtol(argv[2], NULL, 10); ++i) OK(kw_add_tensor(x, x, &y));
  OK(kw_device_synchronize(device));
  OK(kw_stream_create(device, &stream));
  OK(kw_stream_call_host(stream, wait_for_the_end, NULL));
  puts("ready");
  fflush(stdout);
  OK(kw_stream_synchronize(stream));
  OK(kw_stream_destroy(stream));
  kw_tensor_release(x);
  kw_tensor_release(y);
  OK(kw_device_close(device));
  return 0;
}
