/* SPDX-License-Identifier: Apache-2.0
 *
 * Drawing programs: numbers that follow from seed and program, the calls, and where their tensors lie.
 */
#ifndef KEYWAY_CONFORMANCE_GENERATE_H
#define KEYWAY_CONFORMANCE_GENERATE_H

#include "program/program.h"

typedef struct kw_draw {
  uint64_t seed, number;
  uint32_t counter;
  uint32_t graph;       /* that the next calls are recorded into */
  uint32_t graph_calls; /* how many more of them */
  uint32_t graphs;
  bool apart; /* the next call has inputs of its own only, so that it need not wait for others, and new results */
} kw_draw;

/* A number below `below`, which is above 0. */
uint32_t kw_draw_below(kw_draw *draw, uint32_t below);
/* True `share` times in 100. */
bool kw_draw_percent(kw_draw *draw, uint32_t share);

/* Draws all of program->number. False when the device claims nothing that a program can call. */
bool kw_program_generate(const kw_device_facts *facts, kw_program *program);

/* Draws a call as the next of program->calls: op, dtype and case. False: nothing was found in so many tries. */
bool kw_program_draw_call(kw_draw *draw, const kw_device_facts *facts, kw_program *program);
/* Decides where the tensors of the last call lie; may add storages. */
void kw_program_place_call(kw_draw *draw, kw_program *program);

#endif /* KEYWAY_CONFORMANCE_GENERATE_H */
