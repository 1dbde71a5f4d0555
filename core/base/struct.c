/* SPDX-License-Identifier: Apache-2.0
 *
 * The check of a struct_size that a plugin has set.
 */
#include "base/struct.h"

/* A larger size than any struct will reach: memory that is not what it claims to be. */
#define STRUCT_LIMIT 65536u

static bool same_kind(const kw_ext *a, const kw_ext *b) {
  if (((a->kind ^ b->kind) & ~KW_EXT_CRITICAL) != 0) return false;
  if ((a->kind & ~KW_EXT_CRITICAL) != KW_EXT_VENDOR) return true;
  const kw_ext_vendor *x = (const kw_ext_vendor *)a, *y = (const kw_ext_vendor *)b;
  return strncmp(x->name, y->name, sizeof x->name) == 0;
}

/* What is wrong with an entry, given those before it; NULL when nothing is. */
static const char *fault_of(const kw_ext *first, const kw_ext *entry) {
  const bool vendor = (entry->kind & ~KW_EXT_CRITICAL) == KW_EXT_VENDOR;
  if (entry->struct_size < (vendor ? sizeof(kw_ext_vendor) : sizeof(kw_ext))) return "is too short for its kind";
  if (entry->struct_size > KW_EXT_SIZE_LIMIT) return "has more than 65536 bytes";
  if (vendor && memchr(((const kw_ext_vendor *)entry)->name, 0, sizeof((const kw_ext_vendor *)entry)->name) == NULL)
    return "has a name without an end";
  for (const kw_ext *before = first; before != entry; before = before->next)
    if (same_kind(before, entry)) return "is there twice";
  return NULL;
}

kw_status kw_chain_check(const char *what, const kw_ext *next) {
  uint32_t count = 0;
  for (const kw_ext *entry = next; entry != NULL; entry = entry->next) {
    const char *fault = ++count > KW_EXT_LIMIT ? "is one too many: a chain has at most 32" : fault_of(next, entry);
    if (fault != NULL)
      return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: extension %u (kind 0x%x) %s", what, count, entry->kind, fault);
  }
  for (const kw_ext *entry = next; entry != NULL; entry = entry->next) {
    if ((entry->kind & KW_EXT_CRITICAL) == 0) continue;
    return kw_fail(KW_ERR_UNSUPPORTED, "%s: this Keyway does not know the critical extension of kind 0x%x", what,
                   entry->kind);
  }
  return KW_OK;
}

kw_status kw_reserved_check(const char *what, uint32_t abi_version, uint32_t reserved) {
  if (reserved == 0 || abi_version > KW_ABI_VERSION) return KW_OK;
  return kw_fail(KW_ERR_ABI_MISMATCH, "reserved in %s is %u: set it to 0", what, reserved);
}

kw_status kw_struct_check(const char *what, uint32_t struct_size, uint32_t min) {
  if (struct_size < min) {
    return kw_fail(KW_ERR_ABI_MISMATCH, "%s has struct_size %u, at least %u is needed: set it to sizeof the struct",
                   what, struct_size, min);
  }
  if (struct_size > STRUCT_LIMIT) {
    return kw_fail(KW_ERR_ABI_MISMATCH,
                   "%s has struct_size %u, which cannot be (at least %u, at most %u): set it to sizeof the struct",
                   what, struct_size, min, STRUCT_LIMIT);
  }
  return KW_OK;
}
