/* SPDX-License-Identifier: Apache-2.0
 *
 * Tensors between processes: the memory of a storage named by bytes that another process of the same user turns into a
 * tensor on the same memory.
 */
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace torch_keyway {

/* Names the memory of a tensor's storage. It is moved first to where other processes may reach it, unless it is there
 * already; all tensors of the storage go along. Waits until what was enqueued on the device has been done. The bytes
 * hold while the storage lives. Throws where the device has no such memory. */
std::string share(const at::Tensor &tensor);
/* A tensor u8[size] on memory that `share` named in another process, for a device of the same name. */
at::Tensor attach(c10::DeviceIndex index, const std::string &bytes);

}  // namespace torch_keyway
