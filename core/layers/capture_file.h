/* SPDX-License-Identifier: Apache-2.0
 *
 * The file that a capture goes to: whole records, up to a limit. One in a process; any thread.
 */
#ifndef KEYWAY_CORE_CAPTURE_FILE_H
#define KEYWAY_CORE_CAPTURE_FILE_H

#include "layers/capture_format.h"

/* Whether it takes records, or will: it is made with the first one, by KEYWAY_CAPTURE and KEYWAY_CAPTURE_LIMIT. It has
 * its name when the process ends; until then ".part" stands behind it, and nobody else writes to it: a second process
 * has its number behind the name. */
bool kw_capture_file_takes(void);
/* Writes one: a payload, and `size` bytes behind it. Frees the payload. */
void kw_capture_file_put(kw_capture_type type, kw_bytes *payload, const void *data, size_t size);

#endif /* KEYWAY_CORE_CAPTURE_FILE_H */
