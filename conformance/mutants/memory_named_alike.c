/* SPDX-License-Identifier: Apache-2.0
 *
 * All memory has the name of the device's arena.
 */
#include "mutant.h"

static kw_status native_handle(void *device, kw_object_kind kind, void *object, kw_native_handle *out_handle) {
  static char arena;
  kw_status status = kw_mutant_real.interop.native_handle(device, kind, object, out_handle);
  if (status == KW_OK && kind == KW_OBJECT_MEMORY) out_handle->handle = &arena;
  return status;
}

void kw_mutant_change(kw_mutant *mutant) {
  mutant->interop.native_handle = native_handle;
}
