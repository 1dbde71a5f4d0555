/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <keyway/keyway.h>

#include <optional>

namespace torch_keyway {

/* What casts the arguments of operators that `op` serves, while autocast is on; nothing where they stay as they are. */
std::optional<c10::BoxedKernel> autocast_kernel(const kw_op *op);

}  // namespace torch_keyway
