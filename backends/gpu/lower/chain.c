/* SPDX-License-Identifier: Apache-2.0
 *
 * Which launches go together, and the text of their kernel. All tensors of a chain are seen along the same dimensions;
 * what one launch writes another may read at the same element only.
 */
#include "lower/chain.h"

#include "lower/lowering.h"
#include "lower/scalar.h"
#include "program/dtype.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What element-wise kernels compute: $2 is operand 2, $2:1 value 1 where that operand is not there; #0 is value 0, a
 * number in the text, %3 value 3. */
static const struct {
  const char *kernel, *expression;
} expressions[] = {
    {"kw_unary_kernel", "kw_unary(#0, $1)"},
    {"kw_function_kernel", "kw_function(#0, $1)"},
    {"kw_binary_kernel", "kw_binary(#0, $1:2, $2:2, %3)"},
    {"kw_quotient_kernel", "kw_quotient(#0, $1:2, $2:2, %3)"},
    {"kw_power_kernel", "kw_power(#0, $1:2, $2:2, %3)"},
    {"kw_clamp_kernel", "kw_clamp(#0, $1, $2:1, $3:2)"},
    {"kw_fused_kernel", "kw_fused(#0, $1, $2, $3:2, %2)"},
    {"kw_activation_kernel", "kw_activation(#0, $1, %1, %2, %3)"},
    {"kw_activation_backward_kernel", "kw_activation_backward(#0, $1, $2, %1, %2, %3)"},
    {"kw_gated_kernel", "kw_gated(#0, $1, $2, $3)"},
};

/* NULL: the kernel has no place in a chain. */
static const char *expression_of(const kw_gpu_kernel *kernel) {
  for (size_t i = 0; i < sizeof expressions / sizeof expressions[0]; ++i)
    if (strcmp(expressions[i].kernel, kernel->function) == 0) return expressions[i].expression;
  return NULL;
}

#define BODY_LIMIT 4400 /* bytes of a kernel's text; what stands before and behind is less than the rest */
_Static_assert(sizeof(kw_chain) <= KW_GPU_BLOCK_LIMIT, "a chain's block is one of a step");

/* The operands of one launch along its own dimensions, which become the chain's. */
typedef struct view {
  uint32_t rank, operands;
  int64_t shape[KW_CHAIN_RANK];
  int64_t stride[KW_GPU_OPERANDS][KW_CHAIN_RANK];
} view;

/* ---- Dimensions -------------------------------------------------------------------------------------------------- */

static bool read_view(view *v, const kw_elementwise *block, uint32_t operands) {
  if (block->rank > KW_CHAIN_RANK || block->numel < 1) return false;
  v->rank = (uint32_t)block->rank;
  v->operands = operands;
  for (uint32_t d = 0; d < v->rank; ++d) {
    v->shape[d] = block->shape[d];
    for (uint32_t k = 0; k < operands; ++k) v->stride[k][d] = block->stride[k][d];
  }
  return true;
}

/* Splits dimension `d` into one of `inner` elements and one of the others before it. */
static void split_shape(uint32_t rank, int64_t *shape, uint32_t d, int64_t inner) {
  memmove(&shape[d + 1], &shape[d], (rank - d) * sizeof *shape);
  shape[d] /= inner;
  shape[d + 1] = inner;
}

static void split_strides(uint32_t rank, int64_t *stride, uint32_t d, int64_t inner) {
  memmove(&stride[d + 1], &stride[d], (rank - d) * sizeof *stride);
  stride[d] *= inner;
}

static bool split_view(view *v, uint32_t d, int64_t inner) {
  if (v->rank == KW_CHAIN_RANK) return false;
  split_shape(v->rank, v->shape, d, inner);
  for (uint32_t k = 0; k < v->operands; ++k) split_strides(v->rank, v->stride[k], d, inner);
  ++v->rank;
  return true;
}

static bool split_chain(kw_gpu_chain *chain, uint32_t d, int64_t inner) {
  if (chain->rank == KW_CHAIN_RANK) return false;
  split_shape(chain->rank, chain->shape, d, inner);
  for (uint32_t t = 0; t < chain->tensor_count; ++t) split_strides(chain->rank, chain->tensors[t].stride, d, inner);
  ++chain->rank;
  return true;
}

/* Splits dimensions of either, from the innermost on, until both have the same. Their elements are as many, and keep
 * their numbers. */
static bool match_dims(kw_gpu_chain *chain, view *v) {
  for (uint32_t matched = 0; matched < chain->rank || matched < v->rank; ++matched) {
    if (matched == chain->rank || matched == v->rank) return false; /* not for shapes without 1 */
    const uint32_t a = chain->rank - 1 - matched, b = v->rank - 1 - matched;
    const int64_t ours = chain->shape[a], theirs = v->shape[b];
    if (ours == theirs) continue;
    if (ours > theirs ? ours % theirs != 0 || !split_chain(chain, a, theirs)
                      : theirs % ours != 0 || !split_view(v, b, ours))
      return false;
  }
  return true;
}

/* ---- Tensors ----------------------------------------------------------------------------------------------------- */

static kw_gpu_range range_of(const kw_gpu_chain *chain, const kw_chain_tensor *tensor) {
  int64_t least = 0, most = 0;
  for (uint32_t d = 0; d < chain->rank; ++d) {
    const int64_t step = (chain->shape[d] - 1) * tensor->stride[d];
    *(step < 0 ? &least : &most) += step;
  }
  const int64_t size = kw_gpu_dtype_size(chain->dtype);
  return (kw_gpu_range){.mem = tensor->mem,
                        .place = tensor->place,
                        .begin = tensor->offset + least * size,
                        .end = tensor->offset + (most + 1) * size};
}

static bool overlap(const kw_gpu_chain *chain, const kw_chain_tensor *a, const kw_chain_tensor *b) {
  const kw_gpu_range one = range_of(chain, a), other = range_of(chain, b);
  return kw_gpu_ranges_meet(&one, &other);
}

static bool is_same(const kw_gpu_chain *chain, const kw_chain_tensor *a, const kw_chain_tensor *b) {
  return a->mem == b->mem && a->offset == b->offset &&
         memcmp(a->stride, b->stride, chain->rank * sizeof a->stride[0]) == 0;
}

/* The tensor's number in the chain, to which it is added; -1 where it cannot be: there is no room, or an element of it
 * is another element of a tensor that is written. *inout_shared is set where the chain had it. */
static int take_tensor(kw_gpu_chain *chain, const kw_chain_tensor *tensor, bool written, bool *inout_shared) {
  int found = -1;
  for (uint32_t t = 0; t < chain->tensor_count; ++t) {
    const kw_chain_tensor *other = &chain->tensors[t];
    if (is_same(chain, tensor, other)) {
      found = (int)t;
    } else if ((written || other->written) && overlap(chain, tensor, other)) {
      return -1;
    }
  }
  if (found >= 0) *inout_shared = true;
  if (found >= 0 || chain->tensor_count == KW_CHAIN_OPERANDS) return found;
  chain->tensors[chain->tensor_count] = *tensor;
  return (int)chain->tensor_count++;
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

__attribute__((format(printf, 2, 3))) static void write_text(kw_chain_text *text, const char *format, ...) {
  const size_t room = sizeof text->bytes - text->size;
  va_list values;
  va_start(values, format);
  const int size = vsnprintf(text->bytes + text->size, room, format, values);
  va_end(values);
  text->size += (size_t)size < room ? (uint32_t)size : (uint32_t)room - 1;
}

/* A value of type KW_CT: 0 and 1 stand in the text, so that what they do nothing to costs nothing. */
static bool write_value(kw_gpu_chain *chain, const uint8_t *bits, uint32_t size) {
  for (int64_t known = 0; known <= 1; ++known) {
    const kw_value scalar = {.tag = KW_TAG_SCALAR, .kind = KW_SCALAR_I64, .u.i = known};
    uint8_t known_bits[8];
    kw_gpu_scalar_operand(&scalar, chain->dtype, known_bits, &chain->value_size);
    if (memcmp(bits, known_bits, size) != 0) continue;
    write_text(&chain->text, "(KW_CT)%d", (int)known);
    return true;
  }
  if (chain->value_count == KW_GPU_VALUE_LIMIT) return false;
  memcpy(chain->values[chain->value_count], bits, size);
  write_text(&chain->text, "p%u", chain->value_count++);
  return true;
}

/* What is written of a launch: its step, and where its operands lie in the chain. */
typedef struct link_of {
  const kw_gpu_step *step;
  int tensors[KW_GPU_OPERANDS];
} link_of;

static bool is_there(const kw_gpu_step *step, uint32_t operand) {
  return operand < step->operand_count && step->operands[operand].from != KW_GPU_NOTHING;
}

static bool write_constant(kw_gpu_chain *chain, const kw_gpu_step *step, int number) {
  return write_value(chain, step->values[number].bits, step->values[number].size);
}

/* "$2", or "$2:1": `at` is behind the $, and moves behind it all. */
static bool write_operand(kw_gpu_chain *chain, const link_of *link, const char **at) {
  const int operand = *(*at)++ - '0';
  const int otherwise = **at == ':' ? (*at)[1] - '0' : -1;
  if (otherwise >= 0) *at += 2;
  if (is_there(link->step, (uint32_t)operand)) {
    write_text(&chain->text, "v%d", chain->tensors[link->tensors[operand]].variable);
    return true;
  }
  write_text(&chain->text, otherwise >= 0 ? "(KW_V)" : "(KW_V)0");
  return otherwise < 0 || write_constant(chain, link->step, otherwise);
}

/* False: the chain has too many values. */
static bool write_expression(kw_gpu_chain *chain, const link_of *link) {
  const kw_gpu_step *step = link->step;
  bool fits = true;
  for (const char *at = expression_of(step->kernel); *at && fits;) {
    const char c = *at++;
    int32_t number;
    if (c == '$') {
      fits = write_operand(chain, link, &at);
    } else if (c == '%') {
      fits = write_constant(chain, step, *at++ - '0');
    } else if (c == '#') {
      memcpy(&number, step->values[*at++ - '0'].bits, sizeof number);
      write_text(&chain->text, "%d", number);
    } else {
      write_text(&chain->text, "%c", c);
    }
  }
  return fits;
}

static bool add_source(kw_gpu_module *module, const char *source) {
  uint32_t i = 0;
  for (; module->sources[i]; ++i)
    if (module->sources[i] == source) return true;
  if (i + 2 >= KW_GPU_MODULE_SOURCES) return false; /* the text comes behind, and a NULL */
  module->sources[i] = source;
  return true;
}

/* ---- Links ------------------------------------------------------------------------------------------------------- */

/* Several functions of those of which a CPU has a program each take too long to compile as one. */
static bool takes_opcode(kw_gpu_chain *chain, const kw_gpu_step *step) {
  if (step->opcode < 0) return true;
  if (!chain->special) {
    chain->special = step->kernel;
    chain->special_opcode = step->opcode;
  }
  return chain->special == step->kernel && chain->special_opcode == step->opcode;
}

static bool take_tensors(kw_gpu_chain *chain, kw_gpu_device *device, const view *v, const kw_elementwise *block,
                         const kw_gpu_launch *launch, link_of *link) {
  bool shared = chain->length == 0;
  for (uint32_t n = 1; n <= v->operands; ++n) {
    const uint32_t k = n % v->operands; /* the result comes last */
    if (!is_there(link->step, k)) continue;
    const kw_mem mem = launch->args[k].mem;
    kw_chain_tensor tensor = {
        .mem = mem, .place = kw_gpu_memory_place(device, mem), .offset = block->offset[k], .variable = -1};
    memcpy(tensor.stride, v->stride[k], v->rank * sizeof tensor.stride[0]);
    link->tensors[k] = take_tensor(chain, &tensor, k == 0, &shared);
    if (link->tensors[k] < 0) return false;
  }
  return shared;
}

static void write_loads(kw_gpu_chain *chain, const link_of *link) {
  for (uint32_t k = 1; k < link->step->operand_count; ++k) {
    if (!is_there(link->step, k)) continue;
    kw_chain_tensor *tensor = &chain->tensors[link->tensors[k]];
    if (tensor->variable >= 0) continue;
    tensor->variable = (int)chain->variable_count++;
    write_text(&chain->text, "    KW_LOAD_OPERAND(t%d, block, %d, run, v%d)\n", link->tensors[k], link->tensors[k],
               tensor->variable);
  }
}

/* False: the chain has too much text, or too many values. */
static bool write_link(kw_gpu_chain *chain, const link_of *link) {
  kw_chain_tensor *result = &chain->tensors[link->tensors[0]];
  write_loads(chain, link);
  const int variable = (int)chain->variable_count++;
  write_text(&chain->text, "    v%d = KW_STORED(", variable);
  const bool fits = write_expression(chain, link);
  write_text(&chain->text, ");\n");
  result->variable = variable;
  result->written = true;
  return fits && chain->text.size <= BODY_LIMIT;
}

static bool extend(kw_gpu_chain *chain, kw_gpu_device *device, const kw_gpu_step *step, const kw_gpu_launch *launch) {
  link_of link = {.step = step};
  kw_elementwise block;
  view v;
  memcpy(&block, launch->args[step->operand_count].data, sizeof block);
  if (!read_view(&v, &block, step->operand_count)) return false;
  if (chain->length == 0) {
    *chain = (kw_gpu_chain){.dtype = step->dtype, .numel = block.numel, .rank = v.rank, .streams = block.stream != 0};
    memcpy(chain->shape, v.shape, sizeof v.shape);
    chain->module = (kw_gpu_module){
        .name = "chain", .by = KW_GPU_RUNS_BY_DTYPE, .variants = KW_DTYPES_REAL | KW_GPU_PACKS | KW_GPU_CHAIN};
  }
  if (step->dtype != chain->dtype || block.numel != chain->numel || chain->length == KW_CHAIN_LINKS) return false;
  if (!takes_opcode(chain, step) || !match_dims(chain, &v)) return false;
  for (const char *const *source = step->kernel->module->sources; *source; ++source)
    if (!add_source(&chain->module, *source)) return false;
  if (!take_tensors(chain, device, &v, &block, launch, &link) || !write_link(chain, &link)) return false;
  chain->length++;
  return true;
}

bool kw_gpu_chain_add(kw_gpu_chain *chain, kw_gpu_device *device, const kw_gpu_step *step,
                      const kw_gpu_launch *launch) {
  if (step->kind != KW_GPU_LAUNCH || !expression_of(step->kernel)) return false;
  kw_gpu_chain longer = *chain;
  if (!extend(&longer, device, step, launch)) return false;
  *chain = longer;
  return true;
}

/* ---- The kernel -------------------------------------------------------------------------------------------------- */

static void write_kernel(const kw_gpu_chain *chain, kw_chain_text *out) {
  out->size = 0;
  write_text(out, "KW_KERNEL KW_LOCAL_SIZE(KW_LOCAL_ELEMENTWISE, 1)\nvoid kw_chain_kernel(");
  for (uint32_t t = 0; t < chain->tensor_count; ++t) write_text(out, "KW_GLOBAL char *t%u, ", t);
  write_text(out, "KW_BLOCK(kw_chain)");
  for (uint32_t p = 0; p < chain->value_count; ++p) write_text(out, ", KW_CT p%u", p);
  write_text(out, ") {\n  KW_V v0");
  for (uint32_t v = 1; v < chain->variable_count; ++v) write_text(out, ", v%u", v);
  write_text(out, ";\n  KW_RUNS(block, run) {\n    KW_RUN_AT(block, %u, run)\n%s", chain->tensor_count,
             chain->text.bytes);
  for (uint32_t t = 0; t < chain->tensor_count; ++t)
    if (chain->tensors[t].written)
      write_text(out, "    KW_STORE_OPERAND(t%u, block, %u, run, v%d)\n", t, t, chain->tensors[t].variable);
  write_text(out, "  }\n}\n");
}

static kw_chain block_of(const kw_gpu_chain *chain) {
  kw_chain block = {.numel = chain->numel, .rank = chain->rank, .flat = chain->rank == 1, .stream = chain->streams};
  memcpy(block.shape, chain->shape, chain->rank * sizeof block.shape[0]);
  for (uint32_t t = 0; t < chain->tensor_count; ++t) {
    const kw_chain_tensor *tensor = &chain->tensors[t];
    block.offset[t] = tensor->offset;
    memcpy(block.stride[t], tensor->stride, chain->rank * sizeof block.stride[t][0]);
    if (chain->numel > 1 && tensor->stride[0] != 1) block.flat = 0;
  }
  return block;
}

kw_status kw_gpu_chain_make(const kw_gpu_chain *chain, kw_gpu_device *device, kw_gpu_chain_launch *out) {
  kw_chain_text text;
  write_kernel(chain, &text);
  const kw_gpu_kernel *kernel = kw_gpu_kernel_make(device, &chain->module, "kw_chain_kernel", text.bytes);
  if (!kernel) return device->host->set_error(device->host->ctx, KW_ERR_OUT_OF_MEMORY, "no host memory for a kernel");
  *out = (kw_gpu_chain_launch){.block = block_of(chain)};
  kw_status status = kw_gpu_kernel_find(device, kernel, chain->dtype, -1, &out->launch.kernel);
  uint32_t count = 0;
  for (uint32_t t = 0; t < chain->tensor_count; ++t) out->args[count++].mem = chain->tensors[t].mem;
  out->args[count++] = (kw_gpu_arg){.data = &out->block, .size = sizeof out->block};
  for (uint32_t p = 0; p < chain->value_count; ++p)
    out->args[count++] = (kw_gpu_arg){.data = chain->values[p], .size = chain->value_size};
  const uint64_t items = (uint64_t)kw_gpu_items(device, kernel->module, chain->dtype, chain->numel);
  out->launch.args = out->args;
  out->launch.arg_count = count;
  out->launch.local[0] = KW_LOCAL_ELEMENTWISE;
  out->launch.local[1] = 1;
  out->launch.groups[0] = (items + KW_LOCAL_ELEMENTWISE - 1) / KW_LOCAL_ELEMENTWISE;
  out->launch.groups[1] = 1;
  return status;
}
