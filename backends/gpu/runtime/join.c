/* SPDX-License-Identifier: Apache-2.0
 *
 * A program's sources as one text, which NVRTC and hipRTC want.
 */
#include "runtime.h"

#include <stdlib.h>
#include <string.h>

char *kw_rt_join(const char *const *sources, uint32_t count) {
  size_t size = 1, used = 0;
  for (uint32_t i = 0; i < count; ++i) size += strlen(sources[i]);
  char *text = malloc(size);
  if (!text) return NULL;
  for (uint32_t i = 0; i < count; ++i) {
    size_t length = strlen(sources[i]);
    memcpy(text + used, sources[i], length);
    used += length;
  }
  text[used] = '\0';
  return text;
}
