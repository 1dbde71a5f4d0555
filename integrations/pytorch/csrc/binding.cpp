/* SPDX-License-Identifier: Apache-2.0
 *
 * Finds, by name and schema, the operators that each op of Keyway serves, and registers a kernel for them.
 */
#include "autocast.h"
#include "binding.h"
#include "fallback.h"
#include "status.h"

#include <torch/library.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <unordered_map>

namespace torch_keyway {

namespace {

/* ---- Keyway's ops ------------------------------------------------------------------------------------------------ */

struct Op {
  const kw_op *op;
  std::string name; /* "add.Tensor", "acme::scaled_add" */
  std::vector<kw_arg_info> args;
  kw_op_info info;
};

/* "ns::name.overload" as its parts; ATen's ops have no namespace in Keyway. */
struct Name {
  std::string space, base, overload;
};

Name split(const std::string &name) {
  const size_t colons = name.find("::");
  const std::string rest = colons == std::string::npos ? name : name.substr(colons + 2);
  const size_t dot = rest.find('.');
  return {colons == std::string::npos ? "aten" : name.substr(0, colons), rest.substr(0, dot),
          dot == std::string::npos ? "" : rest.substr(dot + 1)};
}

/* By "ns::base". */
std::multimap<std::string, Op> list_ops() {
  std::multimap<std::string, Op> ops;
  for (uint32_t i = 0; i < kw_op_count(); ++i) {
    Op op{kw_op_at(i), {}, {}, {}};
    op.info.struct_size = sizeof op.info;
    check(kw_op_get_info(op.op, &op.info));
    op.name = op.info.name;
    for (uint32_t a = 0; a < op.info.arg_count; ++a) {
      kw_arg_info arg{};
      arg.struct_size = sizeof arg;
      check(kw_op_get_arg(op.op, a, &arg));
      op.args.push_back(arg);
    }
    const Name name = split(op.name);
    ops.emplace(name.space + "::" + name.base, std::move(op));
  }
  return ops;
}

/* ---- Schemas ----------------------------------------------------------------------------------------------------- */

/* The tag of what an operator's argument holds when it is given; KW_TAG_NONE for what ops never take. */
kw_tag tag_of(const c10::TypePtr &type) {
  switch (type->kind()) {
    case c10::TypeKind::OptionalType:
      return tag_of(type->castRaw<c10::OptionalType>()->getElementType());
    case c10::TypeKind::TensorType:
      return KW_TAG_TENSOR;
    case c10::TypeKind::IntType:
    case c10::TypeKind::SymIntType:
      return KW_TAG_INT;
    case c10::TypeKind::FloatType:
      return KW_TAG_FLOAT;
    case c10::TypeKind::BoolType:
      return KW_TAG_BOOL;
    case c10::TypeKind::StringType:
      return KW_TAG_STRING;
    case c10::TypeKind::NumberType:
      return KW_TAG_SCALAR;
    case c10::TypeKind::ScalarTypeType:
      return KW_TAG_DTYPE;
    case c10::TypeKind::GeneratorType:
      return KW_TAG_GENERATOR;
    case c10::TypeKind::ListType:
      switch (tag_of(type->castRaw<c10::ListType>()->getElementType())) {
        case KW_TAG_TENSOR:
          return KW_TAG_TENSOR_LIST;
        case KW_TAG_INT:
        case KW_TAG_BOOL:
          return KW_TAG_INT_LIST;
        default:
          return KW_TAG_NONE;
      }
    default:
      return KW_TAG_NONE;
  }
}

/* Says where a result lies or how it comes about, not what it is. */
bool is_option(const c10::Argument &argument) {
  static const std::set<std::string> names{"layout", "device", "pin_memory", "memory_format", "non_blocking", "unsafe"};
  return names.count(argument.name()) > 0;
}

/* By the operator's results: the argument that it is, or -1. */
std::vector<int> find_targets(const c10::FunctionSchema &schema) {
  std::vector<int> targets;
  for (const c10::Argument &result : schema.returns()) {
    const auto *alias = result.alias_info();
    int target = -1;
    for (size_t i = 0; alias != nullptr && alias->isWrite() && i < schema.arguments().size(); ++i) {
      const auto *mark = schema.arguments()[i].alias_info();
      if (mark != nullptr && mark->beforeSets() == alias->beforeSets()) target = static_cast<int>(i);
    }
    targets.push_back(target);
  }
  return targets;
}

/* Whether the op has every argument of the operator, under its name; the rest of the op's may be left out. */
bool match(const Op &op, const c10::FunctionSchema &schema, std::vector<Argument> *out) {
  std::set<std::string> used;
  out->clear();
  for (const kw_arg_info &arg : op.args) {
    int from = -1;
    for (size_t i = 0; i < schema.arguments().size(); ++i) {
      const c10::Argument &candidate = schema.arguments()[i];
      if (candidate.name() == arg.name && tag_of(candidate.real_type()) == arg.tag) from = static_cast<int>(i);
    }
    if (from < 0 && (arg.flags & (KW_ARG_OPTIONAL | KW_ARG_HAS_DEFAULT)) == 0) return false;
    if (from >= 0) used.insert(arg.name);
    out->push_back({from, arg.tag, (arg.flags & KW_ARG_MUTATED) != 0, arg.default_value, nullptr});
  }
  return std::all_of(schema.arguments().begin(), schema.arguments().end(), [&](const c10::Argument &argument) {
    return argument.is_out() || used.count(argument.name()) > 0 || is_option(argument);
  });
}

/* The op that differs in nothing but a Scalar where this one has the tensor argument `index`. */
const kw_op *find_scalar_op(const std::multimap<std::string, Op> &ops, const std::string &key, const Op &op,
                            size_t index) {
  const auto [first, last] = ops.equal_range(key);
  for (auto other = first; other != last; ++other) {
    const std::vector<kw_arg_info> &args = other->second.args;
    bool same = args.size() == op.args.size();
    for (size_t i = 0; same && i < args.size(); ++i) {
      same = std::string(args[i].name) == op.args[i].name &&
             args[i].tag == (i == index ? static_cast<kw_tag>(KW_TAG_SCALAR) : op.args[i].tag);
    }
    if (same) return other->second.op;
  }
  return nullptr;
}

/* Operators that have another name in Keyway. */
const std::map<std::string, std::string> &other_names() {
  static const std::map<std::string, std::string> names{
      {"aten::convolution_overrideable", "aten::convolution"},
      {"aten::convolution_backward_overrideable", "aten::convolution_backward"},
      {"aten::_index_put_impl", "aten::index_put"},
      {"aten::_embedding_bag_forward_only", "aten::_embedding_bag"},
      {"aten::clamp_min", "aten::clamp"},
      {"aten::clamp_max", "aten::clamp"},
  };
  return names;
}

/* See kw_math_mode. */
bool adds_products(const std::string &op) {
  static const std::set<std::string> ops{"mm", "bmm", "addmm", "convolution", "convolution_backward"};
  return ops.count(op) > 0;
}

/* Whose results lie by rules of their own: see Binding::Rule. */
Binding::Rule rule_of(const std::string &op) {
  using Rule = Binding::Rule;
  static const std::map<std::string, Rule> rules{
      {"_fft_c2c", Rule::always},
      {"_fft_c2r", Rule::always},
      {"_fft_r2c", Rule::always},
      {"_native_batch_norm_legit", Rule::for_turned},
      {"_native_batch_norm_legit_no_training", Rule::for_turned},
      {"cat", Rule::for_images},
      {"constant_pad_nd", Rule::for_images},
      {"max_pool2d_with_indices_backward", Rule::for_images},
      {"max_pool3d_with_indices", Rule::for_images},
      {"native_batch_norm", Rule::for_turned},
      {"pixel_shuffle", Rule::for_images},
      {"pixel_unshuffle", Rule::for_images},
      {"reflection_pad2d", Rule::for_images},
      {"reflection_pad3d", Rule::for_images},
      {"replication_pad2d", Rule::for_images},
      {"replication_pad3d", Rule::for_images},
      {"stack", Rule::for_images},
      {"upsample_nearest3d", Rule::for_images},
      {"upsample_trilinear3d", Rule::for_images},
      {"_unsafe_masked_index_put_accumulate", Rule::for_turned},
      {"binary_cross_entropy_with_logits", Rule::for_turned},
      {"flip", Rule::for_turned},
      {"glu", Rule::for_turned},
      {"huber_loss", Rule::for_turned},
      {"index", Rule::for_turned},
      {"index_put", Rule::for_turned},
      {"masked_fill", Rule::for_turned},
      {"native_dropout", Rule::for_turned},
      {"select_scatter", Rule::for_turned},
      {"slice_scatter", Rule::for_turned},
      {"sort", Rule::for_turned},
  };
  const auto rule = rules.find(op);
  return rule == rules.end() ? Rule::none : rule->second;
}

/* What PyTorch promises for an image: see Order for ops of elements. */
bool keeps_format(const std::string &op) {
  static const std::set<std::string> ops{"max_pool2d_with_indices",
                                         "max_pool2d_with_indices_backward",
                                         "avg_pool2d",
                                         "_adaptive_avg_pool2d",
                                         "adaptive_max_pool2d",
                                         "upsample_nearest2d",
                                         "upsample_bilinear2d",
                                         "upsample_bicubic2d",
                                         "_upsample_nearest_exact2d",
                                         "native_group_norm"};
  return ops.count(op) > 0;
}

std::unique_ptr<Binding> bind(const std::multimap<std::string, Op> &ops, const c10::FunctionSchema &schema) {
  std::string key = schema.name();
  const bool in_place = key.back() == '_' && ops.count(key) == 0;
  if (in_place) key.pop_back();
  if (const auto other = other_names().find(key); other != other_names().end()) key = other->second;

  const Op *chosen = nullptr;
  std::vector<Argument> arguments, candidate;
  const auto [first, last] = ops.equal_range(key);
  for (auto op = first; op != last; ++op) {
    if (!match(op->second, schema, &candidate)) continue;
    const bool exact = split(op->second.name).overload == schema.overload_name();
    if (chosen == nullptr || exact) {
      chosen = &op->second;
      arguments = candidate;
    }
    if (exact) break;
  }
  if (chosen == nullptr) return nullptr;

  auto binding = std::make_unique<Binding>();
  binding->op = chosen->op;
  binding->adds_products = adds_products(chosen->name);
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].tag == KW_TAG_TENSOR) arguments[i].scalar_op = find_scalar_op(ops, key, *chosen, i);
    if (arguments[i].tag == KW_TAG_DTYPE) binding->dtype = static_cast<int>(i);
  }
  binding->targets = find_targets(schema);
  const bool changes = std::any_of(arguments.begin(), arguments.end(), [](const Argument &a) { return a.mutated; });
  const bool marked = std::any_of(binding->targets.begin(), binding->targets.end(), [](int t) { return t >= 0; });
  binding->written = marked && !changes;
  binding->pointwise = chosen->info.pointwise;
  const std::string base = split(chosen->name).base;
  /* Which numbers are drawn is a matter of the order. */
  const bool is_random =
      std::any_of(arguments.begin(), arguments.end(), [](const Argument &a) { return a.tag == KW_TAG_GENERATOR; });
  if (!marked) binding->rule = rule_of(base);
  binding->keeps_format = !marked && keeps_format(chosen->name);
  binding->by_elements = binding->pointwise && !is_random;
  binding->keeps_order = binding->by_elements && !marked;
  for (size_t i = 0; i < schema.arguments().size(); ++i) {
    if (schema.arguments()[i].name() == "device") binding->device = static_cast<int>(i);
  }
  binding->result_count = chosen->info.result_count - (chosen->info.counted ? 1 : 0);
  binding->arguments = std::move(arguments);
  return binding;
}

/* ---- Registration ------------------------------------------------------------------------------------------------ */

/* A kernel of the type Result(Args...), whose result is a new tensor or, where Result is a reference, the first
 * argument: the dispatcher need not put its arguments on a stack. */
template <class Result, class... Args>
torch::CppFunction unboxed(const std::shared_ptr<Binding> &binding, const c10::OperatorHandle &handle) {
  return torch::CppFunction([binding, handle](Args... args) -> Result {
    std::array<c10::IValue, sizeof...(Args)> values{c10::IValue(args)...};
    c10::SmallVector<at::Tensor, 1> returned;
    if (!binding->call(handle, values, returned)) {
      torch::jit::Stack stack(values.begin(), values.end());
      run_on_cpu(handle, &stack);
      returned.push_back(stack.back().toTensor());
    }
    if constexpr (std::is_reference_v<Result>) {
      return std::get<0>(std::tie(args...));
    } else {
      return std::move(returned[0]);
    }
  });
}

/* The unboxed kernel of an operator of tensors and numbers with one result; nothing for all others. */
std::optional<torch::CppFunction> unboxed_kernel(const std::shared_ptr<Binding> &binding,
                                                 const c10::OperatorHandle &handle) {
  using Tensor = const at::Tensor &;
  using Number = const at::Scalar &;
  using Changed = at::Tensor &;
  using Make = torch::CppFunction (*)(const std::shared_ptr<Binding> &, const c10::OperatorHandle &);
  /* Of the arguments: t a tensor, n a number; c the tensor that is changed and returned. */
  static const std::map<std::string, Make> kernels{
      {"t", unboxed<at::Tensor, Tensor>},
      {"tt", unboxed<at::Tensor, Tensor, Tensor>},
      {"ttn", unboxed<at::Tensor, Tensor, Tensor, Number>},
      {"tn", unboxed<at::Tensor, Tensor, Number>},
      {"tnn", unboxed<at::Tensor, Tensor, Number, Number>},
      {"c", unboxed<Changed, Changed>},
      {"ct", unboxed<Changed, Changed, Tensor>},
      {"ctn", unboxed<Changed, Changed, Tensor, Number>},
      {"cn", unboxed<Changed, Changed, Number>},
      {"cnn", unboxed<Changed, Changed, Number, Number>},
  };
  std::string signature;
  for (const c10::Argument &argument : handle.schema().arguments()) {
    const bool is_changed = argument.alias_info() != nullptr && argument.alias_info()->isWrite();
    const c10::TypeKind kind = argument.real_type()->kind();
    if (is_changed && argument.is_out()) return std::nullopt;
    signature += kind == c10::TypeKind::TensorType   ? (is_changed ? "c" : "t")
                 : kind == c10::TypeKind::NumberType ? "n"
                                                     : "-";
  }
  const auto kernel = kernels.find(signature);
  const bool is_one = binding->targets.size() == 1 && (binding->targets[0] == 0) == (signature[0] == 'c');
  if (kernel == kernels.end() || !is_one) return std::nullopt;
  return kernel->second(binding, handle);
}

/* Operators that PyTorch makes of allocation, views and copies, all of which are native here. */
bool stays_with_pytorch(const c10::OperatorHandle &handle) {
  static const std::set<std::string> bases{
      "aten::copy", "aten::copy_", "aten::_to_copy", "aten::clone",  "aten::full",     "aten::full_like", "aten::fill",
      "aten::rand", "aten::randn", "aten::randint",  "aten::arange", "aten::randperm", "aten::repeat"};
  static const std::set<std::string> all_the_same{"arange.start_step", "randperm", "randperm.generator"};
  const c10::OperatorName &name = handle.operator_name();
  const std::string full = name.name + (name.overload_name.empty() ? "" : "." + name.overload_name);
  if (all_the_same.count(full.substr(std::min<size_t>(6, full.size()))) > 0) return false;
  if (bases.count(name.name) > 0) return true;
  /* Autograd sees through these by what they are made of, unless they have a gradient of their own. */
  return handle.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd) &&
         !handle.hasKernelForDispatchKey(c10::DispatchKey::Autograd);
}

/* Ops of a namespace that PyTorch does not have yet. */
void define_ops(const std::multimap<std::string, Op> &ops) {
  static std::map<std::string, std::unique_ptr<torch::Library>> libraries;
  for (const auto &[key, op] : ops) {
    const Name name = split(op.name);
    const bool known = c10::Dispatcher::singleton().findSchema({key, name.overload}).has_value();
    if (known || name.space == "aten" || name.space == "torchvision" || name.space == "quantized_decomposed") continue;
    auto &library = libraries[name.space];
    if (!library) {
      library =
          std::make_unique<torch::Library>(torch::Library::FRAGMENT, name.space, std::nullopt, __FILE__, __LINE__);
    }
    library->def(op.info.schema);
  }
}

/* The library through which kernels for a namespace and key are registered; lives as long as the process. */
torch::Library &library_of(const std::string &space, c10::DispatchKey key) {
  static std::map<std::pair<std::string, c10::DispatchKey>, std::unique_ptr<torch::Library>> libraries;
  std::unique_ptr<torch::Library> &library = libraries[{space, key}];
  if (!library) library = std::make_unique<torch::Library>(torch::Library::IMPL, space, key, __FILE__, __LINE__);
  return *library;
}

void register_kernel(const c10::OperatorName &name, c10::DispatchKey key, torch::CppFunction kernel) {
  const std::string full = name.name + (name.overload_name.empty() ? "" : "." + name.overload_name);
  library_of(std::string(*name.getNamespace()), key).impl(full.c_str(), std::move(kernel));
}

/* Gives an operator a kernel if an op serves it. */
bool register_operator(const std::multimap<std::string, Op> &ops, const c10::OperatorHandle &handle) {
  if (stays_with_pytorch(handle)) return false;
  std::unique_ptr<Binding> binding = bind(ops, handle.schema());
  if (!binding) return false;
  const c10::OperatorName &name = handle.operator_name();
  const bool functional = std::all_of(binding->targets.begin(), binding->targets.end(), [](int t) { return t < 0; });
  if (auto cast = autocast_kernel(binding->op); functional && cast.has_value()) {
    register_kernel(name, c10::DispatchKey::AutocastPrivateUse1,
                    torch::CppFunction::makeFromBoxedKernel(std::move(*cast)));
  }
  const std::shared_ptr<Binding> shared = std::move(binding);
  std::optional<torch::CppFunction> kernel = unboxed_kernel(shared, handle);
  if (!kernel.has_value()) {
    kernel =
        torch::CppFunction::makeFromBoxedKernel(c10::BoxedKernel::makeFromFunctor(std::make_unique<Binding>(*shared)));
  }
  register_kernel(name, c10::DispatchKey::PrivateUse1, std::move(*kernel));
  return true;
}

/* Of what the process has registered. */
std::mutex registering;

bool is_registered(const c10::OperatorHandle &handle) {
  return handle.hasKernelForDispatchKey(c10::DispatchKey::PrivateUse1);
}

}  // namespace

void register_ops() {
  const std::lock_guard<std::mutex> lock(registering);
  const std::multimap<std::string, Op> ops = list_ops();
  std::set<std::string> spaces;
  for (const auto &[key, op] : ops) spaces.insert(split(op.name).space);
  define_ops(ops);
  for (const c10::OperatorName &name : c10::Dispatcher::singleton().getAllOpNames()) {
    const auto space = name.getNamespace();
    if (!space.has_value() || spaces.count(std::string(*space)) == 0) continue;
    const auto handle = c10::Dispatcher::singleton().findSchema(name);
    if (handle.has_value() && !is_registered(*handle)) register_operator(ops, *handle);
  }
}

bool register_late(const c10::OperatorHandle &handle) {
  const std::lock_guard<std::mutex> lock(registering);
  return is_registered(handle) || register_operator(list_ops(), handle);
}

}  // namespace torch_keyway
