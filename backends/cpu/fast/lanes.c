/* SPDX-License-Identifier: Apache-2.0
 *
 * Lanes: which instruction set this process uses for them, and which of them a dtype is computed on in.
 */
#include "lanes.h"

#include "capability.h"
#include "isa_list.h"
#include "number.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- Instruction set --------------------------------------------------------------------------------------------- */

static pthread_once_t chosen_once = PTHREAD_ONCE_INIT;
static kw_isa table;
static const kw_isa *chosen;
static const char *why_not;

#define BIT(LEVEL, name) | 1u << KW_CAPABILITY_##LEVEL
enum { COMPILED = 0 KW_EACH_ISA(BIT) };
#undef BIT

static void choose(void) {
  const char *wanted = secure_getenv("KEYWAY_CPU_CAPABILITY");
  switch (kw_capability_choose(COMPILED, kw_capability_features(), wanted, &why_not)) {
#define FILL(LEVEL, name)       \
  case KW_CAPABILITY_##LEVEL:   \
    kw_isa_fill_##name(&table); \
    break;
    KW_EACH_ISA(FILL)
#undef FILL
    default:
      return;
  }
  chosen = &table;
}

const kw_isa *kw_fast_choose(const char **out_why) {
  pthread_once(&chosen_once, choose);
  *out_why = why_not;
  return chosen;
}

const kw_isa *kw_fast_isa(void) {
  return chosen;
}

/* ---- Lanes ------------------------------------------------------------------------------------------------------- */

kw_lane kw_lane_of(kw_dtype dtype) {
  if (dtype == KW_F64) return KW_LANE_F64;
  if (dtype == KW_I64) return KW_LANE_I64;
  return kw_number_is_integer(dtype) ? KW_LANE_I32 : KW_LANE_F32;
}

int64_t kw_lane_size(kw_lane lane) {
  static const uint8_t sizes[] = {[KW_LANE_F32] = 4,  [KW_LANE_F64] = 8, [KW_LANE_I32] = 4, [KW_LANE_I64] = 8,
                                  [KW_LANE_BYTE] = 1, [KW_LANE_F16] = 2, [KW_LANE_BF16] = 2};
  return sizes[lane];
}

bool kw_lane_is_native(kw_dtype dtype) {
  return dtype == KW_F32 || dtype == KW_F64 || dtype == KW_I32 || dtype == KW_I64;
}

void kw_lanes_fill(void *lanes, const void *lane, kw_lane type, int64_t n) {
  const int64_t size = kw_lane_size(type);
  chosen->move[__builtin_ctzll((uint64_t)size)](lanes, size, lane, 0, n); /* moves are by the size's logarithm */
}

void kw_lanes_fill_number(void *lanes, double number, kw_lane type, int64_t n) {
  const float narrow = (float)number;
  kw_lanes_fill(lanes, type == KW_LANE_F32 ? (const void *)&narrow : &number, type, n);
}

bool kw_port_open(kw_port *port, kw_dtype dtype, kw_lane lane) {
  return kw_port_open_out(port, dtype, lane) && chosen->read[dtype][lane];
}

bool kw_port_open_out(kw_port *port, kw_dtype dtype, kw_lane lane) {
  if (dtype >= KW_ISA_DTYPES || !chosen->write[dtype][lane]) return false;
  const bool is_native = lane >= KW_LANE_BYTE || (kw_lane_is_native(dtype) && kw_lane_of(dtype) == lane);
  *port = (kw_port){dtype, lane, (int64_t)kw_number_size(dtype), is_native};
  return true;
}

void kw_port_read(const kw_port *port, void *lanes, const char *from, int64_t step, int64_t n) {
  chosen->read[port->dtype][port->lane](lanes, from, step, n);
}

void kw_port_write(const kw_port *port, char *to, int64_t step, const void *lanes, int64_t n) {
  chosen->write[port->dtype][port->lane](to, step, lanes, n);
}
