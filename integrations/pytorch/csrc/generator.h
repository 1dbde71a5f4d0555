/* SPDX-License-Identifier: Apache-2.0
 *
 * PyTorch's generators over Keyway's: an algorithm, a seed and an offset, owned by the host.
 */
#pragma once

#include <ATen/core/Generator.h>
#include <keyway/keyway.h>

namespace torch_keyway {

/* A device's own, which random ops use when none is given. */
const at::Generator &default_generator(c10::DeviceIndex index);
at::Generator new_generator(c10::DeviceIndex index);
/* Throws when the generator is of another device. */
kw_generator *generator_of(const at::Generator &generator);

}  // namespace torch_keyway
