/* SPDX-License-Identifier: Apache-2.0
 *
 * What a plugin and the libraries that it needs look at while the helper has it open, so that the probe cache knows on
 * what the facts may depend. The helper program has its own getenv, secure_getenv and opendir, which everything that is
 * loaded into it calls instead of the C library's: an executable's symbols come first.
 */
#ifndef KEYWAY_CORE_WATCH_H
#define KEYWAY_CORE_WATCH_H

#include <cJSON.h>

/* From here, and to there. */
void kw_watch_begin(void);
void kw_watch_end(void);

/* Names, each once; the caller's. */
cJSON *kw_watch_variables(void);
cJSON *kw_watch_folders(void);
cJSON *kw_watch_libraries(void);

#endif /* KEYWAY_CORE_WATCH_H */
