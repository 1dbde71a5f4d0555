/* SPDX-License-Identifier: Apache-2.0
 *
 * Time and process around each slot, made from slots.def; behind that, slots with results by hand. A result is handed
 * in as what no plugin gives, so that it shows whether the slot has set it.
 */
#include "layers/validation/slots.h"

#include "base/error.h"
#include "base/log.h"
#include "base/process_state.h"
#include "base/trace.h"
#include "layers/validation/report.h"

#include <stdlib.h>
#include <string.h>

#define SIZE_LIMIT (UINT64_C(1) << 50) /* bytes that no device has */

static kw_layer *this_layer;
static uint64_t slow_ms = 1000;

static void blame(const void *handle, const char *id, const char *slot, const char *what) {
  const kw_plugin *plugin = kw_slots_plugin(handle);
  kw_misuse_note(id, "%s.%s: %s %s", plugin->vendor, plugin->key, slot, what);
}

/* ---- Slots with results ------------------------------------------------------------------------------------------ */

static char nothing; /* its address is none that a plugin gives */

/* What came of a pointer that the slot was to give, for the host. */
static kw_status take_pointer(const void *handle, const char *slot, kw_status status, void *result, void **out) {
  if (status == KW_OK && (result == &nothing || result == NULL)) {
    blame(handle, "slot-without-result", slot, "says KW_OK and gives nothing");
    return kw_error_offer(kw_fail(KW_ERR_INTERNAL, "%s said KW_OK and gave nothing", slot));
  }
  if (status == KW_OK) *out = result;
  if (status != KW_OK && result != &nothing && result != NULL) {
    blame(handle, "slot-touches-result", slot, "failed and has set its result all the same");
  }
  return status;
}

/* A slot whose last argument is a pointer's place: given another place, then judged. */
#define POINTER_SLOT(group, name, parameters, arguments)                                        \
  static kw_status group##_##name parameters {                                                  \
    void *result = &nothing, **out = &result;                                                   \
    const kw_status status = kw_slots_below(this_layer, FIRST arguments)->group.name arguments; \
    return take_pointer(FIRST arguments, #group "." #name, status, result, wanted);             \
  }
#define FIRST(...) FIRST_OF(__VA_ARGS__, )
#define FIRST_OF(first, ...) first
POINTER_SLOT(device, open, (void *plugin, uint32_t index, const kw_open_info *info, void **wanted),
             (plugin, index, info, out))
POINTER_SLOT(memory, alloc, (void *device, const kw_alloc_info *info, void **wanted), (device, info, out))
POINTER_SLOT(memory, alloc_host, (void *device, uint64_t size, void **wanted), (device, size, out))
POINTER_SLOT(memory, map, (void *device, void *stream, const kw_map_info *info, void **wanted),
             (device, stream, info, out))
POINTER_SLOT(stream, create, (void *device, const kw_stream_info *info, void **wanted), (device, info, out))
POINTER_SLOT(event, create, (void *device, const kw_event_info *info, void **wanted), (device, info, out))

/* Numbers that cannot be. */
static kw_status memory_usage(void *device, uint64_t *out_free, uint64_t *out_total) {
  const kw_status status = kw_slots_below(this_layer, device)->memory.usage(device, out_free, out_total);
  if (status == KW_OK && (*out_free > *out_total || *out_total > SIZE_LIMIT)) {
    blame(device, "slot-number-absurd", "memory.usage", "tells of more memory than there can be");
  }
  return status;
}

static kw_status activity_drain(void *device, void *out, uint32_t record_size, uint32_t capacity, uint32_t *out_count,
                                uint64_t *out_dropped) {
  const kw_status status =
      kw_slots_below(this_layer, device)->activity.drain(device, out, record_size, capacity, out_count, out_dropped);
  if (status != KW_OK || *out_count <= capacity) return status;
  blame(device, "slot-number-absurd", "activity.drain", "says that it gave more records than there was room for");
  *out_count = capacity;
  return status;
}

/* ---- Every slot -------------------------------------------------------------------------------------------------- */

#define KW_SLOT(group, name, since, required, parameters, arguments)          \
  static kw_status forward_##group##_##name parameters {                      \
    return kw_slots_below(this_layer, FIRST arguments)->group.name arguments; \
  }
#include "slots.def"

/* What comes behind time and process: the slots above, and the plugin's own; the same for all plugins. */
static kw_slots checked = {
#define KW_SLOT(slot_group, name, since, required, parameters, arguments) \
  .slot_group.name = forward_##slot_group##_##name,
#include "slots.def"
};

static void set_checked(void) {
  checked.device.open = device_open;
  checked.memory.alloc = memory_alloc;
  checked.memory.alloc_host = memory_alloc_host;
  checked.memory.map = memory_map;
  checked.memory.usage = memory_usage;
  checked.stream.create = stream_create;
  checked.event.create = event_create;
  checked.activity.drain = activity_drain;
}

/* One call of a slot. */
typedef struct around {
  const void *handle;
  const char *slot;
  uint64_t begin;
  kw_process_state before;
} around;

/* Slots that ask, or mark a place: none of them has a reason to wait. */
static bool is_quick(const char *slot) {
  static const char *const quick[] = {"device.count", "device.info",  "device.attribute", "memory.usage",
                                      "stream.query", "event.query",  "event.record",     "event.create",
                                      "energy.read",  "profile.push", "profile.pop",      "activity.clock"};
  for (size_t i = 0; i < sizeof quick / sizeof quick[0]; i++) {
    if (strcmp(slot, quick[i]) == 0) return true;
  }
  return false;
}

/* Slots that are seldom called, and do much: there the whole process is looked at. */
static bool is_large(const char *slot) {
  return strcmp(slot, "device.open") == 0 || strcmp(slot, "device.close") == 0 || strcmp(slot, "stream.create") == 0;
}

static void begin_slot(around *call, const void *handle, const char *slot) {
  call->handle = handle;
  call->slot = slot;
  kw_process_state_take(&call->before, is_large(slot));
  call->begin = kw_trace_now();
}

static const char *id_of_change(kw_process_part part) {
  if (part == KW_PROCESS_UMASK) return "slot-changes-umask";
  return part == KW_PROCESS_ENVIRONMENT ? "slot-changes-environment" : "slot-changes-process";
}

/* `handle` is not looked at where the slot has ended it. */
static void end_slot(const around *call, const kw_plugin *plugin, kw_status status) {
  const uint64_t ms = (kw_trace_now() - call->begin) / 1000000;
  kw_process_state after;
  kw_process_state_take(&after, call->before.whole);
  const kw_process_part change = kw_process_state_change(&call->before, &after);
  if (ms >= slow_ms && is_quick(call->slot)) {
    kw_misuse_note("slot-slow", "%s.%s: %s took %llu ms, and has no reason to wait", plugin->vendor, plugin->key,
                   call->slot, (unsigned long long)ms);
  }
  if (change != KW_PROCESS_SAME) {
    kw_misuse_note(id_of_change(change), "%s.%s: %s has changed %s", plugin->vendor, plugin->key, call->slot,
                   kw_process_part_text(change));
  }
  if ((uint32_t)status > KW_ERR_INTERNAL && kw_status_canonical(status) == KW_ERR_INTERNAL &&
      KW_STATUS_CLASS(status) != KW_CLASS_BUG) {
    kw_misuse_note("slot-status-unknown", "%s.%s: %s returned %d, which is no status", plugin->vendor, plugin->key,
                   call->slot, status);
  }
}

#define KW_SLOT(group, name, since, required, parameters, arguments)  \
  static kw_status every_##group##_##name parameters {                \
    around call;                                                      \
    const kw_plugin *plugin_of_it = kw_slots_plugin(FIRST arguments); \
    begin_slot(&call, FIRST arguments, #group "." #name);             \
    const kw_status status = checked.group.name arguments;            \
    end_slot(&call, plugin_of_it, status);                            \
    return status;                                                    \
  }
#include "slots.def"

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

static kw_status workspace_size(const kw_call *call, uint64_t *out_size) {
  const kw_status status = kw_kernel_below(this_layer, call->user)->workspace_size(call, out_size);
  if (status == KW_OK && *out_size > SIZE_LIMIT) {
    blame(call->device, "kernel-size-absurd", call->op, "asks for a workspace that no device has room for");
  }
  return status;
}

static kw_status launch(const kw_call *call) {
  kw_process_state before, after;
  kw_process_state_take(&before, false);
  const kw_status status = kw_kernel_below(this_layer, call->user)->launch(call);
  kw_process_state_take(&after, false);
  const kw_process_part change = kw_process_state_change(&before, &after);
  if (change == KW_PROCESS_SAME) return status;
  const kw_plugin *plugin = kw_slots_plugin(call->device);
  kw_misuse_note("kernel-changes-process", "%s.%s: the launch of %s has changed %s", plugin->vendor, plugin->key,
                 call->op, kw_process_part_text(change));
  return status;
}

/* ---- Wrapping ---------------------------------------------------------------------------------------------------- */

void kw_slot_checks_start(kw_layer *layer) {
  const char *text = secure_getenv("KEYWAY_VALIDATION_SLOW_MS");
  this_layer = layer;
  set_checked();
  if (text == NULL || kw_option_number(text, 1, UINT32_MAX, &slow_ms)) return;
  kw_log(KW_LOG_ERROR, "KEYWAY_VALIDATION_SLOW_MS: '%s' is no number of milliseconds: it is %llu", text,
         (unsigned long long)slow_ms);
}

void kw_slot_checks_wrap(kw_slots *slots) {
#define KW_SLOT(group, name, since, required, parameters, arguments) slots->group.name = every_##group##_##name;
#include "slots.def"
}

void kw_slot_checks_wrap_kernel(kw_kernel_desc *kernel) {
  if (kernel->workspace_size != NULL) kernel->workspace_size = workspace_size;
  kernel->launch = launch;
}
