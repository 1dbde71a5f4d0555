/* SPDX-License-Identifier: Apache-2.0
 *
 * Reads what core/base/trace_perfetto.c writes: the fields that are used there, and passes over others. A file may be
 * cut off anywhere: what is whole counts.
 */
#include "trace_perfetto.h"

#include "base/need.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Fields ------------------------------------------------------------------------------------------------------ */

enum { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

typedef struct message {
  const uint8_t *at, *end;
} message;

typedef struct field {
  uint64_t number, value; /* VARINT, FIXED64, FIXED32 */
  message body;           /* BYTES */
  unsigned wire;
} field;

static bool read_varint(message *from, uint64_t *out_value) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 70 && from->at < from->end; shift += 7) {
    const uint8_t byte = *from->at++;
    if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
    if (byte < 0x80) {
      *out_value = value;
      return true;
    }
  }
  return false;
}

static bool read_fixed(message *from, unsigned size, uint64_t *out_value) {
  if ((size_t)(from->end - from->at) < size) return false;
  *out_value = 0;
  for (unsigned i = 0; i < size; ++i) *out_value |= (uint64_t)*from->at++ << 8 * i;
  return true;
}

/* False at the end, and where the bytes are no field. */
static bool next_field(message *from, field *out) {
  uint64_t tag, length;
  *out = (field){0};
  if (!read_varint(from, &tag)) return false;
  out->number = tag >> 3;
  out->wire = (unsigned)(tag & 7);
  switch (out->wire) {
    case VARINT:
      return read_varint(from, &out->value);
    case FIXED64:
      return read_fixed(from, 8, &out->value);
    case FIXED32:
      return read_fixed(from, 4, &out->value);
    case BYTES:
      if (!read_varint(from, &length) || length > (uint64_t)(from->end - from->at)) return false;
      out->body = (message){from->at, from->at + length};
      from->at += length;
      return true;
    default:
      return false;
  }
}

static char *text_of(message body) {
  char *text = strndup((const char *)body.at, (size_t)(body.end - body.at));
  if (!text) kw_out_of_memory();
  return text;
}

/* ---- What is told once --------------------------------------------------------------------------------------------
 */

typedef struct track {
  uint64_t id, parent;
  char *name;
  double tid;    /* of a thread; of a stream its row */
  cJSON *opened; /* the slice that has begun and not ended */
} track;

typedef struct reader {
  track *tracks;
  size_t track_count, track_room;
  char **names[3]; /* by kind (1: categories, 2: events' names) and number */
  size_t name_room[3];
  cJSON *events;
} reader;

static track *find_track(const reader *r, uint64_t id) {
  for (size_t i = r->track_count; i-- > 0;)
    if (r->tracks[i].id == id) return &r->tracks[i];
  return NULL;
}

static void take_thread(message body, track *out) {
  for (field f; next_field(&body, &f);)
    if (f.number == 2 && f.wire == VARINT) out->tid = (double)f.value;
}

/* The row of a stream's, once for all its tracks. */
static void name_row(reader *r, track *t) {
  uint64_t stream;
  if (!t->name || sscanf(t->name, "stream %" SCNu64, &stream) != 1 || stream == 0) return;
  t->tid = (double)(KW_TRACE_ROW_BASE + stream);
  for (size_t i = 0; i < r->track_count; ++i)
    if (&r->tracks[i] != t && r->tracks[i].tid == t->tid) return;
  const track *device = find_track(r, t->parent);
  char name[256];
  snprintf(name, sizeof name, "%s %s", device && device->name ? device->name : "?", t->name);
  cJSON *event = cJSON_CreateObject();
  cJSON_AddStringToObject(event, "ph", "M");
  cJSON_AddStringToObject(event, "name", "thread_name");
  cJSON_AddNumberToObject(event, "tid", t->tid);
  cJSON_AddStringToObject(cJSON_AddObjectToObject(event, "args"), "name", name);
  cJSON_AddItemToArray(r->events, event);
}

static void take_track(reader *r, message body) {
  track new = {0};
  for (field f; next_field(&body, &f);) {
    if (f.number == 1 && f.wire == VARINT) new.id = f.value;
    if (f.number == 5 && f.wire == VARINT) new.parent = f.value;
    if (f.number == 4 && f.wire == BYTES) take_thread(f.body, &new);
    if (f.number == 2 && f.wire == BYTES) {
      free(new.name);
      new.name = text_of(f.body);
    }
  }
  if (find_track(r, new.id)) { /* told again */
    free(new.name);
    return;
  }
  if (r->track_count == r->track_room) {
    r->track_room = r->track_room > 0 ? 2 * r->track_room : 16;
    r->tracks = realloc(r->tracks, r->track_room * sizeof *r->tracks);
    if (!r->tracks) kw_out_of_memory();
  }
  r->tracks[r->track_count++] = new;
  name_row(r, &r->tracks[r->track_count - 1]);
}

static void take_name(reader *r, uint64_t kind, message body) {
  uint64_t number = 0;
  char *text = NULL;
  for (field f; next_field(&body, &f);) {
    if (f.number == 1 && f.wire == VARINT) number = f.value;
    if (f.number == 2 && f.wire == BYTES) {
      free(text);
      text = text_of(f.body);
    }
  }
  if (!text || number >= UINT64_C(1) << 20) {
    free(text);
    return;
  }
  if (number >= r->name_room[kind]) {
    const size_t room = (size_t)number * 2 + 64;
    r->names[kind] = realloc(r->names[kind], room * sizeof(char *));
    if (!r->names[kind]) kw_out_of_memory();
    memset(r->names[kind] + r->name_room[kind], 0, (room - r->name_room[kind]) * sizeof(char *));
    r->name_room[kind] = room;
  }
  free(r->names[kind][number]);
  r->names[kind][number] = text;
}

static const char *name_of(const reader *r, uint64_t kind, uint64_t number) {
  return number < r->name_room[kind] && r->names[kind][number] ? r->names[kind][number] : "";
}

/* ---- Events -------------------------------------------------------------------------------------------------------
 */

static void take_annotation(message body, cJSON *args) {
  char *name = NULL, *text = NULL;
  uint64_t number = 0;
  for (field f; next_field(&body, &f);) {
    if (f.number == 3 && f.wire == VARINT) number = f.value;
    if (f.wire != BYTES || (f.number != 10 && f.number != 6)) continue;
    char **place = f.number == 10 ? &name : &text;
    free(*place);
    *place = text_of(f.body);
  }
  if (name && text) cJSON_AddStringToObject(args, name, text);
  if (name && !text) cJSON_AddNumberToObject(args, name, (double)number);
  free(name);
  free(text);
}

typedef struct event_facts {
  uint64_t type, track, category, name;
  char *category_text, *name_text;
  cJSON *args, *flows;
} event_facts;

static event_facts read_event(message body) {
  event_facts facts = {.args = cJSON_CreateObject(), .flows = cJSON_CreateArray()};
  for (field f; next_field(&body, &f);) {
    if (f.wire == VARINT) {
      if (f.number == 9) facts.type = f.value;
      if (f.number == 11) facts.track = f.value;
      if (f.number == 3) facts.category = f.value;
      if (f.number == 10) facts.name = f.value;
    }
    if (f.wire == FIXED64 && f.number == 47) {
      char flow[24];
      snprintf(flow, sizeof flow, "%" PRIu64, f.value);
      cJSON_AddItemToArray(facts.flows, cJSON_CreateString(flow));
    }
    if (f.wire == BYTES && f.number == 4) take_annotation(f.body, facts.args);
    if (f.wire == BYTES && (f.number == 22 || f.number == 23)) {
      char **place = f.number == 22 ? &facts.category_text : &facts.name_text;
      free(*place);
      *place = text_of(f.body);
    }
  }
  return facts;
}

static void begin_slice(reader *r, track *on, const event_facts *facts, uint64_t ns) {
  cJSON_Delete(on->opened);
  cJSON *event = on->opened = cJSON_CreateObject();
  const char *category = facts->category_text ? facts->category_text : name_of(r, 1, facts->category);
  cJSON_AddStringToObject(event, "ph", "X");
  cJSON_AddStringToObject(event, "name", facts->name_text ? facts->name_text : name_of(r, 2, facts->name));
  cJSON_AddStringToObject(event, "cat", category);
  cJSON_AddNumberToObject(event, "tid", on->tid);
  cJSON_AddNumberToObject(event, "ts", (double)ns / 1000);
  cJSON_AddItemToObject(event, "args", cJSON_Duplicate(facts->args, true));
  cJSON_AddItemToObject(event, "flows", cJSON_Duplicate(facts->flows, true));
}

static void end_slice(reader *r, track *on, uint64_t ns) {
  if (!on->opened) return;
  const double begin = cJSON_GetObjectItemCaseSensitive(on->opened, "ts")->valuedouble;
  cJSON_AddNumberToObject(on->opened, "dur", (double)ns / 1000 - begin);
  cJSON_AddItemToArray(r->events, on->opened);
  on->opened = NULL;
}

static void take_event(reader *r, message body, uint64_t ns) {
  event_facts facts = read_event(body);
  track *on = find_track(r, facts.track);
  if (on && facts.type == 1) begin_slice(r, on, &facts, ns);
  if (on && facts.type == 2) end_slice(r, on, ns);
  cJSON_Delete(facts.args);
  cJSON_Delete(facts.flows);
  free(facts.category_text);
  free(facts.name_text);
}

static void take_packet(reader *r, message packet) {
  message event = {0};
  uint64_t ns = 0;
  for (field f; next_field(&packet, &f);) {
    if (f.number == 8 && f.wire == VARINT) ns = f.value;
    if (f.wire != BYTES) continue;
    if (f.number == 60) take_track(r, f.body);
    if (f.number == 11) event = f.body;
    if (f.number != 12) continue;
    for (field name; next_field(&f.body, &name);)
      if (name.wire == BYTES && (name.number == 1 || name.number == 2)) take_name(r, name.number, name.body);
  }
  if (event.at) take_event(r, event, ns);
}

cJSON *kw_trace_perfetto_events(const uint8_t *data, size_t size) {
  reader r = {.events = cJSON_CreateArray()};
  message file = {data, data + size};
  size_t packets = 0;
  for (field f; next_field(&file, &f) && f.number == 1 && f.wire == BYTES; ++packets) take_packet(&r, f.body);
  for (size_t i = 0; i < r.track_count; ++i) {
    cJSON_Delete(r.tracks[i].opened);
    free(r.tracks[i].name);
  }
  for (int kind = 1; kind <= 2; ++kind) {
    for (size_t i = 0; i < r.name_room[kind]; ++i) free(r.names[kind][i]);
    free(r.names[kind]);
  }
  free(r.tracks);
  if (packets > 0) return r.events;
  cJSON_Delete(r.events);
  return NULL;
}
