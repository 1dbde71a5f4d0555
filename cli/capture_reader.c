/* SPDX-License-Identifier: Apache-2.0
 *
 * Every length is held against what is left, every number against what it may be, before it is used.
 */
#include "capture_reader.h"

#include "base/need.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- The file ---------------------------------------------------------------------------------------------------- */

bool kw_capture_reader_open(kw_capture_reader *reader, const char *path, char *message, size_t size) {
  *reader = (kw_capture_reader){0};
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  struct stat facts;
  if (file < 0 || fstat(file, &facts) != 0) {
    snprintf(message, size, "%s cannot be read: %s", path, strerror(errno));
    if (file >= 0) close(file);
    return false;
  }
  void *data = MAP_FAILED;
  if (S_ISREG(facts.st_mode) && facts.st_size >= (off_t)KW_CAPTURE_HEADER)
    data = mmap(NULL, (size_t)facts.st_size, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  uint32_t version = 0;
  if (data != MAP_FAILED) {
    reader->data = data;
    reader->end = reader->data + facts.st_size;
    memcpy(&version, reader->data + 8, sizeof version);
    kw_capture_reader_rewind(reader);
    if (memcmp(data, KW_CAPTURE_MAGIC, 8) == 0 && version == KW_CAPTURE_VERSION) return true;
    version = memcmp(data, KW_CAPTURE_MAGIC, 8) == 0 ? version : 0;
    kw_capture_reader_close(reader);
  }
  if (version != 0) {
    snprintf(message, size, "%s is a capture of version %" PRIu32 ", and this program reads version %" PRIu32, path,
             version, KW_CAPTURE_VERSION);
  } else {
    snprintf(message, size,
             "%s is no capture. Run a program with KEYWAY_LAYERS=capture and KEYWAY_CAPTURE=FILE, and let it end",
             path);
  }
  return false;
}

void kw_capture_reader_rewind(kw_capture_reader *reader) {
  reader->at = reader->data + KW_CAPTURE_HEADER;
  reader->calls = 0;
  reader->complete = reader->full = false;
}

void kw_capture_reader_close(kw_capture_reader *reader) {
  if (reader->data) munmap((void *)(uintptr_t)reader->data, (size_t)(reader->end - reader->data));
  *reader = (kw_capture_reader){0};
}

/* ---- Fields ------------------------------------------------------------------------------------------------------ */

/* A record's payload; `wrong` says what is, and stays. */
typedef struct payload {
  const uint8_t *at, *end;
  const char *wrong;
  kw_capture_entry *entry;
} payload;

struct kw_capture_kept {
  struct kw_capture_kept *next;
  _Alignas(16) unsigned char bytes[];
};

/* Zeroed memory that lives as long as the entry. */
static void *keep(payload *p, size_t count, size_t size) {
  struct kw_capture_kept *kept = calloc(1, sizeof *kept + count * size + 1);
  if (!kept) kw_out_of_memory();
  kept->next = p->entry->kept;
  p->entry->kept = kept;
  return kept->bytes;
}

static bool take(payload *p, void *out, size_t size) {
  if (!p->wrong && (size_t)(p->end - p->at) < size) p->wrong = "it ends too early";
  if (p->wrong) {
    memset(out, 0, size);
    return false;
  }
  memcpy(out, p->at, size);
  p->at += size;
  return true;
}

static uint32_t take_u32(payload *p) {
  uint32_t value;
  take(p, &value, sizeof value);
  return value;
}

static uint64_t take_u64(payload *p) {
  uint64_t value;
  take(p, &value, sizeof value);
  return value;
}

/* A count of things of which each has at least `least` bytes in the file. */
static uint32_t take_count(payload *p, uint32_t limit, size_t least) {
  const uint32_t count = take_u32(p);
  if (!p->wrong && (count > limit || count * least > (size_t)(p->end - p->at))) p->wrong = "a count is too large";
  return p->wrong ? 0 : count;
}

/* Of characters that a terminal may have; NULL where it is wrong. */
static char *take_text(payload *p, uint32_t limit) {
  const uint32_t length = take_count(p, limit, 1);
  if (p->wrong) return NULL;
  char *text = keep(p, length, 1);
  take(p, text, length);
  for (uint32_t i = 0; i < length; ++i)
    if (text[i] < ' ' || text[i] > '~') p->wrong = "a text is not printable";
  return text;
}

static void take_name(payload *p, char name[KW_CAPTURE_NAME]) {
  const char *text = take_text(p, KW_CAPTURE_NAME - 1);
  snprintf(name, KW_CAPTURE_NAME, "%s", text ? text : "");
}

static void take_place(payload *p, kw_capture_place *out) {
  out->buffer = take_u64(p);
  out->offset = take_u64(p);
  out->dtype = take_u32(p);
  out->rank = take_u32(p);
  const uint64_t item = kw_dtype_size(out->dtype);
  if (!p->wrong && (item == 0 || out->rank > KW_MAX_RANK))
    p->wrong = "a view has no known dtype, or too many dimensions";
  if (p->wrong) return;
  take(p, out->shape, out->rank * sizeof out->shape[0]);
  take(p, out->strides, out->rank * sizeof out->strides[0]);
  out->size = item;
  for (uint32_t d = 0; d < out->rank && !p->wrong; ++d) {
    const int64_t extent = out->shape[d];
    if (extent < 0 || (extent > 0 && out->size > (uint64_t)INT64_MAX / (uint64_t)extent))
      p->wrong = "a view's shape is none";
    else
      out->size *= (uint64_t)extent;
  }
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static void take_list(payload *p, kw_capture_value *out) {
  out->places = keep(p, out->value.count, sizeof *out->places);
  out->present = keep(p, out->value.count, sizeof *out->present);
  for (uint32_t i = 0; i < out->value.count && !p->wrong; ++i) {
    out->present[i] = take_u32(p) != 0;
    if (out->present[i]) take_place(p, &out->places[i]);
  }
}

static void take_value(payload *p, kw_capture_value *out) {
  kw_value *value = &out->value;
  const uint32_t tag = take_u32(p), kind = take_u32(p);
  value->tag = (kw_tag)tag;
  value->kind = (kw_scalar_kind)kind;
  const bool listed = tag == KW_TAG_TENSOR_LIST || tag == KW_TAG_INT_LIST;
  value->count = take_count(p, listed ? KW_CAPTURE_LIST : 0, tag == KW_TAG_INT_LIST ? 8 : 4);
  switch (tag) {
    case KW_TAG_NONE:
    case KW_TAG_GENERATOR:
      break;
    case KW_TAG_TENSOR:
      out->places = keep(p, 1, sizeof *out->places);
      take_place(p, out->places);
      break;
    case KW_TAG_TENSOR_LIST:
      take_list(p, out);
      break;
    case KW_TAG_INT:
      value->u.i = (int64_t)take_u64(p);
      break;
    case KW_TAG_INT_LIST: {
      int64_t *ints = keep(p, value->count, sizeof *ints);
      take(p, ints, value->count * sizeof *ints);
      value->u.ints = ints;
      break;
    }
    case KW_TAG_FLOAT:
      take(p, &value->u.f, sizeof value->u.f);
      break;
    case KW_TAG_BOOL:
      value->u.b = take_u32(p) != 0;
      break;
    case KW_TAG_STRING:
      value->u.s = take_text(p, 4096);
      break;
    case KW_TAG_DTYPE:
      value->u.dtype = take_u32(p);
      break;
    case KW_TAG_SCALAR:
      if (kind == KW_SCALAR_BOOL) {
        unsigned char bytes[16];
        take(p, bytes, sizeof bytes);
        value->u.b = bytes[0] != 0;
      } else {
        take(p, value->u.c, sizeof value->u.c);
      }
      break;
    default:
      p->wrong = "an argument is of no known kind";
  }
}

static void take_call(payload *p, kw_capture_call *call) {
  take_name(p, call->op);
  take_name(p, call->kernel);
  call->recording = take_u64(p);
  call->math = take_u32(p);
  call->deterministic = take_u32(p);
  call->autocast = take_u32(p);
  call->random = take_u32(p);
  call->generator.struct_size = sizeof call->generator;
  if (call->random) {
    call->generator.algorithm = take_u32(p);
    call->generator.seed = take_u64(p);
    call->generator.offset = take_u64(p);
  }
  call->arg_count = take_count(p, KW_CAPTURE_ARGS, 12);
  for (uint32_t i = 0; i < call->arg_count && !p->wrong; ++i) take_value(p, &call->args[i]);
  call->out_count = take_count(p, KW_CAPTURE_OUTS, 4);
  for (uint32_t i = 0; i < call->out_count && !p->wrong; ++i) {
    kw_capture_out *out = &call->outs[i];
    out->how = take_u32(p);
    if (out->how > KW_CAPTURE_OUT_MADE) p->wrong = "a result is of no known kind";
    if (out->how == KW_CAPTURE_OUT_MADE) out->size = take_u64(p);
    if (out->how != KW_CAPTURE_OUT_NONE) take_place(p, &out->place);
  }
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

/* All that is left. */
static void take_data(payload *p, kw_capture_entry *out) {
  out->data = p->at;
  out->data_size = (size_t)(p->end - p->at);
  p->at = p->end;
}

static void take_record(payload *p, kw_capture_entry *out) {
  switch (out->type) {
    case KW_CAPTURE_BUFFER:
      out->number = take_u64(p);
      out->size = take_u64(p);
      take_text(p, 255);
      break;
    case KW_CAPTURE_WRITE:
      take_place(p, &out->place);
      take_data(p, out);
      if (!p->wrong && out->data_size != out->place.size) p->wrong = "there are more or fewer bytes than elements";
      break;
    case KW_CAPTURE_READ:
      out->number = take_u64(p);
      take_place(p, &out->place);
      break;
    case KW_CAPTURE_RESULT:
      out->number = take_u64(p);
      take_data(p, out);
      break;
    case KW_CAPTURE_COPY:
      take_place(p, &out->place);
      take_place(p, &out->from);
      if (!p->wrong && out->place.size != out->from.size) p->wrong = "a copy's sizes differ";
      break;
    case KW_CAPTURE_CALL:
      take_call(p, &out->call);
      break;
    case KW_CAPTURE_CONSTANT:
      take_place(p, &out->place);
      out->on = take_u32(p);
      break;
    case KW_CAPTURE_BEGIN:
      out->stream = take_u64(p);
      break;
    case KW_CAPTURE_GRAPH:
      out->stream = take_u64(p);
      out->number = take_u64(p);
      break;
    case KW_CAPTURE_LAUNCH:
    case KW_CAPTURE_DESTROY:
      out->number = take_u64(p);
      break;
    case KW_CAPTURE_END:
      out->on = take_u32(p);
      break;
    default:
      p->wrong = "it is of no known type";
  }
  if (!p->wrong && p->at != p->end) p->wrong = "it is longer than what it says";
}

kw_capture_read_status kw_capture_reader_next(kw_capture_reader *reader, kw_capture_entry *entry, char *message,
                                              size_t size) {
  const size_t left = (size_t)(reader->end - reader->at);
  if (reader->complete || left < KW_CAPTURE_HEADER) return KW_CAPTURE_AT_END;
  uint64_t length;
  memcpy(&entry->type, reader->at, sizeof entry->type);
  memcpy(&length, reader->at + 8, sizeof length);
  if (length > left - KW_CAPTURE_HEADER) return KW_CAPTURE_AT_END; /* cut off here */
  entry->record = reader->at;
  entry->record_size = KW_CAPTURE_HEADER + (size_t)length;
  payload p = {.at = reader->at + KW_CAPTURE_HEADER, .end = reader->at + entry->record_size, .entry = entry};
  take_record(&p, entry);
  if (p.wrong) {
    snprintf(message, size, "the record at byte %zu is damaged: %s", (size_t)(reader->at - reader->data), p.wrong);
    return KW_CAPTURE_BROKEN;
  }
  reader->at += entry->record_size;
  if (entry->type == KW_CAPTURE_CALL) ++reader->calls;
  entry->index = reader->calls;
  if (entry->type != KW_CAPTURE_END) return KW_CAPTURE_HAS_READ;
  reader->complete = true;
  reader->full = entry->on != 0;
  return KW_CAPTURE_AT_END;
}

void kw_capture_entry_free(kw_capture_entry *entry) {
  while (entry->kept) {
    struct kw_capture_kept *next = entry->kept->next;
    free(entry->kept);
    entry->kept = next;
  }
}
