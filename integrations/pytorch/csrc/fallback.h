/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators that no op of Keyway serves: who decomposes them, what runs on the CPU instead, and how often it did.
 */
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

/* How often what ran on a CPU in place of a device, since the start: by PyTorch on its own CPU under the operator's
 * name, "aten::unique_dim", by Keyway on its cpu device under the op's, "relu". Thread-safe. */
std::map<std::string, uint64_t> fallback_counts();

}  // namespace torch_keyway
