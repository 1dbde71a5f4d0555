/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of plugins' names, as environment variables have them: "opencl,acme.npu", or "-opencl,-acme.npu".
 */
#ifndef KEYWAY_CORE_NAMED_H
#define KEYWAY_CORE_NAMED_H

#include <stdbool.h>

/* Whether the list (NULL: none) has, after `sign`, the name of the plugin's file, with or without "keyway_" or "lib"
 * in front and ".so" behind. */
bool kw_list_names_file(const char *list, const char *sign, const char *path);
/* The same of its key or vendor.key. */
bool kw_list_names_key(const char *list, const char *sign, const char *vendor, const char *key);

#endif /* KEYWAY_CORE_NAMED_H */
