/* SPDX-License-Identifier: Apache-2.0
 *
 * The check of a struct_size that a plugin has set.
 */
#include "base/struct.h"

/* A larger size than any struct will reach: memory that is not what it claims to be. */
#define STRUCT_LIMIT 65536u

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
