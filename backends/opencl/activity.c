/* SPDX-License-Identifier: Apache-2.0
 *
 * Activity records: the profiling times of the commands' own events, which are kept until they are drained.
 *
 * Locks: the device's lock guards the list. It is taken inside a stream's.
 */
#include "opencl.h"

#include <stdlib.h>
#include <time.h>

#define COMMAND_LIMIT 65536u /* that wait to be drained */
#define CLOCK_TRIES 5

typedef struct ocl_command {
  cl_event event;
  kw_activity_kind kind;
  bool finished;
  uint64_t call_id, token;
} ocl_command;

struct ocl_activity {
  bool on;
  cl_command_queue queue; /* for reading the clock */
  uint64_t dropped;
  uint32_t count, room;
  ocl_command *commands; /* as enqueued */
};

static uint64_t host_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

static bool make_room(ocl_activity *activity) {
  if (activity->count < activity->room) return true;
  const uint32_t room = activity->room ? 2 * activity->room : 256;
  if (room > COMMAND_LIMIT) return false;
  ocl_command *commands = realloc(activity->commands, room * sizeof *commands);
  if (!commands) return false;
  activity->commands = commands;
  activity->room = room;
  return true;
}

void ocl_activity_note(ocl_stream *stream, cl_event event, kw_activity_kind kind, uint64_t call_id) {
  ocl_device *device = (ocl_device *)stream->base.device;
  if (!event || !atomic_load_explicit(&device->records, memory_order_relaxed)) return;
  pthread_mutex_lock(&device->base.lock);
  ocl_activity *activity = device->activity;
  if (!make_room(activity)) {
    activity->dropped++;
  } else {
    clRetainEvent(event);
    activity->commands[activity->count++] = (ocl_command){.event = event,
                                                          .kind = call_id != 0 ? KW_ACTIVITY_LAUNCH : kind,
                                                          .call_id = call_id,
                                                          .token = stream->base.token};
  }
  pthread_mutex_unlock(&device->base.lock);
}

/* From the newest to the oldest: where one has finished, those before it on its stream have, too, when they are asked.
 */
static void ask_all(ocl_activity *activity) {
  for (uint32_t i = activity->count; i-- > 0;) {
    ocl_command *command = &activity->commands[i];
    cl_int state = CL_COMPLETE;
    clGetEventInfo(command->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, NULL);
    command->finished = state <= CL_COMPLETE;
  }
}

/* False for one that failed: it has no times. */
static bool read_times(const ocl_command *command, kw_activity *out_record) {
  cl_ulong begin = 0, end = 0;
  cl_int error = clGetEventProfilingInfo(command->event, CL_PROFILING_COMMAND_START, sizeof begin, &begin, NULL);
  if (error == CL_SUCCESS)
    error = clGetEventProfilingInfo(command->event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
  *out_record = (kw_activity){
      .kind = command->kind, .call_id = command->call_id, .stream_token = command->token, .begin = begin, .end = end};
  return error == CL_SUCCESS;
}

/* ---- Slots ------------------------------------------------------------------------------------------------------- */

static kw_status make(ocl_device *device) {
  cl_int error = CL_SUCCESS;
  ocl_activity *activity = calloc(1, sizeof *activity);
  if (!activity) return ocl_check(device->base.host, CL_OUT_OF_HOST_MEMORY, "recording activity");
  activity->queue = clCreateCommandQueue(device->context, device->id, CL_QUEUE_PROFILING_ENABLE, &error);
  if (error == CL_SUCCESS) {
    device->activity = activity;
  } else {
    free(activity);
  }
  return ocl_check(device->base.host, error, "clCreateCommandQueue");
}

static kw_status activity_record(void *state, uint32_t on) {
  ocl_device *device = state;
  pthread_mutex_lock(&device->base.lock);
  kw_status status = device->activity || !on ? KW_OK : make(device);
  if (status == KW_OK) atomic_store(&device->records, on != 0);
  pthread_mutex_unlock(&device->base.lock);
  return status;
}

/* A marker that nothing is before: the device passes it between the two readings. */
static cl_int pass_marker(cl_command_queue queue, cl_ulong *out_passed) {
  cl_event marker = NULL;
  cl_int error = clEnqueueMarkerWithWaitList(queue, 0, NULL, &marker);
  if (error != CL_SUCCESS) return error;
  error = clWaitForEvents(1, &marker);
  if (error == CL_SUCCESS)
    error = clGetEventProfilingInfo(marker, CL_PROFILING_COMMAND_END, sizeof *out_passed, out_passed, NULL);
  clReleaseEvent(marker);
  return error;
}

/* Of several tries the one that took the least time. */
static kw_status activity_clock(void *state, uint64_t *out_device_ns, uint64_t *out_host_ns) {
  ocl_device *device = state;
  uint64_t least = UINT64_MAX;
  pthread_mutex_lock(&device->base.lock);
  const ocl_activity *activity = device->activity;
  pthread_mutex_unlock(&device->base.lock);
  if (!activity) return kw_gpu_error(device->base.host, KW_ERR_UNSUPPORTED, "activity.clock: turn recording on first");
  for (int i = 0; i < CLOCK_TRIES; ++i) {
    cl_ulong passed = 0;
    const uint64_t before = host_now();
    cl_int error = pass_marker(activity->queue, &passed);
    const uint64_t took = host_now() - before;
    if (error != CL_SUCCESS) return ocl_check(device->base.host, error, "reading the clock by a marker");
    if (took >= least) continue;
    least = took;
    *out_device_ns = passed;
    *out_host_ns = before + took / 2;
  }
  return KW_OK;
}

static kw_status activity_drain(void *state, void *out, uint32_t record_size, uint32_t capacity, uint32_t *out_count,
                                uint64_t *out_dropped) {
  ocl_device *device = state;
  uint32_t given = 0, kept = 0;
  pthread_mutex_lock(&device->base.lock);
  ocl_activity *activity = device->activity;
  if (!activity) {
    pthread_mutex_unlock(&device->base.lock);
    return kw_gpu_error(device->base.host, KW_ERR_UNSUPPORTED, "activity.drain: turn recording on first");
  }
  ask_all(activity);
  for (uint32_t i = 0; i < activity->count; ++i) {
    ocl_command *command = &activity->commands[i];
    kw_activity record;
    if (!command->finished || given == capacity) {
      activity->commands[kept++] = *command;
      continue;
    }
    if (read_times(command, &record)) kw_activity_store(out, record_size, given++, &record);
    clReleaseEvent(command->event);
  }
  activity->count = kept;
  *out_count = given;
  *out_dropped = activity->dropped;
  activity->dropped = 0;
  pthread_mutex_unlock(&device->base.lock);
  return KW_OK;
}

void ocl_activity_forget(ocl_device *device) {
  ocl_activity *activity = device->activity;
  if (!activity) return;
  for (uint32_t i = 0; i < activity->count; ++i) clReleaseEvent(activity->commands[i].event);
  clReleaseCommandQueue(activity->queue);
  free(activity->commands);
  free(activity);
}

const kw_activity_api ocl_activity_slots = {
    .struct_size = sizeof ocl_activity_slots,
    .record = activity_record,
    .clock = activity_clock,
    .drain = activity_drain,
};
