/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory without which nothing goes on.
 */
#ifndef KEYWAY_CONFORMANCE_NEED_H
#define KEYWAY_CONFORMANCE_NEED_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Ends the process at once, with what is said where nothing could be judged. */
_Noreturn static inline void kw_out_of_memory(void) {
  fputs("keyway: no memory is left on this machine: nothing more was done, and no report was written\n", stderr);
  _exit(2);
}

/* Zeroed, a byte at least; the process ends where there is none. */
static inline void *kw_need(size_t size) {
  void *memory = calloc(1, size ? size : 1);
  if (!memory) kw_out_of_memory();
  return memory;
}

#endif /* KEYWAY_CONFORMANCE_NEED_H */
