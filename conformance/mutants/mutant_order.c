/* SPDX-License-Identifier: Apache-2.0
 *
 * Holding commands back: one for each stream, under the stream's own lock, so that a thread which waits in a slot of
 * one stream keeps no other from going on.
 */
#include "mutant_order.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_RANGES = 256 };

typedef struct queue {
  void *stream;
  pthread_mutex_t lock; /* recursive: what a host function on the default stream does comes through here again */
  kw_mutant_command *held;
  void *device; /* of the last command; NULL: there was none yet */
  void *tail;   /* an event for what the stream has at a time; NULL: not needed yet */
  bool passed;  /* an event was recorded as if `held` were done */
  struct queue *next;
} queue;

static const kw_mutant_order *order;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static queue *queues; /* of streams that have had a command; a destroyed one's is used again */

/* The queue of a stream, a new one if need be. NULL when there is no memory. */
static queue *queue_of(void *stream) {
  pthread_mutex_lock(&lock);
  queue *found = queues;
  while (found && found->stream != stream) found = found->next;
  for (queue *unused = queues; unused && !found; unused = unused->next) {
    if (!unused->stream) found = unused;
  }
  if (!found && (found = calloc(1, sizeof *found))) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&found->lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
    found->next = queues;
    queues = found;
  }
  if (found) found->stream = stream;
  pthread_mutex_unlock(&lock);
  return found;
}

/* ---- What commands touch ----------------------------------------------------------------------------------------- */

typedef struct range_list {
  kw_mutant_range ranges[MOST_RANGES];
  uint32_t count;
} range_list;

static void add_range(range_list *list, kw_mutant_range range) {
  if (list->count < MOST_RANGES && range.begin < range.end) list->ranges[list->count++] = range;
}

static void add_tensor(range_list *list, kw_mutant_range range, const kw_tensor_ref *tensor) {
  if (!tensor) return;
  range.tensor = tensor;
  range.begin = (const char *)tensor->mem + tensor->offset;
  range.end = range.begin + kw_mutant_extent(tensor);
  add_range(list, range);
}

static void add_memory(range_list *list, kw_mutant_range range, kw_mem mem, uint64_t offset, uint64_t size) {
  range.begin = (const char *)mem + offset;
  range.end = mem ? range.begin + size : range.begin;
  add_range(list, range);
}

/* Ops whose names end in _ change arguments, lists of tensors among them, that need not be results. */
static bool changes_arguments(const char *op) {
  const char *dot = strchr(op, '.');
  return (dot ? dot : op + strlen(op))[-1] == '_';
}

static void add_call(range_list *list, const kw_mutant_command *command) {
  const kw_call *call = command->call;
  kw_mutant_range range = {.command = command, .written = changes_arguments(call->op)};
  for (uint32_t i = 0; i < call->arg_count; i++) {
    const kw_value *arg = &call->args[i];
    range.place = i;
    range.listed = arg->tag == KW_TAG_TENSOR_LIST;
    for (uint32_t k = 0; range.listed && k < arg->count; k++) add_tensor(list, range, arg->u.tensors[k]);
    if (arg->tag == KW_TAG_TENSOR) add_tensor(list, range, arg->u.tensor);
  }
  range.listed = false;
  range.written = range.result = true;
  for (uint32_t i = 0; i < call->out_count; i++) {
    range.place = i;
    add_tensor(list, range, call->outs[i]);
  }
  range.result = false;
  add_memory(list, range, call->workspace, call->workspace_offset, call->workspace_size);
  if (!call->extra) return;
  add_memory(list, range, call->extra->error_mem, call->extra->error_offset, sizeof(uint32_t));
  range.written = false;
  add_memory(list, range, call->extra->rng.state, call->extra->rng.state_offset, 2 * sizeof(uint64_t));
}

static void add_command(range_list *list, const kw_mutant_command *command) {
  const kw_copy_info *copy = &command->copy;
  kw_mutant_range range = {.command = command};
  if (command->kind == KW_MUTANT_LAUNCH) add_call(list, command);
  if (command->kind == KW_MUTANT_COPY) {
    const bool from_host = copy->kind == KW_COPY_HOST_TO_DEVICE, to_host = copy->kind == KW_COPY_DEVICE_TO_HOST;
    add_memory(list, range, from_host ? (kw_mem)(uintptr_t)copy->src_host : copy->src_mem,
               from_host ? 0 : copy->src_offset, copy->size);
    range.written = true;
    add_memory(list, range, to_host ? copy->dst_host : copy->dst_mem, to_host ? 0 : copy->dst_offset, copy->size);
  }
  range.written = true;
  if (command->kind == KW_MUTANT_FILL) {
    add_memory(list, range, command->filled.mem, command->filled.offset, command->filled.size);
  }
}

/* Whether the driver sees that `next` must not run before `held`. */
static bool conflicts(const kw_mutant_command *held, const kw_mutant_command *next) {
  range_list lists[2] = {{.count = 0}, {.count = 0}};
  add_command(&lists[0], held);
  add_command(&lists[1], next);
  if (lists[0].count == MOST_RANGES || lists[1].count == MOST_RANGES) return true;
  for (uint32_t i = 0; i < lists[0].count; i++) {
    for (uint32_t k = 0; k < lists[1].count; k++) {
      const kw_mutant_range *a = &lists[0].ranges[i], *b = &lists[1].ranges[k];
      const bool meet = (a->written || b->written) && a->begin < b->end && b->begin < a->end;
      if (meet && !(order->overlooks && order->overlooks(a, b))) return true;
    }
  }
  return false;
}

/* ---- Enqueueing -------------------------------------------------------------------------------------------------- */

static kw_status run(const kw_mutant_command *command) {
  if (command->kind == KW_MUTANT_LAUNCH) return (order->run ? order->run : kw_mutant_launch_real)(command->call);
  if (command->kind == KW_MUTANT_FILL) {
    return kw_mutant_real.memory.fill(command->device, command->stream, command->filled.mem, command->filled.offset,
                                      command->filled.size, command->pattern, command->pattern_size);
  }
  /* between devices too: their memory is the host's */
  return kw_mutant_real.memory.copy(command->device, command->stream, &command->copy);
}

/* The held command waits for what the other streams have now, so that those which waited for the event go first each
 * time, not just when their threads are the quicker ones. With the queue's lock. */
static void wait_for_others(const queue *one) {
  pthread_mutex_lock(&lock);
  for (queue *other = queues; other; other = other->next) {
    if (other == one || !other->stream || other->device != one->device) continue;
    if (!other->tail)
      (void)kw_mutant_real.event.create(one->device, &(kw_event_info){.struct_size = sizeof(kw_event_info)},
                                        &other->tail);
    if (!other->tail || kw_mutant_real.event.record(one->device, other->tail, other->stream)) continue;
    (void)kw_mutant_real.event.wait(one->device, one->stream, other->tail);
  }
  pthread_mutex_unlock(&lock);
}

/* With the queue's lock. */
static kw_status let_go(queue *queue) {
  kw_mutant_command *held = queue->held;
  if (!held) return KW_OK;
  if (queue->passed) wait_for_others(queue);
  queue->passed = false;
  queue->held = NULL;
  kw_status status = run(held);
  free(held->call);
  free(held);
  return status;
}

kw_status kw_mutant_let_go(void *stream) {
  queue *queue = queue_of(stream);
  if (!queue) return KW_ERR_OUT_OF_MEMORY;
  pthread_mutex_lock(&queue->lock);
  kw_status status = let_go(queue);
  pthread_mutex_unlock(&queue->lock);
  return status;
}

/* `command->call` is the caller's still. */
static kw_status enqueue(const kw_mutant_command *command) {
  queue *queue = queue_of(command->stream);
  if (!queue) return KW_ERR_OUT_OF_MEMORY;
  pthread_mutex_lock(&queue->lock);
  queue->device = command->device;
  kw_status status = KW_OK;
  if (queue->held && conflicts(queue->held, command)) status = let_go(queue);
  const bool hold = status == KW_OK && !queue->held && (!order->holds || order->holds(command));
  kw_mutant_command *held = hold ? malloc(sizeof *held) : NULL;
  if (held) {
    *held = *command;
    if (command->call && !(held->call = kw_mutant_keep_call(command->call))) status = KW_ERR_OUT_OF_MEMORY;
    queue->held = held;
  } else if (status == KW_OK) {
    status = run(command);
  }
  pthread_mutex_unlock(&queue->lock);
  return status;
}

static kw_status launch(const kw_call *call) {
  kw_call copy = *call;
  return enqueue(
      &(kw_mutant_command){.kind = KW_MUTANT_LAUNCH, .device = call->device, .stream = call->stream, .call = &copy});
}

static kw_status copy(void *device, void *stream, const kw_copy_info *info) {
  return enqueue(&(kw_mutant_command){.kind = KW_MUTANT_COPY, .device = device, .stream = stream, .copy = *info});
}

static kw_status copy_peer(void *device, void *stream, void *src_device, const kw_copy_info *info) {
  return enqueue(&(kw_mutant_command){
      .kind = KW_MUTANT_COPY, .device = device, .stream = stream, .src_device = src_device, .copy = *info});
}

static kw_status fill(void *device, void *stream, kw_mem mem, uint64_t offset, uint64_t size, const void *pattern,
                      uint32_t pattern_size) {
  kw_mutant_command command = {.kind = KW_MUTANT_FILL,
                               .device = device,
                               .stream = stream,
                               .filled = {.mem = mem, .offset = offset, .size = size},
                               .pattern_size = pattern_size};
  memcpy(command.pattern, pattern, pattern_size);
  return enqueue(&command);
}

/* ---- Slots that have to see commands done ------------------------------------------------------------------------ */

static kw_status synchronize(void *device, void *stream, uint64_t timeout_ns) {
  kw_status status = kw_mutant_let_go(stream);
  return status == KW_OK ? kw_mutant_real.stream.synchronize(device, stream, timeout_ns) : status;
}

static kw_status query(void *device, void *stream) {
  kw_status status = kw_mutant_let_go(stream);
  return status == KW_OK ? kw_mutant_real.stream.query(device, stream) : status;
}

static kw_status call_host(void *device, void *stream, uint64_t token) {
  kw_status status = order->callback_passes ? KW_OK : kw_mutant_let_go(stream);
  return status == KW_OK ? kw_mutant_real.stream.call_host(device, stream, token) : status;
}

static kw_status destroy(void *device, void *stream) {
  kw_status status = kw_mutant_let_go(stream);
  queue *queue = queue_of(stream);
  if (queue && queue->tail) (void)kw_mutant_real.event.destroy(device, queue->tail);
  if (queue) queue->stream = queue->tail = NULL;
  return status == KW_OK ? kw_mutant_real.stream.destroy(device, stream) : status;
}

/* An event that counts as recorded behind what the stream holds back. */
static kw_status pass(void *stream) {
  queue *queue = queue_of(stream);
  if (!queue) return KW_ERR_OUT_OF_MEMORY;
  pthread_mutex_lock(&queue->lock);
  queue->passed = queue->held != NULL;
  pthread_mutex_unlock(&queue->lock);
  return KW_OK;
}

static kw_status record(void *device, void *event, void *stream) {
  kw_status status = order->record_passes ? pass(stream) : kw_mutant_let_go(stream);
  return status == KW_OK ? kw_mutant_real.event.record(device, event, stream) : status;
}

static kw_status wait(void *device, void *stream, void *event) {
  kw_status status = kw_mutant_let_go(stream);
  return status == KW_OK ? kw_mutant_real.event.wait(device, stream, event) : status;
}

static kw_status map(void *device, void *stream, const kw_map_info *info, void **out_pointer) {
  kw_status status = kw_mutant_let_go(stream);
  return status == KW_OK ? kw_mutant_real.memory.map(device, stream, info, out_pointer) : status;
}

void kw_mutant_change_order(kw_mutant *mutant, const kw_mutant_order *changed) {
  order = changed;
  mutant->op = "*";
  mutant->launch = launch;
  mutant->memory.copy = copy;
  if (mutant->memory.copy_peer) mutant->memory.copy_peer = copy_peer;
  mutant->memory.fill = fill;
  mutant->memory.map = map;
  mutant->stream.synchronize = synchronize;
  mutant->stream.query = query;
  mutant->stream.call_host = call_host;
  mutant->stream.destroy = destroy;
  mutant->event.record = record;
  mutant->event.wait = wait;
}
