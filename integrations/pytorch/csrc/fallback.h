/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace torch_keyway {

/* `function` registers a kernel for an operator, made of others, or answers false. Set before the first call. */
void set_decompose(std::function<bool(const std::string &)> function);

/* An operator's decomposition is none: it is not asked for any more. */
void forget_decomposition(const std::string &name);

/* Runs an operator on PyTorch's CPU, copying to and fro; counted, and said once if the setting is `warn`. Whether it is
 * allowed is the caller's business. */
void run_on_cpu(const c10::OperatorHandle &handle, torch::jit::Stack *stack);

/* How often PyTorch's CPU has run what operator for a device, since the start or the last reset. Thread-safe. */
std::map<std::string, uint64_t> fallback_counts();
void reset_fallback_counts();

}  // namespace torch_keyway
