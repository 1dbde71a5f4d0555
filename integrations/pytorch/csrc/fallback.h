/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace torch_keyway {

/* `function` registers a kernel for an operator, made of others, or answers false. Set before the first call. */
void set_decompose(std::function<bool(const std::string &)> function);

/* How often PyTorch's CPU has run what operator for a device, since the start or the last reset. Thread-safe. */
std::map<std::string, uint64_t> fallback_counts();
void reset_fallback_counts();

}  // namespace torch_keyway
