/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls of any op that a device can run, made from its schema and from what call_needs.c knows besides.
 */
#include "call.h"

#include "call_needs.h"

#include <fnmatch.h>
#include <math.h>

#include <keyway/plugin.h>

const kw_dtype kw_test_kinds[KW_TEST_KINDS] = {KW_F32, KW_F16, KW_C64, KW_I32, KW_I8, KW_U8, KW_BOOL, KW_F8E4M3FN};

/* ---- Data -------------------------------------------------------------------------------------------------------- */

static uint64_t random_word(uint64_t tag, size_t index) {
  uint64_t word;
  unsigned char bytes[8];
  kw_test_pattern(bytes, sizeof bytes, tag ^ (uint64_t)index << 20);
  memcpy(&word, bytes, sizeof word);
  return word;
}

static void store(void *to, uint64_t word, size_t size) {
  memcpy(to, &word, size); /* little-endian, as every device of this ABI */
}

/* +-[2^-3, 2): four exponents from `low`, then random bits of the fraction. */
static uint64_t random_float(uint64_t word, unsigned bits, unsigned fraction, uint64_t low) {
  uint64_t sign = word >> 63, exponent = low + (word >> 60 & 3), mantissa = word & ((UINT64_C(1) << fraction) - 1);
  return sign << (bits - 1) | exponent << fraction | mantissa;
}

static void fill_one(kw_dtype dtype, unsigned char *to, uint64_t word) {
  switch (dtype) {
    case KW_BOOL:
      *to = word & 1;
      break;
    case KW_F16:
      store(to, random_float(word, 16, 10, 12), 2);
      break;
    case KW_BF16:
      store(to, random_float(word, 16, 7, 124), 2);
      break;
    case KW_F32:
    case KW_C64:
      store(to, random_float(word, 32, 23, 124), 4);
      break;
    case KW_F64:
    case KW_C128:
      store(to, random_float(word, 64, 52, 1020), 8);
      break;
    case KW_F8E4M3FN:
      store(to, random_float(word, 8, 3, 4), 1);
      break;
    case KW_F8E5M2:
      store(to, random_float(word, 8, 2, 12), 1);
      break;
    default: /* integers */
      store(to, word % 7, kw_dtype_size(dtype));
      break;
  }
}

void kw_test_fill(kw_dtype dtype, void *elements, size_t count, uint64_t tag) {
  bool complex = dtype == KW_C64 || dtype == KW_C128;
  size_t item = kw_dtype_size(dtype) / (complex ? 2 : 1);
  unsigned char *to = elements;
  for (size_t i = 0; i < count * (complex ? 2 : 1); i++) fill_one(dtype, to + i * item, random_word(tag, i));
}

kw_tensor *kw_test_tensor(kw_device *device, kw_dtype dtype, uint32_t rank, const int64_t *shape, uint64_t tag) {
  kw_tensor *tensor = NULL;
  KW_CHECK_OK(kw_tensor_create(device, dtype, rank, shape, &tensor));
  size_t numel = (size_t)kw_tensor_describe(tensor)->numel;
  void *elements = kw_test_memory(numel * kw_dtype_size(dtype));
  kw_test_fill(dtype, elements, numel, tag);
  KW_CHECK_OK(kw_tensor_write(tensor, elements));
  free(elements);
  return tensor;
}

/* Of floats. */
static void clear_signs(kw_tensor *tensor) {
  const size_t item = kw_dtype_size(kw_tensor_describe(tensor)->dtype), size = kw_test_bytes_of(tensor);
  unsigned char *bytes = kw_test_memory(size);
  KW_CHECK_OK(kw_tensor_read(tensor, bytes));
  for (size_t last = item - 1; last < size; last += item) bytes[last] &= 0x7f;
  KW_CHECK_OK(kw_tensor_write(tensor, bytes));
  free(bytes);
}

/* 0, 1 and so on, i64: where the rows of a matrix of one block each start. */
static kw_tensor *counting_tensor(int64_t count) {
  kw_tensor *tensor = NULL;
  KW_CHECK_OK(kw_tensor_create(kw_contract.device, KW_I64, 1, &count, &tensor));
  int64_t *numbers = kw_test_memory((size_t)count * sizeof *numbers);
  for (int64_t i = 0; i < count; i++) numbers[i] = i;
  KW_CHECK_OK(kw_tensor_write(tensor, numbers));
  free(numbers);
  return tensor;
}

/* Regions of no size, of the first image. */
static kw_tensor *empty_regions(kw_dtype dtype, const int64_t shape[2]) {
  kw_tensor *tensor = NULL;
  KW_CHECK_OK(kw_tensor_create(kw_contract.device, dtype, 2, shape, &tensor));
  void *zeros = kw_test_memory(kw_test_bytes_of(tensor));
  KW_CHECK_OK(kw_tensor_write(tensor, zeros));
  free(zeros);
  return tensor;
}

static kw_tensor *index_tensor(const kw_test_call *call, uint32_t rank, const int64_t *shape) {
  kw_tensor *tensor = NULL;
  KW_CHECK_OK(kw_tensor_create(kw_contract.device, KW_I64, rank, shape, &tensor));
  int64_t numel = kw_tensor_describe(tensor)->numel;
  int64_t *indices = kw_test_memory((size_t)numel * sizeof *indices);
  /* Runs down the first dimension, each place once: no two writers meet in scatter along it. */
  for (int64_t i = 0; i < numel; i++) indices[i] = (rank > 1 ? i / (numel / call->edge) : i) % call->edge;
  KW_CHECK_OK(kw_tensor_write(tensor, indices));
  free(indices);
  return tensor;
}

/* Of rank 1, i64. */
static kw_tensor *count_tensor(const kw_test_call *call, kw_need need) {
  const int64_t size = need == KW_NEED_ENDS ? 2 : call->edge;
  kw_tensor *tensor = NULL;
  KW_CHECK_OK(kw_tensor_create(kw_contract.device, KW_I64, 1, &size, &tensor));
  int64_t *counts = kw_test_memory((size_t)size * sizeof *counts);
  for (int64_t i = 0; i < size; i++) {
    counts[i] = need == KW_NEED_CAPACITY ? call->edge * call->edge : need == KW_NEED_ENDS ? i * call->edge : i;
  }
  KW_CHECK_OK(kw_tensor_write(tensor, counts));
  free(counts);
  return tensor;
}

/* Of rank 0. */
static kw_tensor *single_tensor(kw_need need) {
  static const float one = 1;
  static const int64_t zero = 0;
  const kw_dtype dtype = need == KW_NEED_UNIT ? KW_F32 : need == KW_NEED_COUNT ? KW_I32 : KW_I64;
  kw_tensor *tensor = NULL;
  KW_CHECK_OK(kw_tensor_create(kw_contract.device, dtype, 0, NULL, &tensor));
  KW_CHECK_OK(kw_tensor_write(tensor, need == KW_NEED_UNIT ? (const void *)&one : &zero));
  return tensor;
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

typedef struct attempt {
  uint32_t rank;
  uint32_t index_rank;
  bool optionals; /* give what may be left out */
} attempt;

/* What a letter of a shape stands for: n the edge, + one more, 2 half of it, 8 an eighth rounded up, 1, 4 and 5
 * that many. */
static int64_t letter_size(const kw_test_call *call, char letter) {
  const int64_t n = call->edge;
  return letter == '+'                                     ? n + 1
         : letter == '2'                                   ? n / 2
         : letter == '8'                                   ? (n + 7) / 8
         : letter == '1' || letter == '4' || letter == '5' ? letter - '0'
                                                           : n;
}

/* What a tensor holds. */
typedef enum contents {
  HOLDS_DATA,
  HOLDS_WEIGHTS, /* data without a negative number */
  HOLDS_ZEROES,
  HOLDS_COUNTING,
  HOLDS_INDICES,
  HOLDS_COUNTS, /* what its need says */
  HOLDS_SINGLE  /* the same, of rank 0 */
} contents;

static contents describe_companion(const kw_test_call *call, const kw_companion *row, kw_tensor_ref *form) {
  int64_t shape[KW_MAX_RANK];
  uint32_t rank = (uint32_t)strlen(row->shape);
  for (uint32_t d = 0; d < rank; d++) shape[d] = letter_size(call, row->shape[d]);
  *form = kw_meta(row->dtype == KW_DTYPE_NONE ? call->dtype : row->dtype, rank, shape);
  return strcmp(row->shape, "+") == 0 ? HOLDS_COUNTING : strcmp(row->shape, "n5") == 0 ? HOLDS_ZEROES : HOLDS_DATA;
}

/* Tensors of the call's dtype. */
static contents describe_data(const kw_test_call *call, kw_need need, uint32_t rank, kw_tensor_ref *form) {
  int64_t shape[KW_MAX_RANK];
  for (int d = 0; d < KW_MAX_RANK; d++) shape[d] = call->edge;
  const uint32_t last = rank > 0 ? rank - 1 : 0;
  kw_dtype dtype = call->dtype;
  if (need == KW_NEED_HALF) shape[0] /= 2;
  if (need == KW_NEED_HALF_ROWS) shape[1] /= 2;
  if (need == KW_NEED_PAIRS) shape[last] = 2;
  if (need == KW_NEED_THIN) shape[last] = 1;
  if (need == KW_NEED_TRIPLES) shape[last] = 3;
  if (need == KW_NEED_ROWS && rank > 0) dtype = dtype == KW_F64 ? KW_F64 : KW_F32;
  if (need == KW_NEED_HALF_ROWS) rank = 2;
  if (need == KW_NEED_POINT) rank = 0;
  if (need == KW_NEED_LINE) rank = 1;
  if (need == KW_NEED_SLICE || need == KW_NEED_ROWS) rank = last;
  *form = kw_meta(dtype, rank, shape);
  return need == KW_NEED_WEIGHTS ? HOLDS_WEIGHTS : HOLDS_DATA;
}

static contents describe_tensor(const kw_test_call *call, kw_test_arg *arg, const attempt *how, kw_tensor_ref *form) {
  int64_t shape[KW_MAX_RANK];
  const kw_companion *row = kw_companion_find(call->info.name, arg->info.name);
  if (row) return describe_companion(call, row, form);
  for (int d = 0; d < KW_MAX_RANK; d++) shape[d] = call->edge;
  kw_need need = KW_NEED_NONE;
  kw_need_find(call->info.name, arg->info.name, &need);
  uint32_t rank = how->rank ? how->rank - 1 : 0; /* of classes */
  switch (need) {
    case KW_NEED_INDEX:
    case KW_NEED_TABLE:
    case KW_NEED_CLASS:
      arg->role = KW_ROLE_INDEX;
      if (need != KW_NEED_CLASS) rank = need == KW_NEED_TABLE ? 2 : how->index_rank;
      *form = kw_meta(KW_I64, rank, shape);
      return HOLDS_INDICES;
    case KW_NEED_LENGTHS:
    case KW_NEED_CAPACITY:
    case KW_NEED_ENDS:
      arg->role = KW_ROLE_COUNT;
      if (need == KW_NEED_ENDS) shape[0] = 2;
      *form = kw_meta(KW_I64, 1, shape);
      return HOLDS_COUNTS;
    case KW_NEED_MASK:
      arg->role = KW_ROLE_MASK;
      *form = kw_meta(KW_BOOL, how->rank, shape);
      return HOLDS_DATA;
    case KW_NEED_UNIT:
    case KW_NEED_COUNT:
    case KW_NEED_TALLY:
      *form = kw_meta(need == KW_NEED_UNIT ? KW_F32 : need == KW_NEED_COUNT ? KW_I32 : KW_I64, 0, NULL);
      return HOLDS_SINGLE;
    default:
      arg->role = KW_ROLE_DATA;
      return describe_data(call, need, how->rank, form);
  }
}

static kw_tensor *make_tensor(const kw_test_call *call, const kw_test_arg *arg, contents what,
                              const kw_tensor_ref *form, uint64_t tag) {
  kw_need need = KW_NEED_NONE;
  kw_need_find(call->info.name, arg->info.name, &need);
  switch (what) {
    case HOLDS_COUNTING:
      return counting_tensor(form->shape[0]);
    case HOLDS_ZEROES:
      return empty_regions(form->dtype, form->shape);
    case HOLDS_INDICES:
      return index_tensor(call, form->rank, form->shape);
    case HOLDS_COUNTS:
      return count_tensor(call, need);
    case HOLDS_SINGLE:
      return single_tensor(need);
    default: {
      kw_tensor *tensor = kw_test_tensor(kw_contract.device, form->dtype, form->rank, form->shape, tag);
      if (what == HOLDS_WEIGHTS) clear_signs(tensor);
      return tensor;
    }
  }
}

/* Entry number k of an argument, of a tensor the only one. */
static void add_entry(kw_test_call *call, kw_test_arg *arg, const attempt *how, uint32_t k, uint64_t tag) {
  kw_tensor_ref form;
  const contents what = describe_tensor(call, arg, how, &form);
  if (!call->forms) {
    arg->tensors[k] = make_tensor(call, arg, what, &form, tag);
    return;
  }
  kw_test_forms *forms = &call->forms[arg - call->args];
  forms->refs[k] = form;
  forms->list[k] = &forms->refs[k];
}

static void make_list(kw_test_call *call, kw_test_arg *arg, const attempt *how, uint32_t index) {
  bool indices = false;
  uint32_t count = 0;
  do {
    add_entry(call, arg, how, count, 10 * index + count + 1);
    indices = arg->role == KW_ROLE_INDEX; /* one is enough: it indexes the first dimension */
    count++;
  } while (count < KW_TEST_ENTRIES && !indices);
  arg->value = call->forms ? kw_arg_meta_list(call->forms[index].list, count) : kw_arg_tensor_list(arg->tensors, count);
}

static bool has_need(const kw_test_call *call, const kw_test_arg *arg, kw_need wanted) {
  kw_need special;
  return kw_need_find(call->info.name, arg->info.name, &special) && special == wanted;
}

/* What a need for whole numbers fills a list with, or is as a number. */
static int64_t needed_number(const kw_test_call *call, kw_need need) {
  if (need == KW_NEED_ALL || need == KW_NEED_ONE) return 1;
  return need == KW_NEED_TWICE ? 2 : call->edge;
}

static void make_ints(kw_test_call *call, kw_test_arg *arg) {
  kw_need special;
  uint32_t count = arg->info.list_size > 1 ? (uint32_t)arg->info.list_size : 1;
  if (kw_need_find(call->info.name, arg->info.name, &special)) {
    if (special == KW_NEED_NOTHING) count = 0;
    if (special == KW_NEED_SHAPE || special == KW_NEED_TWICE) count = call->rank;
    if (special == KW_NEED_ALL) count = call->info.result_count;
    if (special == KW_NEED_COLUMN) count = 2;
    for (uint32_t i = 0; i < count; i++) arg->ints[i] = needed_number(call, special);
    if (special == KW_NEED_COLUMN) arg->ints[1] = 1;
    bool shape = special == KW_NEED_SHAPE || special == KW_NEED_TWICE || special == KW_NEED_COLUMN;
    if (shape || special == KW_NEED_LAST_SIZE) arg->role = KW_ROLE_SIZES;
  }
  arg->value = kw_arg_int_list(arg->ints, count);
}

static void make_argument(kw_test_call *call, uint32_t index, const attempt *how) {
  kw_test_arg *arg = &call->args[index];
  const bool edge = has_need(call, arg, KW_NEED_EDGE), one = has_need(call, arg, KW_NEED_ONE);
  const kw_companion *row = kw_companion_find(call->info.name, arg->info.name);
  switch (arg->info.tag) {
    case KW_TAG_TENSOR:
      add_entry(call, arg, how, 0, index + 1);
      arg->value = call->forms ? kw_arg_meta(&call->forms[index].refs[0]) : kw_arg_tensor(arg->tensors[0]);
      break;
    case KW_TAG_TENSOR_LIST:
      make_list(call, arg, how, index);
      break;
    case KW_TAG_INT:
      arg->value = kw_arg_int(edge ? call->edge : has_need(call, arg, KW_NEED_WHOLE) ? 2 * call->edge - 2 : one);
      break;
    case KW_TAG_INT_LIST:
      make_ints(call, arg);
      break;
    case KW_TAG_FLOAT:
      arg->value = kw_arg_float(has_need(call, arg, KW_NEED_ONE) ? 1 : 0.5);
      break;
    case KW_TAG_BOOL:
      arg->value = kw_arg_bool(has_need(call, arg, KW_NEED_TRUE));
      break;
    case KW_TAG_SCALAR:
      arg->value = kw_arg_scalar_i64(edge ? call->edge : 2);
      break;
    case KW_TAG_DTYPE:
      arg->value = row                                  ? kw_arg_dtype(row->dtype)
                   : has_need(call, arg, KW_NEED_DTYPE) ? kw_arg_dtype(call->dtype)
                                                        : kw_arg_none();
      break;
    case KW_TAG_STRING:
      arg->value = has_need(call, arg, KW_NEED_SUM) ? kw_arg_string("sum") : kw_arg_none();
      break;
    default:
      arg->value = kw_arg_none(); /* generators: a call can do without */
      break;
  }
}

static void free_arguments(kw_test_call *call) {
  for (uint32_t i = 0; i < KW_MAX_ARGS; i++) {
    for (int k = 0; k < KW_TEST_ENTRIES; k++) {
      kw_tensor_release(call->args[i].tensors[k]);
      call->args[i].tensors[k] = NULL;
    }
    kw_generator_destroy(call->args[i].generator);
    call->args[i].generator = NULL;
    call->args[i].value = kw_arg_none();
    call->args[i].role = KW_ROLE_PLAIN;
  }
}

/* An argument that is left out has its default, or is none. Indices are given always: they may be out of range. */
static void make_arguments(kw_test_call *call, const attempt *how) {
  call->given = 0;
  for (uint32_t i = 0; i < call->info.arg_count; i++) {
    const kw_arg_info *info = &call->args[i].info;
    bool optional = (info->flags & (KW_ARG_OPTIONAL | KW_ARG_HAS_DEFAULT)) != 0;
    if (kw_test_is_index(call->info.name, info)) optional = false;
    bool given = info->tag == KW_TAG_SCALAR || info->tag == KW_TAG_INT || info->tag == KW_TAG_TENSOR ||
                 has_need(call, &call->args[i], KW_NEED_DTYPE);
    call->args[i].value = info->default_value;
    if (!optional || (how->optionals && given && (info->flags & KW_ARG_OPTIONAL))) make_argument(call, i, how);
    if (!(info->flags & KW_ARG_HAS_DEFAULT) || call->args[i].role || how->optionals) call->given = i + 1;
  }
}

/* Ops that take several columns together. */
static bool counts_in_fours(const char *op) {
  return fnmatch("keyway::int4_*", op, 0) == 0 || fnmatch("keyway::sparse24_*", op, 0) == 0;
}

/* The arguments of an attempt, whose tensors have `numel` elements at most. */
static void prepare_call(kw_test_call *call, const attempt *how, int64_t numel) {
  call->rank = how->rank;
  call->edge = how->rank ? (int64_t)floor(pow((double)numel, 1.0 / how->rank) + 1e-9) : 1;
  call->places = kw_need_places(call->info.name, call->edge);
  if (counts_in_fours(call->info.name)) call->edge -= call->edge % 4;
  make_arguments(call, how);
}

static bool try_call(kw_test_call *call, const attempt *how, int64_t numel) {
  prepare_call(call, how, numel);
  kw_tensor *outs[KW_MAX_RESULTS] = {NULL};
  kw_status status = kw_test_call_run(call, NULL, outs);
  for (uint32_t i = 0; i < call->info.result_count; i++) kw_tensor_release(outs[i]);
  if (status == KW_OK) status = kw_device_synchronize(kw_contract.device);
  if (status != KW_OK) free_arguments(call);
  return status == KW_OK;
}

static attempt attempt_at(uint32_t index) {
  static const uint32_t ranks[] = {2, 3, 4, 1, 5, 0};
  const uint32_t rank = ranks[index / 4];
  return (attempt){.rank = rank, .index_rank = index & 1 ? rank : 1, .optionals = index & 2};
}

static void begin_call(const kw_op *op, kw_dtype dtype, kw_test_call *call) {
  *call = (kw_test_call){.op = op, .dtype = dtype, .info = {.struct_size = sizeof call->info}};
  KW_CHECK_OK(kw_op_get_info(op, &call->info));
  for (uint32_t i = 0; i < call->info.arg_count; i++) {
    call->args[i].info.struct_size = sizeof call->args[i].info;
    KW_CHECK_OK(kw_op_get_arg(op, i, &call->args[i].info));
  }
  for (uint32_t i = 0; i < call->info.arg_count; i++) call->in_place |= call->args[i].info.flags & KW_ARG_MUTATED;
}

bool kw_test_call_make(const kw_op *op, kw_dtype dtype, int64_t numel, kw_test_call *out_call) {
  begin_call(op, dtype, out_call);
  for (uint32_t i = 0; i < KW_TEST_ATTEMPTS; i++) {
    const attempt how = attempt_at(i);
    if (try_call(out_call, &how, numel)) return true;
  }
  kw_error_clear();
  return false;
}

bool kw_test_call_describe(const kw_op *op, kw_dtype dtype, int64_t edge, uint32_t number, kw_test_forms *forms,
                           kw_test_call *out_call, kw_tensor_ref *out_results) {
  const attempt how = attempt_at(number);
  kw_tensor_ref *results[KW_MAX_RESULTS];
  begin_call(op, dtype, out_call);
  out_call->forms = forms;
  prepare_call(out_call, &how, (int64_t)pow((double)edge, how.rank));
  for (uint32_t i = 0; i < out_call->info.result_count; i++) {
    out_results[i] = (kw_tensor_ref){.struct_size = sizeof out_results[i]};
    results[i] = &out_results[i];
  }
  kw_value values[KW_MAX_ARGS];
  kw_test_call_values(out_call, values);
  return kw_op_infer(op, values, out_call->info.arg_count, results, out_call->info.result_count) == KW_OK;
}

void kw_test_call_free(kw_test_call *call) {
  free_arguments(call);
}

/* ---- Calling ----------------------------------------------------------------------------------------------------- */

void kw_test_call_values(const kw_test_call *call, kw_value *out_values) {
  for (uint32_t i = 0; i < KW_MAX_ARGS; i++) out_values[i] = call->args[i].value;
}

kw_status kw_test_call_run(const kw_test_call *call, kw_stream *stream, kw_tensor **outs) {
  kw_value values[KW_MAX_ARGS];
  kw_test_call_values(call, values);
  if (!stream) stream = kw_stream_default(kw_contract.device); /* an op without tensors has to be told where */
  return kw_op_call(call->op, stream, values, call->given, outs, call->info.result_count);
}

kw_tensor *kw_test_call_result(const kw_test_call *call, kw_tensor **outs, uint32_t index) {
  int32_t alias = kw_op_result_alias(call->op, index);
  return alias >= 0 ? call->args[alias].tensors[0] : outs[index];
}

/* ---- The same call again ----------------------------------------------------------------------------------------- */

/* A generator of the call's own, in the state that every copy starts from. */
static void give_generator(kw_test_call *call, kw_device *device, uint32_t index) {
  kw_test_arg *arg = &call->args[index];
  KW_CHECK_OK(kw_generator_create(device, 42, &arg->generator));
  arg->value = kw_arg_generator(arg->generator);
  for (; call->given < index; call->given++) call->args[call->given].value = call->args[call->given].info.default_value;
  call->given = index + 1;
}

void kw_test_call_copy_to(const kw_test_call *call, kw_device *device, kw_test_call *out_copy) {
  *out_copy = *call;
  for (uint32_t i = 0; i < KW_MAX_ARGS; i++) {
    const kw_test_arg *from = &call->args[i];
    kw_test_arg *to = &out_copy->args[i];
    for (int k = 0; k < KW_TEST_ENTRIES; k++) {
      if (from->tensors[k]) KW_CHECK_OK(kw_tensor_to(from->tensors[k], device, &to->tensors[k]));
    }
    if (!to->tensors[0] && from->value.tag != KW_TAG_INT_LIST) continue;
    if (from->value.tag == KW_TAG_TENSOR) to->value = kw_arg_tensor(to->tensors[0]);
    if (from->value.tag == KW_TAG_TENSOR_LIST) to->value = kw_arg_tensor_list(to->tensors, from->value.count);
    if (from->value.u.ints == from->ints) to->value = kw_arg_int_list(to->ints, from->value.count);
  }
  for (uint32_t i = 0; i < call->info.arg_count; i++) {
    if (call->args[i].info.tag == KW_TAG_GENERATOR) give_generator(out_copy, device, i);
  }
}

void kw_test_call_copy(const kw_test_call *call, kw_test_call *out_copy) {
  kw_test_call_copy_to(call, kw_contract.device, out_copy);
}

bool kw_test_call_random(const kw_test_call *call) {
  for (uint32_t i = 0; i < call->info.arg_count; i++) {
    if (call->args[i].info.tag == KW_TAG_GENERATOR) return true;
  }
  return false;
}

bool kw_test_op_repeats(const kw_op *op) {
  kw_kernel_info kernel = {.struct_size = sizeof kernel};
  for (uint32_t k = 0; kw_op_get_kernel(op, kw_contract.device, k, &kernel) == KW_OK; k++) {
    const bool chosen = kernel.math_mode == KW_MATH_HIGHEST && kernel.priority != KW_PRIORITY_OFF;
    if (chosen && !(kernel.flags & KW_KERNEL_DETERMINISTIC)) return false;
  }
  return true;
}

size_t kw_test_bytes_of(const kw_tensor *tensor) {
  const kw_tensor_ref *ref = kw_tensor_describe(tensor);
  return (size_t)ref->numel * kw_dtype_size(ref->dtype);
}

/* What lies behind the filled entries of a counted op's first result is undefined: not compared. */
static kw_status clear_unfilled(const kw_tensor_ref *first, unsigned char *bytes, const unsigned char *count) {
  int64_t filled;
  memcpy(&filled, count, sizeof filled);
  if (first->numel == 0) return KW_OK;
  size_t item = kw_dtype_size(first->dtype), entry = (size_t)(first->numel / first->shape[0]) * item;
  if (filled < 0 || filled > first->shape[0]) return KW_ERR_INTERNAL;
  memset(bytes + (size_t)filled * entry, 0, (size_t)(first->shape[0] - filled) * entry);
  return KW_OK;
}

/* The results, and behind them the tensors that the call changes and does not return; NULL past the last. */
static const kw_tensor *what_came(const kw_test_call *call, kw_tensor **outs, uint32_t index) {
  if (index < call->info.result_count) return kw_test_call_result(call, outs, index);
  uint32_t left = index - call->info.result_count;
  for (uint32_t i = 0; i < call->info.arg_count; i++) {
    const kw_test_arg *arg = &call->args[i];
    if ((arg->info.flags & (KW_ARG_MUTATED | KW_ARG_RETURNED)) != KW_ARG_MUTATED) continue;
    for (int k = 0; k < KW_TEST_ENTRIES && arg->tensors[k]; k++) {
      if (left-- == 0) return arg->tensors[k];
    }
  }
  return NULL;
}

kw_status kw_test_call_results(const kw_test_call *call, kw_tensor **outs, unsigned char **out_bytes,
                               size_t *out_size) {
  size_t size = 0, at = 0;
  const kw_tensor *result;
  for (uint32_t i = 0; (result = what_came(call, outs, i)); i++) size += kw_test_bytes_of(result);
  unsigned char *bytes = calloc(1, size ? size : 1);
  kw_status status = bytes ? KW_OK : KW_ERR_OUT_OF_MEMORY;
  for (uint32_t i = 0; status == KW_OK && (result = what_came(call, outs, i)); i++) {
    status = kw_tensor_read(result, bytes + at);
    at += kw_test_bytes_of(result);
  }
  if (status == KW_OK && call->info.counted) {
    status = clear_unfilled(kw_tensor_describe(outs[0]), bytes, bytes + size - sizeof(int64_t));
  }
  *out_bytes = bytes;
  *out_size = size;
  return status;
}
