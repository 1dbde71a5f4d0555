/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening a file or a folder so that no other user can have put it there: the path is walked step by step by
 * descriptors, and every folder in which a name was looked up is looked at, those of symbolic links as well. A folder
 * that only this user and root may write keeps its names, so that what was examined is what the path still names.
 *
 * Unsafe is what everyone may write (but for a folder with the sticky bit, where names of others cannot be changed),
 * what a group may write that is not this user's own, and what belongs to somebody else than this user or root. The
 * folder of libkeyway.so and those above it are not asked: who may change them may change the library itself.
 */
#ifndef KEYWAY_CORE_SAFE_PATH_H
#define KEYWAY_CORE_SAFE_PATH_H

#include <keyway/types.h>

#include <limits.h>
#include <stdbool.h>
#include <sys/stat.h>

/* What a path names. */
typedef struct kw_safe_path {
  char path[PATH_MAX]; /* absolute, without symbolic links */
  struct stat info;
  int file;  /* the descriptor, O_RDONLY, of a regular file or a folder; -1 of anything else. Closed by the caller */
  int error; /* the errno of opening it, where that failed and all else went well; 0 otherwise */
  char danger[400]; /* what is unsafe about it; "" when nothing is */
  bool is_roots;    /* all on the way belongs to root, and neither a group nor everyone may write it */
} kw_safe_path;

/* KW_ERR_NOT_FOUND when there is nothing of that name, KW_ERR_OUT_OF_MEMORY when memory or files are short, KW_ERR_IO
 * otherwise; *out_found is set on KW_OK only. `trusted_folder`: this folder and those above it are safe; "" for none.
 */
kw_status kw_safe_path_open(const char *path, const char *trusted_folder, kw_safe_path *out_found);

#endif /* KEYWAY_CORE_SAFE_PATH_H */
