/* SPDX-License-Identifier: Apache-2.0
 *
 * Where plugins are looked for, and which files are refused before anything opens them.
 *
 * In this order: the directories of KEYWAY_PLUGIN_PATH, ~/.local/lib/keyway/plugins, keyway/plugins beside
 * libkeyway.so, /usr/local/lib/keyway/plugins, /usr/lib/keyway/plugins. Files named *.so, sorted by name. Never the
 * current directory.
 */
#ifndef KEYWAY_CORE_DISCOVER_H
#define KEYWAY_CORE_DISCOVER_H

#include "plugin/trust.h"

#include <keyway/keyway.h>

/* A file, or a place that should have held some. */
typedef struct kw_candidate {
  char *path; /* absolute, symbolic links resolved where it exists */
  uint64_t device;
  uint64_t inode; /* 0: no file */
  uint64_t size;
  uint64_t mtime_ns;
  uint64_t ctime_ns;
  bool vouched;        /* the caller named it: unsafe permissions are a warning, and it is never in quarantine */
  bool helper_library; /* a library beside plugins: no plugin, and nothing is wrong with it */
  kw_status status;    /* KW_OK: may be opened */
  char reason[512];    /* why not; or a warning when status is KW_OK */
  char trust[KW_TRUST_TEXT_SIZE]; /* by which rules it is allowed; "" where no list is in force (trust.h) */
} kw_candidate;

typedef struct kw_candidates {
  kw_candidate *items;
  uint32_t count;
} kw_candidates;

/* All candidates, each file once. KW_ERR_OUT_OF_MEMORY when memory or files are short: another try may do better, and
 * forgets this one. Called when the library starts, until it succeeds. */
kw_status kw_discover(kw_candidates *out_candidates);
/* What the search that succeeded went through. */
uint32_t kw_discover_directory_count(void);
const kw_plugin_directory *kw_discover_directory(uint32_t index); /* NULL when there is none */

void kw_candidates_free(kw_candidates *candidates);

/* One file. `vouched`: see kw_candidate. *out_candidate is set on KW_OK only, and its
 * path is the caller's to free; a file that must not be opened is KW_OK with candidate.status set. KW_ERR_NOT_FOUND
 * when there is nothing of that name, KW_ERR_OUT_OF_MEMORY when memory or files are short. */
kw_status kw_candidate_examine(const char *path, bool vouched, kw_candidate *out_candidate);

/* Right before the file is opened: whether lists of trust, where there are some, still allow what it is now.
 * KW_ERR_PERMISSION with the reason, or what kept the file from being looked at. */
kw_status kw_candidate_confirm(const char *path);

/* The directory that holds keyway/plugins and keyway/keyway-probe: libkeyway.so's own, or ../lib seen from a program
 * that contains the library. Lives as long as the process; "" when it cannot be told. NULL with an error when memory or
 * files are short. */
const char *kw_library_directory(void);

#endif /* KEYWAY_CORE_DISCOVER_H */
