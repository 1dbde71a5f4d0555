/* SPDX-License-Identifier: Apache-2.0
 *
 * Keyway's failures as PyTorch's exceptions.
 */
#pragma once

#include <keyway/keyway.h>

namespace torch_keyway {

/* Throws what `status` means in PyTorch, with the text of the calling thread's last failure: OutOfMemoryError,
 * NotImplementedError, or a RuntimeError. */
[[noreturn]] void fail(kw_status status);

inline void check(kw_status status) {
  if (__builtin_expect(status != KW_OK, 0)) fail(status);
}

}  // namespace torch_keyway
