/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the suite's own files lie.
 */
#ifndef KEYWAY_CONFORMANCE_INSTALLED_H
#define KEYWAY_CONFORMANCE_INSTALLED_H

#include <stdbool.h>
#include <stddef.h>

/* <directory of the program>/../lib/keyway/NAME, or the same under the installation's library directory. False when
 * there is none that access() grants in `mode`. */
bool kw_installed_find(const char *name, int mode, char *out_path, size_t size);

#endif /* KEYWAY_CONFORMANCE_INSTALLED_H */
