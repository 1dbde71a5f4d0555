/* SPDX-License-Identifier: Apache-2.0
 *
 * A compiled function for inputs of given shapes: recorded once, then run by copying its inputs, launching a graph and
 * handing out its results, with no operator called.
 */
#pragma once

#include "graph.h"
#include "tensor.h"

#include <ATen/core/ivalue.h>
#include <c10/core/Storage.h>
#include <c10/core/Stream.h>
#include <c10/util/SmallVector.h>

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace torch_keyway {

/* Whether a tensor's memory is expected to be the same at the next run: it was an input that a Replay reads where it
 * lies, or is a result that one keeps. */
bool is_lasting(const at::Tensor &tensor);

class Replay {
 public:
  using Values = std::vector<c10::IValue>; /* tensors, numbers, nothing */

  /* Makes the inputs to record with. Those in `lasting` are read, and written, where they lie, and the Replay serves
   * no others; the others are copied into tensors of its own at each run. The lock is shared by all that use each
   * other's kept results. */
  Replay(std::shared_ptr<std::mutex> lock, const Values &given, const std::vector<size_t> &lasting);
  ~Replay();

  Values inputs() const;

  /* The calling thread records between them. `written`: inputs that the function changes. Results from `kept_from` on
   * are kept: the next run writes them to the same memory, and what a caller still holds of them by then moves to
   * memory of its own. The others are new tensors at each run. */
  void begin();
  void abandon();
  void end(const Values &results, const std::vector<size_t> &written, size_t kept_from);

  /* Nothing where the Replay is not for these inputs, this stream or these settings. */
  std::optional<Values> run(const Values &given);

 private:
  struct Input {
    c10::IValue value; /* a number to be equal to; until the recording has ended, the tensor to record with */
    bool is_tensor = false, in_place = false, written = false;
    at::ScalarType type{};
    c10::SmallVector<int64_t, 5> sizes, strides;
    const c10::StorageImpl *lasting = nullptr; /* of one in place, which may be gone */
    bool whole = false;                        /* copied as a stretch of bytes, not element by element */
    size_t size = 0;                           /* of the stretch */
    kw_mem mem = nullptr;
    uint64_t offset = 0;
    Handle view; /* of the Replay's own tensor: of the stretch, or of the elements */
  };
  /* Memory of the graph's that results lie in. */
  struct Memory {
    c10::Storage storage; /* that it is or was copied into, as a caller has it */
    size_t size;
    Handle bytes;
  };
  struct Result {
    enum { constant, input, view_of_input, kept, copied } kind;
    c10::IValue value; /* of a constant */
    size_t index = 0;  /* of the input, or in kept_ */
    at::ScalarType type{};
    c10::SmallVector<int64_t, 5> sizes, strides;
    int64_t offset = 0; /* in elements; for a view of an input beyond that one's */
  };

  Input make_input(const c10::IValue &value, bool in_place) const;
  Result make_result(const c10::IValue &value, bool is_kept);
  static size_t find_memory(std::vector<Memory> &all, const c10::Storage &storage);
  bool fits(const Input &input, const c10::IValue &value) const;
  void copy_in(const Input &input, const at::Tensor &given, bool back) const;
  void hand_over(Memory &kept);
  void copy_out(Memory &copied) const;
  c10::IValue give(const Result &result, const Values &given) const;

  std::shared_ptr<std::mutex> lock_;
  c10::DeviceIndex index_ = -1;
  kw_stream *stream_;
  kw_math_mode math_;
  bool deterministic_;
  std::vector<Input> inputs_;
  std::vector<Result> results_;
  std::vector<Memory> kept_, copied_;
  std::optional<Recorder> recorder_;
  std::optional<c10::Stream> before_; /* the stream that was current before the recording */
  kw_graph *graph_ = nullptr;
};

}  // namespace torch_keyway
