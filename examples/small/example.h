/* SPDX-License-Identifier: Apache-2.0
 *
 * What the small examples share: they end with the library's own words when something fails.
 */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <keyway/functions.h>

#include <stdio.h>
#include <stdlib.h>

/* Exit status 1 and why, unless all went well so far. */
static inline void check(kw_status status) {
  if (status == KW_OK) return;
  fprintf(stderr, "%s\n", kw_error_message());
  exit(1);
}

/* The device that an argument of the command line names; "auto" without one. */
static inline kw_device *open_device(int argc, char **argv, int argument) {
  kw_device *device;
  check(kw_device_open(argc > argument ? argv[argument] : "auto", &device));
  return device;
}

/* A scope on the device's default stream. */
static inline kw_scope *begin(kw_device *device) {
  kw_scope *scope;
  check(kw_scope_begin(kw_stream_default(device), &scope));
  return scope;
}

/* A number in [-1, 1), another one at each call, the same in each run. */
static inline float draw(void) {
  static uint32_t state = 1;
  state = state * 1664525U + 1013904223U;
  return (float)(state >> 8) / (1 << 23) - 1;
}

#endif /* EXAMPLE_H */
