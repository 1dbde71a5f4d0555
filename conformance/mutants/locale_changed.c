/* SPDX-License-Identifier: Apache-2.0
 *
 * Creating a stream sets the locale.
 */
#include "mutant.h"

#include <locale.h>

static kw_status create(void *device, const kw_stream_info *info, void **out_stream) {
  setlocale(LC_ALL, "C.UTF-8");
  return kw_mutant_real.stream.create(device, info, out_stream);
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->stream.create = create;
}
