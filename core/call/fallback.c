/* SPDX-License-Identifier: Apache-2.0
 *
 * Running on cpu:0 what a device cannot. Off unless the application (kw_fallback_set) or the user (KEYWAY_FALLBACK)
 * allows it.
 */
#include "call/fallback.h"

#include "base/error.h"
#include "base/log.h"
#include "call/has_kernel.h"
#include "call/nested.h"
#include "device/fallback_device.h"
#include "device/generator.h"
#include "device/wait.h"
#include "tensor/transfer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Atomic kw_fallback mode;
static pthread_once_t mode_once = PTHREAD_ONCE_INIT;

static void read_environment(void) {
  const char *text = secure_getenv("KEYWAY_FALLBACK");
  if (!text || strcmp(text, "off") == 0 || text[0] == '\0') return;
  if (strcmp(text, "warn") == 0) {
    atomic_store(&mode, KW_FALLBACK_WARN);
  } else if (strcmp(text, "allow") == 0) {
    atomic_store(&mode, KW_FALLBACK_ALLOW);
  } else {
    kw_log_misset("KEYWAY_FALLBACK", text, "off", "off, warn or allow");
  }
}

KW_API void kw_fallback_set(kw_fallback new_mode) {
  pthread_once(&mode_once, read_environment);
  atomic_store(&mode, new_mode);
}

KW_API kw_fallback kw_fallback_get(void) {
  pthread_once(&mode_once, read_environment);
  return atomic_load(&mode);
}

/* The first tensor that would have to be cast and cannot be; NULL when it is not for want of a cast that the device has
 * no kernel. */
static const kw_tensor_ref *find_missing_cast(const kw_plan *plan, const kw_request *request) {
  const kw_device *device = request->device;
  const kw_inference *inference = &plan->inference;
  if (!kw_has_kernel_after_casts(request->op, device, inference->key, request->math)) return NULL;
  for (uint32_t i = 0; i < request->arg_count; ++i) {
    const kw_value *arg = &request->args[i];
    if (!(inference->cast >> i & 1) || arg->tag != KW_TAG_TENSOR) continue;
    if (!kw_can_cast_from(device, arg->u.tensor->dtype, request->math)) return arg->u.tensor;
  }
  return NULL;
}

kw_status kw_fallback_refuse(const kw_plan *plan, const kw_request *request) {
  char call[512], lack[160] = "";
  const char *op = request->op->schema.name, *lacking = op, *key = kw_dtype_name(plan->inference.key);
  const kw_tensor_ref *uncast = find_missing_cast(plan, request);
  if (uncast) {
    lacking = "copy_";
    snprintf(lack, sizeof lack, ": it has %s in %s, and no copy_ from %s to %s", op, key, kw_dtype_name(uncast->dtype),
             key);
  }
  return kw_fail(KW_ERR_NOT_IMPLEMENTED,
                 "%s: the device has no kernel for this call%s; set KEYWAY_FALLBACK=warn (or call kw_fallback_set) to "
                 "run it on cpu:0, or choose another device; 'keyway ops %s --device %s' says what this one has",
                 kw_request_describe(request, call, sizeof call), lack, lacking, request->device->name);
}

/* ---- Counting ---------------------------------------------------------------------------------------------------- */

/* Ops that have fallen back, per physical device: a small set that only grows. Numbers are of the device as it was
 * opened last. */
typedef struct seen {
  const kw_op *op;
  const kw_plugin *plugin;
  uint32_t index;
  uint64_t device_id, count;
  bool said;
  struct seen *next;
} seen;
static seen *all_seen;
static pthread_mutex_t seen_mutex = PTHREAD_MUTEX_INITIALIZER;

/* Under seen_mutex; NULL when there is none. */
static seen *find_seen(const kw_op *op, const kw_device *device) {
  seen *entry = all_seen;
  while (entry && !(entry->op == op && entry->plugin == device->plugin && entry->index == device->index)) {
    entry = entry->next;
  }
  return entry;
}

/* One more call of an op on a device; true when it is to be said: the first while the setting is to warn. */
static bool count_call(const kw_op *op, const kw_device *device) {
  pthread_mutex_lock(&seen_mutex);
  seen *entry = find_seen(op, device);
  if (!entry && (entry = malloc(sizeof *entry))) {
    *entry = (seen){.op = op, .plugin = device->plugin, .index = device->index, .next = all_seen};
    all_seen = entry;
  }
  if (entry && entry->device_id != device->id) {
    entry->device_id = device->id;
    entry->count = 0;
    entry->said = false;
  }
  bool say = kw_fallback_get() == KW_FALLBACK_WARN;
  if (entry) {
    ++entry->count;
    say = say && !entry->said;
    entry->said = entry->said || say;
  }
  pthread_mutex_unlock(&seen_mutex);
  return say;
}

KW_API uint64_t kw_op_fallbacks(const kw_op *op, const kw_device *device) {
  if (!op || !device) return 0;
  pthread_mutex_lock(&seen_mutex);
  const seen *entry = find_seen(op, device);
  const uint64_t count = entry && entry->device_id == device->id ? entry->count : 0;
  pthread_mutex_unlock(&seen_mutex);
  return count;
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

/* Devices belong to different plugins, and tensors may be strided. */
static kw_status copy_across(const kw_tensor *from, kw_tensor *to) {
  return kw_tensor_copy_through_host("a fallback copy", to, from);
}

/* `tensor` on cpu, as one more of what `moved` holds. */
static kw_status bring(const kw_tensor *tensor, kw_device *cpu, kw_tensor **moved, uint32_t *count) {
  kw_tensor **copy = &moved[*count];
  kw_status status = kw_tensor_create(cpu, tensor->ref.dtype, tensor->ref.rank, tensor->ref.shape, copy);
  if (status != KW_OK) return status;
  ++*count;
  return copy_across(tensor, *copy);
}

/* One argument with its tensors on cpu. A list is kept in `entries`, which has room for it. */
static kw_status bring_value(const kw_value *from, kw_device *cpu, kw_tensor **moved, uint32_t *count,
                             const kw_tensor_ref **entries, kw_value *to) {
  *to = *from;
  kw_status status = KW_OK;
  if (from->tag == KW_TAG_TENSOR) {
    status = bring(kw_value_as_tensor(from), cpu, moved, count);
    if (status == KW_OK) to->u.tensor = &moved[*count - 1]->ref;
  } else if (from->tag == KW_TAG_TENSOR_LIST) {
    to->u.tensors = entries;
    for (uint32_t k = 0; k < from->count && status == KW_OK; ++k) {
      entries[k] = NULL;
      if (!from->u.tensors[k]) continue;
      status = bring(kw_value_entry(from, k), cpu, moved, count);
      if (status == KW_OK) entries[k] = &moved[*count - 1]->ref;
    }
  }
  return status;
}

/* What the call has made of an argument that it changes, back to where the argument lies. */
static kw_status take_back(const kw_value *on_cpu, const kw_value *arg) {
  if (arg->tag == KW_TAG_TENSOR) return copy_across(kw_value_as_tensor(on_cpu), kw_value_as_tensor(arg));
  kw_status status = KW_OK;
  for (uint32_t k = 0; arg->tag == KW_TAG_TENSOR_LIST && k < arg->count && status == KW_OK; ++k) {
    status = copy_across(kw_value_entry(on_cpu, k), (kw_tensor *)(uintptr_t)kw_value_entry(arg, k));
  }
  return status;
}

/* A generator of the cpu device that gives the numbers of `rng`. */
static kw_status bring_numbers(const kw_rng *rng, kw_device *cpu, kw_generator **out_generator) {
  const kw_generator_state state = {sizeof state, rng->algorithm, rng->seed, rng->offset};
  kw_status status = kw_generator_create(cpu, 0, out_generator);
  return status == KW_OK ? kw_generator_set_state(*out_generator, &state) : status;
}

kw_status kw_fallback_run(const kw_op *op, kw_stream *stream, const kw_value *args, const kw_rng *rng,
                          kw_tensor *const *outs) {
  kw_device *device = stream->device, *cpu = kw_device_fallback();
  if (!cpu) return kw_wrap(KW_ERR_NOT_IMPLEMENTED, "%s on %s: falling back to cpu:0", op->schema.name, device->name);
  if (cpu->plugin == device->plugin) {
    return kw_fail(KW_ERR_NOT_IMPLEMENTED, "%s: %s has no kernel for this call and is itself the fallback",
                   op->schema.name, device->name);
  }
  uint32_t listed = 0;
  for (uint32_t i = 0; i < op->schema.arg_count; ++i) listed += args[i].tag == KW_TAG_TENSOR_LIST ? args[i].count : 0;
  kw_tensor **moved = calloc(KW_MAX_ARGS + listed, sizeof *moved);
  const kw_tensor_ref **entries = calloc(listed + 1, sizeof *entries);
  kw_value on_cpu[KW_MAX_ARGS];
  kw_tensor *results[KW_MAX_RESULTS] = {NULL};
  kw_generator *generator = NULL;
  kw_status status = kw_stream_synchronize(stream);
  if (!moved || !entries) status = kw_fail(KW_ERR_OUT_OF_MEMORY, "no host memory for the arguments of a fallback");
  if (status == KW_OK && op->generator >= 0) status = bring_numbers(rng, cpu, &generator);
  uint32_t count = 0, at = 0;
  for (uint32_t i = 0; i < op->schema.arg_count && status == KW_OK; ++i) {
    status = bring_value(&args[i], cpu, moved, &count, &entries[at], &on_cpu[i]);
    if (args[i].tag == KW_TAG_TENSOR_LIST) at += args[i].count;
    if ((int32_t)i == op->generator) on_cpu[i] = kw_arg_generator(generator);
  }
  if (status == KW_OK) {
    status = kw_call_nested(op, kw_stream_default(cpu), on_cpu, op->schema.arg_count, results, op->schema.result_count);
  }
  for (uint32_t i = 0; i < op->schema.result_count && status == KW_OK; ++i) {
    const bool absent = !outs[i], argument = op->schema.results[i].alias_of >= 0;
    if (!absent && !argument) status = copy_across(results[i], outs[i]);
  }
  for (uint32_t i = 0; i < op->schema.arg_count && status == KW_OK; ++i) {
    if (op->schema.args[i].mutated) status = take_back(&on_cpu[i], &args[i]);
  }
  for (uint32_t i = 0; i < count; ++i) kw_tensor_release(moved[i]);
  for (uint32_t i = 0; i < op->schema.result_count; ++i) kw_tensor_release(results[i]);
  kw_generator_destroy(generator);
  free(moved);
  free(entries);
  if (status != KW_OK) return kw_wrap(status, "%s on %s: falling back to cpu:0", op->schema.name, device->name);
  atomic_fetch_add(&device->fallbacks, 1);
  if (count_call(op, device)) {
    kw_log(KW_LOG_WARN, "%s has no kernel for %s: it runs on cpu:0, with copies to and fro (said once)", device->name,
           op->schema.name);
  }
  return KW_OK;
}
