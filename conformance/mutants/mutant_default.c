/* SPDX-License-Identifier: Apache-2.0
 *
 * A default stream that is one like the others.
 */
#include "mutant_default.h"

#include <stdatomic.h>

static void *_Atomic default_stream; /* of the one device that the mutant has */

void *kw_mutant_default(void) {
  return atomic_load(&default_stream);
}

static kw_status create(void *device, const kw_stream_info *info, void **out_stream) {
  kw_stream_info like_others = *info;
  like_others.flags &= ~KW_STREAM_DEFAULT;
  const kw_status status = kw_mutant_real.stream.create(device, &like_others, out_stream);
  if (status == KW_OK && (info->flags & KW_STREAM_DEFAULT)) atomic_store(&default_stream, *out_stream);
  return status;
}

static kw_status destroy(void *device, void *stream) {
  void *same = stream;
  atomic_compare_exchange_strong(&default_stream, &same, NULL);
  return kw_mutant_real.stream.destroy(device, stream);
}

void kw_mutant_queue_default(kw_mutant *mutant) {
  mutant->stream.create = create;
  mutant->stream.destroy = destroy;
}
