/* SPDX-License-Identifier: Apache-2.0
 *
 * Collectives by the vendor's own library, from device to device: NCCL, and RCCL, which has its names. Opened when a
 * group first calls one. Not tested on hardware; tested with a library of these names on an emulated device. Sends and
 * receives go by the host: on one stream two ranks that send to each other first would wait for each other.
 */
#pragma once

#include <keyway/keyway.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <memory>

namespace torch_keyway {

struct VendorLibrary;

/* One rank's part in a group. `host` carries what the ranks have to tell each other before the first call. */
class VendorCollectives {
 public:
  explicit VendorCollectives(const c10::intrusive_ptr<c10d::Backend> &host) : host_(host) {}
  VendorCollectives(const VendorCollectives &) = delete;
  ~VendorCollectives();

  /* Whether a library is for the tensor: by its device's vendor, its dtype and the reduction, if any. Every rank comes
   * to the same answer where all have devices of one vendor. */
  static bool serves(const at::Tensor &tensor);
  static bool serves(const at::Tensor &tensor, const c10d::ReduceOp &op);

  /* These enqueue on `stream`, whose device has current what they were given: contiguous memory that is there until the
   * stream has passed. In one thread at a time, in the same order on every rank. They throw DistBackendError. */
  void all_reduce(const at::Tensor &like, void *data, const c10d::ReduceOp &op, kw_stream *stream);
  void broadcast(const at::Tensor &like, void *data, int root, kw_stream *stream);
  void reduce(const at::Tensor &like, void *data, const c10d::ReduceOp &op, int root, kw_stream *stream);
  void all_gather(const at::Tensor &one, const void *from, void *to, kw_stream *stream);
  void reduce_scatter(const at::Tensor &one, const void *from, void *to, const c10d::ReduceOp &op, kw_stream *stream);

 private:
  /* Of the group on this device, made at the first call. */
  void *communicator(const at::Tensor &like);
  void check(int result, const char *what) const;

  c10::intrusive_ptr<c10d::Backend> host_;
  const VendorLibrary *library_ = nullptr;
  void *communicator_ = nullptr;
  c10::DeviceIndex index_ = -1;
};

}  // namespace torch_keyway
