/* SPDX-License-Identifier: Apache-2.0
 *
 * A record of launches and fills, made in place of enqueueing them: what a graph is made of. One thread makes it,
 * between kw_graph_begin and kw_graph_end on a stream; no other thread has it until then.
 */
#ifndef KEYWAY_CORE_RECORD_H
#define KEYWAY_CORE_RECORD_H

#include "call/plan.h"
#include "device/fill.h"
#include "device/generator.h"

/* One launch (plan is set) or one fill. */
typedef struct kw_record_node {
  kw_plan *plan; /* one reference: keeps kernel and prepared state */
  kw_call *call; /* the node's own; its stream, call id and error word are those of each launch */
  kw_mem mem;
  uint64_t offset, size;
  unsigned char pattern[16];
  uint32_t pattern_size;
} kw_record_node;

/* A generator that random ops of the graph draw from. */
typedef struct kw_record_numbers {
  kw_generator *generator; /* one reference */
  uint32_t algorithm;      /* its, when the calls were recorded */
  kw_buffer *state;        /* {u64 seed, u64 offset}, written before each launch */
  uint64_t blocks;         /* that one launch takes */
} kw_record_numbers;

typedef struct kw_record {
  kw_recording recording; /* kw_stream.recording points here */
  kw_stream *stream;      /* that it is made on; NULL when it is done */
  kw_record_node *nodes;
  kw_record_numbers *numbers;
  uint32_t node_count, launch_count, numbers_count; /* launch_count: of the nodes, those that launch */
  kw_error_word *word; /* in the calls of kernels that may leave errors, NULL = none do; a plugin's own recording stores
                          to it, while calls that are replayed take the word of the stream that they run on */
} kw_record;

/* What the calling thread records on the stream; NULL when it does not. */
static inline kw_record *kw_record_of(kw_stream *stream) {
  return (kw_record *)kw_stream_recording(stream);
}

/* Adds a node; buffers have been kept by kw_buffer_use. */
kw_status kw_record_launch(kw_record *record, kw_plan *plan, const kw_call *call);
kw_status kw_record_fill(kw_record *record, kw_mem mem, uint64_t offset, uint64_t size, const void *pattern,
                         uint32_t pattern_size);
/* Numbers for a random op: relative to what the record finds in its state. */
kw_status kw_record_take_numbers(kw_record *record, kw_generator *generator, uint64_t blocks, kw_rng *out_rng);
/* The record's error word, made if there is none. */
kw_status kw_record_error_word(kw_record *record, kw_error_word **out_word);
/* kw_buffer_fill, recorded if the calling thread records on the stream. */
kw_status kw_record_or_fill(kw_buffer *buffer, kw_stream *stream, uint64_t offset, uint64_t size, const void *pattern,
                            uint32_t pattern_size);

/* The word of a stream that does not record: for what its kernels find wrong in the data. */
kw_status kw_stream_error_word(kw_stream *stream, kw_error_word **out_word);

#endif /* KEYWAY_CORE_RECORD_H */
