/* SPDX-License-Identifier: Apache-2.0
 *
 * From streams to hardware queues: which command may start, what has finished, and what went wrong meanwhile.
 */
#include "kit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOOK_NS 50000 /* between two looks at a chip that does not tell */

/* ---- Ends -------------------------------------------------------------------------------------------------------- */

void kw_queue_mark_release(kw_queue_mark *mark) {
  if (mark && --mark->references == 0) free(mark);
}

/* All before it on its stream has ended, or is what `newest` stands for. */
static void finish_command(kw_queue_command *command) {
  kw_queue_stream *stream = command->stream;
  kw_queue_device *device = stream->device;
  if (stream->newest == command) stream->newest = NULL;
  kw_queue_mark_release(command->mark);
  command->mark = NULL;
  command->next = NULL;
  if (command->failure.status == KW_OK) {
    free(command);
    return;
  }
  *device->last_failed = command;
  device->last_failed = &command->next;
}

/* What a hardware queue has run, in its order. */
static void finish_in_turn(kw_queue_command *command) {
  command->stream->finished += command->ends;
  finish_command(command);
}

/* What ends without: as far as anybody sees, with the newest that is before it. */
static void finish_at_once(kw_queue_command *command) {
  kw_queue_command *newest = command->stream->newest;
  if (newest && newest != command) {
    newest->ends += command->ends;
    finish_command(command);
  } else {
    finish_in_turn(command);
  }
}

static void fail_command(kw_queue_command *command, kw_status status, const char *text) {
  kw_queue_failure *failure = &command->failure;
  if (status == KW_ERR_DEVICE_LOST) command->stream->device->lost = true;
  if (failure->status != KW_OK) return;
  failure->status = status != KW_OK ? status : KW_ERR_INTERNAL;
  snprintf(failure->text, sizeof failure->text, "%s", text);
}

/* A piece or a whole command has finished. */
static void land(kw_queue_device *device, kw_queue_flight *flight) {
  kw_queue_command *command = flight->command;
  kw_queue_block *block = flight->block;
  --device->flying;
  --command->stream->flying;
  if (!block) {
    finish_in_turn(command);
    return;
  }
  if (block->host && !flight->failed && !device->lost) memcpy(block->host, block->memory, block->size);
  if (block->host) --command->stream->to_host;
  block->used = false;
  command->finished += block->size;
  if (command->finished == command->copy.size) finish_in_turn(command);
}

/* Gives the failures of a queue to the commands. Where the device is lost, that is news of whichever command it is. */
static void take_failures(kw_queue_device *device, uint32_t queue) {
  kw_queue_flight *first = device->queues[queue].first;
  kw_queue_failure failure = {0};
  while (device->driver->failure && device->driver->failure(device->chip, queue, &failure)) {
    failure.text[sizeof failure.text - 1] = '\0';
    kw_queue_flight *of = first;
    while (of && of->ticket != failure.ticket) of = of->next;
    if (!of && failure.status == KW_ERR_DEVICE_LOST) of = first;
    if (of) {
      of->failed = true;
      fail_command(of->command, failure.status, failure.text);
    }
    failure = (kw_queue_failure){0};
  }
}

static bool look(kw_queue_device *device, uint32_t queue) {
  kw_queue_hardware *hardware = &device->queues[queue];
  if (!hardware->first) return false;
  uint64_t done = 0;
  if (!device->lost) {
    done = device->driver->done(device->chip, queue);
    take_failures(device, queue);
  }
  if (device->lost) done = UINT64_MAX;
  bool any = false;
  while (hardware->first && hardware->first->ticket <= done) {
    kw_queue_flight *landed = hardware->first;
    hardware->first = landed->next;
    land(device, landed);
    any = true;
  }
  return any;
}

/* ---- Starts ------------------------------------------------------------------------------------------------------ */

/* What a submission came to: it flies, the queue was full, or it went wrong and is over. */
typedef enum launched { FLIES, FULL, FAILED } launched;

static launched take_off(kw_queue_flight *flight, kw_queue_stream *stream, const kw_queue_copy *copy) {
  kw_queue_device *device = stream->device;
  kw_queue_hardware *hardware = &device->queues[stream->queue];
  kw_queue_command *command = flight->command;
  const uint64_t ticket = hardware->next_ticket + 1;
  if (device->lost) return FAILED;
  kw_queue_said[0] = '\0';
  const kw_status status =
      copy ? device->driver->copy(device->chip, stream->queue, ticket, copy)
           : device->driver->submit(device->chip, stream->queue, ticket, command->bytes, command->size);
  if (status == KW_ERR_NOT_READY) {
    device->full = true;
    return FULL;
  }
  if (status != KW_OK) {
    fail_command(command, status, kw_queue_said[0] ? kw_queue_said : "the hardware queue refused a command");
    return FAILED;
  }
  hardware->next_ticket = flight->ticket = ticket;
  flight->next = NULL;
  stream->newest = command;
  if (hardware->first) {
    hardware->last->next = flight;
  } else {
    hardware->first = flight;
  }
  hardware->last = flight;
  ++device->flying;
  ++stream->flying;
  return FLIES;
}

static kw_queue_block *find_block(kw_queue_device *device) {
  for (uint32_t i = 0; i < KW_QUEUE_BLOCKS; ++i) {
    if (!device->blocks[i].used) return &device->blocks[i];
  }
  return NULL;
}

/* The next piece of a copy between host and device. FLIES: it is on its way, FULL: not now. */
static launched start_piece(kw_queue_command *command) {
  kw_queue_device *device = command->stream->device;
  kw_queue_block *block = find_block(device);
  if (!block) return FULL;
  if (command->kind == KW_QUEUE_TO_DEVICE && command->stream->to_host > 0) return FULL; /* it may be what this reads */
  const uint64_t at = command->submitted, left = command->copy.size - at, most = device->driver->staging_size;
  const bool to_device = command->kind == KW_QUEUE_TO_DEVICE;
  block->size = left < most ? left : most;
  block->host = to_device ? NULL : (char *)command->copy.dst_host + at;
  block->flight = (kw_queue_flight){.command = command, .block = block};
  const kw_queue_copy copy = {.to_mem = to_device ? command->copy.dst_mem : NULL,
                              .to_offset = to_device ? command->copy.dst_offset + at : 0,
                              .from_mem = to_device ? NULL : command->copy.src_mem,
                              .from_offset = to_device ? 0 : command->copy.src_offset + at,
                              .size = block->size,
                              .staging = block->memory};
  if (to_device) memcpy(block->memory, (const char *)command->copy.src_host + at, block->size);
  const launched came = take_off(&block->flight, command->stream, &copy);
  if (came == FLIES) {
    block->used = true;
    command->submitted += block->size;
    command->stream->to_host += !to_device;
  }
  return came;
}

/* As many as there are blocks. After a failure it is over with the pieces that fly. */
static launched start_pieces(kw_queue_command *command) {
  launched came;
  do came = start_piece(command);
  while (came == FLIES && command->submitted < command->copy.size);
  if (came != FAILED || command->finished == command->submitted) return came;
  command->copy.size = command->submitted;
  return FLIES;
}

static launched start_copy(kw_queue_command *command) {
  const kw_queue_copy copy = {.to_mem = command->copy.dst_mem,
                              .to_offset = command->copy.dst_offset,
                              .from_mem = command->copy.src_mem,
                              .from_offset = command->copy.src_offset,
                              .size = command->copy.size};
  return take_off(&command->flight, command->stream, &copy);
}

static void pop(kw_queue_stream *stream) {
  kw_queue_command *command = stream->first;
  stream->first = command->next;
  if (!stream->first) stream->last = &stream->first;
}

/* Tries the first command; whether it has gone, to the hardware or to its end. */
static bool start_first(kw_queue_stream *stream) {
  kw_queue_command *command = stream->first;
  launched came;
  switch (command->kind) {
    case KW_QUEUE_WORK:
      came = take_off(&command->flight, stream, NULL);
      break;
    case KW_QUEUE_COPY:
      came = start_copy(command);
      break;
    case KW_QUEUE_TO_DEVICE:
    case KW_QUEUE_TO_HOST:
      came = start_pieces(command);
      break;
    case KW_QUEUE_CALLBACK:
      if (stream->flying > 0) return false;
      pop(stream);
      stream->callback = command;
      pthread_cond_signal(&stream->called);
      return true;
    case KW_QUEUE_RECORD:
      if (stream->flying > 0) return false;
      command->mark->passed = true;
      came = FAILED;
      break;
    default:
      if (!command->mark->passed) return false;
      came = FAILED;
      break;
  }
  if (came == FULL) return false;
  pop(stream);
  if (came == FAILED) finish_at_once(command);
  return true;
}

bool kw_queue_advance(kw_queue_stream *stream) {
  bool any = false;
  while (stream->first && !stream->callback && start_first(stream)) any = true;
  return any;
}

/* ---- The thread -------------------------------------------------------------------------------------------------- */

/* Streams wait for that before they end. */
static void tell_failures(kw_queue_device *device) {
  const kw_host_api *host = device->host;
  kw_queue_command *command = device->failed;
  device->failed = NULL;
  device->last_failed = &device->failed;
  device->reporting = true;
  pthread_mutex_unlock(&device->lock);
  for (kw_queue_command *next; command; command = next) {
    next = command->next;
    const kw_queue_failure *failure = &command->failure;
    host->report_async_error(host->ctx, command->stream->token, command->call_id, failure->status, failure->text);
    free(command);
  }
  pthread_mutex_lock(&device->lock);
  device->reporting = false;
}

/* The first stream to be advanced is the last one the next time: none keeps what comes free for itself. */
static void turn_streams(kw_queue_device *device) {
  kw_queue_stream *first = device->streams, **end = &device->streams;
  if (!first) return;
  while (*end) end = &(*end)->next;
  *end = first;
  device->streams = first->next;
  first->next = NULL;
}

void *kw_queue_engine_main(void *state) {
  kw_queue_device *device = state;
  pthread_mutex_lock(&device->lock);
  while (!device->closing) {
    bool any = false;
    device->full = false;
    for (uint32_t q = 0; q < device->driver->queues; ++q) any = look(device, q) || any;
    if (device->failed) {
      tell_failures(device);
      any = true;
    }
    for (kw_queue_stream *stream = device->streams; stream; stream = stream->next) {
      any = kw_queue_advance(stream) || any;
    }
    if (any || device->failed) {
      turn_streams(device);
      pthread_cond_broadcast(&device->changed);
    } else if (device->flying == 0 && !device->full) {
      pthread_cond_wait(&device->work, &device->lock);
    } else {
      pthread_mutex_unlock(&device->lock);
      if (device->driver->wait) {
        device->driver->wait(device->chip, LOOK_NS);
      } else {
        nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
      }
      pthread_mutex_lock(&device->lock);
    }
  }
  pthread_mutex_unlock(&device->lock);
  return NULL;
}
