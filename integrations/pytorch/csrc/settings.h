/* SPDX-License-Identifier: Apache-2.0
 *
 * PyTorch's settings of how exactly to compute, as Keyway's.
 */
#pragma once

namespace torch_keyway {

/* Before a call: torch.use_deterministic_algorithms (unless it only warns) lets in deterministic kernels only, and,
 * where the op `adds_products`, torch.set_float32_matmul_precision is the math mode: "high" is tf32, "medium" fast.
 * Where PyTorch's settings are as at its start, KEYWAY_MATH and KEYWAY_DETERMINISTIC hold. */
void follow_settings(bool adds_products);

}  // namespace torch_keyway
