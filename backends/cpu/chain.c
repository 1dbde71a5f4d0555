/* SPDX-License-Identifier: Apache-2.0
 *
 * Chains of calls, piece by piece. All results have one shape, whose leading dimensions are joined as far as every
 * operand allows: these are the chain's rows, of which a piece has some. Calls go together where no piece needs what
 * another piece writes.
 */
#include "chain.h"

#include "fast/fast.h"
#include "number.h"
#include "wait.h"
#include "walk.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES (INT64_C(128) << 10)  /* of all that a piece touches: it stays in a core's own cache */
#define RESULT_BYTES (INT64_C(256) << 10) /* the least result that is worth it: smaller ones stay there whole */
#define EVEN_ROWS 64                      /* pieces of more rows have a multiple, to begin where vectors do */
#define ARGS 12                           /* more than any pointwise op has */
#define TENSORS 6                         /* of a call, its result included */

enum { RESULT = ARGS }; /* as operand.arg */

typedef struct operand {
  uint32_t arg;
  uint32_t joinable;            /* leading dimensions that may be joined */
  kw_tensor_ref ref;            /* once the chain is made, of its first piece */
  int64_t strides[KW_MAX_RANK]; /* elements, along the chain's dimensions; 0 where it repeats */
} operand;

typedef struct chain_link {
  const kw_call *call;
  uint32_t count;
  operand operands[TENSORS]; /* the last one is the result */
  void *prepared[2];         /* for full pieces, and for the last one if it is short */
} chain_link;

struct kw_chain {
  uint32_t length;
  uint32_t rank; /* of the results, without dimensions of size 1 */
  int64_t shape[KW_MAX_RANK];
  uint32_t joined; /* dimensions that make rows */
  int64_t rows, piece_rows, pieces;
  chain_link links[];
};

/* ---- What may go together ---------------------------------------------------------------------------------------- */

/* Bytes from a row to the next, and from its first element to the end of its last. */
static int64_t row_step(const kw_chain *chain, const operand *o) {
  return o->strides[chain->joined - 1] * kw_number_size(o->ref.dtype);
}

static int64_t row_extent(const kw_chain *chain, const operand *o) {
  int64_t last = 0;
  for (uint32_t d = chain->joined; d < chain->rank; d++) last += (chain->shape[d] - 1) * o->strides[d];
  return (last + 1) * kw_number_size(o->ref.dtype);
}

static bool overlap(const kw_chain *chain, const operand *a, const operand *b) {
  const char *a_first = kw_walk_base(&a->ref), *b_first = kw_walk_base(&b->ref);
  const int64_t a_bytes = (chain->rows - 1) * row_step(chain, a) + row_extent(chain, a);
  const int64_t b_bytes = (chain->rows - 1) * row_step(chain, b) + row_extent(chain, b);
  return a_first < b_first + b_bytes && b_first < a_first + a_bytes;
}

static bool has_separate_rows(const kw_chain *chain, const operand *o) {
  return row_extent(chain, o) <= row_step(chain, o);
}

/* Whether a row of the one has no byte in common with another row of the other. */
static bool rows_are_apart(const kw_chain *chain, const operand *a, const operand *b) {
  if (!overlap(chain, a, b)) return true;
  return kw_walk_base(&a->ref) == kw_walk_base(&b->ref) && row_step(chain, a) == row_step(chain, b) &&
         has_separate_rows(chain, a) && has_separate_rows(chain, b);
}

static const operand *result_of(const chain_link *link) {
  return &link->operands[link->count - 1];
}

static bool links_are_apart(const kw_chain *chain, const chain_link *a, const chain_link *b) {
  for (uint32_t i = 0; i < a->count; i++) {
    if (!rows_are_apart(chain, &a->operands[i], result_of(b))) return false;
  }
  for (uint32_t i = 0; i < b->count; i++) {
    if (!rows_are_apart(chain, &b->operands[i], result_of(a))) return false;
  }
  return true;
}

/* Bytes of a row of the first `length` links, those of tensors that come again counted once. */
static int64_t row_bytes(const kw_chain *chain, uint32_t length) {
  const void *seen[KW_CHAIN_LIMIT * TENSORS];
  uint32_t count = 0;
  int64_t bytes = 0;
  for (uint32_t i = 0; i < length; i++) {
    for (uint32_t k = 0; k < chain->links[i].count; k++) {
      const operand *o = &chain->links[i].operands[k];
      const void *first = kw_walk_base(&o->ref);
      uint32_t at = 0;
      while (at < count && seen[at] != first) at++;
      if (at == count) seen[count++] = first;
      if (at + 1 == count && row_step(chain, o) > 0) bytes += row_extent(chain, o);
    }
  }
  return bytes;
}

static bool shares_a_tensor(const kw_chain *chain, const chain_link *link) {
  for (uint32_t i = 0; i < chain->length; i++) {
    for (uint32_t k = 0; k < link->count; k++) {
      if (kw_walk_base(&link->operands[k].ref) == kw_walk_base(&result_of(&chain->links[i])->ref)) return true;
    }
  }
  return chain->length == 0;
}

/* Whether the link behind the last one is apart from all. The others stay so among themselves when dimensions are taken
 * out of the rows: along those, their steps follow from the last one's. */
static bool fits(const kw_chain *chain) {
  for (uint32_t i = 0; i <= chain->length; i++) {
    if (!links_are_apart(chain, &chain->links[i], &chain->links[chain->length])) return false;
  }
  return row_bytes(chain, chain->length + 1) <= PIECE_BYTES;
}

static void join_dims(kw_chain *chain, uint32_t joined) {
  chain->joined = joined;
  chain->rows = 1;
  for (uint32_t d = 0; d < joined; d++) chain->rows *= chain->shape[d];
}

static bool has_shape(const kw_chain *chain, const kw_tensor_ref *out) {
  uint32_t rank = 0;
  for (uint32_t d = 0; d < out->rank; d++) {
    if (out->shape[d] == 1) continue;
    if (rank == chain->rank || chain->shape[rank++] != out->shape[d]) return false;
  }
  return rank == chain->rank;
}

static void add_operand(const kw_chain *chain, chain_link *link, uint32_t arg, const kw_tensor_ref *tensor) {
  const kw_tensor_ref *out = link->call->outs[0];
  const uint32_t missing = (uint32_t)(out->rank - tensor->rank);
  operand *o = &link->operands[link->count++];
  *o = (operand){.arg = arg, .joinable = 1, .ref = *tensor};
  for (uint32_t d = 0, at = 0; d < out->rank; d++) {
    if (out->shape[d] == 1) continue;
    const bool repeats = d < missing || tensor->shape[d - missing] == 1;
    o->strides[at++] = repeats ? 0 : tensor->strides[d - missing];
  }
  while (o->joinable < chain->rank &&
         o->strides[o->joinable - 1] == o->strides[o->joinable] * chain->shape[o->joinable]) {
    o->joinable++;
  }
}

static bool is_pointwise(const kw_call *call) {
  const kw_fast_kernel *kernel = call ? call->user : NULL;
  return kernel && kernel->is_pointwise && call->out_count == 1 && call->outs[0] && call->arg_count <= ARGS;
}

/* Fills the link behind the last one. */
static bool take_call(kw_chain *chain, const kw_call *call) {
  if (!is_pointwise(call) || !has_shape(chain, call->outs[0])) return false;
  chain_link *link = &chain->links[chain->length];
  *link = (chain_link){.call = call};
  for (uint32_t i = 0; i < call->arg_count; i++) {
    if (call->args[i].tag != KW_TAG_TENSOR) continue;
    if (link->count == TENSORS - 1) return false;
    add_operand(chain, link, i, call->args[i].u.tensor);
  }
  add_operand(chain, link, RESULT, call->outs[0]);
  return true;
}

/* Adds the call as the next link if it can be one. */
static bool add_link(kw_chain *chain, const kw_call *call) {
  if (!take_call(chain, call)) return false;
  const chain_link *link = &chain->links[chain->length];
  const uint32_t before = chain->joined;
  uint32_t joined = before;
  for (uint32_t k = 0; k < link->count; k++) {
    if (link->operands[k].joinable < joined) joined = link->operands[k].joinable;
  }
  join_dims(chain, joined);
  if (shares_a_tensor(chain, link) && fits(chain)) {
    chain->length++;
    return true;
  }
  join_dims(chain, before);
  return false;
}

/* ---- Pieces ------------------------------------------------------------------------------------------------------ */

/* A call of one piece, with what it points to. */
typedef struct piece_call {
  kw_call call;
  kw_value args[ARGS];
  kw_tensor_ref refs[TENSORS];
  const kw_tensor_ref *out;
} piece_call;

static int64_t rows_of_piece(const kw_chain *chain, int64_t piece) {
  const int64_t left = chain->rows - piece * chain->piece_rows;
  return left < chain->piece_rows ? left : chain->piece_rows;
}

static void make_call(const kw_chain *chain, const chain_link *link, int64_t piece, piece_call *made) {
  const int64_t rows = rows_of_piece(chain, piece);
  made->call = *link->call;
  made->call.args = made->args;
  made->call.outs = &made->out;
  made->call.prepared = link->prepared[rows < chain->piece_rows];
  memcpy(made->args, link->call->args, link->call->arg_count * sizeof *made->args);
  for (uint32_t k = 0; k < link->count; k++) {
    const operand *o = &link->operands[k];
    kw_tensor_ref *ref = &made->refs[k];
    *ref = o->ref;
    ref->offset += (uint64_t)(piece * chain->piece_rows * row_step(chain, o));
    ref->numel = ref->numel / chain->piece_rows * rows;
    ref->shape[0] = rows;
    if (o->arg == RESULT) {
      made->out = ref;
    } else {
      made->args[o->arg].u.tensor = ref;
    }
  }
}

/* Makes the operand's tensor that of the first piece. */
static void cut_operand(const kw_chain *chain, operand *o) {
  kw_tensor_ref *ref = &o->ref;
  const int64_t step = chain->piece_rows * row_step(chain, o);
  while (step % ref->alignment != 0) ref->alignment /= 2;
  ref->rank = (uint8_t)(1 + chain->rank - chain->joined);
  ref->numel = chain->piece_rows;
  ref->shape[0] = chain->piece_rows;
  ref->strides[0] = o->strides[chain->joined - 1];
  for (uint32_t d = 1; d < ref->rank; d++) {
    ref->shape[d] = chain->shape[chain->joined + d - 1];
    ref->strides[d] = o->strides[chain->joined + d - 1];
    ref->numel *= ref->shape[d];
  }
}

/* False: a kernel does not serve such pieces, or there is no memory. */
static bool prepare_link(const kw_chain *chain, chain_link *link) {
  const bool ends_short = rows_of_piece(chain, chain->pieces - 1) < chain->piece_rows;
  for (uint32_t i = 0; i < (ends_short ? 2 : 1); i++) {
    piece_call made;
    make_call(chain, link, i == 0 ? 0 : chain->pieces - 1, &made);
    if (kw_fast_prepare(&made.call, &link->prepared[i]) != KW_OK) return false;
  }
  return true;
}

static bool cut(kw_chain *chain) {
  chain->piece_rows = PIECE_BYTES / row_bytes(chain, chain->length);
  if (chain->piece_rows > EVEN_ROWS) chain->piece_rows -= chain->piece_rows % EVEN_ROWS;
  chain->pieces = (chain->rows - 1) / chain->piece_rows + 1;
  for (uint32_t i = 0; i < chain->length; i++) {
    chain_link *link = &chain->links[i];
    for (uint32_t k = 0; k < link->count; k++) cut_operand(chain, &link->operands[k]);
  }
  for (uint32_t i = 0; i < chain->length; i++) {
    if (!prepare_link(chain, &chain->links[i])) return false;
  }
  return true;
}

kw_chain *kw_chain_make(const kw_call *const *calls, uint32_t count) {
  if (count < 2 || !is_pointwise(calls[0]) || !is_pointwise(calls[1])) return NULL;
  const kw_tensor_ref *out = calls[0]->outs[0];
  if (out->numel * kw_number_size(out->dtype) < RESULT_BYTES) return NULL;
  kw_chain *chain = calloc(1, sizeof *chain + KW_CHAIN_LIMIT * sizeof *chain->links);
  if (!chain) return NULL;
  for (uint32_t d = 0; d < out->rank; d++) {
    if (out->shape[d] != 1) chain->shape[chain->rank++] = out->shape[d];
  }
  join_dims(chain, chain->rank);
  while (chain->length < KW_CHAIN_LIMIT && chain->length < count && add_link(chain, calls[chain->length])) continue;
  if (chain->length >= 2 && cut(chain)) {
    kw_chain *smaller = realloc(chain, sizeof *chain + chain->length * sizeof *chain->links);
    return smaller ? smaller : chain;
  }
  kw_chain_free(chain);
  return NULL;
}

uint32_t kw_chain_length(const kw_chain *chain) {
  return chain->length;
}

void kw_chain_free(kw_chain *chain) {
  if (!chain) return;
  for (uint32_t i = 0; i < chain->length; i++) {
    const chain_link *link = &chain->links[i];
    for (uint32_t k = 0; k < 2; k++) {
      if (link->prepared[k]) kw_fast_release(link->call->user, link->prepared[k]);
    }
  }
  free(chain);
}

/* ---- Run --------------------------------------------------------------------------------------------------------- */

typedef struct chain_run {
  const kw_host_api *host;
  const kw_chain *chain;
  _Atomic uint64_t took[KW_CHAIN_LIMIT];
  bool is_timed;
  _Atomic kw_status status; /* the first failure */
} chain_run;

static void run_link(chain_run *run, uint32_t at, int64_t piece) {
  const chain_link *link = &run->chain->links[at];
  const kw_fast_kernel *kernel = link->call->user;
  piece_call made;
  make_call(run->chain, link, piece, &made);
  kw_status status = kernel->run(run->host, &made.call, made.call.prepared), none = KW_OK;
  if (status != KW_OK) atomic_compare_exchange_strong(&run->status, &none, status);
}

static void run_pieces(void *user, int64_t begin, int64_t end) {
  chain_run *run = user;
  for (int64_t piece = begin; piece < end; piece++) {
    for (uint32_t i = 0; i < run->chain->length; i++) {
      const uint64_t before = run->is_timed ? kw_cpu_now_ns() : 0;
      run_link(run, i, piece);
      if (run->is_timed) atomic_fetch_add(&run->took[i], kw_cpu_now_ns() - before);
    }
  }
}

kw_status kw_chain_run(const kw_host_api *host, const kw_chain *chain, uint64_t *took) {
  chain_run run = {.host = host, .chain = chain, .is_timed = took != NULL};
  kw_status status = host->parallel_for(host->ctx, chain->pieces, 1, run_pieces, &run);
  for (uint32_t i = 0; took && i < chain->length; i++) took[i] += run.took[i];
  return status != KW_OK ? status : run.status;
}
