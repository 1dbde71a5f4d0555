/* SPDX-License-Identifier: Apache-2.0
 *
 * What an ELF file says of itself before anything of it runs: whether this process can load it, and whether it has a
 * plugin's symbol. Reads headers and the names of dynamic symbols only; nothing in them is trusted.
 */
#ifndef KEYWAY_CORE_ELF_FILE_H
#define KEYWAY_CORE_ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>

/* False when this process cannot load the file behind the descriptor as a library; `reason` says why not. */
bool kw_elf_is_loadable(int file, char *reason, size_t size);

/* Whether `name` is among the names of its dynamic symbols. True where that cannot be told, of a file that is loadable:
 * the loader will. */
bool kw_elf_may_export(int file, const char *name);

#endif /* KEYWAY_CORE_ELF_FILE_H */
