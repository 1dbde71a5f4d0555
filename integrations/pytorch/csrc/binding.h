/* SPDX-License-Identifier: Apache-2.0
 *
 * How an operator of PyTorch is served by an op of Keyway: found once by name and schema, then called boxed, or for the
 * commonest signatures with the arguments as they are.
 */
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/util/SmallVector.h>
#include <keyway/keyway.h>

#include <memory>
#include <vector>

namespace torch_keyway {

/* An argument of the op. */
struct Argument {
  int from; /* the operator's argument that it is, or -1: `absent` */
  kw_tag tag;
  bool mutated;
  kw_value absent;        /* the schema's default, or none */
  const kw_op *scalar_op; /* the op that takes a number in this tensor's place, or NULL */
};

struct Binding final : c10::OperatorKernel {
  const kw_op *op = nullptr;
  std::vector<Argument> arguments;
  unsigned result_count = 0; /* of the op, without a count */
  /* By the operator's results: the argument that it is, or -1 for a new tensor. The op changes that argument itself, or
   * else (out= and in-place variants) what the op has made is `written` to it. */
  std::vector<int> targets;
  bool written = false;
  bool pointwise = false;    /* the op may write where it reads, element by element (kw_op_info) */
  bool by_elements = false;  /* a new result lies as the arguments do */
  bool keeps_order = false;  /* the same, and all its results are new */
  bool keeps_format = false; /* its results are channels_last where the first argument is */
  /* When its results lie as those of fake tensors, by a rule of the operator's own. */
  enum class Rule { none, for_images, for_turned, always } rule = Rule::none;
  bool adds_products = false; /* math modes are about the op */
  int dtype = -1;             /* the op's argument that says the dtype of its result */
  int device = -1;            /* the operator's argument that names the device */

  /* The op on an operator's arguments; its results go behind those in `returned`. False: it is not defined for these,
   * and the call is the CPU's (run_on_cpu). */
  bool call(const c10::OperatorHandle &handle, c10::ArrayRef<c10::IValue> values,
            c10::SmallVectorImpl<at::Tensor> &returned);

  /* The boxed kernel. */
  void operator()(const c10::OperatorHandle &handle, c10::DispatchKeySet keys, torch::jit::Stack *stack);
};

/* Registers a kernel for every operator that an op of Keyway serves, and defines the ops that PyTorch lacks, as
 * torch.ops.NAMESPACE.NAME. Once more after a plugin was loaded: what is there already stays. */
void register_ops();

/* The same for one operator without a kernel, which was defined since: torchvision's, imported after `register`. False
 * when no op serves it. */
bool register_late(const c10::OperatorHandle &handle);

}  // namespace torch_keyway
