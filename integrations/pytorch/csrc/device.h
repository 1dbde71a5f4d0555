/* SPDX-License-Identifier: Apache-2.0
 *
 * Keyway's devices as the indices of PyTorch's private-use device, and what is current in a thread. Devices are only
 * ever added; they stay open until the process ends. Thread-safe.
 */
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Stream.h>
#include <keyway/keyway.h>

namespace torch_keyway {

constexpr c10::DeviceType device_type = c10::DeviceType::PrivateUse1;

/* Opens a device by its Keyway name and makes it the next index; opened before, it keeps its index. */
c10::DeviceIndex add_device(const char *name);
c10::DeviceIndex device_count() noexcept;
/* Has PyTorch make its threads for gradients now, for devices that are added later as well: it does so once in a
 * process, by the number of devices at that time. Without effect when they are there already. Not under the GIL. */
void start_autograd();
/* Takes a gradient on a device, through its thread for them, without a kernel. Throws where it has no such thread. Not
 * under the GIL. */
void pass_autograd(c10::DeviceIndex index);
/* Returns when the threads for gradients have let go of all that went through them: Python ends the process of a thread
 * that lets go of an object of its while it finishes. Not under the GIL. */
void end_autograd();
/* Whether this process was forked from one that had a device open: no device works here. */
bool in_bad_fork();
/* Throws for an index that is not there; -1 is the current device. */
kw_device *device_at(c10::DeviceIndex index);

c10::DeviceIndex current_device() noexcept;
/* Returns what was current before. Throws for an index that is not there. */
c10::DeviceIndex exchange_device(c10::DeviceIndex index);

/* A stream's id is 0 for the device's default stream, otherwise the address of Keyway's. */
kw_stream *stream_of(const c10::Stream &stream);
/* The calling thread's stream on a device; -1 is the current device. */
kw_stream *current_stream(c10::DeviceIndex index);
c10::Stream current_torch_stream(c10::DeviceIndex index);
/* Returns what was current on that stream's device before. */
c10::Stream exchange_stream(c10::Stream stream);
/* One of a few streams that a device's users share, in turns. */
c10::Stream pool_stream(c10::DeviceIndex index);
/* The one on which compiled functions are recorded, and nothing else happens. */
c10::Stream recording_stream(c10::DeviceIndex index);

}  // namespace torch_keyway
