/* SPDX-License-Identifier: Apache-2.0
 *
 * A device's activity records: drained after waits, converted, and written to the trace.
 *
 * Locks: a log's mutex is held while its plugin is asked, so that records reach the trace in order and each pair of
 * clock readings is later than the one before.
 */
#include "device/activity.h"

#include "base/error.h"
#include "base/log.h"
#include "base/trace.h"
#include "device/late_error.h"
#include "op/op.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE 256 /* records asked for at a time */

struct kw_activity_log {
  pthread_mutex_t mutex;
  bool recording;
  kw_clock_pair last; /* read when recording began, then at each collection */
};

static kw_status read_clock(kw_device *device, kw_clock_pair *out_pair) {
  return KW_ASK(device->slots, activity.clock, device->handle, &out_pair->device_ns, &out_pair->host_ns);
}

/* ---- Clocks ------------------------------------------------------------------------------------------------------ */

uint64_t kw_clock_to_host(kw_clock_pair from, kw_clock_pair to, uint64_t device_ns) {
  if (device_ns <= from.device_ns) {
    const uint64_t before = from.device_ns - device_ns;
    return before < from.host_ns ? from.host_ns - before : 0;
  }
  if (device_ns >= to.device_ns) return to.host_ns + (device_ns - to.device_ns);
  const double share = (double)(device_ns - from.device_ns) / (double)(to.device_ns - from.device_ns);
  return from.host_ns + (uint64_t)(share * (double)(to.host_ns - from.host_ns) + 0.5); /* 1/49 is inexact */
}

/* ---- Draining --------------------------------------------------------------------------------------------------- */

static void write_record(kw_device *device, const kw_activity *record, kw_clock_pair from, kw_clock_pair to) {
  static const char *const names[] = {"launch", "copy", "fill", "graph"};
  const kw_op *op = kw_op_by_id(kw_call_id_op(record->call_id));
  const char *name = record->kind < sizeof names / sizeof names[0] ? names[record->kind] : "other";
  kw_trace_event event = {.struct_size = sizeof event,
                          .category = "device",
                          .name = op != NULL ? op->schema.name : name,
                          .begin_ns = kw_clock_to_host(from, to, record->begin),
                          .end_ns = kw_clock_to_host(from, to, record->end),
                          .stream = record->stream_token,
                          .call = (record->launch_id ? record->launch_id : record->call_id) & KW_CALL_ID_NUMBERS,
                          .node = record->node,
                          .device = device};
  if (event.end_ns < event.begin_ns) event.end_ns = event.begin_ns;
  kw_trace_write(&event);
}

/* Takes what the plugin has: into the trace, or nowhere. Under the log's mutex. */
static void drain(kw_device *device, bool keep, kw_clock_pair from, kw_clock_pair to) {
  kw_activity records[PIECE];
  uint32_t count = PIECE;
  while (count == PIECE) {
    uint64_t dropped = 0;
    count = 0;
    memset(records, 0, sizeof records);
    kw_status status =
        KW_ASK(device->slots, activity.drain, device->handle, records, sizeof *records, PIECE, &count, &dropped);
    if (status != KW_OK || count > PIECE) break;
    for (uint32_t i = 0; i < count && keep; ++i) write_record(device, &records[i], from, to);
    if (dropped > 0 && keep) {
      kw_log(KW_LOG_WARN, "the trace lacks %" PRIu64 " things that %s did: it kept no more between two waits", dropped,
             device->name);
    }
  }
}

/* ---- Recording --------------------------------------------------------------------------------------------------- */

void kw_activity_open(kw_device *device) {
  if ((device->plugin->native & KW_NATIVE_ACTIVITY) != 0) device->activity = calloc(1, sizeof *device->activity);
  if (device->activity != NULL) pthread_mutex_init(&device->activity->mutex, NULL);
  if (kw_trace_on()) kw_activity_record(device, true);
}

/* Under the log's mutex. */
static void start(kw_device *device, struct kw_activity_log *activity) {
  if (activity->last.host_ns != 0) drain(device, false, activity->last, activity->last); /* what ended too late */
  kw_status status = KW_ASK(device->slots, activity.record, device->handle, 1);
  const bool asked = status == KW_OK;
  if (asked) status = read_clock(device, &activity->last);
  activity->recording = status == KW_OK;
  if (activity->recording) return;
  kw_from_plugin(status, "recording what %s does", device->name);
  kw_log(KW_LOG_WARN, "the trace does not show when %s worked: %s", device->name, kw_error_message());
  kw_error_clear();
  if (asked) KW_ASK(device->slots, activity.record, device->handle, 0); /* which nobody would collect */
}

void kw_activity_record(kw_device *device, bool on) {
  struct kw_activity_log *activity = device->activity;
  if (on == device->traced) return;
  device->traced = on;
  if (on) {
    kw_device_bar(device);
  } else {
    kw_device_unbar(device);
  }
  if (activity == NULL || atomic_load(&device->lost)) return;
  pthread_mutex_lock(&activity->mutex);
  if (on) {
    start(device, activity);
  } else if (activity->recording) {
    KW_ASK(device->slots, activity.record, device->handle, 0);
    activity->recording = false;
  }
  pthread_mutex_unlock(&activity->mutex);
}

void kw_activity_name_stream(const kw_stream *stream) {
  if (stream->device->activity == NULL || !kw_trace_on()) return;
  char name[48];
  snprintf(name, sizeof name, "stream %" PRIu64 "%s", stream->token, stream->is_default ? " (default)" : "");
  kw_trace_name_row(stream->token, stream->device->name, name);
}

uint64_t kw_activity_new_call(void) {
  static atomic_ullong last;
  return atomic_fetch_add(&last, 1) + 1;
}

void kw_activity_collect(kw_device *device) {
  if (device->activity == NULL || !kw_trace_on() || atomic_load(&device->lost)) return;
  pthread_mutex_lock(&device->activity->mutex);
  kw_clock_pair now;
  if (device->activity->recording && read_clock(device, &now) == KW_OK) {
    drain(device, true, device->activity->last, now);
    device->activity->last = now;
  }
  pthread_mutex_unlock(&device->activity->mutex);
}

void kw_activity_close(kw_device *device) {
  if (device->activity == NULL) return;
  kw_activity_collect(device);
  pthread_mutex_destroy(&device->activity->mutex);
  free(device->activity);
  device->activity = NULL;
}
