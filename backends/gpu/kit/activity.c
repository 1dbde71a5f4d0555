/* SPDX-License-Identifier: Apache-2.0
 *
 * The activity group over a driver's functions: marks of commands are kept as they were enqueued, and become records
 * when their commands have finished and somebody drains.
 *
 * Locks: a device's list has one of its own, which is taken inside a stream's, and held while the driver is asked.
 */
#include "kit/activity.h"

#include <stdatomic.h>
#include <stdlib.h>

#define MARK_LIMIT 65536u /* that wait to be drained */
#define CLOCK_TRIES 5

typedef struct marked_command {
  void *mark;
  bool passed;
  kw_activity record; /* but for its times */
} marked_command;

struct kw_gpu_activity {
  atomic_bool on;
  pthread_mutex_t lock; /* guards the fields below */
  uint64_t dropped;
  uint32_t count, room;
  marked_command *commands; /* as enqueued */
};

kw_status kw_gpu_activity_start(kw_gpu_device *device) {
  if (!device->driver->mark_times) return KW_OK;
  device->activity = calloc(1, sizeof *device->activity);
  if (!device->activity) return kw_gpu_error(device->host, KW_ERR_OUT_OF_MEMORY, "no host memory for a device");
  pthread_mutex_init(&device->activity->lock, NULL);
  return KW_OK;
}

void kw_gpu_activity_finish(kw_gpu_device *device) {
  struct kw_gpu_activity *activity = device->activity;
  if (!activity) return;
  for (uint32_t i = 0; i < activity->count; ++i) device->driver->mark_drop(device, activity->commands[i].mark);
  pthread_mutex_destroy(&activity->lock);
  free(activity->commands);
  free(activity);
  device->activity = NULL;
}

/* ---- Marks ------------------------------------------------------------------------------------------------------- */

bool kw_gpu_activity_on(const kw_gpu_device *device) {
  return device->activity && atomic_load_explicit(&device->activity->on, memory_order_relaxed);
}

static _Thread_local kw_gpu_replay replay;

void kw_gpu_activity_replay(const kw_gpu_replay *of) {
  replay = of ? *of : (kw_gpu_replay){.launch_id = 0};
}

static bool make_room(struct kw_gpu_activity *activity) {
  if (activity->count < activity->room) return true;
  const uint32_t room = activity->room ? 2 * activity->room : 256;
  if (room > MARK_LIMIT) return false;
  marked_command *commands = realloc(activity->commands, room * sizeof *commands);
  if (!commands) return false;
  activity->commands = commands;
  activity->room = room;
  return true;
}

void kw_gpu_activity_note(kw_gpu_stream *stream, kw_activity_kind kind, uint64_t id, void *mark) {
  kw_gpu_device *device = stream->device;
  struct kw_gpu_activity *activity = device->activity;
  kw_activity record = {.kind = replay.as_one ? KW_ACTIVITY_GRAPH : kind,
                        .launch_id = kind == KW_ACTIVITY_GRAPH ? id : replay.launch_id,
                        .stream_token = stream->token};
  if (record.kind != KW_ACTIVITY_GRAPH && id != 0) {
    record.kind = KW_ACTIVITY_LAUNCH;
    record.call_id = id;
    record.node = replay.node;
  }
  pthread_mutex_lock(&activity->lock);
  const bool kept = make_room(activity);
  if (kept) {
    activity->commands[activity->count++] = (marked_command){.mark = mark, .record = record};
  } else {
    activity->dropped++;
  }
  pthread_mutex_unlock(&activity->lock);
  if (!kept) device->driver->mark_drop(device, mark);
}

/* ---- Slots ------------------------------------------------------------------------------------------------------- */

static kw_status activity_record(void *state, uint32_t on) {
  atomic_store(&((kw_gpu_device *)state)->activity->on, on != 0);
  return KW_OK;
}

/* Of several tries the one that took the least time. */
static kw_status activity_clock(void *state, uint64_t *out_device_ns, uint64_t *out_host_ns) {
  kw_gpu_device *device = state;
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < CLOCK_TRIES; ++i) {
    uint64_t passed = 0;
    const uint64_t before = kw_gpu_now_ns();
    kw_status status = device->driver->device_now(device, &passed);
    const uint64_t took = kw_gpu_now_ns() - before;
    if (status != KW_OK) return status;
    if (took >= least) continue;
    least = took;
    *out_device_ns = passed;
    *out_host_ns = before + took / 2;
  }
  return KW_OK;
}

/* From the newest to the oldest: where one has passed, those before it on its stream have, too, when they are asked. */
static void ask_all(kw_gpu_device *device) {
  const struct kw_gpu_activity *activity = device->activity;
  for (uint32_t i = activity->count; i-- > 0;) {
    marked_command *command = &activity->commands[i];
    command->passed = command->passed || device->driver->mark_passed(device, command->mark);
  }
}

static uint32_t move_records(kw_gpu_device *device, void *out, uint32_t record_size, uint32_t capacity) {
  struct kw_gpu_activity *activity = device->activity;
  uint32_t given = 0, kept = 0;
  for (uint32_t i = 0; i < activity->count; ++i) {
    marked_command *command = &activity->commands[i];
    if (!command->passed || given == capacity) {
      activity->commands[kept++] = *command;
      continue;
    }
    kw_activity *record = &command->record;
    if (device->driver->mark_times(device, command->mark, &record->begin, &record->end))
      kw_activity_store(out, record_size, given++, record);
    device->driver->mark_drop(device, command->mark);
  }
  activity->count = kept;
  return given;
}

static kw_status activity_drain(void *state, void *out, uint32_t record_size, uint32_t capacity, uint32_t *out_count,
                                uint64_t *out_dropped) {
  kw_gpu_device *device = state;
  struct kw_gpu_activity *activity = device->activity;
  pthread_mutex_lock(&activity->lock);
  ask_all(device);
  *out_count = move_records(device, out, record_size, capacity);
  *out_dropped = activity->dropped;
  activity->dropped = 0;
  pthread_mutex_unlock(&activity->lock);
  return KW_OK;
}

const kw_activity_api kw_gpu_activity_slots = {
    .struct_size = sizeof kw_gpu_activity_slots,
    .record = activity_record,
    .clock = activity_clock,
    .drain = activity_drain,
};
