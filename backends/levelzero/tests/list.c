/* SPDX-License-Identifier: Apache-2.0
 *
 * Command lists, immediate and recorded; queues and fences. Commands run in the order in which they were appended. The
 * specification promises no order within a list, so a command that nothing puts behind the one before is refused.
 */
#include "emulated.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct _ze_command_queue_handle_t {
  emu_kind kind;
  ze_context_handle_t context;
  ze_device_handle_t device;
  kw_engine_queue *engine;
  bool synchronous;
  _Atomic int fences;
};

struct _ze_command_list_handle_t {
  emu_kind kind;
  ze_context_handle_t context;
  ze_device_handle_t device;
  kw_engine_queue *engine; /* of an immediate list; NULL: the list is recorded */
  bool synchronous;
  bool closed;
  kw_engine_task *tasks; /* what is recorded */
  size_t count, capacity;
  bool begun;                 /* it has a command */
  ze_event_handle_t previous; /* what the newest signals */
  bool held;                  /* the newest is a barrier: what follows waits for it */
};

struct _ze_fence_handle_t {
  emu_kind kind;
  ze_command_queue_handle_t queue;
  kw_engine_event event; /* passes 1 */
  bool given;            /* to an execution, or created signalled: not again before a reset */
  ze_result_t result;    /* of the execution that passed it */
  char text[256];        /* why it failed */
};

/* ---- Queues ------------------------------------------------------------------------------------------------------ */

#define QUEUES 4 /* of the one group */

static ze_result_t check_queue_desc(const ze_command_queue_desc_t *desc) {
  EMU_CHECK_STRUCT(desc, ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
  if (desc->ordinal != 0 || desc->index >= QUEUES)
    return emu_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "no queue %u in group %u", desc->index, desc->ordinal);
  if (desc->mode > ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS || desc->priority > ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH)
    return emu_fail(ZE_RESULT_ERROR_INVALID_ENUMERATION, "no such mode or priority of a queue");
  return ZE_RESULT_SUCCESS;
}

static ze_result_t queue_create(ze_context_handle_t context, ze_device_handle_t device,
                                const ze_command_queue_desc_t *desc, ze_command_queue_handle_t *out) {
  EMU_CHECK(context, EMU_CONTEXT);
  EMU_CHECK(device, EMU_DEVICE);
  EMU_TRY(check_queue_desc(desc));
  EMU_CHECK_POINTER(out);
  EMU_TRY(emu_check_lost(context, device));
  ze_command_queue_handle_t queue = emu_create(EMU_QUEUE, sizeof *queue, context);
  if (!queue) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  queue->context = context;
  queue->device = device;
  queue->synchronous = desc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
  ze_result_t result = emu_answer(kw_engine_queue_create(device->engine, &queue->engine));
  if (result != ZE_RESULT_SUCCESS) {
    emu_destroy(queue, context);
    return result;
  }
  *out = queue;
  return ZE_RESULT_SUCCESS;
}

static ze_result_t queue_destroy(ze_command_queue_handle_t queue) {
  EMU_CHECK(queue, EMU_QUEUE);
  if (queue->fences > 0)
    return emu_fail(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, "emulated: %d fences of the queue are left", queue->fences);
  kw_engine_queue_destroy(queue->engine);
  emu_destroy(queue, queue->context);
  return ZE_RESULT_SUCCESS;
}

static ze_result_t queue_synchronize(ze_command_queue_handle_t queue, uint64_t timeout_ns) {
  EMU_CHECK(queue, EMU_QUEUE);
  return emu_answer(kw_engine_queue_wait(queue->engine, timeout_ns));
}

static ze_result_t check_executable(ze_command_queue_handle_t queue, ze_command_list_handle_t list) {
  EMU_CHECK(list, EMU_LIST);
  if (list->engine) return emu_fail(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE, "an immediate list is not executed");
  if (!list->closed) return emu_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the list is not closed");
  if (list->context != queue->context || list->device != queue->device)
    return emu_fail(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE, "the list and the queue are of different devices");
  return ZE_RESULT_SUCCESS;
}

/* A fence, if there is one, is of this queue and new, or was reset. */
static ze_result_t check_fence(ze_command_queue_handle_t queue, ze_fence_handle_t fence) {
  if (!fence) return ZE_RESULT_SUCCESS;
  EMU_CHECK(fence, EMU_FENCE);
  if (fence->queue != queue) return emu_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "emulated: the fence of another queue");
  if (!fence->given) return ZE_RESULT_SUCCESS;
  return emu_fail(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, "emulated: the fence was given before and not reset");
}

/* At the end of an execution with a fence, on the queue's thread: the fence tells how it ended, and the next one begins
 * anew. Without a fence the queue keeps a failure until somebody synchronises it, and executes nothing meanwhile. */
static void end_execution(void *data) {
  ze_fence_handle_t fence = data;
  kw_engine_status status = kw_engine_queue_failure(fence->queue->engine);
  fence->result = emu_answer(status);
  if (status != KW_ENGINE_OK) snprintf(fence->text, sizeof fence->text, "emulated: %s", kw_engine_message());
}

static ze_result_t queue_execute(ze_command_queue_handle_t queue, uint32_t count, ze_command_list_handle_t *lists,
                                 ze_fence_handle_t fence) {
  EMU_CHECK(queue, EMU_QUEUE);
  EMU_CHECK_POINTER(lists);
  if (count == 0) return emu_fail(ZE_RESULT_ERROR_INVALID_SIZE, "no lists to execute");
  for (uint32_t i = 0; i < count; ++i) EMU_TRY(check_executable(queue, lists[i]));
  EMU_TRY(check_fence(queue, fence));
  EMU_TRY(emu_check_lost(queue->context, queue->device));
  for (uint32_t i = 0; i < count; ++i)
    for (size_t k = 0; k < lists[i]->count; ++k)
      EMU_TRY(emu_answer(kw_engine_queue_push(queue->engine, &lists[i]->tasks[k])));
  if (fence) {
    const kw_engine_task end = {
        .kind = KW_ENGINE_CALL, .signal = &fence->event, .signal_value = 1, .u.call = {end_execution, fence}};
    EMU_TRY(emu_answer(kw_engine_queue_push(queue->engine, &end)));
    fence->given = true;
  }
  return queue->synchronous ? queue_synchronize(queue, KW_ENGINE_FOREVER) : ZE_RESULT_SUCCESS;
}

/* ---- Fences ------------------------------------------------------------------------------------------------------ */

static ze_result_t fence_create(ze_command_queue_handle_t queue, const ze_fence_desc_t *desc, ze_fence_handle_t *out) {
  EMU_CHECK(queue, EMU_QUEUE);
  EMU_CHECK_STRUCT(desc, ZE_STRUCTURE_TYPE_FENCE_DESC);
  EMU_CHECK_POINTER(out);
  *out = emu_create(EMU_FENCE, sizeof **out, NULL);
  if (!*out) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  (*out)->queue = queue;
  ++queue->fences;
  (*out)->given = (desc->flags & ZE_FENCE_FLAG_SIGNALED) != 0;
  if ((*out)->given) kw_engine_event_signal(&(*out)->event, 1);
  return ZE_RESULT_SUCCESS;
}

static ze_result_t fence_destroy(ze_fence_handle_t fence) {
  EMU_CHECK(fence, EMU_FENCE);
  --fence->queue->fences;
  emu_destroy(fence, NULL);
  return ZE_RESULT_SUCCESS;
}

static ze_result_t fence_host_synchronize(ze_fence_handle_t fence, uint64_t timeout_ns) {
  EMU_CHECK(fence, EMU_FENCE);
  EMU_TRY(emu_wait(&fence->event, timeout_ns, fence->queue->context, fence->queue->device));
  return fence->result == ZE_RESULT_SUCCESS ? ZE_RESULT_SUCCESS : emu_fail(fence->result, "%s", fence->text);
}

static ze_result_t fence_query_status(ze_fence_handle_t fence) {
  return fence_host_synchronize(fence, 0);
}

static ze_result_t fence_reset(ze_fence_handle_t fence) {
  EMU_CHECK(fence, EMU_FENCE);
  kw_engine_event_reset(&fence->event);
  fence->given = false;
  return ZE_RESULT_SUCCESS;
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

static ze_result_t list_make(ze_context_handle_t context, ze_device_handle_t device, bool immediate,
                             ze_command_list_handle_t *out) {
  EMU_CHECK_POINTER(out);
  EMU_TRY(emu_check_lost(context, device));
  ze_command_list_handle_t list = emu_create(EMU_LIST, sizeof *list, context);
  if (!list) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  list->context = context;
  list->device = device;
  ze_result_t result =
      immediate ? emu_answer(kw_engine_queue_create(device->engine, &list->engine)) : ZE_RESULT_SUCCESS;
  if (result != ZE_RESULT_SUCCESS) {
    emu_destroy(list, context);
    return result;
  }
  *out = list;
  return ZE_RESULT_SUCCESS;
}

static ze_result_t list_create(ze_context_handle_t context, ze_device_handle_t device,
                               const ze_command_list_desc_t *desc, ze_command_list_handle_t *out) {
  EMU_CHECK(context, EMU_CONTEXT);
  EMU_CHECK(device, EMU_DEVICE);
  EMU_CHECK_STRUCT(desc, ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC);
  if (desc->commandQueueGroupOrdinal != 0)
    return emu_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "no group %u of queues", desc->commandQueueGroupOrdinal);
  return list_make(context, device, false, out);
}

static ze_result_t list_create_immediate(ze_context_handle_t context, ze_device_handle_t device,
                                         const ze_command_queue_desc_t *desc, ze_command_list_handle_t *out) {
  EMU_CHECK(context, EMU_CONTEXT);
  EMU_CHECK(device, EMU_DEVICE);
  EMU_TRY(check_queue_desc(desc));
  EMU_TRY(list_make(context, device, true, out));
  (*out)->synchronous = desc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
  return ZE_RESULT_SUCCESS;
}

static ze_result_t list_destroy(ze_command_list_handle_t list) {
  EMU_CHECK(list, EMU_LIST);
  if (list->engine) kw_engine_queue_destroy(list->engine);
  free(list->tasks);
  emu_destroy(list, list->context);
  return ZE_RESULT_SUCCESS;
}

static ze_result_t list_close(ze_command_list_handle_t list) {
  EMU_CHECK(list, EMU_LIST);
  list->closed = true;
  return ZE_RESULT_SUCCESS;
}

static ze_result_t list_reset(ze_command_list_handle_t list) {
  EMU_CHECK(list, EMU_LIST);
  if (list->engine) return emu_fail(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE, "an immediate list is not reset");
  list->closed = false;
  list->count = 0;
  list->begun = false;
  return ZE_RESULT_SUCCESS;
}

/* ---- Commands ---------------------------------------------------------------------------------------------------- */

static ze_result_t add_task(ze_command_list_handle_t list, const kw_engine_task *task) {
  if (list->engine) return emu_answer(kw_engine_queue_push(list->engine, task));
  if (list->count == list->capacity) {
    const size_t capacity = list->capacity ? 2 * list->capacity : 16;
    kw_engine_task *grown = realloc(list->tasks, capacity * sizeof *grown);
    if (!grown) return emu_fail(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no host memory for a command");
    list->tasks = grown;
    list->capacity = capacity;
  }
  list->tasks[list->count++] = *task;
  return ZE_RESULT_SUCCESS;
}

static ze_result_t check_open(ze_command_list_handle_t list) {
  EMU_CHECK(list, EMU_LIST);
  if (list->closed) return emu_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the list is closed");
  return emu_check_lost(list->context, list->device);
}

/* Something puts the next command behind the one before: that was a barrier or has run, or the command waits for its
 * event, or is a barrier behind all. */
static ze_result_t check_order(ze_command_list_handle_t list, bool barrier, uint32_t wait_count,
                               ze_event_handle_t *waits) {
  bool ordered = !list->begun || list->held || (barrier && wait_count == 0) ||
                 (list->engine && kw_engine_queue_is_idle(list->engine));
  for (uint32_t i = 0; i < wait_count && list->previous; ++i) ordered = ordered || waits[i] == list->previous;
  return ordered ? ZE_RESULT_SUCCESS
                 : emu_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                            "emulated: nothing puts this command behind the one before it: no event, no barrier");
}

/* Adds the waits, then the task with its signal. */
static ze_result_t append(ze_command_list_handle_t list, kw_engine_task *task, bool barrier, ze_event_handle_t signal,
                          uint32_t wait_count, ze_event_handle_t *waits) {
  EMU_TRY(emu_check_events(wait_count, waits));
  if (signal) EMU_CHECK(signal, EMU_EVENT);
  EMU_TRY(check_order(list, barrier, wait_count, waits));
  for (uint32_t i = 0; i < wait_count; ++i)
    EMU_TRY(add_task(list, &(kw_engine_task){.kind = KW_ENGINE_WAIT, .u.event = {&waits[i]->event, 1}}));
  task->signal = signal ? &signal->event : NULL;
  task->signal_value = 1;
  EMU_TRY(add_task(list, task));
  list->begun = true;
  list->previous = signal;
  list->held = barrier;
  return list->engine && list->synchronous ? emu_answer(kw_engine_queue_wait(list->engine, KW_ENGINE_FOREVER))
                                           : ZE_RESULT_SUCCESS;
}

/* Whether commands of the list may reach these bytes; `any`: memory of the host that the driver does not know, too. */
static ze_result_t check_range(ze_command_list_handle_t list, const void *pointer, size_t size, bool any) {
  kw_engine_allocation found;
  EMU_CHECK_POINTER(pointer);
  if (!kw_engine_find(pointer, &found))
    return any ? ZE_RESULT_SUCCESS
               : emu_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "emulated: %p is no memory of the driver's", pointer);
  if (found.kind == KW_ENGINE_MEMORY_DEVICE && found.device != list->device->engine)
    return emu_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "emulated: %p is memory of another device", pointer);
  const size_t left = found.size - (size_t)((const char *)pointer - (const char *)found.base);
  return size <= left ? ZE_RESULT_SUCCESS
                      : emu_fail(ZE_RESULT_ERROR_INVALID_SIZE, "emulated: %zu bytes, but the allocation ends after %zu",
                                 size, left);
}

static ze_result_t append_barrier(ze_command_list_handle_t list, ze_event_handle_t signal, uint32_t wait_count,
                                  ze_event_handle_t *waits) {
  kw_engine_task task = {.kind = KW_ENGINE_NOTHING};
  EMU_TRY(check_open(list));
  return append(list, &task, true, signal, wait_count, waits);
}

static ze_result_t append_ranges_barrier(ze_command_list_handle_t list, uint32_t count, const size_t *sizes,
                                         const void **ranges, ze_event_handle_t signal, uint32_t wait_count,
                                         ze_event_handle_t *waits) {
  EMU_TRY(check_open(list));
  EMU_CHECK_POINTER(sizes);
  EMU_CHECK_POINTER(ranges);
  for (uint32_t i = 0; i < count; ++i) EMU_TRY(check_range(list, ranges[i], sizes[i], true));
  return append_barrier(list, signal, wait_count, waits);
}

static ze_result_t append_wait_on_events(ze_command_list_handle_t list, uint32_t count, ze_event_handle_t *events) {
  EMU_CHECK_POINTER(events);
  return append_barrier(list, NULL, count, events);
}

static ze_result_t append_signal_event(ze_command_list_handle_t list, ze_event_handle_t event) {
  EMU_CHECK(event, EMU_EVENT);
  return append_barrier(list, event, 0, NULL);
}

static ze_result_t append_event_reset(ze_command_list_handle_t list, ze_event_handle_t event) {
  EMU_TRY(check_open(list));
  EMU_CHECK(event, EMU_EVENT);
  kw_engine_task task = {.kind = KW_ENGINE_RESET, .u.event.event = &event->event};
  return append(list, &task, false, NULL, 0, NULL);
}

static ze_result_t append_copy(ze_command_list_handle_t list, void *to, const void *from, size_t size,
                               ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits) {
  EMU_TRY(check_open(list));
  EMU_TRY(check_range(list, to, size, true));
  EMU_TRY(check_range(list, from, size, true));
  kw_engine_task task = {.kind = KW_ENGINE_COPY, .u.copy = {to, from, size}};
  return append(list, &task, false, signal, wait_count, waits);
}

static ze_result_t append_fill(ze_command_list_handle_t list, void *to, const void *pattern, size_t pattern_size,
                               size_t size, ze_event_handle_t signal, uint32_t wait_count, ze_event_handle_t *waits) {
  kw_engine_task task = {.kind = KW_ENGINE_FILL, .u.fill = {.to = to, .size = size, .pattern_size = pattern_size}};
  EMU_TRY(check_open(list));
  EMU_CHECK_POINTER(pattern);
  EMU_TRY(check_range(list, to, size, false));
  if (pattern_size == 0 || (pattern_size & (pattern_size - 1)) != 0 || size % pattern_size != 0)
    return emu_fail(ZE_RESULT_ERROR_INVALID_SIZE, "a pattern of %zu bytes for %zu", pattern_size, size);
  if (pattern_size > sizeof task.u.fill.pattern)
    return emu_fail(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "a pattern larger than maxMemoryFillPatternSize");
  memcpy(task.u.fill.pattern, pattern, pattern_size);
  return append(list, &task, false, signal, wait_count, waits);
}

/* Arguments are taken as they are now. */
static ze_result_t fill_launch(ze_command_list_handle_t list, ze_kernel_handle_t kernel, kw_engine_launch *launch) {
  launch->kernel = &kernel->kernel;
  memcpy(launch->local, kernel->group, sizeof launch->local);
  for (uint32_t i = 0; i < kernel->kernel.param_count; ++i) {
    const void *value = kernel->bytes + kernel->places[i];
    if (!kernel->set[i])
      return emu_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "emulated: argument %u of %s was not set", i,
                      kernel->kernel.name);
    const void *pointer = NULL;
    if (kernel->info[3 + i]) memcpy(&pointer, value, sizeof pointer);
    if (pointer) EMU_TRY(check_range(list, pointer, 0, false));
    kw_engine_launch_add(launch, value, kernel->kernel.param_sizes[i]);
  }
  return ZE_RESULT_SUCCESS;
}

static ze_result_t append_launch(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                                 const ze_group_count_t *groups, ze_event_handle_t signal, uint32_t wait_count,
                                 ze_event_handle_t *waits) {
  kw_engine_task task = {.kind = KW_ENGINE_LAUNCH};
  EMU_TRY(check_open(list));
  EMU_CHECK(kernel, EMU_KERNEL);
  EMU_CHECK_POINTER(groups);
  if (kernel->module->device != list->device || kernel->module->context != list->context)
    return emu_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the kernel and the list are of different devices");
  if (kernel->group[0] == 0)
    return emu_fail(ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION, "emulated: zeKernelSetGroupSize was not called");
  memcpy(task.u.launch.groups, (uint64_t[]){groups->groupCountX, groups->groupCountY, groups->groupCountZ},
         sizeof task.u.launch.groups);
  if (groups->groupCountX == 0 || groups->groupCountY == 0 || groups->groupCountZ == 0)
    return emu_fail(ZE_RESULT_ERROR_INVALID_ARGUMENT, "emulated: a launch of no groups");
  EMU_TRY(fill_launch(list, kernel, &task.u.launch));
  return append(list, &task, false, signal, wait_count, waits);
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

void emu_fill_command_queue(ze_command_queue_dditable_t *table) {
  table->pfnCreate = queue_create;
  table->pfnDestroy = queue_destroy;
  table->pfnExecuteCommandLists = queue_execute;
  table->pfnSynchronize = queue_synchronize;
}

void emu_fill_fence(ze_fence_dditable_t *table) {
  table->pfnCreate = fence_create;
  table->pfnDestroy = fence_destroy;
  table->pfnHostSynchronize = fence_host_synchronize;
  table->pfnQueryStatus = fence_query_status;
  table->pfnReset = fence_reset;
}

void emu_fill_command_list(ze_command_list_dditable_t *table) {
  table->pfnCreate = list_create;
  table->pfnCreateImmediate = list_create_immediate;
  table->pfnDestroy = list_destroy;
  table->pfnClose = list_close;
  table->pfnReset = list_reset;
  table->pfnAppendBarrier = append_barrier;
  table->pfnAppendMemoryRangesBarrier = append_ranges_barrier;
  table->pfnAppendWaitOnEvents = append_wait_on_events;
  table->pfnAppendSignalEvent = append_signal_event;
  table->pfnAppendEventReset = append_event_reset;
  table->pfnAppendMemoryCopy = append_copy;
  table->pfnAppendMemoryFill = append_fill;
  table->pfnAppendLaunchKernel = append_launch;
}
