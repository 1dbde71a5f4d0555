/* SPDX-License-Identifier: Apache-2.0
 *
 * `keyway ops`: the op table, and who has kernels for it.
 */
#include "commands.h"

#include "missing.h"
#include "op_header.h"
#include "op_page.h"
#include "op_table.h"
#include "table.h"

#include <keyway/keyway.h>
#include <keyway/plugin.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct open_devices {
  kw_device **items;
  uint32_t count;
} open_devices;

/* The dtypes of an op that this device serves so: by kernels, or by other ops. */
static kw_dtype_mask dtypes_by(kw_support support, const kw_op *op, const kw_op_info *info, kw_device *device) {
  kw_dtype_mask mask = {{0, 0}};
  for (kw_dtype d = 0; d < KW_DTYPE_COUNT; ++d) {
    if (!kw_dtype_mask_has(info->dtypes, d) || kw_op_support(op, device, d) != support) continue;
    mask.bits[d / 64] |= KW_DTYPE_BIT(d);
  }
  return mask;
}

/* The kernels of a device for an op, in the order in which they are tried. */
static cJSON *list_kernels(const kw_op *op, kw_device *device) {
  cJSON *list = cJSON_CreateArray();
  kw_kernel_info info = {.struct_size = sizeof info};
  for (uint32_t i = 0; kw_op_get_kernel(op, device, i, &info) == KW_OK; ++i) {
    cJSON *kernel = cJSON_CreateObject();
    cJSON_AddStringToObject(kernel, "name", info.name);
    cJSON_AddStringToObject(kernel, "math_mode", kw_math_mode_name(info.math_mode));
    cJSON_AddBoolToObject(kernel, "deterministic", (info.flags & KW_KERNEL_DETERMINISTIC) != 0);
    cJSON_AddBoolToObject(kernel, "off", info.priority == KW_PRIORITY_OFF);
    cJSON_AddItemToArray(list, kernel);
  }
  return list;
}

static const char *text_of(const cJSON *object, const char *member) {
  return cJSON_GetStringValue(cJSON_GetObjectItem(object, member));
}

/* "tiled, reference, vendor (off), vendor_tf32 (tf32, off)" */
static void add_kernels(kw_cli_table *table, const cJSON *kernels) {
  char text[512] = "";
  size_t used = 0;
  for (const cJSON *kernel = kernels->child; kernel && used < sizeof text; kernel = kernel->next) {
    const char *mode = text_of(kernel, "math_mode");
    const bool lower = strcmp(mode, kw_math_mode_name(KW_MATH_HIGHEST)) != 0;
    const bool off = cJSON_IsTrue(cJSON_GetObjectItem(kernel, "off"));
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%s%s%s%s%s%s", used ? ", " : "",
                             text_of(kernel, "name"), lower || off ? " (" : "", lower ? mode : "",
                             lower && off ? ", " : "", off ? "off" : "", lower || off ? ")" : "");
  }
  kw_cli_table_add(table, "%s", used ? text : "-");
}

static bool is_empty(const kw_dtype_mask *mask) {
  return mask->bits[0] == 0 && mask->bits[1] == 0;
}

static const char *level_name(kw_level level) {
  static const char *const names[] = {"core", "inference", "training", "vendor"};
  return level < sizeof names / sizeof names[0] ? names[level] : "unknown";
}

/* The row of an op of the table; NULL for a vendor's. */
static const kw_op_row *row_of(const kw_op_info *info) {
  const kw_op_row *row = NULL;
  for (uint32_t i = 0; i < kw_op_table_count && !row; ++i) {
    if (strcmp(kw_op_table[i].schema, info->schema) == 0) row = &kw_op_table[i];
  }
  return row;
}

/* Of one result. */
static kw_op_bound bound_of(const kw_op_info *info, uint32_t result) {
  const kw_op_row *row = row_of(info);
  if (row) return kw_op_row_bound(row, result);
  const bool ulp = strcmp(info->comparator, "ulp") == 0, sums = strcmp(info->comparator, "accumulate") == 0;
  return (kw_op_bound){.compare = ulp    ? KW_CMP_ULP
                                  : sums ? KW_CMP_ACCUMULATE
                                         : KW_CMP_BITS,
                       .ulp = info->max_ulp,
                       .abs = info->absolute,
                       .magnitude = "",
                       .growth = info->growth};
}

/* In words; of a bound of the op's own, what its page says. */
static cJSON *bound_in_words(const kw_op_info *info, const kw_op_bound *bound) {
  char text[160], base[64];
  kw_op_bound_text(bound, text, sizeof text);
  const char *page = kw_op_page_bound(kw_op_page_base(info->name, base));
  const bool own = bound->compare == KW_CMP_QUANTUM || (bound->magnitude && strchr(bound->magnitude, '/'));
  return cJSON_CreateString(own && *page ? page : text);
}

/* The whole bound: how results are compared, and by the comparator the numbers that say how far off they may be. */
static void add_bound(cJSON *json, const kw_op_info *info) {
  const kw_op_bound bound = bound_of(info, 0);
  if (bound.compare == KW_CMP_ACCUMULATE) {
    cJSON_AddNullToObject(json, "bound"); /* grows with the number of terms */
  } else {
    cJSON_AddNumberToObject(json, "bound", bound.ulp);
  }
  cJSON_AddStringToObject(json, "comparator", info->comparator);
  cJSON *words = cJSON_AddArrayToObject(json, "bounds"); /* result by result */
  for (uint32_t r = 0; r < info->result_count; ++r) {
    const kw_op_bound result = bound_of(info, r);
    cJSON_AddItemToArray(words, bound_in_words(info, &result));
  }
  if (bound.compare == KW_CMP_ULP) cJSON_AddNumberToObject(json, "absolute", bound.abs);
  if (bound.compare == KW_CMP_ACCUMULATE && bound.growth > 0) cJSON_AddNumberToObject(json, "growth", bound.growth);
  if (*bound.magnitude) cJSON_AddStringToObject(json, "magnitude", bound.magnitude);
}

static cJSON *dtypes_as_json(const kw_dtype_mask *dtypes) {
  cJSON *names = cJSON_CreateArray();
  for (kw_dtype d = 0; d < KW_DTYPE_COUNT; ++d) {
    if (kw_dtype_mask_has(*dtypes, d)) cJSON_AddItemToArray(names, cJSON_CreateString(kw_dtype_name(d)));
  }
  return names;
}

/* "f32 f64"; "-" for none. */
static void dtypes_as_text(const kw_dtype_mask *dtypes, char *text, size_t size) {
  size_t used = (size_t)snprintf(text, size, "-");
  for (kw_dtype d = 0, first = 1; d < KW_DTYPE_COUNT && used < size; ++d) {
    if (!kw_dtype_mask_has(*dtypes, d)) continue;
    if (first) used = 0;
    used += (size_t)snprintf(text + used, size - used, first ? "%s" : " %s", kw_dtype_name(d));
    first = 0;
  }
}

/* `kernels`: NULL where no device was named. */
static cJSON *op_as_json(const kw_op *op, const kw_op_info *info, const kw_dtype_mask *dtypes, cJSON *devices,
                         cJSON *kernels) {
  cJSON *json = cJSON_CreateObject();
  cJSON_AddStringToObject(json, "name", info->name);
  cJSON_AddStringToObject(json, "schema", info->schema);
  cJSON_AddStringToObject(json, "level", level_name(info->level));
  cJSON_AddItemToObject(json, "dtypes", dtypes_as_json(dtypes));
  add_bound(json, info);
  cJSON_AddStringToObject(json, "autocast", kw_cast_policy_name(kw_op_cast_policy(op)));
  cJSON_AddItemToObject(json, "devices", devices);
  if (kernels) cJSON_AddItemToObject(json, "kernels", kernels);
  return json;
}

static void add_row(kw_cli_table *table, const kw_op_info *info, const kw_dtype_mask *dtypes, const cJSON *devices,
                    const cJSON *kernels) {
  char text[256];
  size_t used = 0;
  text[0] = '\0';
  kw_cli_table_add(table, "%s", info->name);
  kw_cli_table_add(table, "%s", level_name(info->level));
  const kw_op_bound bound = bound_of(info, 0);
  char limit[160];
  kw_op_bound_text(&bound, limit, sizeof limit);
  kw_cli_table_add(table, "%s", bound.compare == KW_CMP_ULP ? limit : info->comparator);
  for (const cJSON *name = devices->child; name && used < sizeof text; name = name->next) {
    used += (size_t)snprintf(text + used, sizeof text - used, used ? " %s" : "%s", name->valuestring);
  }
  if (kernels) add_kernels(table, kernels);
  if (!kernels) kw_cli_table_add(table, "%s", used ? text : "-");
  dtypes_as_text(dtypes, text, sizeof text);
  kw_cli_table_add(table, "%s", text);
}

/* The device of that name, or all that open. False, and said on stderr, when the named one does not. */
static bool open_all(const char *only, open_devices *out) {
  uint32_t count = 0;
  bool fine = kw_device_count(&count) == KW_OK;
  out->items = calloc(count + 1, sizeof *out->items);
  if (!fine || !out->items) {
    kw_cli_complain(&kw_cli_ops, "%s", fine ? "no memory" : kw_error_message());
    return false;
  }
  for (uint32_t i = 0; i < (only ? 1 : count); ++i) {
    kw_device_entry entry = {.struct_size = sizeof entry};
    const char *name = only;
    if (!only && kw_device_get_entry(i, &entry) == KW_OK) name = entry.name;
    if (name && kw_device_open(name, &out->items[out->count]) == KW_OK) {
      ++out->count;
      continue;
    }
    kw_cli_complain(&kw_cli_ops, "%s", kw_error_message());
    if (only) return false;
  }
  return true;
}

static void close_all(open_devices *devices) {
  for (uint32_t i = 0; i < devices->count; ++i) kw_device_close(devices->items[i]);
  free(devices->items);
}

/* Whether `name` is an op's, or what its overloads share; NULL is any's. */
static bool is_named(const kw_op_info *info, const char *name) {
  char base[64];
  return !name || strcmp(info->name, name) == 0 || strcmp(kw_op_page_base(info->name, base), name) == 0;
}

/* What a device does about an op beside its kernels. */
static void note_others(kw_cli_table *table, const kw_dtype_mask *kernels, const kw_dtype_mask *decomposed) {
  char text[256];
  dtypes_as_text(decomposed, text, sizeof text);
  if (!is_empty(decomposed)) kw_cli_table_note(table, "made of other ops: %s", text);
  if (is_empty(decomposed) && is_empty(kernels)) kw_cli_table_note(table, "not there: no kernel, nor those it needs");
}

/* `name`: only that op, and whatever the device does about it; NULL: all. */
static int print_ops(const kw_cli_args *args, const open_devices *devices, const char *name, bool only_supported) {
  const bool as_json = kw_cli_args_has(args, "--json");
  cJSON *json = cJSON_CreateObject(), *ops = cJSON_AddArrayToObject(json, "ops");
  const char *const headings[] = {"OP", "LEVEL", "BOUND", only_supported ? "KERNELS" : "DEVICES", "DTYPES", NULL};
  kw_cli_table *table = as_json ? NULL : kw_cli_table_create(headings);
  for (uint32_t i = 0; i < kw_op_count(); ++i) {
    const kw_op *op = kw_op_at(i);
    kw_op_info info = {.struct_size = sizeof info};
    if (kw_op_get_info(op, &info) != KW_OK || !is_named(&info, name)) continue;
    kw_dtype_mask dtypes = info.dtypes;
    cJSON *names = cJSON_CreateArray();
    for (uint32_t d = 0; d < devices->count; ++d) {
      kw_dtype_mask served = dtypes_by(KW_SUPPORT_KERNEL, op, &info, devices->items[d]);
      if (!is_empty(&served)) cJSON_AddItemToArray(names, cJSON_CreateString(kw_device_name(devices->items[d])));
      if (only_supported) dtypes = served;
    }
    bool show = name || !only_supported || !is_empty(&dtypes);
    cJSON *kernels = only_supported ? list_kernels(op, devices->items[0]) : NULL;
    kw_dtype_mask decomposed = {{0, 0}};
    if (name && only_supported) decomposed = dtypes_by(KW_SUPPORT_DECOMPOSED, op, &info, devices->items[0]);
    if (show && !as_json) add_row(table, &info, &dtypes, names, kernels);
    if (name && only_supported) note_others(table, &dtypes, &decomposed);
    if (show && as_json) {
      cJSON *json_op = op_as_json(op, &info, &dtypes, names, kernels);
      if (name && only_supported) cJSON_AddItemToObject(json_op, "decomposed", dtypes_as_json(&decomposed));
      cJSON_AddItemToArray(ops, json_op);
    } else {
      cJSON_Delete(names);
      cJSON_Delete(kernels);
    }
  }
  if (as_json) return kw_cli_json_print(json) ? KW_CLI_OK : KW_CLI_FAILED;
  cJSON_Delete(json);
  kw_cli_table_print(table);
  return KW_CLI_OK;
}

/* False, and said, when there is no op of that name. */
static bool op_is_there(const char *name) {
  uint32_t count;
  kw_device_count(&count); /* starts the library: plugins add ops */
  for (uint32_t i = 0; i < kw_op_count(); ++i) {
    kw_op_info info = {.struct_size = sizeof info};
    if (kw_op_get_info(kw_op_at(i), &info) == KW_OK && is_named(&info, name)) return true;
  }
  kw_op_find(name); /* says which was meant */
  kw_cli_complain(&kw_cli_ops, "%s; 'keyway ops' lists the ops", kw_error_message());
  return false;
}

/* Whether there is a page of that op, or of all its overloads; a vendor's has none. */
static bool print_page(const char *name) {
  char base[64];
  return kw_op_page_print(stdout, kw_op_page_base(name, base));
}

static int run(const kw_cli_args *args) {
  const char *name = kw_cli_args_positional(args, 0), *pages = kw_cli_args_value(args, "--pages");
  const char *only = kw_cli_args_value(args, "--device"), *level = kw_cli_args_value(args, "--missing");
  if (name && level) {
    kw_cli_complain(&kw_cli_ops, "--missing is about all ops of a level: leave out '%s'", name);
    return KW_CLI_USAGE;
  }
  if (name && !only && !kw_cli_args_has(args, "--json") && print_page(name)) return KW_CLI_OK;
  if (pages) {
    if (kw_op_pages_write(pages)) return KW_CLI_OK;
    kw_cli_complain(&kw_cli_ops, "cannot write the pages to '%s': %s", pages, strerror(errno));
    return KW_CLI_FAILED;
  }
  if (kw_cli_args_has(args, "--header")) return kw_op_header_print(stdout) ? KW_CLI_OK : KW_CLI_FAILED;
  if (level && !only) {
    kw_cli_complain(&kw_cli_ops, "--missing goes with --device NAME: the device that lacks something");
    return KW_CLI_USAGE;
  }
  open_devices devices = {0};
  int code = KW_CLI_USAGE;
  if (kw_cli_load_plugins(args) && op_is_there(name) && open_all(only, &devices)) {
    code = level ? kw_cli_print_missing(args, devices.items[0], level) : print_ops(args, &devices, name, only != NULL);
  }
  close_all(&devices);
  return code;
}

static const kw_cli_option options[] = {
    KW_CLI_OPTION_JSON,
    {"--device", "NAME", "only what this device has kernels for, with their names and dtypes"},
    {"--missing", "LEVEL",
     "with --device: the ops and dtypes that it lacks for a level of the conformance suite: core,\n"
     "inference, training, with extensions: core+f64"},
    {"--pages", "DIR", "write the op reference, one Markdown page per op, into a directory"},
    {"--header", NULL, "print keyway/ops.h, the ops as typed calls of C"},
    KW_CLI_OPTION_PLUGIN,
};
const kw_cli_command kw_cli_ops = {
    .name = "ops",
    .synopsis = "[NAME] [--json] [--device NAME [--missing LEVEL]] [--pages DIR] [--header] [--plugin FILE]...",
    .summary = "List the ops, their error bounds, and the devices that have kernels for them; explain one",
    .details =
        "With NAME: the page of that op in the op reference, all overloads; with --device as well, what that device\n"
        "has for it, and what it makes of other ops; with --json as data.\n"
        "Bounds: 'bits' the same bits, 'N ulp' at most N units in the last place of the compute type, '+ N eps' and "
        "so\n"
        "many units of 1 more, 'correctly rounded' none,\n"
        "'accumulate' grows with the number of terms, 'index' a position with an equal value, 'quantum' an integer "
        "that\n"
        "a value close enough rounds to, 'written' the bits of any of the values written to one place.\n"
        "A device without a kernel for an op may still run it by decomposition.\n"
        "Kernels stand in the order in which they are tried; behind a name, the math mode (KEYWAY_MATH) that it needs\n"
        "beyond the highest, and 'off' where only its name brings it up (KEYWAY_KERNELS).\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .positional_max = 1,
    .main = run,
};
