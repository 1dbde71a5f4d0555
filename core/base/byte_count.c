/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading numbers of bytes.
 */
#include "base/byte_count.h"

#include "base/log.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

bool kw_byte_count_parse(const char *text, uint64_t *out_bytes) {
  static const struct {
    const char *name;
    unsigned shift;
  } units[] = {{"", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
  uint64_t count = 0;
  const char *at = text;
  for (; *at >= '0' && *at <= '9'; ++at) {
    const uint64_t digit = (uint64_t)(*at - '0');
    if (count > (UINT64_MAX - digit) / 10) return false;
    count = count * 10 + digit;
  }
  if (at == text) return false;
  for (size_t i = 0; i < sizeof units / sizeof units[0]; ++i) {
    if (strcmp(at, units[i].name) != 0) continue;
    if (count > UINT64_MAX >> units[i].shift) return false;
    *out_bytes = count << units[i].shift;
    return true;
  }
  return false;
}

uint64_t kw_byte_count_from_environment(const char *variable, uint64_t least, uint64_t otherwise) {
  const char *text = secure_getenv(variable);
  uint64_t bytes;
  if (text == NULL || text[0] == 0) return otherwise;
  if (kw_byte_count_parse(text, &bytes) && bytes >= least) return bytes;
  kw_log(KW_LOG_WARN,
         "%s=%s is not understood: a number of bytes from %" PRIu64
         " on, with KiB, MiB or GiB behind it or nothing. It is %" PRIu64 " now.",
         variable, text, least, otherwise);
  return otherwise;
}
