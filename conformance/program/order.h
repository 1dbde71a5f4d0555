/* SPDX-License-Identifier: Apache-2.0
 *
 * The order of a program's acts on a device with several streams: the events that it needs, so that no two acts that
 * touch the same memory, one of which changes it, are unordered.
 */
#ifndef KEYWAY_CONFORMANCE_ORDER_H
#define KEYWAY_CONFORMANCE_ORDER_H

#include "program/program.h"

typedef enum kw_step_kind {
  KW_STEP_ACT,    /* act number `act` of kw_program.acts */
  KW_STEP_RECORD, /* `event` on `stream` */
  KW_STEP_WAIT    /* `stream` waits for `event` */
} kw_step_kind;

typedef struct kw_program_step {
  kw_step_kind kind;
  uint32_t act, event, stream;
} kw_program_step;

/* An act, an event of its own, and an event and a wait for each other stream. */
enum { KW_PROGRAM_STEPS = 2 * KW_PROGRAM_STREAMS * KW_PROGRAM_ACTS };

typedef struct kw_program_order {
  uint32_t step_count, event_count;
  kw_program_step steps[KW_PROGRAM_STEPS];
} kw_program_order;

/* The streams that the program uses, that of the last act first. Waited for in this order, a stream that does not wait
 * for another one's work, though it should, is done with its own before that may be. The number of them. */
uint32_t kw_program_last_streams(const kw_program *program, uint32_t out_streams[KW_PROGRAM_STREAMS]);

void kw_program_order_make(const kw_program *program, kw_program_order *out_order);

#endif /* KEYWAY_CONFORMANCE_ORDER_H */
