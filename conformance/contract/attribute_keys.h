/* SPDX-License-Identifier: Apache-2.0
 *
 * The keys of attributes that a plugin may know.
 */
#ifndef KEYWAY_CONTRACT_ATTRIBUTE_KEYS_H
#define KEYWAY_CONTRACT_ATTRIBUTE_KEYS_H

#include <stdint.h>

/* Those of KW_ATTRIBUTE_LIST, and each text in the plugin's file that has the form of a vendor's own, which no list
 * names: "com.acme.serial". Most of these are none, and are KW_ERR_NOT_FOUND. Kept until the process ends. */
typedef struct kw_attribute_keys {
  const char **keys;
  uint32_t count;
} kw_attribute_keys;
kw_attribute_keys kw_attribute_keys_find(void);

#endif /* KEYWAY_CONTRACT_ATTRIBUTE_KEYS_H */
