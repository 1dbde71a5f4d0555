/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite error, one index out of range in a long list of good ones, at the places where kernels split their work: it is
 * told wherever it stands, nothing is done for it, and what the other indices are for is done all the same.
 */
#include "call_needs.h"
#include "error_bad.h"

#include <stdio.h>

enum { NUMEL = 1331, LONG = 1100, TRIES = 3 };

/* Arguments whose first dimension may be longer than the others, so that there are more indices than places. */
static const struct {
  const char *op, *arg;
} longer[] = {
    {"embedding", "indices"},
    {"index_select", "index"},
    {"index.Tensor", "indices"},
    {"index_add", "index"},
    {"index_add", "source"},
    {"index_put", "indices"},
    {"index_put", "values"},
    {"embedding_dense_backward", "grad_output"},
    {"_embedding_bag", "indices"},
    {"embedding_dense_backward", "indices"},
    {"nll_loss_forward", "self"},
    {"nll_loss_forward", "target"},
    {"nll_loss_backward", "self"},
    {"nll_loss_backward", "target"},
    {"cross_entropy_loss", "self"},
    {"nll_loss_backward", "grad_output"},
    {"cross_entropy_loss", "target"},
    {"keyway::rope", "self"},
    {"keyway::rope", "positions"},
    {"keyway::accumulate_confusion_", "prediction"},
    {"keyway::accumulate_confusion_", "target"},
};

/* What an op's page leaves unspecified beside the element that the index is for. */
typedef enum reach { REACH_ELEMENT, REACH_ROW, REACH_ALL } reach;

typedef struct rule {
  const char *op;
  reach reach;
  bool rounds; /* sums of whole numbers would tell nothing: its numbers are any */
} rule;

static const rule rules[] = {
    {"_embedding_bag", REACH_ROW, false},          {"keyway::attention_paged", REACH_ROW, true},
    {"keyway::attention_decode", REACH_ROW, true}, {"nll_loss_forward", REACH_ALL, false},
    {"nll_loss2d_forward", REACH_ALL, false},      {"cross_entropy_loss", REACH_ALL, false},
    {"searchsorted.Tensor", REACH_ALL, false},     {"keyway::bsr_linear", REACH_ELEMENT, true},
};

static rule rule_of(const char *op) {
  for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
    if (strcmp(rules[i].op, op) == 0) return rules[i];
  }
  return (rule){op, REACH_ELEMENT, false};
}

/* ---- The call ---------------------------------------------------------------------------------------------------- */

/* Along the last dimension, of a list of indices the second one; otherwise along the first, in lists as long as the op
 * takes. */
typedef struct listed {
  kw_test_call call;
  bool last;
  uint32_t argument; /* whose index is wrong */
  int64_t limit;     /* of good numbers in it */
  kw_tensor *first;  /* the list's other tensor, where it has two; not to be released */
  const kw_tensor *good;
  int64_t count, *indices; /* of `good` */
  void *before;            /* what the argument that is changed held; NULL: there is none */
  kw_tensor *changed;
} listed;

static kw_test_arg *find_argument(kw_test_call *call, const char *name) {
  for (uint32_t i = 0; i < call->info.arg_count; i++) {
    if (strcmp(call->args[i].info.name, name) == 0) return &call->args[i];
  }
  return NULL;
}

static void give(kw_test_call *call, kw_test_arg *arg, kw_value value) {
  arg->value = value;
  if (call->given <= (uint32_t)(arg - call->args)) call->given = (uint32_t)(arg - call->args) + 1;
}

/* Whole numbers, none of which is there twice, so that no sum is rounded and no element is taken for another. */
static void number_data(kw_tensor *tensor) {
  const kw_tensor_ref *ref = kw_tensor_describe(tensor);
  const bool floats = ref->dtype == KW_F32;
  if (!floats && ref->dtype != KW_I64) return;
  void *numbers = kw_test_memory(kw_test_bytes_of(tensor));
  for (int64_t i = 0; i < ref->numel; i++) {
    if (floats) {
      ((float *)numbers)[i] = (float)(i + 1);
    } else {
      ((int64_t *)numbers)[i] = i + 1;
    }
  }
  KW_CHECK_OK(kw_tensor_write(tensor, numbers));
  free(numbers);
}

/* Each place once along the dimension that the op indexes. */
static void number_indices(const listed *l, kw_tensor *tensor) {
  const kw_tensor_ref *ref = kw_tensor_describe(tensor);
  const int64_t step = ref->rank > 1 && !l->last ? ref->numel / ref->shape[0] : 1;
  int64_t *indices = kw_test_memory(kw_test_bytes_of(tensor));
  for (int64_t i = 0; i < ref->numel; i++) indices[i] = i / step % l->call.edge;
  KW_CHECK_OK(kw_tensor_write(tensor, indices));
  free(indices);
}

/* An argument of `rank` dimensions, the first of which has `size`. */
static void replace(kw_test_call *call, kw_test_arg *arg, uint32_t rank, int64_t size) {
  const kw_tensor_ref *ref = kw_tensor_describe(arg->tensors[0]);
  int64_t shape[KW_MAX_RANK];
  kw_tensor *made = NULL;
  memcpy(shape, ref->shape, sizeof shape);
  shape[0] = size;
  KW_CHECK_OK(kw_tensor_create(kw_contract.device, ref->dtype, rank, shape, &made));
  kw_tensor_release(arg->tensors[0]);
  arg->tensors[0] = made;
  give(call, arg, arg->info.tag == KW_TAG_TENSOR ? kw_arg_tensor(made) : kw_arg_tensor_list(arg->tensors, 1));
}

static void lengthen(kw_test_call *call) {
  for (size_t i = 0; i < sizeof longer / sizeof longer[0]; i++) {
    kw_test_arg *arg = strcmp(longer[i].op, call->info.name) == 0 ? find_argument(call, longer[i].arg) : NULL;
    if (arg && arg->tensors[0]) replace(call, arg, kw_tensor_describe(arg->tensors[0])->rank, LONG);
  }
}

/* Of a list the second tensor: both name places of a matrix then, in which values have one dimension. */
static void index_both(kw_test_call *call, kw_test_arg *list) {
  kw_test_arg *values = find_argument(call, "values");
  if (values) replace(call, values, 1, call->edge);
  kw_tensor_retain(list->tensors[0]);
  list->tensors[1] = list->tensors[0];
  give(call, list, kw_arg_tensor_list(list->tensors, 2));
}

/* Whether there is such a call. */
static bool shape_call(listed *l) {
  kw_test_call *call = &l->call;
  kw_test_arg *dim = find_argument(call, "dim"), *accumulate = find_argument(call, "accumulate"), *list = NULL;
  bool ranked = false;
  for (uint32_t i = 0; i < call->info.arg_count; i++) {
    const kw_test_arg *arg = &call->args[i];
    if (arg->role == KW_ROLE_DATA && kw_tensor_describe(arg->tensors[0])->rank > 1) ranked = true;
    if (arg->role == KW_ROLE_INDEX && arg->info.tag == KW_TAG_TENSOR_LIST) list = &call->args[i];
  }
  if (l->last && (!ranked || (!dim && !list))) return false;
  if (!l->last) lengthen(call);
  if (l->last && dim) give(call, dim, kw_arg_int(-1));
  if (l->last && list) index_both(call, list);
  if (accumulate) give(call, accumulate, kw_arg_bool(true)); /* several go to one place */
  for (uint32_t i = 0; i < call->info.arg_count; i++) {
    kw_test_arg *arg = &call->args[i];
    if (arg->role == KW_ROLE_INDEX) number_indices(l, arg->tensors[0]);
    if (arg->role == KW_ROLE_DATA && !rule_of(call->info.name).rounds) number_data(arg->tensors[0]);
  }
  return true;
}

/* ---- What comes of it -------------------------------------------------------------------------------------------- */

/* A result, or a tensor that is changed, among the bytes of all. */
typedef struct part {
  size_t at, item;
  int64_t numel, rows;
} part;

typedef struct outcome {
  part parts[KW_MAX_RESULTS + KW_MAX_ARGS];
  uint32_t count;
  unsigned char *tries[TRIES], *want, *known;
  size_t size;
} outcome;

static void add_part(outcome *o, size_t *io_at, const kw_tensor *tensor) {
  const kw_tensor_ref *ref = kw_tensor_describe(tensor);
  o->parts[o->count++] = (part){*io_at, kw_dtype_size(ref->dtype), ref->numel, ref->rank > 0 ? ref->shape[0] : 1};
  *io_at += kw_test_bytes_of(tensor);
}

static void find_parts(const listed *l, kw_tensor **outs, outcome *o) {
  size_t at = 0;
  o->count = 0;
  for (uint32_t r = 0; r < l->call.info.result_count; r++) add_part(o, &at, kw_test_call_result(&l->call, outs, r));
  if (l->changed) add_part(o, &at, l->changed);
}

/* The call with these indices. */
static kw_status run(const listed *l, kw_tensor *indices, kw_stream *stream, kw_tensor **outs) {
  kw_value values[KW_MAX_ARGS];
  kw_tensor *list[] = {l->first ? l->first : indices, indices};
  kw_test_call_values(&l->call, values);
  values[l->argument] = l->call.args[l->argument].info.tag == KW_TAG_TENSOR
                            ? kw_arg_tensor(indices)
                            : kw_arg_tensor_list(list, l->first ? 2 : 1);
  if (l->changed) KW_CHECK_OK(kw_tensor_write(l->changed, l->before));
  kw_error_clear();
  return kw_op_call(l->call.op, stream, values, l->call.given, outs, l->call.info.result_count);
}

/* Results of calls with a good index in the place of the wrong one. The last call's results stay in `outs`. */
static void try_good(const listed *l, int64_t place, kw_stream *stream, outcome *o, kw_tensor **outs) {
  for (int t = 0; t < TRIES; t++) {
    const int64_t other = (l->indices[place] + 1 + t) % l->limit;
    kw_tensor *indices = kw_bad_indices(l->good, KW_I64, place, other);
    KW_CHECK_OK(run(l, indices, stream, outs));
    KW_CHECK_OK(kw_stream_synchronize(stream));
    KW_CHECK_OK(kw_test_call_results(&l->call, outs, &o->tries[t], &o->size));
    kw_tensor_release(indices);
  }
  find_parts(l, outs, o);
}

/* Where two of three good indices leave an element the same, it is what it is without them: so it has to be with a
 * wrong one. Where all three differ it depends on the index, and nothing is said of it. */
static void learn_elements(outcome *o) {
  for (uint32_t p = 0; p < o->count; p++) {
    const part *part = &o->parts[p];
    for (int64_t i = 0; i < part->numel; i++) {
      const size_t at = part->at + (size_t)i * part->item, item = part->item;
      const bool first = memcmp(o->tries[0] + at, o->tries[1] + at, item) == 0 ||
                         memcmp(o->tries[0] + at, o->tries[2] + at, item) == 0;
      const bool known = first || memcmp(o->tries[1] + at, o->tries[2] + at, item) == 0;
      memcpy(o->want + at, o->tries[first ? 0 : 1] + at, item);
      memset(o->known + at, known, item);
    }
  }
}

static bool row_depends(const outcome *o, const part *part, int64_t row) {
  const size_t size = (size_t)(part->numel / part->rows) * part->item, at = part->at + (size_t)row * size;
  return memcmp(o->tries[0] + at, o->tries[1] + at, size) != 0 || memcmp(o->tries[0] + at, o->tries[2] + at, size) != 0;
}

/* Nothing is said of a row, either, that depends on the index in one of the results, nor of results without such rows.
 */
static void forget_rows(outcome *o) {
  const int64_t rows = o->parts[0].rows;
  for (int64_t row = 0; row < rows; row++) {
    bool depends = false;
    for (uint32_t p = 0; p < o->count; p++) {
      depends = depends || (o->parts[p].rows == rows && row_depends(o, &o->parts[p], row));
    }
    for (uint32_t p = 0; p < o->count; p++) {
      const part *part = &o->parts[p];
      const size_t size = part->rows == rows ? (size_t)(part->numel / rows) * part->item : 0;
      if (depends) memset(o->known + part->at + (size_t)row * size, 0, size);
      if (part->rows != rows) memset(o->known + part->at, 0, (size_t)part->numel * part->item);
    }
  }
}

static void learn(const listed *l, outcome *o) {
  const rule rule = rule_of(l->call.info.name);
  o->want = kw_test_memory(o->size + 1);
  o->known = kw_test_memory(o->size + 1);
  if (rule.reach == REACH_ALL || l->limit <= TRIES) return;
  if (rule.rounds && !kw_test_op_repeats(l->call.op)) return;
  learn_elements(o);
  if (rule.reach == REACH_ROW) forget_rows(o);
}

static void forget(outcome *o) {
  for (int t = 0; t < TRIES; t++) free(o->tries[t]);
  free(o->want);
  free(o->known);
}

static void expect_rest(const listed *l, const outcome *o, kw_tensor **outs, int64_t place, int64_t bad) {
  unsigned char *got = NULL;
  size_t size = 0;
  KW_CHECK_OK(kw_test_call_results(&l->call, outs, &got, &size));
  for (uint32_t p = 0; p < o->count; p++) {
    for (size_t b = 0; b < (size_t)o->parts[p].numel * o->parts[p].item; b++) {
      const size_t at = o->parts[p].at + b;
      KW_CHECK(!o->known[at] || got[at] == o->want[at],
               "%s with index %lld in '%s', at place %lld of %lld: element %zu of result %u is not what it is without "
               "that index: the others are to be served, and nothing is done for a wrong one",
               l->call.info.name, (long long)bad, l->call.args[l->argument].info.name, (long long)place,
               (long long)l->count, b / o->parts[p].item, p);
    }
  }
  free(got);
}

/* ---- Places ------------------------------------------------------------------------------------------------------ */

/* The same numbers as every other one of a longer list, the rest of which is `gap`. Releases them. */
static kw_tensor *with_gaps(kw_tensor *dense, int64_t gap) {
  const kw_tensor_ref *ref = kw_tensor_describe(dense);
  const int64_t room = 2 * ref->numel;
  int64_t *numbers = kw_test_memory((size_t)room * sizeof *numbers), strides[KW_MAX_RANK];
  kw_tensor *storage = NULL, *view = NULL;
  KW_CHECK_OK(kw_tensor_read(dense, numbers));
  for (int64_t i = ref->numel - 1; i >= 0; i--) {
    numbers[2 * i + 1] = numbers[i];
    numbers[2 * i] = gap;
  }
  for (uint32_t d = 0; d < ref->rank; d++) strides[d] = 2 * ref->strides[d];
  KW_CHECK_OK(kw_tensor_create(kw_contract.device, KW_I64, 1, &room, &storage));
  KW_CHECK_OK(kw_tensor_write(storage, numbers));
  KW_CHECK_OK(kw_tensor_as_strided(storage, ref->rank, ref->shape, strides, 1, &view));
  kw_tensor_release(storage);
  kw_tensor_release(dense);
  free(numbers);
  return view;
}

/* A wrong number between good ones that are not given is no error. */
static void check_gaps(const listed *l, kw_stream *stream) {
  kw_tensor *good = kw_bad_indices(l->good, KW_I64, 0, l->indices[0]), *outs[KW_MAX_RESULTS] = {NULL};
  unsigned char *bytes[2] = {NULL};
  size_t size = 0;
  char what[160];
  snprintf(what, sizeof what, "the result of %s, given every other of a list of indices", l->call.info.name);
  for (int gaps = 0; gaps < 2; gaps++) {
    if (gaps) good = with_gaps(good, l->limit + 1);
    kw_status status = run(l, good, stream, outs);
    if (status == KW_OK) status = kw_stream_synchronize(stream);
    KW_CHECK(status == KW_OK, "%s with good indices in '%s'%s: %s", l->call.info.name,
             l->call.args[l->argument].info.name, gaps ? ", between which others lie that it is not given" : "",
             kw_error_message());
    KW_CHECK_OK(kw_test_call_results(&l->call, outs, &bytes[gaps], &size));
  }
  if (!rule_of(l->call.info.name).rounds || kw_test_op_repeats(l->call.op))
    kw_test_same(bytes[1], bytes[0], size, what);
  for (uint32_t r = 0; r < l->call.info.result_count; r++) kw_tensor_release(outs[r]);
  for (int gaps = 0; gaps < 2; gaps++) free(bytes[gaps]);
  kw_tensor_release(good);
}

static void check_bad(const listed *l, const outcome *o, kw_tensor *const *like, kw_dtype dtype, int64_t place,
                      int64_t bad, bool gaps, kw_stream *stream) {
  kw_tensor *wrong = kw_bad_indices(l->good, dtype, place, bad);
  if (gaps) wrong = with_gaps(wrong, 0);
  kw_guarded g = {{NULL}, {NULL}};
  kw_guarded_make(&l->call, like, &g);
  const kw_status status = run(l, wrong, stream, g.results);
  kw_bad_expect_told(&l->call, l->argument, stream, status, bad);
  expect_rest(l, o, g.results, place, bad);
  kw_guarded_end(&l->call, &g);
  kw_tensor_release(wrong);
}

/* Two wrong numbers of i64, one of them in a list with gaps, and one of i32, others at each place; thoroughly all. */
static void check_place(const listed *l, int64_t place, uint32_t turn, kw_stream *stream) {
  const bool all = kw_contract.effort == KW_EFFORT_THOROUGH;
  const int64_t n = l->limit, below = kw_bad_counts_from_end(l->call.info.name) ? -n - 1 : -1;
  const int64_t wide[] = {below, n, INT64_MIN, (INT64_C(1) << 32) + (l->indices[place] + 1) % n};
  const int64_t narrow[] = {n, below, INT32_MIN};
  kw_tensor *outs[KW_MAX_RESULTS] = {NULL};
  outcome o = {.count = 0};
  try_good(l, place, stream, &o, outs);
  learn(l, &o);
  for (uint32_t k = 0; k < (all ? 4 : 2); k++) {
    check_bad(l, &o, outs, KW_I64, place, wide[(2 * turn + k) % 4], k & 1, stream);
  }
  for (uint32_t k = 0; k < (all ? 3 : 1); k++)
    check_bad(l, &o, outs, KW_I32, place, narrow[(turn + k) % 3], false, stream);
  forget(&o);
  for (uint32_t r = 0; r < l->call.info.result_count; r++) kw_tensor_release(outs[r]);
}

/* How long a sequence can be: as many keys as there are, or as its pages hold. */
static int64_t capacity(kw_test_call *call) {
  const kw_test_arg *table = find_argument(call, "block_table");
  const kw_tensor_ref *keys = kw_tensor_describe(find_argument(call, "key")->tensors[0]);
  const int64_t pages = table ? kw_tensor_describe(table->tensors[0])->shape[1] : 1;
  return table ? pages * keys->shape[1] : keys->shape[2];
}

static void check_argument(listed *l, kw_stream *stream) {
  kw_test_arg *arg = &l->call.args[l->argument];
  const bool both = arg->value.tag == KW_TAG_TENSOR_LIST && arg->value.count == 2;
  l->limit = arg->role == KW_ROLE_INDEX ? l->call.places : capacity(&l->call) + 1;
  l->good = arg->tensors[0];
  l->first = both ? arg->tensors[0] : NULL;
  l->count = kw_tensor_describe(l->good)->numel;
  l->indices = kw_test_memory((size_t)l->count * sizeof *l->indices);
  KW_CHECK_OK(kw_tensor_read(l->good, l->indices));
  check_gaps(l, stream);
  const int64_t places[] = {0, l->count - 1, 255, 256, 257, l->count / 2, 1023, 1024, 1025};
  const uint32_t few = 2, most = sizeof places / sizeof places[0];
  for (uint32_t p = 0; p < (kw_contract.effort == KW_EFFORT_QUICK ? few : most); p++) {
    if (places[p] < l->count) check_place(l, places[p], p, stream);
  }
  free(l->indices);
}

static void keep_changed(listed *l) {
  l->changed = NULL;
  l->before = NULL;
  for (uint32_t i = 0; i < l->call.info.arg_count; i++) {
    if (l->call.args[i].info.flags & KW_ARG_MUTATED) l->changed = l->call.args[i].tensors[0];
  }
  if (!l->changed) return;
  l->before = kw_test_memory(kw_test_bytes_of(l->changed));
  KW_CHECK_OK(kw_tensor_read(l->changed, l->before));
}

/* Whether the device takes it: what it does not take is no concern of this test. */
static bool is_taken(const listed *l, kw_stream *stream) {
  kw_tensor *outs[KW_MAX_RESULTS] = {NULL};
  kw_status status = kw_test_call_run(&l->call, stream, outs);
  if (status == KW_OK) status = kw_stream_synchronize(stream);
  for (uint32_t r = 0; r < l->call.info.result_count; r++) kw_tensor_release(outs[r]);
  return status == KW_OK;
}

/* Each argument of indices, or of lengths; without a device that takes the call nothing. */
static void check_call(listed *l, kw_stream *stream) {
  if (shape_call(l) && is_taken(l, stream)) {
    keep_changed(l);
    for (l->argument = 0; l->argument < l->call.info.arg_count; l->argument++) {
      const kw_test_arg *arg = &l->call.args[l->argument];
      if (arg->role == KW_ROLE_INDEX || strcmp(arg->info.name, "lengths") == 0) check_argument(l, stream);
    }
    free(l->before);
  }
  kw_test_call_free(&l->call);
}

/* Every op that takes indices, along its first dimension and its last, and each of its arguments of indices. */
void kw_contract_error_one_bad_index(void **state) {
  (void)state;
  kw_stream *stream = kw_test_stream();
  uint32_t calls = 0;
  for (int last = 0; last < 2; last++) {
    listed l = {.last = last};
    for (uint32_t at = 0; kw_bad_next_call(&at, NUMEL, &l.call); calls++) {
      const kw_op *op = l.call.op;
      const bool floats = l.call.dtype == KW_F32, quick = kw_contract.effort == KW_EFFORT_QUICK;
      check_call(&l, stream);
      if (last || quick || !floats || kw_op_support(op, kw_contract.device, KW_I64) == KW_SUPPORT_NONE) continue;
      if (kw_test_call_make(op, KW_I64, NUMEL, &l.call)) check_call(&l, stream); /* another kernel, it may be */
    }
  }
  KW_CHECK_OK(kw_stream_destroy(stream));
  if (!calls) kw_test_skip("the device has no op that takes indices");
  kw_test_usable("a round trip after calls with one index out of range");
}

/* Sequences of a cache, one of which is longer than it can be. */
void kw_contract_error_length_beyond_cache(void **state) {
  (void)state;
  const char *op = "keyway::attention_decode";
  listed l = {.last = false};
  if (!kw_test_has(op) || !kw_test_call_make(kw_op_find(op), KW_F32, NUMEL, &l.call)) {
    kw_test_skip("the device has no attention over a cache in f32");
  }
  kw_stream *stream = kw_test_stream();
  check_call(&l, stream);
  KW_CHECK_OK(kw_stream_destroy(stream));
  kw_test_usable("a round trip after sequences longer than their cache");
}
