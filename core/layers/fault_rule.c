/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading and counting rules.
 */
#include "layers/fault_rule.h"

#include "base/byte_count.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A status as its constant is called: KW_ERR_IO is "io". */
static bool parse_status(const char *text, kw_status *out_status) {
  static const char *const names[] = {
      [KW_ERR_INVALID_ARGUMENT] = "invalid_argument",
      [KW_ERR_NOT_IMPLEMENTED] = "not_implemented",
      [KW_ERR_UNSUPPORTED] = "unsupported",
      [KW_ERR_FALLBACK] = "fallback",
      [KW_ERR_OUT_OF_MEMORY] = "out_of_memory",
      [KW_ERR_DEVICE_LOST] = "device_lost",
      [KW_ERR_TIMEOUT] = "timeout",
      [KW_ERR_BUSY] = "busy",
      [KW_ERR_ABI_MISMATCH] = "abi_mismatch",
      [KW_ERR_NOT_FOUND] = "not_found",
      [KW_ERR_NOT_READY] = "not_ready",
      [KW_ERR_IO] = "io",
      [KW_ERR_PERMISSION] = "permission",
      [KW_ERR_INTERNAL] = "internal",
  };
  for (kw_status status = KW_ERR_INVALID_ARGUMENT; status <= KW_ERR_INTERNAL; ++status) {
    if (strcmp(names[status], text) != 0) continue;
    *out_status = status;
    return true;
  }
  return false;
}

static bool parse_duration(const char *text, uint64_t *out_ns) {
  static const struct {
    const char *unit;
    uint64_t ns;
  } units[] = {{"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
  char *end;
  if (*text < '0' || *text > '9') return false;
  const unsigned long long count = strtoull(text, &end, 10);
  for (size_t i = 0; i < sizeof units / sizeof units[0]; ++i) {
    if (strcmp(end, units[i].unit) != 0 || count > UINT64_C(3600000000000) / units[i].ns) continue; /* an hour */
    *out_ns = count * units[i].ns;
    return true;
  }
  return false;
}

static bool parse_what(const char *text, kw_fault_rule *rule) {
  if (parse_duration(text, &rule->amount)) {
    rule->kind = KW_FAULT_RULE_DELAY;
    return true;
  }
  rule->kind = KW_FAULT_RULE_STATUS;
  rule->status = KW_ERR_INTERNAL;
  if (strncmp(text, "late", 4) == 0 && (text[4] == 0 || text[4] == '=')) {
    rule->kind = KW_FAULT_RULE_LATE;
    return text[4] == 0 || parse_status(text + 5, &rule->status);
  }
  return parse_status(text, &rule->status);
}

/* "@5", "@5+" at the end of where a rule is. */
static bool parse_count(char *where, kw_fault_rule *rule) {
  char *at = strchr(where, '@'), *end;
  rule->first = 1;
  rule->on = at == NULL;
  if (at == NULL) return true;
  *at++ = 0;
  if (*at < '0' || *at > '9') return false;
  rule->first = strtoull(at, &end, 10);
  if (*end == '+') {
    rule->on = true;
    ++end;
  }
  return *end == 0 && rule->first > 0;
}

static bool parse_rule(const char *text, kw_fault_rule *rule) {
  char copy[sizeof rule->text];
  if (strlen(text) >= sizeof copy) return false;
  strcpy(copy, text);
  strcpy(rule->text, text);
  if (strncmp(copy, "memory>", 7) == 0) {
    rule->kind = KW_FAULT_RULE_MEMORY;
    rule->status = KW_ERR_OUT_OF_MEMORY;
    return kw_byte_count_parse(copy + 7, &rule->amount);
  }
  char *what = strrchr(copy, ':'); /* ops may have colons in their names */
  if (what == NULL) return false;
  *what++ = 0;
  if (!parse_what(what, rule) || !parse_count(copy, rule)) return false;
  if (copy[0] == 0 || strlen(copy) >= sizeof rule->where) return false;
  strcpy(rule->where, copy);
  return true;
}

bool kw_fault_rules_parse(const char *text, kw_fault_rule rules[KW_FAULT_RULES], uint32_t *out_count, char *message,
                          size_t size) {
  *out_count = 0;
  uint32_t count = 0;
  for (const char *at = text; *at != 0; at += *at == ',') {
    const size_t length = strcspn(at, ",");
    char one[sizeof rules->text + 1];
    snprintf(one, sizeof one, "%.*s", (int)length, at);
    if (count == KW_FAULT_RULES) {
      snprintf(message, size, "there are more than %u rules", KW_FAULT_RULES);
      return false;
    }
    memset(&rules[count], 0, sizeof rules[count]);
    if (!parse_rule(one, &rules[count])) {
      snprintf(message, size,
               "'%s' is not understood: WHERE[@N[+]]:WHAT, as memory.alloc@5:out_of_memory, launch/mm:late, "
               "stream.synchronize:2ms, or memory>512MiB",
               one);
      return false;
    }
    ++count;
    at += length;
  }
  *out_count = count;
  return true;
}

bool kw_fault_rule_meets(kw_fault_rule *rule, const char *what, uint64_t *out_number) {
  if (rule->kind == KW_FAULT_RULE_MEMORY || fnmatch(rule->where, what, 0) != 0) return false;
  *out_number = atomic_fetch_add(&rule->calls, 1) + 1;
  return rule->on ? *out_number >= rule->first : *out_number == rule->first;
}
