/* SPDX-License-Identifier: Apache-2.0
 *
 * First the whole file is read without running anything: it is sound then, and it is known how long each buffer is
 * used. Then it runs. Beside another device every call has that one's arguments: what a result is off by, within the
 * bounds, goes no further.
 */
#include "replay.h"

#include "base/need.h"
#include "replay_cut.h"
#include "replay_judge.h"
#include "replay_side.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define FOREVER UINT64_MAX

/* What was read and waits for what the application got. */
typedef struct pending {
  uint64_t number, call;
  void *data;
  kw_capture_place place;
  struct pending *next;
} pending;

/* A call that a graph has, where the file has it. */
typedef struct graph_call {
  uint64_t stream, graph; /* the graph is known when the recording has ended */
  const uint8_t *record;
  uint64_t index;
} graph_call;

typedef struct replay {
  kw_capture_reader *reader;
  const kw_replay_options *options;
  kw_replay_result *result;
  kw_replay_side device, reference;
  uint64_t limit;     /* numbers are smaller */
  uint64_t *last_use; /* of buffers: the ordinal of a record; FOREVER: of a graph's */
  uint64_t *extents;  /* of buffers: bytes that views of them reach over. What lies behind need not be there */
  uint64_t ordinal;
  pending *pendings;
  graph_call *recorded;
  size_t recorded_count, recorded_room;
} replay;

/* ---- The file, before it runs ------------------------------------------------------------------------------------ */

static void make_room(replay *r, uint64_t number) {
  if (number < r->limit) return;
  const uint64_t limit = number * 2 + 64;
  r->last_use = realloc(r->last_use, (size_t)limit * sizeof *r->last_use);
  r->extents = realloc(r->extents, (size_t)limit * sizeof *r->extents);
  if (!r->last_use || !r->extents) kw_out_of_memory();
  memset(r->last_use + r->limit, 0, (size_t)(limit - r->limit) * sizeof *r->last_use);
  memset(r->extents + r->limit, 0, (size_t)(limit - r->limit) * sizeof *r->extents);
  r->limit = limit;
}

/* Where a view ends in its buffer; UINT64_MAX where no number holds it. */
static uint64_t end_of(const kw_capture_place *place) {
  uint64_t last = 0, step, end;
  for (uint32_t d = 0; d < place->rank; ++d) {
    if (place->shape[d] == 0) return place->offset;
    if (place->strides[d] <= 0) continue;
    if (__builtin_mul_overflow((uint64_t)place->strides[d], (uint64_t)(place->shape[d] - 1), &step) ||
        __builtin_add_overflow(last, step, &last))
      return UINT64_MAX;
  }
  if (last == UINT64_MAX || __builtin_mul_overflow(last + 1, kw_dtype_size(place->dtype), &end) ||
      __builtin_add_overflow(end, place->offset, &end))
    return UINT64_MAX;
  return end;
}

/* place: NULL for the record of the buffer itself. */
typedef void (*buffer_function)(replay *r, uint64_t number, const kw_capture_place *place, uint64_t when);

/* Every buffer that a record names. */
static void each_buffer(replay *r, const kw_capture_entry *entry, buffer_function function, uint64_t when) {
  if (entry->type == KW_CAPTURE_BUFFER) function(r, entry->number, NULL, when);
  if (entry->place.buffer) function(r, entry->place.buffer, &entry->place, when);
  if (entry->from.buffer) function(r, entry->from.buffer, &entry->from, when);
  const kw_capture_call *call = &entry->call;
  for (uint32_t i = 0; i < call->arg_count; ++i) {
    const kw_capture_value *value = &call->args[i];
    if (value->value.tag == KW_TAG_TENSOR) function(r, value->places->buffer, value->places, when);
    for (uint32_t k = 0; value->value.tag == KW_TAG_TENSOR_LIST && k < value->value.count; ++k)
      if (value->present[k]) function(r, value->places[k].buffer, &value->places[k], when);
  }
  for (uint32_t i = 0; i < call->out_count; ++i)
    if (call->outs[i].how != KW_CAPTURE_OUT_NONE) function(r, call->outs[i].place.buffer, &call->outs[i].place, when);
}

static void largest(replay *r, uint64_t number, const kw_capture_place *place, uint64_t unused) {
  (void)place, (void)unused;
  if (number > r->ordinal) r->ordinal = number;
}

static void use(replay *r, uint64_t number, const kw_capture_place *place, uint64_t when) {
  make_room(r, number);
  if (r->last_use[number] < when) r->last_use[number] = when;
  const uint64_t end = place ? end_of(place) : 0;
  if (r->extents[number] < end) r->extents[number] = end;
}

/* Buffers become as large as they are used. */
static void shorten(const replay *r, kw_capture_entry *entry) {
  if (entry->type == KW_CAPTURE_BUFFER && entry->size > r->extents[entry->number])
    entry->size = r->extents[entry->number];
  for (uint32_t i = 0; i < entry->call.out_count; ++i) {
    kw_capture_out *out = &entry->call.outs[i];
    if (out->how == KW_CAPTURE_OUT_MADE && out->size > r->extents[out->place.buffer])
      out->size = r->extents[out->place.buffer];
  }
}

/* False, with the text: the file is damaged. */
static bool examine(replay *r) {
  kw_capture_read_status status = KW_CAPTURE_HAS_READ;
  const uint64_t possible = (uint64_t)(r->reader->end - r->reader->data) / KW_CAPTURE_HEADER; /* each has a record */
  for (uint64_t ordinal = 1; status == KW_CAPTURE_HAS_READ; ++ordinal) {
    kw_capture_entry entry = {0};
    status = kw_capture_reader_next(r->reader, &entry, r->result->text, sizeof r->result->text);
    r->ordinal = entry.number; /* for `largest` */
    if (status == KW_CAPTURE_HAS_READ) each_buffer(r, &entry, largest, 0);
    if (status == KW_CAPTURE_HAS_READ && r->ordinal >= possible) {
      snprintf(r->result->text, sizeof r->result->text, "a record has a number that none can have: %" PRIu64,
               r->ordinal);
      status = KW_CAPTURE_BROKEN;
    }
    if (status == KW_CAPTURE_HAS_READ) {
      if (entry.type == KW_CAPTURE_GRAPH) make_room(r, entry.number);
      each_buffer(r, &entry, use, entry.call.recording != 0 ? FOREVER : ordinal);
    }
    kw_capture_entry_free(&entry);
  }
  r->result->complete = r->reader->complete;
  r->result->full = r->reader->full;
  r->ordinal = 0;
  make_room(r, 1); /* so that there are arrays */
  kw_capture_reader_rewind(r->reader);
  return status == KW_CAPTURE_AT_END;
}

static void drop_if_done(replay *r, uint64_t number, const kw_capture_place *place, uint64_t when) {
  (void)place;
  if (r->last_use[number] != when) return;
  kw_replay_side_drop(&r->device, number);
  if (r->options->against) kw_replay_side_drop(&r->reference, number);
}

/* ---- What is said ------------------------------------------------------------------------------------------------ */

static void append(char *text, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void append(char *text, size_t size, const char *format, ...) {
  const size_t length = strlen(text);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + length, size - length, format, arguments);
  va_end(arguments);
}

static void append_place(char *text, size_t size, const kw_capture_place *place) {
  append(text, size, "%s[", kw_dtype_name(place->dtype));
  for (uint32_t d = 0; d < place->rank; ++d) append(text, size, "%s%" PRId64, d > 0 ? ", " : "", place->shape[d]);
  append(text, size, "]");
}

/* "mm(f32[4, 8], f32[8, 2])" */
static void describe_call(char *text, size_t size, const kw_capture_call *call) {
  append(text, size, "%s(", call->op);
  for (uint32_t i = 0; i < call->arg_count; ++i) {
    const kw_capture_value *value = &call->args[i];
    if (i > 0) append(text, size, ", ");
    switch (value->value.tag) {
      case KW_TAG_TENSOR:
        append_place(text, size, value->places);
        break;
      case KW_TAG_TENSOR_LIST:
        append(text, size, "[");
        for (uint32_t k = 0; k < value->value.count && k < 4; ++k) {
          if (k > 0) append(text, size, ", ");
          if (value->present[k]) append_place(text, size, &value->places[k]);
        }
        append(text, size, value->value.count > 4 ? ", ...]" : "]");
        break;
      case KW_TAG_INT:
        append(text, size, "%" PRId64, value->value.u.i);
        break;
      case KW_TAG_FLOAT:
        append(text, size, "%g", value->value.u.f);
        break;
      case KW_TAG_BOOL:
        append(text, size, "%s", value->value.u.b ? "True" : "False");
        break;
      case KW_TAG_STRING:
        append(text, size, "'%.40s'", value->value.u.s);
        break;
      case KW_TAG_DTYPE:
        append(text, size, "%s", kw_dtype_name(value->value.u.dtype));
        break;
      case KW_TAG_INT_LIST:
        append(text, size, "[");
        for (uint32_t k = 0; k < value->value.count && k < 8; ++k)
          append(text, size, "%s%" PRId64, k > 0 ? ", " : "", value->value.u.ints[k]);
        append(text, size, "]");
        break;
      case KW_TAG_SCALAR:
        if (value->value.kind == KW_SCALAR_F64) append(text, size, "%g", value->value.u.f);
        if (value->value.kind == KW_SCALAR_I64) append(text, size, "%" PRId64, value->value.u.i);
        break;
      default:
        append(text, size, "-");
        break;
    }
  }
  append(text, size, ")");
}

static bool fail(replay *r, kw_replay_outcome outcome, uint64_t index, const kw_capture_call *call, const char *text) {
  kw_replay_result *result = r->result;
  result->outcome = outcome;
  result->call = index;
  result->text[0] = '\0';
  if (call) {
    snprintf(result->op, sizeof result->op, "%s", call->op);
    describe_call(result->text, 700, call);
    append(result->text, sizeof result->text, ": ");
  }
  append(result->text, sizeof result->text, "%s", text);
  return false;
}

static bool fail_on(replay *r, const kw_replay_side *side, uint64_t index, const kw_capture_call *call) {
  char text[640];
  snprintf(text, sizeof text, "failed on %s: %.500s", kw_device_name(side->device), kw_replay_side_reason(side));
  return fail(r, KW_REPLAY_FAILED, index, call, text);
}

/* ---- Beside another device ----------------------------------------------------------------------------------------
 */

/* How many numbers an element of the result may add up, roughly and rather too many. */
static uint64_t terms_of(const kw_capture_call *call, const kw_capture_place *result) {
  uint64_t terms = 1;
  for (uint32_t i = 0; i < call->arg_count; ++i) {
    const kw_capture_place *place = call->args[i].value.tag == KW_TAG_TENSOR ? call->args[i].places : NULL;
    if (!place || place->rank == 0 || place->size == 0 || result->size == 0) continue;
    const uint64_t numel = place->size / kw_dtype_size(place->dtype);
    const uint64_t rows = numel / (uint64_t)place->shape[0], last = (uint64_t)place->shape[place->rank - 1];
    const uint64_t per_element = numel / (result->size / kw_dtype_size(result->dtype));
    if (rows > terms) terms = rows;
    if (last > terms) terms = last;
    if (per_element > terms) terms = per_element;
  }
  return terms;
}

static void *allocate(uint64_t size) {
  void *data = malloc(size > 0 ? (size_t)size : 1);
  if (!data) kw_out_of_memory();
  return data;
}

static kw_replay_verdict judge(replay *r, const kw_capture_call *call, uint32_t result, const kw_capture_place *place,
                               const void *expected, const void *got) {
  const kw_replay_bound bound = kw_replay_bound_of(call->op, result);
  kw_tensor *magnitude = NULL;
  void *magnitudes = NULL;
  if (bound.magnitude && kw_replay_side_magnitude(&r->reference, call, bound.magnitude, result, &magnitude) == KW_OK) {
    const kw_tensor_ref *ref = kw_tensor_describe(magnitude);
    const uint64_t size = (uint64_t)ref->numel * kw_dtype_size(ref->dtype);
    if (ref->dtype == place->dtype && size == place->size) magnitudes = allocate(size);
    if (magnitudes && kw_tensor_read(magnitude, magnitudes) != KW_OK) {
      free(magnitudes);
      magnitudes = NULL;
    }
  }
  kw_tensor_release(magnitude);
  const kw_replay_verdict verdict =
      kw_replay_judge(call->op, &bound, place, terms_of(call, place), magnitudes, expected, got);
  free(magnitudes);
  return verdict;
}

static bool differ(replay *r, uint64_t index, const kw_capture_call *call, const char *what,
                   const kw_replay_verdict *verdict) {
  char text[640], error[48] = "";
  if (isfinite(verdict->error)) snprintf(error, sizeof error, ", the largest error is %.3g bounds", verdict->error);
  snprintf(text, sizeof text,
           "%s differs from %s's: %" PRId64 " of %" PRId64 " elements%s; the first is element %" PRId64 ": %s", what,
           kw_device_name(r->reference.device), verdict->wrong, verdict->count, error, verdict->index, verdict->text);
  r->result->wrong = verdict->wrong;
  r->result->count = verdict->count;
  r->result->error = verdict->error;
  return fail(r, KW_REPLAY_DIFFERS, index, call, text);
}

static bool is_mutated(const kw_op *op, uint32_t arg) {
  kw_arg_info info = {.struct_size = sizeof info};
  return op && kw_op_get_arg(op, arg, &info) == KW_OK && (info.flags & KW_ARG_MUTATED) != 0;
}

/* Whether an argument has a NaN that the call has not put there. */
static bool has_nan(replay *r, const kw_capture_place *place) {
  void *elements = allocate(place->size);
  int64_t first;
  const bool has = kw_replay_side_holds(&r->device, place) &&
                   kw_replay_side_read(&r->device, place, elements) == KW_OK &&
                   kw_replay_count_nan(place, elements, &first) > 0;
  free(elements);
  return has;
}

/* False, with the text, when a place that a call has written has NaN. */
static bool is_free_of_nan(replay *r, uint64_t index, const kw_capture_call *call, const char *what,
                           const kw_capture_place *place, const void *elements) {
  char text[320];
  int64_t first = 0;
  const int64_t count = kw_replay_count_nan(place, elements, &first);
  if (count == 0) return true;
  r->result->wrong = count;
  r->result->count = (int64_t)(place->size / kw_dtype_size(place->dtype));
  snprintf(text, sizeof text, "%s has NaN: %" PRId64 " of %" PRId64 " elements, the first is element %" PRId64, what,
           count, r->result->count, first);
  fail(r, KW_REPLAY_NAN, index, call, text);
  const kw_op *op = kw_op_find(call->op);
  bool any = false;
  for (uint32_t i = 0; i < call->arg_count; ++i) {
    const kw_capture_value *value = &call->args[i];
    if (value->value.tag != KW_TAG_TENSOR || is_mutated(op, i) || !has_nan(r, value->places)) continue;
    append(r->result->text, sizeof r->result->text, "; argument %" PRIu32 " has NaN", i);
    any = true;
  }
  if (!any) append(r->result->text, sizeof r->result->text, "; no argument has");
  return false;
}

/* One place that a call has written: the same on both devices after this. */
static bool compare_place(replay *r, uint64_t index, const kw_capture_call *call, uint32_t result, const char *what,
                          const kw_capture_place *place) {
  if (!kw_replay_side_holds(&r->reference, place))
    return fail(r, KW_REPLAY_REFUSED, index, call, "its result has more elements than there is room for");
  void *expected = allocate(place->size), *got = allocate(place->size);
  bool good = kw_replay_side_read(&r->reference, place, expected) == KW_OK;
  if (!good) fail_on(r, &r->reference, index, call);
  if (good && kw_replay_side_read(&r->device, place, got) != KW_OK) good = fail_on(r, &r->device, index, call);
  if (good && memcmp(expected, got, (size_t)place->size) != 0) {
    const kw_replay_verdict verdict = judge(r, call, result, place, expected, got);
    if (!verdict.pass) {
      good = differ(r, index, call, what, &verdict);
    } else {
      ++r->result->in_bounds;
      if (kw_replay_side_write(&r->device, place, expected) != KW_OK) good = fail_on(r, &r->device, index, call);
    }
  }
  if (good && r->options->nan) good = is_free_of_nan(r, index, call, what, place, got);
  free(expected);
  free(got);
  return good;
}

static bool compare_call(replay *r, uint64_t index, const kw_capture_call *call) {
  const kw_op *op = kw_op_find(call->op);
  kw_op_info info = {.struct_size = sizeof info};
  bool good = true;
  char what[48];
  kw_op_get_info(op, &info);
  for (uint32_t i = 0; i < call->out_count && good; ++i) {
    if (call->outs[i].how == KW_CAPTURE_OUT_NONE) continue;
    if (info.counted && i == 0 && call->out_count == info.result_count) continue; /* behind the count is anything */
    snprintf(what, sizeof what, "result %" PRIu32, i);
    good = compare_place(r, index, call, i, what, &call->outs[i].place);
  }
  for (uint32_t i = 0; i < call->arg_count && good; ++i) {
    const kw_capture_value *value = &call->args[i];
    if (!is_mutated(op, i)) continue;
    snprintf(what, sizeof what, "argument %" PRIu32 ", which the call changes,", i);
    if (value->value.tag == KW_TAG_TENSOR) good = compare_place(r, index, call, 0, what, value->places);
    for (uint32_t k = 0; value->value.tag == KW_TAG_TENSOR_LIST && k < value->value.count && good; ++k)
      if (value->present[k]) good = compare_place(r, index, call, 0, what, &value->places[k]);
  }
  return good;
}

/* A call on both devices. alone: one of a graph's. */
static bool run_both(replay *r, const kw_capture_entry *entry, bool alone) {
  kw_replay_cut cut = {0};
  if (r->options->cut) kw_replay_cut_begin(&cut, &r->reference, &entry->call, alone);
  bool good = kw_replay_side_call(&r->reference, &entry->call, alone) == KW_OK;
  if (!good) fail_on(r, &r->reference, entry->index, &entry->call);
  if (good && kw_replay_side_call(&r->device, &entry->call, alone) != KW_OK)
    good = fail_on(r, &r->device, entry->index, &entry->call);
  if (good) good = compare_call(r, entry->index, &entry->call);
  if (!good && r->options->cut) {
    r->result->cut_bytes = kw_replay_cut_write(&cut, &r->reference, entry, r->options->cut);
    if (r->result->cut_bytes == 0) append(r->result->text, sizeof r->result->text, " (the cut cannot be written)");
  }
  kw_replay_cut_free(&cut);
  ++r->result->calls;
  return good;
}

/* ---- Graphs, call by call -----------------------------------------------------------------------------------------
 */

static bool record(replay *r, const kw_capture_entry *entry) {
  if (kw_replay_side_make(&r->device, &entry->call) != KW_OK) return fail_on(r, &r->device, entry->index, &entry->call);
  if (kw_replay_side_make(&r->reference, &entry->call) != KW_OK)
    return fail_on(r, &r->reference, entry->index, &entry->call);
  if (r->recorded_count == r->recorded_room) {
    r->recorded_room = 2 * r->recorded_room + 64;
    r->recorded = realloc(r->recorded, r->recorded_room * sizeof *r->recorded);
    if (!r->recorded) kw_out_of_memory();
  }
  r->recorded[r->recorded_count++] =
      (graph_call){.stream = entry->call.recording, .record = entry->record, .index = entry->index};
  return true;
}

static void end_recording(replay *r, const kw_capture_entry *entry) {
  for (size_t i = 0; i < r->recorded_count; ++i) {
    if (r->recorded[i].stream != entry->stream) continue;
    r->recorded[i].stream = 0;
    r->recorded[i].graph = entry->number;
  }
}

static bool launch(replay *r, const kw_capture_entry *launched) {
  bool good = true;
  for (size_t i = 0; i < r->recorded_count && good; ++i) {
    if (r->recorded[i].graph != launched->number || launched->number == 0) continue;
    kw_capture_reader at = *r->reader; /* to read the call where it stands */
    kw_capture_entry entry = {0};
    char message[160];
    at.at = r->recorded[i].record;
    at.complete = false;
    good = kw_capture_reader_next(&at, &entry, message, sizeof message) == KW_CAPTURE_HAS_READ;
    entry.index = r->recorded[i].index;
    if (good) shorten(r, &entry);
    if (good) good = run_both(r, &entry, true);
    kw_capture_entry_free(&entry);
  }
  return good;
}

static bool run_beside(replay *r, const kw_capture_entry *entry) {
  switch (entry->type) {
    case KW_CAPTURE_CALL:
      return entry->call.recording != 0 ? record(r, entry) : run_both(r, entry, false);
    case KW_CAPTURE_GRAPH:
      end_recording(r, entry);
      return true;
    case KW_CAPTURE_LAUNCH:
      ++r->result->launches;
      return launch(r, entry);
    case KW_CAPTURE_BEGIN:
    case KW_CAPTURE_DESTROY:
    case KW_CAPTURE_READ:
    case KW_CAPTURE_RESULT:
      return true;
    default:
      if (kw_replay_side_run(&r->reference, entry) != KW_OK) return fail_on(r, &r->reference, entry->index, NULL);
      return kw_replay_side_run(&r->device, entry) == KW_OK || fail_on(r, &r->device, entry->index, NULL);
  }
}

/* ---- As it was ----------------------------------------------------------------------------------------------------
 */

static bool start_read(replay *r, const kw_capture_entry *entry) {
  if (entry->place.size > (uint64_t)(r->reader->end - r->reader->data))
    return fail(r, KW_REPLAY_REFUSED, entry->index, NULL, "more is read than the file has");
  pending *read = calloc(1, sizeof *read);
  if (!read) kw_out_of_memory();
  *read = (pending){entry->number, entry->index, allocate(entry->place.size), entry->place, r->pendings};
  r->pendings = read;
  return kw_replay_side_read(&r->device, &entry->place, read->data) == KW_OK ||
         fail_on(r, &r->device, entry->index, NULL);
}

static bool end_read(replay *r, const kw_capture_entry *entry) {
  pending **at = &r->pendings;
  while (*at && (*at)->number != entry->number) at = &(*at)->next;
  pending *read = *at;
  if (!read || read->place.size != entry->data_size)
    return fail(r, KW_REPLAY_REFUSED, entry->index, NULL, "what was read has another size than what is there to read");
  *at = read->next;
  ++r->result->reads;
  const bool same = memcmp(read->data, entry->data, entry->data_size) == 0;
  if (!same) {
    const kw_replay_bound bits = {.bits = true};
    const kw_replay_verdict verdict = kw_replay_judge("", &bits, &read->place, 1, NULL, entry->data, read->data);
    char text[640] = "";
    snprintf(text, sizeof text, "read %" PRIu64 ", of ", r->result->reads);
    append_place(text, sizeof text, &read->place);
    append(text, sizeof text,
           ", is not what it was: %" PRId64 " of %" PRId64 " elements differ; the first is element %" PRId64 ": %s",
           verdict.wrong, verdict.count, verdict.index, verdict.text);
    r->result->wrong = verdict.wrong;
    r->result->count = verdict.count;
    fail(r, KW_REPLAY_DIFFERS, read->call, NULL, text);
  }
  free(read->data);
  free(read);
  return same;
}

static bool run_again(replay *r, const kw_capture_entry *entry) {
  switch (entry->type) {
    case KW_CAPTURE_CALL:
      ++r->result->calls;
      return kw_replay_side_call(&r->device, &entry->call, false) == KW_OK ||
             fail_on(r, &r->device, entry->index, &entry->call);
    case KW_CAPTURE_READ:
      return start_read(r, entry);
    case KW_CAPTURE_RESULT:
      return end_read(r, entry);
    case KW_CAPTURE_LAUNCH:
      ++r->result->launches; /* fall through */
    default:
      return kw_replay_side_run(&r->device, entry) == KW_OK || fail_on(r, &r->device, entry->index, NULL);
  }
}

/* ---- The run ------------------------------------------------------------------------------------------------------
 */

static bool open_sides(replay *r) {
  const char *names[] = {r->options->device, r->options->against};
  kw_replay_side *sides[] = {&r->device, &r->reference};
  for (int i = 0; i < 2 && names[i]; ++i) {
    if (kw_replay_side_open(sides[i], names[i], r->limit) == KW_OK) continue;
    return fail(r, KW_REPLAY_REFUSED, 0, NULL, kw_error_message());
  }
  return true;
}

static void run(replay *r) {
  bool good = true;
  while (good) {
    kw_capture_entry entry = {0};
    char message[160];
    ++r->ordinal;
    good = kw_capture_reader_next(r->reader, &entry, message, sizeof message) == KW_CAPTURE_HAS_READ;
    if (good) {
      shorten(r, &entry);
      good = r->options->against ? run_beside(r, &entry) : run_again(r, &entry);
      each_buffer(r, &entry, drop_if_done, r->ordinal);
    }
    kw_capture_entry_free(&entry);
  }
}

kw_replay_result kw_capture_replay(kw_capture_reader *reader, const kw_replay_options *options) {
  kw_replay_result result = {.outcome = KW_REPLAY_SAME};
  replay r = {.reader = reader, .options = options, .result = &result};
  if (!examine(&r)) {
    result.outcome = KW_REPLAY_REFUSED;
  } else if (open_sides(&r)) {
    run(&r);
  }
  while (r.pendings) {
    pending *next = r.pendings->next;
    free(r.pendings->data);
    free(r.pendings);
    r.pendings = next;
  }
  kw_replay_side_close(&r.device);
  kw_replay_side_close(&r.reference);
  free(r.recorded);
  free(r.last_use);
  free(r.extents);
  return result;
}
