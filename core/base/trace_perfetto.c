/* SPDX-License-Identifier: Apache-2.0
 *
 * Perfetto's format: a stream of TracePacket messages (protos/perfetto/trace/trace_packet.proto of its tree).
 *
 * Tracks: the process, its threads, and each device with its streams and its memory. A span is two packets, its begin
 * and its end, one behind the other; viewers sort by time. Flows lead from a call of an op over its launch to what the
 * device did for it: they share an id. Names of events and categories are interned. All packets are of one sequence,
 * which has the process's number, so that traces of several processes may be joined by `cat`. When a packet was dropped
 * the next one begins anew with what it names.
 */
#include "base/trace_format.h"

#include "base/hash.h"
#include "base/protobuf.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

/* The numbers of fields and values that are used; tests/perfetto_check.py holds them against the schema. */
enum { TRACE_PACKET = 1 };
enum {
  PACKET_CLOCK_SNAPSHOT = 6,
  PACKET_TIMESTAMP = 8,
  PACKET_SEQUENCE_ID = 10,
  PACKET_TRACK_EVENT = 11,
  PACKET_INTERNED_DATA = 12,
  PACKET_SEQUENCE_FLAGS = 13,
  PACKET_PREVIOUS_DROPPED = 42,
  PACKET_DEFAULTS = 59,
  PACKET_TRACK_DESCRIPTOR = 60
};
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };
enum { SNAPSHOT_CLOCKS = 1, SNAPSHOT_PRIMARY_CLOCK = 2, CLOCK_ID = 1, CLOCK_TIMESTAMP = 2 };
enum { CLOCK_OF_REALTIME = 1, CLOCK_OF_MONOTONIC = 3, CLOCK_OF_BOOTTIME = 6 };
enum { DEFAULTS_CLOCK_ID = 58 };
enum { TRACK_UUID = 1, TRACK_NAME = 2, TRACK_PROCESS = 3, TRACK_THREAD = 4, TRACK_PARENT = 5, TRACK_COUNTER = 8 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum { COUNTER_UNIT = 3, UNIT_BYTES = 3 };
enum {
  EVENT_CATEGORY_IID = 3,
  EVENT_ANNOTATION = 4,
  EVENT_TYPE = 9,
  EVENT_NAME_IID = 10,
  EVENT_TRACK = 11,
  EVENT_CATEGORY = 22,
  EVENT_NAME = 23,
  EVENT_COUNTER_VALUE = 30,
  EVENT_FLOW = 47
};
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };
enum { ANNOTATION_UINT = 3, ANNOTATION_STRING = 6, ANNOTATION_NAME = 10 };
enum { INTERNED_CATEGORY = 1, INTERNED_NAME = 2, IID = 1, IID_NAME = 2 };

static kw_bytes record;

/* ---- What the reader knows --------------------------------------------------------------------------------------- */

/* Grows each time it knows nothing: what was told in an earlier round has to be told again. 0: never. */
static uint32_t round_now = 1;
static bool told_state; /* in this round, that a round has begun */
static bool was_dropped;

#define NAMES 4096 /* interned at most; those beyond stand in their events */
#define SLOTS (2 * NAMES)
typedef struct name_entry {
  char *text;
  uint32_t kind; /* INTERNED_ */
  uint32_t round;
} name_entry;
static name_entry names[SLOTS]; /* open addressing; an entry's number is its place + 1 */
static uint32_t name_count;

/* A stream of a device that tells what it does. Spans that overlap stand on tracks of their own. */
#define LANES 4
typedef struct stream_row {
  uint64_t stream, device; /* the device's track */
  char *name;
  uint64_t until[LANES]; /* where the last span ends */
  uint32_t round[LANES];
} stream_row;
static stream_row *rows; /* by stream */
static size_t row_count, row_room;

typedef struct device_row {
  char *name;
  uint32_t round, memory_round;
} device_row;
static device_row *devices;
static size_t device_count;

static uint32_t process_round;
static _Thread_local uint32_t thread_round;

/* ---- Numbers ----------------------------------------------------------------------------------------------------- */

/* Tracks of all processes have numbers of their own. */
typedef enum track_kind { OF_PROCESS = 1, OF_THREAD, OF_DEVICE, OF_IN_USE, OF_RESERVED, OF_STREAM } track_kind;
static uint64_t track_id(track_kind kind, uint64_t number) {
  uint64_t x = (uint64_t)getpid() * UINT64_C(0x9e3779b97f4a7c15) + ((uint64_t)kind << 56) + number;
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9); /* splitmix64 (G. L. Steele, D. Lea, C. H. Flood) */
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

static uint64_t flow_id(uint64_t call) {
  return (uint64_t)getpid() << 40 ^ call;
}

/* ---- Packets ----------------------------------------------------------------------------------------------------- */

/* timestamp 0: none */
static size_t begin_packet(kw_bytes *out, uint64_t timestamp) {
  const size_t packet = kw_protobuf_begin(out, TRACE_PACKET);
  if (timestamp != 0) kw_protobuf_uint(out, PACKET_TIMESTAMP, timestamp);
  kw_protobuf_uint(out, PACKET_SEQUENCE_ID, (uint32_t)getpid());
  if (told_state) kw_protobuf_uint(out, PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
  return packet;
}

static void put_clock(uint32_t id, clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  const size_t message = kw_protobuf_begin(&record, SNAPSHOT_CLOCKS);
  kw_protobuf_uint(&record, CLOCK_ID, id);
  kw_protobuf_uint(&record, CLOCK_TIMESTAMP, (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec);
  kw_protobuf_end(&record, message);
}

/* The first packet of a round: from here on times are CLOCK_MONOTONIC's, which the snapshot ties to the others. */
static void tell_state(void) {
  if (told_state) return;
  size_t packet = begin_packet(&record, 0);
  kw_protobuf_uint(&record, PACKET_SEQUENCE_FLAGS, STATE_CLEARED);
  if (was_dropped) kw_protobuf_uint(&record, PACKET_PREVIOUS_DROPPED, 1);
  const size_t defaults = kw_protobuf_begin(&record, PACKET_DEFAULTS);
  kw_protobuf_uint(&record, DEFAULTS_CLOCK_ID, CLOCK_OF_MONOTONIC);
  kw_protobuf_end(&record, defaults);
  kw_protobuf_end(&record, packet);
  told_state = true;
  packet = begin_packet(&record, kw_trace_now());
  const size_t snapshot = kw_protobuf_begin(&record, PACKET_CLOCK_SNAPSHOT);
  put_clock(CLOCK_OF_BOOTTIME, CLOCK_BOOTTIME);
  put_clock(CLOCK_OF_MONOTONIC, CLOCK_MONOTONIC);
  put_clock(CLOCK_OF_REALTIME, CLOCK_REALTIME);
  kw_protobuf_uint(&record, SNAPSHOT_PRIMARY_CLOCK, CLOCK_OF_BOOTTIME);
  kw_protobuf_end(&record, snapshot);
  kw_protobuf_end(&record, packet);
}

static kw_trace_taken add(void) {
  const kw_trace_taken taken = kw_trace_sink_add(&record);
  if (taken == KW_TRACE_DROPPED) {
    ++round_now; /* what the record told is not known */
    told_state = false;
    was_dropped = true;
  } else {
    was_dropped = false;
  }
  return taken;
}

/* ---- Tracks ------------------------------------------------------------------------------------------------------ */

/* A packet that describes a track. Ends with end_track; what belongs inside is written between. */
typedef struct open_track {
  size_t packet, track;
} open_track;

static open_track begin_track(uint64_t id, uint64_t parent, const char *name) {
  open_track open = {.packet = begin_packet(&record, 0)};
  open.track = kw_protobuf_begin(&record, PACKET_TRACK_DESCRIPTOR);
  kw_protobuf_uint(&record, TRACK_UUID, id);
  if (parent != 0) kw_protobuf_uint(&record, TRACK_PARENT, parent);
  if (name != NULL) kw_protobuf_string(&record, TRACK_NAME, name);
  return open;
}

static void end_track(open_track open) {
  kw_protobuf_end(&record, open.track);
  kw_protobuf_end(&record, open.packet);
}

static uint64_t tell_process(void) {
  const uint64_t id = track_id(OF_PROCESS, 0);
  if (process_round == round_now) return id;
  process_round = round_now;
  const open_track open = begin_track(id, 0, NULL);
  const size_t process = kw_protobuf_begin(&record, TRACK_PROCESS);
  kw_protobuf_uint(&record, PROCESS_PID, (uint32_t)getpid());
  kw_protobuf_string(&record, PROCESS_NAME, program_invocation_short_name);
  kw_protobuf_end(&record, process);
  end_track(open);
  return id;
}

/* The calling thread's. */
static uint64_t tell_thread(void) {
  const uint64_t id = track_id(OF_THREAD, (uint64_t)kw_trace_thread());
  if (thread_round == round_now) return id;
  thread_round = round_now;
  char name[16] = "";
  prctl(PR_GET_NAME, name);
  const open_track open = begin_track(id, tell_process(), NULL);
  const size_t thread = kw_protobuf_begin(&record, TRACK_THREAD);
  kw_protobuf_uint(&record, THREAD_PID, (uint32_t)getpid());
  kw_protobuf_uint(&record, THREAD_TID, (uint32_t)kw_trace_thread());
  kw_protobuf_string(&record, THREAD_NAME, name);
  kw_protobuf_end(&record, thread);
  end_track(open);
  return id;
}

/* NULL when memory ran out. */
static device_row *find_device(const char *name) {
  for (size_t i = 0; i < device_count; ++i)
    if (strcmp(devices[i].name, name) == 0) return &devices[i];
  device_row *more = realloc(devices, (device_count + 1) * sizeof *devices);
  char *copy = strdup(name);
  if (more != NULL) devices = more;
  if (more == NULL || copy == NULL) {
    free(copy);
    return NULL;
  }
  devices[device_count] = (device_row){.name = copy};
  return &devices[device_count++];
}

static uint64_t tell_device(size_t number) {
  device_row *row = &devices[number];
  const uint64_t id = track_id(OF_DEVICE, number);
  if (row->round == round_now) return id;
  row->round = round_now;
  end_track(begin_track(id, tell_process(), row->name));
  return id;
}

/* Where a stream's row is, or would be. */
static size_t place_of(uint64_t stream) {
  size_t low = 0, high = row_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (rows[middle].stream < stream) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static stream_row *find_row(uint64_t stream) {
  const size_t place = place_of(stream);
  return place < row_count && rows[place].stream == stream ? &rows[place] : NULL;
}

static uint64_t tell_lane(stream_row *row, uint32_t lane) {
  const uint64_t id = track_id(OF_STREAM, row->stream * LANES + lane);
  if (row->round[lane] == round_now) return id;
  row->round[lane] = round_now;
  end_track(begin_track(id, tell_device(row->device), row->name));
  return id;
}

/* The track that a device's span fits on, of its stream's. */
static uint64_t tell_stream(const kw_trace_event *event) {
  stream_row *row = find_row(event->stream);
  if (row == NULL) return tell_process(); /* memory ran out when it was named */
  uint32_t lane = 0;
  while (lane < LANES - 1 && row->until[lane] > event->begin_ns) ++lane;
  row->until[lane] = event->end_ns;
  return tell_lane(row, lane);
}

/* ---- Names ------------------------------------------------------------------------------------------------------- */

/* Its number, told in a packet before; 0: it is not interned. */
static uint32_t tell_name(uint32_t kind, const char *text) {
  uint32_t place = kw_hash_text(KW_HASH_INIT + kind, text) % SLOTS;
  while (names[place].text != NULL && (names[place].kind != kind || strcmp(names[place].text, text) != 0))
    place = (place + 1) % SLOTS;
  name_entry *entry = &names[place];
  if (entry->text == NULL) {
    if (name_count == NAMES || (entry->text = strdup(text)) == NULL) return 0;
    ++name_count;
    entry->kind = kind;
  }
  if (entry->round != round_now) {
    entry->round = round_now;
    const size_t packet = begin_packet(&record, 0), data = kw_protobuf_begin(&record, PACKET_INTERNED_DATA);
    const size_t item = kw_protobuf_begin(&record, kind);
    kw_protobuf_uint(&record, IID, place + 1);
    kw_protobuf_string(&record, IID_NAME, text);
    kw_protobuf_end(&record, item);
    kw_protobuf_end(&record, data);
    kw_protobuf_end(&record, packet);
  }
  return place + 1;
}

/* ---- Flows ------------------------------------------------------------------------------------------------------- */

/* The newest launches, for the calls of ops that they were made in, which end later. */
#define LAUNCHES 256
static struct {
  uint64_t call, begin_ns;
  int thread;
} launches[LAUNCHES];
static uint32_t launch_count;

static void put_flows(const kw_trace_event *event) {
  if (event->call != 0 && find_row(event->stream) != NULL) {
    kw_protobuf_fixed64(&record, EVENT_FLOW, flow_id(event->call));
    if (event->device != NULL) return;
    launches[launch_count % LAUNCHES].call = event->call;
    launches[launch_count % LAUNCHES].begin_ns = event->begin_ns;
    launches[launch_count++ % LAUNCHES].thread = kw_trace_thread();
  } else if (event->stream == 0 && strcmp(event->category, "op") == 0) {
    const uint32_t count = launch_count < LAUNCHES ? launch_count : LAUNCHES;
    for (uint32_t i = 0; i < count; ++i)
      if (launches[i].begin_ns >= event->begin_ns) kw_protobuf_fixed64(&record, EVENT_FLOW, flow_id(launches[i].call));
  }
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static void put_number(const char *name, uint64_t value) {
  const size_t annotation = kw_protobuf_begin(&record, EVENT_ANNOTATION);
  kw_protobuf_string(&record, ANNOTATION_NAME, name);
  kw_protobuf_uint(&record, ANNOTATION_UINT, value);
  kw_protobuf_end(&record, annotation);
}

static void put_annotations(const kw_trace_event *event) {
  if (event->detail != NULL) {
    const size_t annotation = kw_protobuf_begin(&record, EVENT_ANNOTATION);
    kw_protobuf_string(&record, ANNOTATION_NAME, "detail");
    kw_protobuf_string(&record, ANNOTATION_STRING, event->detail);
    kw_protobuf_end(&record, annotation);
  }
  if (event->stream != 0) put_number("stream", event->stream);
  if (event->call != 0) put_number("call", event->call);
  if (event->node != 0) put_number("node", event->node);
}

void kw_perfetto_begin(void) {
  tell_state();
  tell_process();
  add();
}

kw_trace_taken kw_perfetto_event(const kw_trace_event *event) {
  tell_state();
  const uint64_t track = event->device != NULL ? tell_stream(event) : tell_thread();
  const uint32_t category = tell_name(INTERNED_CATEGORY, event->category);
  const uint32_t name = tell_name(INTERNED_NAME, event->name);
  size_t packet = begin_packet(&record, event->begin_ns);
  size_t body = kw_protobuf_begin(&record, PACKET_TRACK_EVENT);
  kw_protobuf_uint(&record, EVENT_TYPE, SLICE_BEGIN);
  kw_protobuf_uint(&record, EVENT_TRACK, track);
  if (category != 0) kw_protobuf_uint(&record, EVENT_CATEGORY_IID, category);
  if (category == 0) kw_protobuf_string(&record, EVENT_CATEGORY, event->category);
  if (name != 0) kw_protobuf_uint(&record, EVENT_NAME_IID, name);
  if (name == 0) kw_protobuf_string(&record, EVENT_NAME, event->name);
  put_flows(event);
  put_annotations(event);
  kw_protobuf_end(&record, body);
  kw_protobuf_end(&record, packet);
  packet = begin_packet(&record, event->end_ns);
  body = kw_protobuf_begin(&record, PACKET_TRACK_EVENT);
  kw_protobuf_uint(&record, EVENT_TYPE, SLICE_END);
  kw_protobuf_uint(&record, EVENT_TRACK, track);
  kw_protobuf_end(&record, body);
  kw_protobuf_end(&record, packet);
  return add();
}

kw_trace_taken kw_perfetto_stream(uint64_t stream, const char *device, const char *name) {
  const size_t place = place_of(stream);
  const device_row *owner = find_device(device);
  if (owner == NULL || (place < row_count && rows[place].stream == stream)) return KW_TRACE_TAKEN;
  if (row_count == row_room) {
    const size_t room = row_room > 0 ? 2 * row_room : 16;
    stream_row *more = realloc(rows, room * sizeof *rows);
    if (more == NULL) return KW_TRACE_TAKEN;
    rows = more;
    row_room = room;
  }
  char *copy = strdup(name);
  if (copy == NULL) return KW_TRACE_TAKEN;
  memmove(&rows[place + 1], &rows[place], (row_count - place) * sizeof *rows);
  rows[place] = (stream_row){.stream = stream, .device = (uint64_t)(owner - devices), .name = copy};
  ++row_count;
  tell_state();
  tell_lane(&rows[place], 0);
  return add();
}

static void put_level(uint64_t track, uint64_t now, uint64_t bytes) {
  const size_t packet = begin_packet(&record, now), body = kw_protobuf_begin(&record, PACKET_TRACK_EVENT);
  kw_protobuf_uint(&record, EVENT_TYPE, COUNTER);
  kw_protobuf_uint(&record, EVENT_TRACK, track);
  kw_protobuf_uint(&record, EVENT_COUNTER_VALUE, bytes);
  kw_protobuf_end(&record, body);
  kw_protobuf_end(&record, packet);
}

static void describe_level(uint64_t id, uint64_t parent, const char *name) {
  const open_track open = begin_track(id, parent, name);
  const size_t counter = kw_protobuf_begin(&record, TRACK_COUNTER);
  kw_protobuf_uint(&record, COUNTER_UNIT, UNIT_BYTES);
  kw_protobuf_end(&record, counter);
  end_track(open);
}

kw_trace_taken kw_perfetto_memory(const char *device, uint64_t in_use, uint64_t reserved) {
  device_row *row = find_device(device);
  if (row == NULL) return KW_TRACE_TAKEN;
  tell_state();
  const size_t number = (size_t)(row - devices);
  const uint64_t now = kw_trace_now(), used = track_id(OF_IN_USE, number), held = track_id(OF_RESERVED, number);
  if (row->memory_round != round_now) {
    row->memory_round = round_now;
    describe_level(used, tell_device(number), "memory in use");
    describe_level(held, tell_device(number), "memory reserved");
  }
  put_level(used, now, in_use);
  put_level(held, now, reserved);
  return add();
}

static void forget_names(void) {
  for (uint32_t i = 0; i < SLOTS; ++i) free(names[i].text);
  for (size_t i = 0; i < row_count; ++i) free(rows[i].name);
  for (size_t i = 0; i < device_count; ++i) free(devices[i].name);
  free(rows);
  free(devices);
  memset(names, 0, sizeof names);
  rows = NULL;
  devices = NULL;
  row_count = row_room = device_count = name_count = launch_count = 0;
}

void kw_perfetto_end(kw_bytes *out, uint64_t limit) {
  if (limit != 0) {
    char text[96];
    snprintf(text, sizeof text, "the trace ends here: it has reached KEYWAY_TRACE_LIMIT (%" PRIu64 " bytes)", limit);
    const size_t packet = begin_packet(out, kw_trace_now()), body = kw_protobuf_begin(out, PACKET_TRACK_EVENT);
    kw_protobuf_uint(out, EVENT_TYPE, INSTANT);
    kw_protobuf_uint(out, EVENT_TRACK, track_id(OF_PROCESS, 0));
    kw_protobuf_string(out, EVENT_CATEGORY, "limit");
    kw_protobuf_string(out, EVENT_NAME, text);
    kw_protobuf_end(out, body);
    kw_protobuf_end(out, packet);
  }
  kw_bytes_free(&record);
  forget_names();
}

void kw_perfetto_forget(void) {
  kw_bytes_free(&record);
  forget_names();
  ++round_now; /* and were threads told, which they are not */
  told_state = false;
}
