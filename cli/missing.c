/* SPDX-License-Identifier: Apache-2.0
 *
 * `keyway ops --missing`: a level's ops and dtypes, less what a device has.
 */
#include "missing.h"

#include "base/need.h"
#include "case/element.h"
#include "run/level.h"
#include "table.h"

#include <stdlib.h>
#include <string.h>

/* The facts that levels are about: which ops of the table the device has in which dtypes. The ops are the caller's to
 * free. */
static kw_device_facts facts_of(kw_device *device) {
  uint32_t count;
  const kw_suite_op *table = kw_suite_ops(&count);
  kw_device_facts facts = {.ops = calloc(count, sizeof *facts.ops)};
  if (!facts.ops) kw_out_of_memory();
  for (uint32_t i = 0; i < count; i++) {
    kw_op_facts *op = &facts.ops[facts.op_count++];
    op->op = table[i];
    for (kw_dtype d = 0; d < KW_KEY_DTYPE_COUNT; d++) {
      const kw_support support = kw_op_support(kw_op_find(table[i].name), device, d);
      if (support == KW_SUPPORT_KERNEL) op->kernels |= KW_DTYPE_BIT(d);
      if (support == KW_SUPPORT_DECOMPOSED) op->decomposed |= KW_DTYPE_BIT(d);
    }
  }
  return facts;
}

/* "f32 f16" */
static void print_dtypes(uint64_t dtypes, char *text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (kw_dtype d = 0; d < KW_KEY_DTYPE_COUNT && used < size; d++) {
    if (dtypes & KW_DTYPE_BIT(d))
      used += (size_t)snprintf(text + used, size - used, used ? " %s" : "%s", kw_element_name(d));
  }
}

static cJSON *dtypes_as_json(uint64_t dtypes) {
  cJSON *list = cJSON_CreateArray();
  for (kw_dtype d = 0; d < KW_KEY_DTYPE_COUNT; d++) {
    if (dtypes & KW_DTYPE_BIT(d)) cJSON_AddItemToArray(list, cJSON_CreateString(kw_element_name(d)));
  }
  return list;
}

static void add_missing(const kw_op_facts *op, uint64_t missing, uint64_t there, kw_cli_table *table, cJSON *list) {
  char dtypes[256], has[256];
  print_dtypes(missing, dtypes, sizeof dtypes);
  print_dtypes(there, has, sizeof has);
  if (!list) {
    kw_cli_table_add(table, "%s", op->op.name);
    kw_cli_table_add(table, "%s", kw_suite_op_family(&op->op));
    kw_cli_table_add(table, "%s", dtypes);
    kw_cli_table_add(table, "%s", there ? has : "-");
    return;
  }
  cJSON *entry = cJSON_CreateObject();
  cJSON_AddStringToObject(entry, "op", op->op.name);
  cJSON_AddStringToObject(entry, "family", kw_suite_op_family(&op->op));
  cJSON_AddItemToObject(entry, "missing", dtypes_as_json(missing));
  cJSON_AddItemToObject(entry, "has", dtypes_as_json(there));
  cJSON_AddItemToArray(list, entry);
}

int kw_cli_print_missing(const kw_cli_args *args, kw_device *device, const char *level) {
  static const char *const headings[] = {"OP", "FAMILY", "MISSING", "HAS", NULL};
  kw_level_claim claim;
  if (!kw_level_parse(level, &claim)) {
    kw_cli_complain(kw_cli_args_command(args),
                    "--missing takes a level as `keyway conform --level` does: core, inference, core+f64");
    return KW_CLI_USAGE;
  }
  kw_device_facts facts = facts_of(device);
  const kw_dtype half = kw_level_half(&claim, &facts);
  const bool as_json = kw_cli_args_has(args, "--json");
  kw_cli_table *table = NULL; /* made for the first row */
  cJSON *json = as_json ? cJSON_CreateObject() : NULL, *list = cJSON_AddArrayToObject(json, "ops");
  uint32_t wanted = 0, lacking = 0, absent = 0;
  for (uint32_t i = 0; i < facts.op_count; i++) {
    const kw_op_facts *op = &facts.ops[i];
    const uint64_t keys = kw_level_keys(&claim, &op->op, half), there = keys & (op->kernels | op->decomposed);
    wanted += keys != 0;
    lacking += keys != there;
    absent += keys && !there;
    if (keys != there && !as_json && !table) table = kw_cli_table_create(headings);
    if (keys != there) add_missing(op, keys & ~there, there, table, list);
  }
  free(facts.ops);
  if (as_json) {
    cJSON_AddStringToObject(json, "device", kw_device_name(device));
    cJSON_AddStringToObject(json, "level", level);
    cJSON_AddStringToObject(json, "half", kw_element_name(half));
    cJSON_AddNumberToObject(json, "wanted", wanted);
    cJSON_AddNumberToObject(json, "incomplete", lacking);
    cJSON_AddNumberToObject(json, "absent", absent);
    return kw_cli_json_print(json) ? KW_CLI_OK : KW_CLI_FAILED;
  }
  if (lacking) kw_cli_table_print(table);
  printf("%s%s, judged in %s among the 16-bit floats: %u of %u ops are there, %u in part, %u not at all\n",
         lacking ? "\n" : "", level, kw_element_name(half), wanted - lacking, wanted, lacking - absent, absent);
  return KW_CLI_OK;
}
