/* SPDX-License-Identifier: Apache-2.0
 *
 * "-opencl,-acme.npu" leaves two out; an element without '-' is not understood, which `keyway doctor` says.
 */
#include "plugin/left_out.h"

#include "plugin/named.h"

#include <stdlib.h>

bool kw_plugin_file_is_left_out(const char *path) {
  return kw_list_names_file(secure_getenv("KEYWAY_PLUGINS"), "-", path);
}

bool kw_plugin_key_is_left_out(const char *vendor, const char *key) {
  return kw_list_names_key(secure_getenv("KEYWAY_PLUGINS"), "-", vendor, key);
}
