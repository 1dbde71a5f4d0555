/* SPDX-License-Identifier: Apache-2.0
 *
 * KEYWAY_PLUGINS: which plugins this process goes without.
 */
#ifndef KEYWAY_CORE_LEFT_OUT_H
#define KEYWAY_CORE_LEFT_OUT_H

#include <stdbool.h>

/* Whether KEYWAY_PLUGINS leaves a plugin out by the name of its file, without .so and without a leading "keyway_" or
 * "lib" if one likes; before it is opened. */
bool kw_plugin_file_is_left_out(const char *path);

/* By its key or vendor.key. */
bool kw_plugin_key_is_left_out(const char *vendor, const char *key);

#endif /* KEYWAY_CORE_LEFT_OUT_H */
