/* SPDX-License-Identifier: Apache-2.0
 *
 * Drawing programs: numbers that follow from seed and program, the calls, and where their tensors lie.
 */
#ifndef KEYWAY_CONFORMANCE_GENERATE_H
#define KEYWAY_CONFORMANCE_GENERATE_H

#include "program/model_text.h"
#include "program/program.h"

enum {
  KW_DRAW_HOT = 4,    /* of what the last act has changed */
  KW_DRAW_PALETTE = 4 /* ops that many calls of a program are of */
};

typedef struct kw_draw {
  const kw_device_facts *facts;
  uint64_t seed, number;
  uint32_t counter;
  uint32_t stream;      /* of the next call */
  uint32_t graph;       /* that the next calls are recorded into */
  uint32_t graph_calls; /* how many more of them */
  uint32_t graphs;
  uint32_t twin; /* the act of an earlier graph's call that the next one is to be like; KW_PROGRAM_ACTS: of none */
  const kw_op_facts *palette[KW_DRAW_PALETTE];
  uint32_t palette_count;
  bool main;  /* the next call is of the op that the program is most about, or of one that is common */
  bool apart; /* the next call has inputs of its own only, so that it need not wait for others, and new results */
  uint32_t hot[KW_DRAW_HOT]; /* storages that the last act has changed: what follows uses them most often */
  uint32_t hot_count;
} kw_draw;

/* A number below `below`, which is above 0. */
uint32_t kw_draw_below(kw_draw *draw, uint32_t below);
/* True `share` times in 100. */
bool kw_draw_percent(kw_draw *draw, uint32_t share);

/* Draws all of program->number. False when the device claims nothing that a program can call. */
bool kw_program_generate(const kw_device_facts *facts, kw_program *program);

/* The same of the model: its calls, on streams and in graphs that are drawn, and what the host does between. Of
 * a device that claims none of its ops it has no call. False when there is nothing that a device could claim. */
bool kw_program_generate_model(const kw_device_facts *facts, const kw_model *model, kw_program *program);

/* The same of program->number of those that together call each op, in a few cases: in two sizes that are each other's
 * turned round, and on each device. False when there is no such number. */
bool kw_program_generate_each(const kw_device_facts *facts, kw_program *program);

/* Ops whose results have shapes that only the data, or only the vendor, know have no place in a program. */
bool kw_program_callable(const kw_op_facts *facts);
/* One of these dtypes, KW_DTYPE_BIT; KW_DTYPE_NONE where there is none. */
kw_dtype kw_program_draw_dtype(kw_draw *draw, uint64_t dtypes);
/* Small, its tensors apart from each other, and nothing in it for which a call waits: masks among indices do that. */
bool kw_program_fits(const kw_case *c);

/* Draws the next of program->calls: op, dtype and case; for a graph only such as may be recorded. NULL: nothing was
 * found in so many tries. */
kw_program_call *kw_program_draw_call(kw_draw *draw, kw_program *program);
/* Few ops, for a program whose calls have something to do with each other: the same kernels, plans, tables. */
void kw_program_draw_palette(kw_draw *draw);
/* The next of program->calls like an earlier one, with numbers and memory of its own; `turned`: with its sizes in
 * reverse. NULL when there is no such case. */
kw_program_call *kw_program_draw_twin(kw_draw *draw, kw_program *program, uint32_t earlier, bool turned);
/* A call of a simple op that puts what `from` holds into a storage of its own, which the next one of `call` shall read
 * instead: its storage, or KW_PLACE_NONE where the device has no such op. The act is added. */
int kw_program_relay(kw_draw *draw, kw_program *program, int from);
/* Decides where the tensors of a call lie; may add storages, and relays before it. */
void kw_program_place_call(kw_draw *draw, kw_program *program, kw_program_call *call);

/* Makes the next of program->calls, whose case is in its place, a call: with what its bits follow from. */
void kw_program_take(kw_draw *draw, kw_program *program, kw_program_call *call);

/* Streams that the host holds up from the start. The program's first acts. */
void kw_program_draw_holds(kw_draw *draw, kw_program *program);
uint32_t kw_program_draw_stream(kw_draw *draw, const kw_program *program);
/* Reads or writes a storage: all of it, or what lies behind its first element. */
void kw_program_transfer(kw_draw *draw, kw_program *program, kw_act_kind kind, uint32_t storage, uint32_t stream);
/* Launches a graph once more, often when something it reads has just been written on the same stream. A device that
 * checks indices may have the host wait for the stream of the launch before, which may be held: such graphs stay on
 * their stream. */
void kw_program_launch(kw_draw *draw, kw_program *program, uint32_t graph);

/* Places a call that was drawn, and adds it with the relays that it needs. NULL: none was. */
bool kw_program_place_and_add(kw_draw *draw, kw_program *program, kw_program_call *call);

/* A new storage without a maker, or KW_PLACE_NONE where there is room for no other. */
int kw_program_add_storage(kw_program *program, uint32_t device, kw_dtype dtype, uint64_t extent, bool leaf);
/* A new act. NULL when there is room for no other. */
kw_program_act *kw_program_add_act(kw_program *program, kw_act_kind kind, uint32_t index, uint32_t stream);
/* The act that the draw's stream and graph make of a call. */
bool kw_program_add_call(kw_draw *draw, kw_program *program, uint32_t index);
/* What follows may well use what this act changes. */
void kw_program_note_hot(kw_draw *draw, const kw_program *program, const kw_program_act *act);
/* Whether a call may be recorded and run again with other numbers in its inputs. */
bool kw_program_recordable(const kw_program_call *call);

#endif /* KEYWAY_CONFORMANCE_GENERATE_H */
