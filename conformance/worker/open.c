/* SPDX-License-Identifier: Apache-2.0
 *
 * What a worker begins with: its device, and what that has.
 */
#include "worker/worker.h"

#include "worker/texts.h"

#include <keyway/plugin.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The dtypes of kernels that are chosen without being named, and do not promise the same bits every time. */
static uint64_t unsteady(const kw_worker *w, const kw_op *op) {
  uint64_t dtypes = 0;
  kw_kernel_info kernel = {.struct_size = sizeof kernel};
  for (uint32_t k = 0; kw_op_get_kernel(op, w->device, k, &kernel) == KW_OK; k++) {
    const bool chosen = kernel.math_mode == KW_MATH_HIGHEST && kernel.priority != KW_PRIORITY_OFF;
    kernel.struct_size = sizeof kernel;
    if (chosen && !(kernel.flags & KW_KERNEL_DETERMINISTIC)) dtypes |= kernel.dtypes.bits[0];
  }
  return dtypes;
}

/* Whether the device computes on this dtype. Sums of integers are computed in i64 unless their argument `dtype` says
 * otherwise, and a device that has them in i64 alone claims no other. */
static kw_support support_of(const kw_worker *w, const kw_suite_op *suite_op, const kw_op *op, kw_dtype key) {
  const int dtype = kw_suite_op_find_arg(suite_op, "dtype");
  if (suite_op->row.result != KW_RESULT_SUM || dtype < 0) return kw_op_support(op, w->device, key);
  static const int64_t shape[1] = {4};
  const kw_tensor_ref tensor = kw_meta(key, 1, shape);
  kw_value args[KW_MAX_ARGS] = {kw_arg_meta(&tensor)};
  for (uint32_t i = 1; i < suite_op->arg_count; i++) {
    kw_arg_info arg = {.struct_size = sizeof arg};
    if (kw_op_get_arg(op, i, &arg) != KW_OK) return KW_SUPPORT_NONE;
    args[i] = arg.tag == KW_TAG_INT && !(arg.flags & KW_ARG_HAS_DEFAULT) ? kw_arg_int(0) : arg.default_value;
  }
  args[dtype] = kw_arg_dtype(key);
  kw_call_support call = {.struct_size = sizeof call};
  kw_status status = kw_op_can_run(op, w->device, args, suite_op->arg_count, &call);
  if (status != KW_OK) kw_error_clear();
  return status == KW_OK ? call.support : KW_SUPPORT_NONE;
}

static void add_op(kw_worker *w, const kw_suite_op *suite_op, const kw_op *op) {
  kw_op_facts *facts = &w->facts.ops[w->facts.op_count++];
  facts->op = *suite_op;
  uint64_t keys = kw_suite_op_keys(suite_op);
  for (kw_dtype d = 0; d < KW_KEY_DTYPE_COUNT; d++) {
    if (!(keys & KW_DTYPE_BIT(d))) continue;
    kw_support support = support_of(w, suite_op, op, d);
    if (support == KW_SUPPORT_KERNEL) facts->kernels |= KW_DTYPE_BIT(d);
    if (support == KW_SUPPORT_DECOMPOSED) facts->decomposed |= KW_DTYPE_BIT(d);
  }
  facts->repeats = facts->kernels & ~unsteady(w, op);
}

/* An op that only this plugin defines. */
static void vendor_op(const kw_worker *w, const kw_op *op, const kw_op_info *info, kw_suite_op *out) {
  if (!kw_suite_op_take(op, out)) {
    *out = (kw_suite_op){.unheld = true};
    snprintf(out->name, sizeof out->name, "%s", info->name);
  }
  out->vendor = true;
  out->row.dtypes = info->dtypes.bits[0];
  out->row.shape = KW_SHAPE_CUSTOM;
  out->row.result = KW_RESULT_CUSTOM;
  out->row.compare = strcmp(info->comparator, "bits") == 0  ? KW_CMP_BITS
                     : strcmp(info->comparator, "ulp") == 0 ? KW_CMP_ULP
                                                            : KW_CMP_ACCUMULATE;
  out->row.ulp = info->max_ulp;
  out->row.abs = info->absolute;
  out->row.growth = info->growth;
  out->row.magnitude = "";
  out->row.level = KW_LEVEL_VENDOR;
  kw_worker_find_texts(op, w->device, w->facts.plugin_path, out);
}

static void list_ops(kw_worker *w) {
  uint32_t table_count, total = kw_op_count();
  const kw_suite_op *table = kw_suite_ops(&table_count);
  w->facts.ops = calloc(table_count + total, sizeof *w->facts.ops);
  w->ops = calloc(table_count + total, sizeof *w->ops);
  if (!w->facts.ops || !w->ops) abort();
  for (uint32_t i = 0; i < table_count; i++) {
    const kw_op *op = kw_op_find(table[i].name);
    if (op) add_op(w, &table[i], op);
  }
  for (uint32_t i = 0; i < total; i++) {
    kw_op_info info = {.struct_size = sizeof info};
    kw_suite_op op;
    const kw_op *at = kw_op_at(i);
    if (kw_op_get_info(at, &info) != KW_OK || info.level != KW_LEVEL_VENDOR) continue;
    vendor_op(w, at, &info, &op);
    add_op(w, &op, at);
  }
  for (uint32_t i = 0; i < w->facts.op_count; i++) w->ops[i] = w->facts.ops[i].op;
}

/* Where the device's plugin lies, and the first other device that it has. */
static void find_plugin(kw_worker *w) {
  uint32_t count = 0;
  uint32_t plugin = UINT32_MAX;
  kw_device_count(&count);
  for (uint32_t i = 0; i < count; i++) {
    kw_device_entry entry = {.struct_size = sizeof entry};
    const bool there = kw_device_get_entry(i, &entry) == KW_OK;
    if (there && strcmp(entry.name, kw_device_name(w->device)) == 0) plugin = entry.plugin;
  }
  kw_plugin_report report = {.struct_size = sizeof report};
  const bool known = plugin != UINT32_MAX && kw_plugin_get_report(plugin, &report) == KW_OK;
  w->facts.plugin_path = strdup(known ? report.path : "");
  const char *second = "";
  for (uint32_t i = 0; i < count && known && !*second; i++) {
    kw_device_entry entry = {.struct_size = sizeof entry};
    if (kw_device_get_entry(i, &entry) != KW_OK || entry.plugin != plugin) continue;
    if (strcmp(entry.name, kw_device_name(w->device)) != 0) second = entry.name;
  }
  w->facts.second = strdup(second);
}

__attribute__((format(printf, 3, 4))) static void refuse(kw_worker *w, kw_status status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  w->facts.status = status;
  if (vasprintf(&w->facts.text, format, arguments) < 0) w->facts.text = NULL;
  va_end(arguments);
}

static const char *reason_for(kw_status status) {
  const char *reason = kw_error_message();
  return *reason ? reason : kw_status_name(status);
}

kw_status kw_worker_hold(kw_worker *w) {
  kw_status status = w->stream ? KW_OK : kw_stream_create(w->device, &w->stream);
  if (status == KW_OK && !w->generator) status = kw_generator_create(w->device, 0, &w->generator);
  return status;
}

void kw_worker_let_go(kw_worker *w) {
  kw_generator_destroy(w->generator);
  kw_stream_destroy(w->stream);
  w->generator = NULL;
  w->stream = NULL;
}

/* Whether `device`, options behind it left aside, is the name or the name without its ":0". */
static bool is_called(const char *name, const char *device) {
  const size_t length = strcspn(device, "/");
  return strncmp(name, device, length) == 0 && (name[length] == '\0' || strcmp(name + length, ":0") == 0);
}

/* Opens the plugin of a device that was found, by its file: one that its application names is in no quarantine where
 * the process ends while it opens it, and a suite ends its workers at any time. Devices that are named by a policy or
 * by where they are plugged in are left to kw_device_open. */
static kw_status open_by_file(const char *device) {
  uint32_t count = 0;
  kw_device_count(&count);
  for (uint32_t i = 0; i < count; i++) {
    kw_device_entry entry = {.struct_size = sizeof entry};
    kw_plugin_report report = {.struct_size = sizeof report};
    if (kw_device_get_entry(i, &entry) != KW_OK) continue;
    if (!is_called(entry.name, device) && !is_called(entry.qualified_name, device)) continue;
    return kw_plugin_get_report(entry.plugin, &report) == KW_OK ? kw_plugin_load(report.path) : KW_OK;
  }
  return KW_OK; /* kw_device_open says what there is */
}

void kw_worker_open(kw_worker *w, const char *device, char *const *plugins, uint32_t plugin_count, uint64_t seed) {
  memset(w, 0, sizeof *w);
  w->seed = seed;
  kw_fallback_set(KW_FALLBACK_OFF);
  kw_math_mode_set(KW_MATH_HIGHEST);
  kw_deterministic_set(false);
  for (uint32_t i = 0; i < plugin_count; i++) {
    kw_status status = kw_plugin_load(plugins[i]);
    if (status != KW_OK) {
      refuse(w, status, "%s\nsee 'keyway doctor --plugin %s'", reason_for(status), plugins[i]);
      return;
    }
  }
  kw_status status = open_by_file(device);
  if (status == KW_OK) status = kw_device_open(device, &w->device);
  if (status == KW_OK) status = kw_worker_hold(w);
  if (status != KW_OK) {
    refuse(w, status, "device %s: %s", device, reason_for(status));
    return;
  }
  kw_device_info info = {.struct_size = sizeof info};
  kw_device_get_info(w->device, &info);
  w->facts.device = strdup(kw_device_name(w->device));
  w->facts.product = strdup(info.name);
  w->facts.driver = strdup(info.driver_version);
  w->facts.native = kw_device_native(w->device);
  w->facts.emulated = (info.flags & KW_DEVICE_EMULATED) != 0;
  w->facts.flush = info.flush_subnormal.bits[0];
  find_plugin(w);
  list_ops(w);
}
