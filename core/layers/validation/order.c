/* SPDX-License-Identifier: Apache-2.0
 *
 * The clocks, and for every buffer the uses that later work may meet. The host counts as one thread: what any thread
 * has waited for lies before all that any thread enqueues afterwards, so that nothing is reported that may be ordered.
 */
#include "layers/validation/order.h"

#include "base/array.h"
#include "base/overlap.h"
#include "layers/validation/host_copies.h"
#include "layers/validation/objects.h"
#include "tensor/tensor.h"

#include <stdlib.h>
#include <string.h>

#define STREAMS 64u   /* that are told apart at a time; work of further ones is not looked at */
#define USES 64u      /* of a buffer that are kept */
#define BUCKETS 4096u /* of buffers */

typedef struct moment {
  uint64_t seen[STREAMS]; /* of each stream, how much of its work */
} moment;

/* One use of a buffer. */
typedef struct use {
  const kw_buffer *buffer;
  kw_tensor_ref ref;
  bool writes;
  uint32_t slot;  /* of the stream */
  uint64_t count; /* which of its work */
  const char *function;
  const void *place;
} use;

struct kw_order {
  moment now;
  uint32_t slot;  /* of a stream: its place in moments, STREAMS where there was none */
  use *recorded;  /* while a stream records, and of a graph */
  uint32_t count; /* of recorded */
};

typedef struct buffer_uses {
  struct buffer_uses *next;
  const kw_buffer *buffer;
  uint32_t count;
  use uses[USES];
} buffer_uses;

/* All under the objects' lock. */
static moment host;
static const void *slots[STREAMS]; /* the stream of each place */
static uint64_t counts[STREAMS];   /* goes on where a later stream takes the place */
static buffer_uses *buckets[BUCKETS];

static void join(moment *into, const moment *other) {
  for (uint32_t i = 0; i < STREAMS; i++) {
    if (other->seen[i] > into->seen[i]) into->seen[i] = other->seen[i];
  }
}

/* The host has waited for all that `other` has seen. */
static void host_sees(const moment *other) {
  join(&host, other);
  kw_host_copies_passed(host.seen);
}

static uint32_t take_slot(const void *stream) {
  for (uint32_t i = 0; i < STREAMS; i++) {
    if (slots[i] != NULL) continue;
    slots[i] = stream;
    return i;
  }
  return STREAMS;
}

static kw_order *order_of(kw_object *object) {
  if (object->order != NULL) return object->order;
  object->order = calloc(1, sizeof *object->order);
  if (object->order == NULL) return NULL;
  object->order->slot = object->kind == KW_KIND_STREAM ? take_slot(object->address) : STREAMS;
  return object->order;
}

static kw_order *find_order(kw_kind kind, const void *address) {
  kw_object *object = kw_object_find(kind, address);
  return object != NULL ? order_of(object) : NULL;
}

static kw_order *order_of_stream(const kw_device *device, const kw_stream *stream) {
  if (stream == NULL) stream = kw_stream_default((kw_device *)(uintptr_t)device);
  if (kw_object_find(KW_KIND_STREAM, stream) == NULL) {
    kw_objects_unlock(); /* a default stream that the application has not asked for */
    kw_object_begin(KW_KIND_STREAM, stream, device, true);
    kw_objects_lock();
  }
  return find_order(KW_KIND_STREAM, stream);
}

/* ---- Uses of memory ---------------------------------------------------------------------------------------------- */

static buffer_uses **find_uses(const kw_buffer *buffer) {
  buffer_uses **at = &buckets[((uintptr_t)buffer >> 4) % BUCKETS];
  while (*at != NULL && (*at)->buffer != buffer) at = &(*at)->next;
  return at;
}

static void drop_uses(const kw_buffer *buffer) {
  buffer_uses **at = find_uses(buffer), *uses = *at;
  if (uses == NULL) return;
  *at = uses->next;
  free(uses);
}

static void report(const use *earlier, const use *later) {
  char first[KW_PLACE_SIZE], second[KW_PLACE_SIZE];
  const char *id = !later->writes    ? "hazard-read-after-write"
                   : earlier->writes ? "hazard-write-after-write"
                                     : "hazard-write-after-read";
  kw_misuse_note(
      id,
      "%s at %s %s memory that %s at %s %s on another stream, and nothing orders the two: let the later stream wait "
      "for an event, or the host for the earlier stream",
      later->function, kw_place(later->place, second), later->writes ? "writes" : "reads", earlier->function,
      kw_place(earlier->place, first), earlier->writes ? "writes" : "reads");
}

/* Whether the earlier use matters no more beside the later one, which comes after it. */
static bool is_covered(const use *earlier, const use *later, const moment *seen) {
  return seen->seen[earlier->slot] >= earlier->count && kw_refs_identical(&earlier->ref, &later->ref) &&
         (later->writes || (!earlier->writes && earlier->slot == later->slot));
}

/* Holds a use against those before it, and keeps it. The first hazard is in *out_earlier; false: there is none. */
static bool add_use(const use *later, const moment *seen, use *out_earlier) {
  buffer_uses **at = find_uses(later->buffer), *uses = *at;
  if (uses == NULL) {
    uses = *at = calloc(1, sizeof *uses);
    if (uses == NULL) return false;
    uses->buffer = later->buffer;
  }
  bool hazard = false;
  uint32_t kept = 0;
  for (uint32_t i = 0; i < uses->count; i++) {
    const use *earlier = &uses->uses[i];
    const bool meets = (earlier->writes || later->writes) && seen->seen[earlier->slot] < earlier->count &&
                       kw_refs_overlap(&earlier->ref, &later->ref);
    if (meets && !hazard) *out_earlier = *earlier;
    hazard = hazard || meets;
    if (!meets && is_covered(earlier, later, seen)) continue;
    if (kept != i) uses->uses[kept] = *earlier;
    kept++;
  }
  if (kept == USES) memmove(uses->uses, uses->uses + 1, --kept * sizeof *uses->uses);
  uses->uses[kept++] = *later;
  uses->count = kept;
  return hazard;
}

static void enqueue(kw_order *stream, use *uses, uint32_t count) {
  use earlier = {0};
  if (stream->slot >= STREAMS) return;
  join(&stream->now, &host);
  stream->now.seen[stream->slot] = ++counts[stream->slot];
  const moment seen = stream->now;
  for (uint32_t i = 0; i < count; i++) {
    uses[i].slot = stream->slot;
    uses[i].count = seen.seen[stream->slot];
    if (!add_use(&uses[i], &seen, &earlier)) continue;
    const use later = uses[i];
    kw_objects_unlock();
    report(&earlier, &later);
    kw_objects_lock();
  }
}

static use use_of(const kw_tensor *tensor, bool writes) {
  const kw_checked_call *call = kw_checked_now();
  return (use){
      .buffer = tensor->buffer, .ref = tensor->ref, .writes = writes, .function = call->function, .place = call->place};
}

static void record(kw_order *stream, const use *of) {
  use *grown = kw_array_grow(stream->recorded, stream->count, sizeof *grown);
  if (grown == NULL) return;
  stream->recorded = grown;
  grown[stream->count++] = *of;
}

void kw_order_work(const kw_device *device, const kw_stream *stream, const kw_use *given, uint32_t count) {
  use uses[32];
  uint32_t made = 0;
  kw_objects_lock();
  kw_order *order = order_of_stream(device, stream);
  const kw_object *object = order != NULL && stream != NULL ? kw_object_find(KW_KIND_STREAM, stream) : NULL;
  const bool records = object != NULL && object->records;
  for (uint32_t i = 0; i < count && order != NULL; i++) {
    if (given[i].tensor == NULL || given[i].tensor->buffer == NULL || given[i].tensor->ref.numel == 0) continue;
    const use of = use_of(given[i].tensor, given[i].writes);
    if (records) record(order, &of);
    if (!records && made < sizeof uses / sizeof uses[0]) uses[made++] = of;
  }
  if (order != NULL && !records) enqueue(order, uses, made);
  kw_objects_unlock();
}

void kw_order_copy(const kw_device *device, const kw_stream *stream, kw_use use, const void *given_host) {
  kw_order_work(device, stream, &use, 1);
  kw_objects_lock();
  const kw_order *order = order_of_stream(device, stream);
  if (order != NULL && order->slot < STREAMS && use.tensor->ref.numel > 0) {
    const uint64_t size = (uint64_t)use.tensor->ref.numel * kw_dtype_size(use.tensor->ref.dtype);
    kw_host_copies_add(order->slot, order->now.seen[order->slot], given_host, size, use.writes);
  }
  kw_objects_unlock();
}

/* ---- Host functions ---------------------------------------------------------------------------------------------- */

struct kw_host_function {
  void(KW_CALL *function)(void *user);
  void *user;
  moment seen; /* of the stream, when it was enqueued */
};

kw_host_function *kw_order_host_function(const kw_stream *stream, void(KW_CALL *function)(void *user), void *user) {
  kw_host_function *made = malloc(sizeof *made);
  if (made == NULL) return NULL;
  *made = (kw_host_function){.function = function, .user = user};
  kw_objects_lock();
  const kw_order *order = find_order(KW_KIND_STREAM, stream);
  if (order != NULL) made->seen = order->now;
  kw_objects_unlock();
  return made;
}

void kw_order_run_host_function(void *of) {
  kw_host_function *function = of;
  kw_objects_lock();
  host_sees(&function->seen);
  kw_objects_unlock();
  function->function(function->user);
  free(function);
}

/* ---- New memory -------------------------------------------------------------------------------------------------- */

void kw_order_forget(const kw_tensor *tensor) {
  kw_objects_lock();
  if (tensor->buffer != NULL) drop_uses(tensor->buffer);
  kw_objects_unlock();
}

void kw_order_released(const kw_tensor *tensor) {
  const kw_buffer *buffer = tensor->buffer;
  if (buffer == NULL || atomic_load(&buffer->refs) > 1) return;
  kw_objects_lock();
  drop_uses(buffer);
  kw_objects_unlock();
}

/* ---- Order ------------------------------------------------------------------------------------------------------- */

void kw_order_waited(const kw_device *device, const kw_stream *stream) {
  kw_objects_lock();
  const kw_order *order = order_of_stream(device, stream);
  if (order != NULL) host_sees(&order->now);
  kw_objects_unlock();
}

void kw_order_waited_all(const kw_device *device) {
  kw_objects_lock();
  for (uint32_t i = 0; i < STREAMS; i++) {
    const kw_object *stream = kw_object_find(KW_KIND_STREAM, slots[i]);
    if (stream == NULL || stream->device == NULL || stream->order == NULL) continue;
    if (stream->device->address == device) host_sees(&stream->order->now);
  }
  kw_objects_unlock();
}

void kw_order_stream_ends(const kw_stream *stream) {
  kw_objects_lock();
  kw_object *object = kw_object_find(KW_KIND_STREAM, stream);
  if (object != NULL && object->order != NULL && object->order->slot < STREAMS) {
    host_sees(&object->order->now);
    slots[object->order->slot] = NULL;
    object->order->slot = STREAMS;
  }
  kw_objects_unlock();
}

void kw_order_recorded(const kw_event *event, const kw_stream *stream) {
  kw_objects_lock();
  kw_order *of_event = find_order(KW_KIND_EVENT, event);
  const kw_object *object = kw_object_find(KW_KIND_EVENT, event);
  const kw_order *of_stream =
      order_of_stream(object != NULL && object->device ? object->device->address : NULL, stream);
  if (of_event != NULL && of_stream != NULL) of_event->now = of_stream->now;
  kw_objects_unlock();
}

void kw_order_waited_event(const kw_event *event) {
  kw_objects_lock();
  const kw_order *order = find_order(KW_KIND_EVENT, event);
  if (order != NULL) host_sees(&order->now);
  kw_objects_unlock();
}

void kw_order_stream_waits(const kw_stream *stream, const kw_event *event) {
  kw_objects_lock();
  const kw_object *object = kw_object_find(KW_KIND_EVENT, event);
  kw_order *of_stream = order_of_stream(object != NULL && object->device ? object->device->address : NULL, stream);
  const kw_order *of_event = find_order(KW_KIND_EVENT, event);
  if (of_stream != NULL && of_event != NULL) join(&of_stream->now, &of_event->now);
  kw_objects_unlock();
}

void kw_order_meet(const kw_stream *a, const kw_stream *b) {
  kw_objects_lock();
  kw_order *x = find_order(KW_KIND_STREAM, a), *y = find_order(KW_KIND_STREAM, b);
  if (x != NULL && y != NULL) {
    join(&x->now, &y->now);
    y->now = x->now;
  }
  kw_objects_unlock();
}

/* ---- Graphs ------------------------------------------------------------------------------------------------------ */

void kw_order_end_recording(const kw_stream *stream, const kw_graph *graph) {
  kw_objects_lock();
  kw_order *from = find_order(KW_KIND_STREAM, stream), *to = graph != NULL ? find_order(KW_KIND_GRAPH, graph) : NULL;
  if (from != NULL) {
    if (to != NULL) {
      to->recorded = from->recorded;
      to->count = from->count;
    } else {
      free(from->recorded);
    }
    from->recorded = NULL;
    from->count = 0;
  }
  kw_objects_unlock();
}

void kw_order_graph_ends(const kw_graph *graph) {
  kw_objects_lock();
  kw_object *object = kw_object_find(KW_KIND_GRAPH, graph);
  if (object != NULL && object->order != NULL) {
    host_sees(&object->order->now);
    free(object->order->recorded);
    object->order->recorded = NULL;
    object->order->count = 0;
  }
  kw_objects_unlock();
}

/* Launches of one graph follow each other, whatever their streams. */
void kw_order_launched(const kw_graph *graph, const kw_stream *stream) {
  kw_objects_lock();
  const kw_object *object = kw_object_find(KW_KIND_GRAPH, graph);
  const kw_object *device = object != NULL ? object->device : NULL;
  kw_order *of_graph = find_order(KW_KIND_GRAPH, graph);
  kw_order *of_stream = order_of_stream(device != NULL ? device->address : NULL, stream);
  if (of_graph != NULL && of_stream != NULL) {
    join(&of_stream->now, &of_graph->now);
    for (uint32_t i = 0; i < of_graph->count; i++) {
      of_graph->recorded[i].function = kw_checked_now()->function;
      of_graph->recorded[i].place = kw_checked_now()->place;
    }
    enqueue(of_stream, of_graph->recorded, of_graph->count);
    of_graph->now = of_stream->now;
  }
  kw_objects_unlock();
}
