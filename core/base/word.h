/* SPDX-License-Identifier: Apache-2.0
 *
 * Words of plugins: keys, vendors, options.
 */
#ifndef KEYWAY_CORE_WORD_H
#define KEYWAY_CORE_WORD_H

#include <stdbool.h>

/* Longest key or vendor, with the NUL: "vendor.key:4294967295" fits kw_device_entry.name. */
#define KW_KEY_SIZE 32

/* A word that can be a key or a vendor: [a-z][a-z0-9_]*, shorter than KW_KEY_SIZE. */
bool kw_word_is_valid(const char *word);
/* Names with a meaning of their own in kw_device_open: no key may be called so. */
bool kw_word_is_policy(const char *word);

#endif /* KEYWAY_CORE_WORD_H */
