/* SPDX-License-Identifier: Apache-2.0
 *
 * Lists of the plugins that may be opened (docs/security.md): the machine's, /etc/keyway/trust, which root alone can
 * have written, and the one that KEYWAY_TRUST names. Without a list all may; with two, both have to allow a file, so
 * that the environment can only take away. Read once in a process.
 */
#ifndef KEYWAY_CORE_TRUST_H
#define KEYWAY_CORE_TRUST_H

#include "plugin/safe_path.h"

#include <keyway/keyway.h>

#define KW_TRUST_MACHINE_FILE "/etc/keyway/trust"
#define KW_TRUST_TEXT_SIZE 512

/* Reads the lists, unless they have been read. KW_ERR_OUT_OF_MEMORY when memory or files are short: the next call tries
 * again. A list that cannot be read or understood allows nothing, and is KW_OK. Any thread, as all functions here. */
kw_status kw_trust_start(void);

/* The lists that are in force. */
uint32_t kw_trust_file_count(void);
const kw_trust_file *kw_trust_file_at(uint32_t index);

/* Whether all lists allow the file that was found. KW_OK: `text` says by which rules, "" without a list;
 * KW_ERR_PERMISSION: it says why not, and what would allow it; KW_ERR_OUT_OF_MEMORY, KW_ERR_IO: why that is not known.
 */
kw_status kw_trust_judge(const kw_safe_path *found, char text[KW_TRUST_TEXT_SIZE]);

#endif /* KEYWAY_CORE_TRUST_H */
