/* SPDX-License-Identifier: Apache-2.0
 *
 * One device that a capture runs on: its buffers, graphs and random numbers, by the capture's numbers.
 */
#ifndef KEYWAY_CLI_REPLAY_SIDE_H
#define KEYWAY_CLI_REPLAY_SIDE_H

#include "capture_reader.h"

typedef struct kw_replay_buffer {
  kw_tensor *tensor; /* any on it; NULL: there is none now */
  uint64_t size;
} kw_replay_buffer;

/* A stream that a graph is recorded on. */
typedef struct kw_replay_recording {
  uint64_t token; /* the captured stream's */
  kw_stream *stream;
} kw_replay_recording;

typedef struct kw_replay_side {
  kw_device *device;
  uint64_t limit; /* numbers are smaller */
  kw_replay_buffer *buffers;
  kw_graph **graphs;
  kw_replay_recording recordings[8];
  kw_generator *generator;
  const char *wrong; /* what the file has wrong, if that is why something failed; NULL */
} kw_replay_side;

/* Why something here failed. */
const char *kw_replay_side_reason(const kw_replay_side *side);

kw_status kw_replay_side_open(kw_replay_side *side, const char *device, uint64_t limit);
void kw_replay_side_close(kw_replay_side *side);

/* Anything but a call, a read and its result. */
kw_status kw_replay_side_run(kw_replay_side *side, const kw_capture_entry *entry);
/* A call. alone: what was recorded for a graph runs at once, into buffers that are there (kw_replay_side_make). */
kw_status kw_replay_side_call(kw_replay_side *side, const kw_capture_call *call, bool alone);
/* The buffers of a call's results, without the call. */
kw_status kw_replay_side_make(kw_replay_side *side, const kw_capture_call *call);
/* A call of another op with the absolute values of its arguments, where `result` gives a tensor: what sums are bounded
 * by. The caller releases it. */
kw_status kw_replay_side_magnitude(kw_replay_side *side, const kw_capture_call *call, const char *op, uint32_t result,
                                   kw_tensor **out_tensor);

/* A view of a buffer; the caller releases it. */
kw_status kw_replay_side_view(kw_replay_side *side, const kw_capture_place *place, kw_tensor **out_tensor);
/* Whether it has no more bytes than its buffer: each element lies in a place of its own, unless the file is damaged. */
bool kw_replay_side_holds(const kw_replay_side *side, const kw_capture_place *place);
/* Elements, densely packed: place->size bytes. */
kw_status kw_replay_side_read(kw_replay_side *side, const kw_capture_place *place, void *data);
kw_status kw_replay_side_write(kw_replay_side *side, const kw_capture_place *place, const void *data);
void kw_replay_side_drop(kw_replay_side *side, uint64_t buffer);

#endif /* KEYWAY_CLI_REPLAY_SIDE_H */
