/* SPDX-License-Identifier: Apache-2.0
 *
 * What KEYWAY_FAULT asks for: rules, one behind the other, each for some of a plugin's slots.
 *
 *   KEYWAY_FAULT  RULE[,RULE...]
 *   RULE          WHERE[@N[+]]:WHAT     the N-th such call (from 1; with +, from there on); without @ every one
 *                 memory>BYTES          allocations that would bring a device beyond that many bytes are out of memory
 *   WHERE         a slot, "memory.alloc", or a kernel's launch, "launch/mm", as fnmatch has patterns: "memory.*", "*"
 *   WHAT          a status as its KW_ERR_ is called, "out_of_memory", "io", "device_lost": the call fails by that,
 *                                      and does nothing
 *                 late, late=STATUS     it goes well, and the stream has a late error (internal unless said)
 *                 10us, 2ms, 1s         it takes so much longer
 */
#ifndef KEYWAY_CORE_FAULT_RULE_H
#define KEYWAY_CORE_FAULT_RULE_H

#include <keyway/keyway.h>

#include <stdatomic.h>

typedef enum kw_fault_kind {
  KW_FAULT_RULE_STATUS,
  KW_FAULT_RULE_LATE,
  KW_FAULT_RULE_DELAY,
  KW_FAULT_RULE_MEMORY
} kw_fault_kind;

typedef struct kw_fault_rule {
  char text[96]; /* as it was given */
  char where[64];
  uint64_t first; /* the call that it begins with */
  bool on;        /* and those behind it */
  kw_fault_kind kind;
  kw_status status;
  uint64_t amount; /* nanoseconds, or bytes */
  atomic_ullong calls;
} kw_fault_rule;

#define KW_FAULT_RULES 16u

/* False: `message` says what is not understood, and there are no rules. */
bool kw_fault_rules_parse(const char *text, kw_fault_rule rules[KW_FAULT_RULES], uint32_t *out_count, char *message,
                          size_t size);
/* Whether the rule is about this call, which is counted. *out_number: which of them it is. */
bool kw_fault_rule_meets(kw_fault_rule *rule, const char *what, uint64_t *out_number);

#endif /* KEYWAY_CORE_FAULT_RULE_H */
