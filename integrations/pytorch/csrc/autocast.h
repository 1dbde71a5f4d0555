/* SPDX-License-Identifier: Apache-2.0
 *
 * Casts under torch.autocast: the kernel that makes an operator's arguments of the dtype that Keyway's table says.
 */
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <keyway/keyway.h>

#include <optional>

namespace torch_keyway {

/* What casts the arguments of operators that `op` serves, while autocast is on; nothing where they stay as they are. */
std::optional<c10::BoxedKernel> autocast_kernel(const kw_op *op);

}  // namespace torch_keyway
