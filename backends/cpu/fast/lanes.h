/* SPDX-License-Identifier: Apache-2.0
 *
 * Lanes for the families of fast kernels: the table of this process, and what a dtype has to do with it.
 */
#ifndef KEYWAY_CPU_FAST_LANES_H
#define KEYWAY_CPU_FAST_LANES_H

#include "isa/isa.h"

#include <stdbool.h>

/* The vector code of this process, by processor and KEYWAY_CPU_CAPABILITY; NULL where that says "reference". *out_why
 * is NULL, or one static text that says why the environment's wish is not heard. */
const kw_isa *kw_fast_choose(const char **out_why);

/* The same, for kernels, which are registered only where there is one. */
const kw_isa *kw_fast_isa(void);

/* The lanes that a real dtype is computed on in, their size in bytes, and whether elements lie in memory as they do. */
kw_lane kw_lane_of(kw_dtype dtype);
int64_t kw_lane_size(kw_lane lane);
bool kw_lane_is_native(kw_dtype dtype);

/* n lanes, each a copy of `lane`, or the number in floating point lanes. */
void kw_lanes_fill(void *lanes, const void *lane, kw_lane type, int64_t n);
void kw_lanes_fill_number(void *lanes, double number, kw_lane type, int64_t n);

/* How elements of a dtype become lanes, and lanes its elements. */
typedef struct kw_port {
  kw_dtype dtype;
  kw_lane lane;
  int64_t size;   /* bytes of an element */
  bool is_native; /* elements lie in memory as lanes do */
} kw_port;

/* False where a dtype does not become such lanes, or such lanes the dtype, with one rounding. */
bool kw_port_open(kw_port *port, kw_dtype dtype, kw_lane lane);
/* For elements that are only written. */
bool kw_port_open_out(kw_port *port, kw_dtype dtype, kw_lane lane);
void kw_port_read(const kw_port *port, void *lanes, const char *from, int64_t step, int64_t n);
void kw_port_write(const kw_port *port, char *to, int64_t step, const void *lanes, int64_t n);

/* Whether elements `step` bytes apart can be used as lanes where they lie. */
static inline bool kw_port_is_lanes(const kw_port *port, int64_t step) {
  return port->is_native && step == port->size;
}

/* n lanes from `at`, in `buffer` where they do not lie there as lanes. */
static inline const void *kw_port_lanes(const kw_port *port, const char *at, int64_t step, int64_t n, void *buffer) {
  if (kw_port_is_lanes(port, step)) return at;
  kw_port_read(port, buffer, at, step, n);
  return buffer;
}

#endif /* KEYWAY_CPU_FAST_LANES_H */
