/* SPDX-License-Identifier: Apache-2.0
 *
 * Recording: commands with copies of what they point to, and the chain that the newest launches make.
 */
#include "lower/record.h"

#include <stdlib.h>
#include <string.h>

struct kw_gpu_recorder {
  kw_gpu_stream *stream;
  bool keeps, joined;
  kw_status status; /* of the first that could not be recorded */
  uint32_t calls;
  uint32_t count, room;
  kw_gpu_command **commands; /* each with what it points to behind it */
  kw_gpu_chain chain;        /* of the launches that are held back */
  uint32_t held_count;
  kw_gpu_command *held[KW_CHAIN_LINKS]; /* those launches */
};

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

static _Thread_local uint64_t launching;

uint64_t kw_gpu_launching(void) {
  return launching;
}

kw_status kw_gpu_command_run(const kw_gpu_command *command, kw_gpu_device *device, kw_gpu_stream *stream) {
  if (command->kind == KW_GPU_COMMAND_LAUNCH) return device->driver->launch(device, stream, &command->launch);
  const kw_copy_info *copy = &command->copy;
  launching = command->call_id;
  kw_status status = command->kind == KW_GPU_COMMAND_COPY
                         ? device->driver->copy(device, stream, copy)
                         : device->driver->fill(device, stream, copy->dst_mem, copy->dst_offset, copy->size,
                                                command->pattern, command->pattern_size);
  launching = 0;
  return status;
}

static size_t rounded(size_t size) {
  return (size + 15) / 16 * 16;
}

/* With its own copy of what a launch points to. */
static kw_gpu_command *copy_command(const kw_gpu_command *command) {
  const kw_gpu_launch *launch = &command->launch;
  const size_t args_size = rounded(launch->arg_count * sizeof *launch->args);
  size_t size = rounded(sizeof *command) + args_size;
  for (uint32_t i = 0; i < launch->arg_count; ++i)
    if (launch->args[i].data) size += rounded(launch->args[i].size);
  char *memory = malloc(size);
  if (!memory) return NULL;
  kw_gpu_command *copy = (kw_gpu_command *)memory;
  kw_gpu_arg *args = (kw_gpu_arg *)(memory + rounded(sizeof *command));
  char *data = (char *)args + args_size;
  *copy = *command;
  copy->launch.args = args;
  for (uint32_t i = 0; i < launch->arg_count; ++i) {
    args[i] = launch->args[i];
    if (!args[i].data) continue;
    args[i].data = memcpy(data, launch->args[i].data, args[i].size);
    data += rounded(args[i].size);
  }
  return copy;
}

/* ---- Recording --------------------------------------------------------------------------------------------------- */

kw_gpu_recorder *kw_gpu_recorder_create(kw_gpu_stream *stream, bool keeps) {
  kw_gpu_recorder *recorder = calloc(1, sizeof *recorder);
  if (!recorder) return NULL;
  recorder->stream = stream;
  recorder->keeps = keeps;
  return recorder;
}

static void drop_held(kw_gpu_recorder *recorder) {
  for (uint32_t i = 0; i < recorder->held_count; ++i) free(recorder->held[i]);
  recorder->held_count = 0;
  recorder->chain.length = 0;
}

void kw_gpu_recorder_free(kw_gpu_recorder *recorder) {
  if (!recorder) return;
  drop_held(recorder);
  for (uint32_t i = 0; i < recorder->count; ++i) free(recorder->commands[i]);
  free(recorder->commands);
  free(recorder);
}

void kw_gpu_recorder_call(kw_gpu_recorder *recorder) {
  recorder->calls++;
}

/* A failure stays until the end of the recording. */
static kw_status keep(kw_gpu_recorder *recorder, kw_status status) {
  if (recorder->status == KW_OK) recorder->status = status;
  return status;
}

static kw_status fail_memory(kw_gpu_recorder *recorder) {
  const kw_host_api *host = recorder->stream->device->host;
  return keep(recorder, host->set_error(host->ctx, KW_ERR_OUT_OF_MEMORY, "no host memory for a graph"));
}

static bool make_room(kw_gpu_recorder *recorder) {
  if (recorder->count < recorder->room) return true;
  const uint32_t room = recorder->room ? 2 * recorder->room : 16;
  kw_gpu_command **commands = realloc(recorder->commands, room * sizeof *commands);
  if (!commands) return false;
  recorder->commands = commands;
  recorder->room = room;
  return true;
}

/* Behind all that was recorded before: nothing is held back. */
static kw_status add(kw_gpu_recorder *recorder, const kw_gpu_command *command) {
  if (!recorder->keeps) return keep(recorder, kw_gpu_command_run(command, recorder->stream->device, recorder->stream));
  kw_gpu_command *copy = make_room(recorder) ? copy_command(command) : NULL;
  if (!copy) return fail_memory(recorder);
  recorder->commands[recorder->count++] = copy;
  return KW_OK;
}

/* As one; false: its kernel cannot be made here, or it is no more than one launch. */
static bool add_chain(kw_gpu_recorder *recorder, kw_gpu_command *const *held, const kw_gpu_chain *chain,
                      kw_status *out_status) {
  kw_gpu_chain_launch made;
  if (chain->length < 2 || kw_gpu_chain_make(chain, recorder->stream->device, &made) != KW_OK) return false;
  kw_gpu_command command = {.node = held[0]->node, .call_id = held[chain->length - 1]->call_id, .launch = made.launch};
  command.launch.call_id = command.call_id;
  *out_status = add(recorder, &command);
  recorder->joined = true;
  return true;
}

kw_status kw_gpu_recorder_settle(kw_gpu_recorder *recorder) {
  const uint32_t count = recorder->held_count;
  kw_status status = KW_OK;
  if (count == 0) return recorder->status;
  recorder->held_count = 0; /* the driver may settle, too, before it enqueues */
  if (!add_chain(recorder, recorder->held, &recorder->chain, &status)) {
    for (uint32_t i = 0; i < count && status == KW_OK; ++i) status = add(recorder, recorder->held[i]);
  }
  recorder->held_count = count;
  drop_held(recorder);
  return recorder->status;
}

/* A launch that the chain has taken; without memory for it nothing is held back any more. */
static kw_status hold(kw_gpu_recorder *recorder, const kw_gpu_command *command) {
  kw_gpu_command *copy = copy_command(command);
  if (!copy) {
    drop_held(recorder);
    return fail_memory(recorder);
  }
  recorder->held[recorder->held_count++] = copy;
  return KW_OK;
}

kw_status kw_gpu_recorder_launch(kw_gpu_recorder *recorder, const kw_gpu_step *step, const kw_gpu_launch *launch) {
  const kw_gpu_command command = {.node = recorder->calls - 1, .call_id = launch->call_id, .launch = *launch};
  kw_gpu_device *device = recorder->stream->device;
  if (recorder->status == KW_OK && kw_gpu_chain_add(&recorder->chain, device, step, launch))
    return hold(recorder, &command);
  kw_status status = kw_gpu_recorder_settle(recorder);
  if (status != KW_OK) return status;
  return kw_gpu_chain_add(&recorder->chain, device, step, launch) ? hold(recorder, &command) : add(recorder, &command);
}

kw_status kw_gpu_command_enqueue(const kw_gpu_command *command, kw_gpu_device *device, kw_gpu_stream *stream) {
  kw_gpu_recorder *recorder = stream->recorder;
  if (!recorder) return kw_gpu_command_run(command, device, stream);
  kw_gpu_command numbered = *command;
  if (command->call_id != 0) numbered.node = recorder->calls - 1;
  kw_status status = kw_gpu_recorder_settle(recorder);
  return status == KW_OK ? add(recorder, &numbered) : status;
}

const kw_gpu_command *const *kw_gpu_recorder_commands(const kw_gpu_recorder *recorder, uint32_t *out_count) {
  *out_count = recorder->count;
  return (const kw_gpu_command *const *)recorder->commands;
}

bool kw_gpu_recorder_joined(const kw_gpu_recorder *recorder) {
  return recorder->joined;
}

void kw_gpu_settle(kw_gpu_stream *stream) {
  if (stream->recorder) kw_gpu_recorder_settle(stream->recorder);
}
