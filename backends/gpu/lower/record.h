/* SPDX-License-Identifier: Apache-2.0
 *
 * What a stream records in place of running it: launches, copies and fills with all that they work on. Element-wise
 * launches that follow each other become chains (chain.h).
 *
 * Where the driver has graphs of its own, it records on the same stream: it gets each command when no later one can
 * change it. Otherwise the recorder keeps the commands, and they are run again one by one.
 */
#ifndef KEYWAY_GPU_RECORD_H
#define KEYWAY_GPU_RECORD_H

#include "lower/chain.h"

/* A launch, copy or fill, ready to be enqueued. */
typedef struct kw_gpu_command {
  enum { KW_GPU_COMMAND_LAUNCH, KW_GPU_COMMAND_COPY, KW_GPU_COMMAND_FILL } kind;
  uint32_t node;    /* how many calls were recorded before that which it is a part of */
  uint64_t call_id; /* of a copy or fill that is no part of a call 0 */
  kw_gpu_launch launch;
  kw_copy_info copy; /* of a fill the place alone */
  uint8_t pattern[16];
  uint32_t pattern_size;
} kw_gpu_command;

/* Enqueues it; if the stream records, it is recorded. */
kw_status kw_gpu_command_enqueue(const kw_gpu_command *command, kw_gpu_device *device, kw_gpu_stream *stream);
/* Enqueues it all the same. */
kw_status kw_gpu_command_run(const kw_gpu_command *command, kw_gpu_device *device, kw_gpu_stream *stream);

typedef struct kw_gpu_recorder kw_gpu_recorder;

/* `keeps`: it keeps the commands. NULL: the host is out of memory. */
kw_gpu_recorder *kw_gpu_recorder_create(kw_gpu_stream *stream, bool keeps);
void kw_gpu_recorder_free(kw_gpu_recorder *recorder);

/* A call begins whose commands come next. */
void kw_gpu_recorder_call(kw_gpu_recorder *recorder);
/* Records the launch of a step. */
kw_status kw_gpu_recorder_launch(kw_gpu_recorder *recorder, const kw_gpu_step *step, const kw_gpu_launch *launch);
/* What was held back, since later launches could still have joined it, is recorded. Fails again once it has failed. */
kw_status kw_gpu_recorder_settle(kw_gpu_recorder *recorder);

/* The commands, and whether some of them do what several calls asked for. They live as long as the recorder. */
const kw_gpu_command *const *kw_gpu_recorder_commands(const kw_gpu_recorder *recorder, uint32_t *out_count);
bool kw_gpu_recorder_joined(const kw_gpu_recorder *recorder);

#endif /* KEYWAY_GPU_RECORD_H */
