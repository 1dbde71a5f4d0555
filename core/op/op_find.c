/* SPDX-License-Identifier: Apache-2.0
 *
 * An op by its name; and for a name that no op has what was meant by it: overloads, another spelling, what does the
 * work of a function of ATen's.
 */
#include "base/error.h"
#include "base/nearest.h"
#include "op/op.h"

#include <stdio.h>
#include <string.h>

#define SHOWN 4 /* overloads that are named */

static const struct {
  const char *name, *ops;
} aten_functions[] = {
#define KW_ATEN_FUNCTION(name, ops) {name, ops},
#include "op/aten_functions.def"
};
enum { ATEN_FUNCTIONS = sizeof aten_functions / sizeof aten_functions[0] };

/* What stands for a function of ATen's, of this many letters; NULL for another name. */
static const char *ops_of_function(const char *name, size_t length) {
  for (size_t i = 0; i < ATEN_FUNCTIONS; ++i) {
    const char *known = aten_functions[i].name;
    if (strlen(known) == length && memcmp(known, name, length) == 0) return aten_functions[i].ops;
  }
  return NULL;
}

/* "'add.Tensor' or 'add.Scalar'": the overloads of a name of this many letters. False: it has none. */
static bool list_overloads(const char *name, size_t length, char *text, size_t size) {
  const uint32_t count = kw_op_count();
  const char *shown[SHOWN];
  uint32_t found = 0;
  for (uint32_t i = 0; i < count && found < SHOWN; ++i) {
    const char *known = kw_op_at(i)->schema.name;
    if (strncmp(known, name, length) == 0 && (known[length] == '.' || known[length] == '\0')) shown[found++] = known;
  }
  text[0] = '\0';
  for (uint32_t i = 0, used = 0; i < found && used < size; ++i) {
    const char *before = i == 0 ? "" : i + 1 == found ? " or " : ", ";
    used += (uint32_t)snprintf(text + used, size - used, "%s'%s'", before, shown[i]);
  }
  return found > 0;
}

static const char *nearest_name(const char *name) {
  kw_nearest nearest;
  kw_nearest_begin(&nearest, name);
  const uint32_t count = kw_op_count();
  for (uint32_t i = 0; i < count; ++i) kw_nearest_try(&nearest, kw_op_at(i)->schema.name);
  for (size_t i = 0; i < ATEN_FUNCTIONS; ++i) kw_nearest_try(&nearest, aten_functions[i].name);
  return nearest.best;
}

static kw_status fail_unknown(const char *name) {
  if (!name) return kw_fail(KW_ERR_NOT_FOUND, "no name of an op was given: it is NULL");
  const char *bare = strncmp(name, "aten::", 6) == 0 ? name + 6 : name;
  const size_t base = strcspn(bare, ".");
  const char *ops = ops_of_function(bare, base);
  if (ops) return kw_fail(KW_ERR_NOT_FOUND, "there is no op '%s'; ATen's %.*s is here %s", name, (int)base, bare, ops);
  char overloads[4 * 70];
  if (base > 0 && list_overloads(bare, base, overloads, sizeof overloads)) {
    return kw_fail(KW_ERR_NOT_FOUND, "there is no op '%s'; did you mean %s?", name, overloads);
  }
  const char *near = nearest_name(bare);
  ops = near ? ops_of_function(near, strlen(near)) : NULL;
  if (ops)
    return kw_fail(KW_ERR_NOT_FOUND, "there is no op '%s'; did you mean '%s'? ATen's is here %s", name, near, ops);
  if (near) return kw_fail(KW_ERR_NOT_FOUND, "there is no op '%s'; did you mean '%s'?", name, near);
  return kw_fail(KW_ERR_NOT_FOUND, "there is no op '%s'%s", name,
                 strstr(bare, "::") ? "; a vendor's own is there once its plugin is open (kw_device_open)" : "");
}

KW_API const kw_op *kw_op_find(const char *name) {
  if (kw_op_table_build() != KW_OK) return NULL;
  const kw_op *op = name ? kw_op_lookup(name) : NULL;
  if (!op) fail_unknown(name);
  return op;
}
