/* SPDX-License-Identifier: Apache-2.0
 *
 * Structs that cross a boundary between versions. Each starts with a uint32_t struct_size, its size in bytes as the
 * other side was compiled; neither side reads or writes past it.
 */
#ifndef KEYWAY_CORE_STRUCT_H
#define KEYWAY_CORE_STRUCT_H

#include "base/error.h"

#include <string.h>

static inline uint32_t kw_struct_size(const void *any) {
  uint32_t size;
  memcpy(&size, any, sizeof size);
  return size;
}

/* KW_OK when the struct that the application gave to `function` is there and its struct_size counts at least itself. */
static inline kw_status kw_struct_check_given(const char *function, const void *given) {
  if (given != NULL && kw_struct_size(given) >= sizeof(uint32_t)) return KW_OK;
  return kw_fail(KW_ERR_INVALID_ARGUMENT, "%s: %s", function,
                 given == NULL ? "the struct is NULL" : "struct_size is not set: set it to sizeof the struct");
}

/* KW_OK when a struct of this size from a plugin can be read: at least `min`, not absurd. `what` names it. */
kw_status kw_struct_check(const char *what, uint32_t struct_size, uint32_t min);

/* KW_OK when the host can do what a plugin hung on a struct: a chain as kw_ext says, without a critical entry, since
 * there is none that this version knows. KW_ERR_INVALID_ARGUMENT or KW_ERR_UNSUPPORTED otherwise. `what` names the
 * struct. */
kw_status kw_chain_check(const char *what, const kw_ext *next);

/* KW_OK when a field that is reserved here is zero, or reads as zero because the side that set it follows a later
 * version, which may have given it a meaning. Otherwise KW_ERR_ABI_MISMATCH; `what` names the struct. */
kw_status kw_reserved_check(const char *what, uint32_t abi_version, uint32_t reserved);

/* Reads the other side's struct `from` into our `to` of `to_size` bytes: what the other side does not have is zero,
 * what we do not know is left out. to's struct_size becomes to_size. The caller has checked from's struct_size. */
static inline void kw_struct_read(void *to, uint32_t to_size, const void *from) {
  uint32_t size = kw_struct_size(from);
  if (size > to_size) size = to_size;
  memcpy(to, from, size);
  memset((char *)to + size, 0, to_size - size);
  memcpy(to, &to_size, sizeof to_size);
}

/* Writes the other side's struct `out` from our `from` of `from_size` bytes, and sets out's struct_size to the number
 * of bytes that are valid now. The caller has checked out's struct_size; from's is not looked at. */
static inline void kw_struct_write(void *out, const void *from, uint32_t from_size) {
  uint32_t size = kw_struct_size(out);
  if (size > from_size) size = from_size;
  memcpy(out, from, size);
  memcpy(out, &size, sizeof size);
}

#endif /* KEYWAY_CORE_STRUCT_H */
