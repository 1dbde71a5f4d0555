/* SPDX-License-Identifier: Apache-2.0
 *
 * `keyway ops --missing`: a level's ops and dtypes, less what a device has, what unlocks most before the rest.
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

/* What a level still lacks of one op, and what follows from that. */
typedef struct lack {
  const kw_op_facts *op;
  const char *needs;       /* what it is served by without a kernel: "amax add.Tensor/i64"; "" */
  uint64_t missing, there; /* dtypes */
  uint32_t unlocks;        /* lacking ops that need this one, itself included */
  bool alone;              /* nothing that is served otherwise would serve it */
  bool reached;            /* by the walk from one lacking op to those that it needs */
} lack;

typedef struct lacks {
  lack *items;
  uint32_t count;
} lacks;

static lack *find_lack(const lacks *all, const char *name, size_t length) {
  for (uint32_t i = 0; i < all->count; i++) {
    if (strlen(all->items[i].op->op.name) == length && memcmp(all->items[i].op->op.name, name, length) == 0)
      return &all->items[i];
  }
  return NULL;
}

/* Marks what an op needs that is lacking too, and what those need. */
static void reach(const lacks *all, lack *from) {
  if (from->reached) return;
  from->reached = true;
  for (const char *need = from->needs; *need; need += strspn(need, " ")) {
    lack *next = find_lack(all, need, strcspn(need, " /"));
    need += strcspn(need, " ");
    if (next) reach(all, next);
  }
}

static void reach_from(const lacks *all, uint32_t index) {
  for (uint32_t i = 0; i < all->count; i++) all->items[i].reached = false;
  reach(all, &all->items[index]);
}

/* What nothing else can serve comes first, the most needed before the others; the rest in the table's order. */
static int compare_lacks(const void *a, const void *b) {
  const lack *x = a, *y = b;
  if (x->alone != y->alone) return x->alone ? -1 : 1;
  if (x->alone && x->unlocks != y->unlocks) return x->unlocks > y->unlocks ? -1 : 1;
  return x->op < y->op ? -1 : x->op > y->op;
}

static lacks find_lacks(const kw_level_claim *claim, const kw_device_facts *facts, kw_dtype half) {
  lacks all = {.items = calloc(facts->op_count + 1, sizeof *all.items)};
  if (!all.items) kw_out_of_memory();
  for (uint32_t i = 0; i < facts->op_count; i++) {
    const kw_op_facts *op = &facts->ops[i];
    const uint64_t keys = kw_level_keys(claim, &op->op, half), there = keys & (op->kernels | op->decomposed);
    if (keys == there) continue;
    kw_op_info info = {.struct_size = sizeof info};
    const bool known = kw_op_get_info(kw_op_find(op->op.name), &info) == KW_OK;
    all.items[all.count++] =
        (lack){.op = op, .needs = known ? info.decomposition : "", .missing = keys & ~there, .there = there};
  }
  for (uint32_t i = 0; i < all.count; i++) {
    reach_from(&all, i);
    bool by_others = all.items[i].there != 0; /* in more dtypes of what is there */
    for (uint32_t k = 0; k < all.count; k++) {
      all.items[k].unlocks += all.items[k].reached;
      by_others = by_others || (all.items[k].reached && !*all.items[k].needs);
    }
    all.items[i].alone = !*all.items[i].needs || !by_others;
  }
  qsort(all.items, all.count, sizeof *all.items, compare_lacks);
  return all;
}

/* The lacking ops without a decomposition that would serve this one, "exp, log"; "" where it has to have a kernel. */
static void print_way(const lacks *all, uint32_t index, char *text, size_t size) {
  text[0] = 0;
  if (!*all->items[index].needs) return;
  reach_from(all, index);
  size_t used = 0;
  for (uint32_t i = 0; i < all->count && used < size; i++) {
    if (!all->items[i].reached || *all->items[i].needs) continue;
    used += (size_t)snprintf(text + used, size - used, used ? ", %s" : "%s", all->items[i].op->op.name);
  }
}

static void add_missing(const lacks *all, uint32_t index, kw_cli_table *table, cJSON *list) {
  char dtypes[256], has[256], way[1024];
  const lack *lack = &all->items[index];
  print_dtypes(lack->missing, dtypes, sizeof dtypes);
  print_dtypes(lack->there, has, sizeof has);
  print_way(all, index, way, sizeof way);
  if (!list) {
    kw_cli_table_add(table, "%s", lack->op->op.name);
    kw_cli_table_add(table, "%u", lack->unlocks);
    kw_cli_table_add(table, "%s", dtypes);
    kw_cli_table_add(table, "%s", lack->there ? has : "-");
    kw_cli_table_add(table, "%s", *way ? way : *lack->needs ? "(what is there, in more dtypes)" : "-");
    return;
  }
  cJSON *entry = cJSON_CreateObject();
  cJSON_AddStringToObject(entry, "op", lack->op->op.name);
  cJSON_AddStringToObject(entry, "family", kw_suite_op_family(&lack->op->op));
  cJSON_AddItemToObject(entry, "missing", dtypes_as_json(lack->missing));
  cJSON_AddItemToObject(entry, "has", dtypes_as_json(lack->there));
  cJSON_AddNumberToObject(entry, "unlocks", lack->unlocks);
  cJSON_AddStringToObject(entry, "comes_with", way);
  cJSON_AddItemToArray(list, entry);
}

int kw_cli_print_missing(const kw_cli_args *args, kw_device *device, const char *level) {
  static const char *const headings[] = {"OP", "UNLOCKS", "MISSING", "HAS", "OR COMES WITH", NULL};
  kw_level_claim claim;
  if (!kw_level_parse(level, &claim)) {
    kw_cli_complain(kw_cli_args_command(args),
                    "--missing takes a level as `keyway conform --level` does: core, inference, core+f64");
    return KW_CLI_USAGE;
  }
  kw_device_facts facts = facts_of(device);
  const kw_dtype half = kw_level_half(&claim, &facts);
  const bool as_json = kw_cli_args_has(args, "--json");
  uint32_t wanted = 0, absent = 0;
  for (uint32_t i = 0; i < facts.op_count; i++) wanted += kw_level_keys(&claim, &facts.ops[i].op, half) != 0;
  const lacks all = find_lacks(&claim, &facts, half);
  for (uint32_t i = 0; i < all.count; i++) absent += all.items[i].there == 0;
  kw_cli_table *table = all.count > 0 && !as_json ? kw_cli_table_create(headings) : NULL;
  cJSON *json = as_json ? cJSON_CreateObject() : NULL, *list = cJSON_AddArrayToObject(json, "ops");
  for (uint32_t i = 0; i < all.count; i++) add_missing(&all, i, table, list);
  const uint32_t lacking = all.count;
  free(all.items);
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
