/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening a plugin in a helper process first, so that a crash or a hang is the helper's.
 *
 * The helper, keyway-probe FILE, writes one line per fact to KW_PROBE_FD, each flushed at once, so that the last stage
 * it reached is known however it ends. A line is "word text\n":
 *
 *     reached N      kw_stage N has succeeded
 *     abi N          and key, vendor, version, description, build, sanitizer: the query's answer
 *     remark TEXT    loads, but ...
 *     status N       the final verdict, with reason TEXT when not KW_OK
 *     end            nothing follows
 */
#ifndef KEYWAY_CORE_PROBE_H
#define KEYWAY_CORE_PROBE_H

#include "plugin/negotiate.h"

#define KW_PROBE_FD 3
#define KW_PROBE_PROGRAM "keyway-probe"

typedef struct kw_probe_result {
  kw_stage reached;
  kw_status status; /* KW_OK when reached == KW_STAGE_PROBE */
  uint32_t abi_version;
  char reason[1024]; /* why not; or a remark when status is KW_OK */
  bool starved;      /* the helper did not start for want of memory, files or processes */
  char key[KW_KEY_SIZE];
  char vendor[KW_KEY_SIZE];
  char version[256];
  char description[256];
  char build[256];
  char sanitizer[64];
} kw_probe_result;

/* Runs `helper` on `path` and waits for its verdict, KEYWAY_PROBE_TIMEOUT_MS at most. Never fails: what goes wrong is
 * in the result. */
void kw_probe_run(const char *helper, const char *path, kw_probe_result *out_result);

#endif /* KEYWAY_CORE_PROBE_H */
