/* SPDX-License-Identifier: Apache-2.0
 *
 * Keyway's devices in torch.distributed.
 */
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>

namespace torch_keyway {

/* A backend for tensors of Keyway's devices, whose bytes `host`, a backend for CPU tensors, carries. Nobody else may
 * use `host` then: its calls have to be the same ones in the same order on every rank. `by_vendor`, the same on all
 * ranks: what the vendor's library of collectives does goes by that (vendor_collectives.h). */
c10::intrusive_ptr<c10d::Backend> make_staged_backend(const c10::intrusive_ptr<c10d::Backend> &host, bool by_vendor);
/* Before Python ends: from here on no thread of such a backend does anything. What was not waited for is left undone.
 */
void end_staging();

}  // namespace torch_keyway
