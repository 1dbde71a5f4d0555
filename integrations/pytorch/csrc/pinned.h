/* SPDX-License-Identifier: Apache-2.0
 *
 * Host memory for copies that are not waited for: a block that is freed stays until the copies it is used by have
 * passed. Thread-safe.
 */
#pragma once

#include <c10/core/Allocator.h>
#include <keyway/keyway.h>

namespace torch_keyway {

c10::Allocator *pinned_allocator();
/* Whether an address lies in a block of that allocator. */
bool is_pinned(const void *address);
/* Notes that work which `stream` has so far uses the block around an address. */
void use_pinned(const void *address, kw_stream *stream);

}  // namespace torch_keyway
