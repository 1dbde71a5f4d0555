/* SPDX-License-Identifier: Apache-2.0
 *
 * The folder in which the library keeps what it learns of plugins from one process to the next: $XDG_CACHE_HOME/keyway,
 * or ~/.cache/keyway; none in a program with raised privileges or without a home, nor where other users may write.
 */
#ifndef KEYWAY_CORE_CACHE_FOLDER_H
#define KEYWAY_CORE_CACHE_FOLDER_H

#include <stdbool.h>

/* A descriptor of the folder, or with `below` of that folder in it, for openat and the like; made if need be. -1 where
 * there is none, which is logged once where somebody could change that. */
int kw_cache_folder_open(const char *below);

/* A whole new file under another name first: readers see the old one or the new one. */
bool kw_cache_file_write(int folder, const char *name, const char *text);

/* The file's bytes, NUL-terminated, for free(); NULL when there is none that only this user can have written, or larger
 * than `limit`. */
char *kw_cache_file_read(int folder, const char *name, long limit);

#endif /* KEYWAY_CORE_CACHE_FOLDER_H */
