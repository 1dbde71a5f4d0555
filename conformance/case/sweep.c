/* SPDX-License-Identifier: Apache-2.0
 *
 * Sizes at the ends of blocks, tiles and vectors. Kernels take a size in pieces of some power of two and treat the rest
 * apart; the errors are at the last piece: nothing left, one element left, a vector or half of it, all but one.
 */
#include "case/sweep.h"

#include "case/parts.h"

#include <string.h>

/* The largest product of a case's sizes: what it costs. In f64 oracles compute in 113 bits, and where an op has a
 * bound of its own they compute that as well. */
enum { MOST = 1 << 13, LESS = 4, MOST_RANK = 8 };

/* Elements of one tensor: some makers have more than their sizes say, a padded border or several windows. */
enum { MOST_ELEMENTS = 1 << 17 };

static const int64_t edges[] = {15,  16,  17,   20,   24,   31,   32,   33,  36,  40,   63,   64,   65,   68,
                                72,  127, 128,  129,  132,  136,  255,  256, 257, 260,  264,  511,  512,  513,
                                516, 520, 1023, 1024, 1025, 1028, 1032, 48,  96,  2047, 2048, 2049, 4096, 4097};
static const int64_t small_edges[] = {17, 8, 33, 15, 24, 9, 16, 31, 40, 7, 32, 65}; /* of a second size */
static const int64_t rest[] = {3, 2, 5, 1};                                         /* what others are cut to */

uint32_t kw_case_sweep_count(const kw_suite_op *op, kw_dtype key) {
  enum { POINTWISE = 6, OTHER = 16 };
  if (op->vendor || key == KW_F64) return POINTWISE;
  return op->row.shape == KW_SHAPE_BROADCAST || op->row.shape == KW_SHAPE_LIKE ? POINTWISE : OTHER;
}

/* Every third is made from one about layouts, which has permuted strides. A shrunken variant has the draws of the whole
 * case: they follow from op, dtype and number. */
void kw_case_sweep_start(kw_case *c, uint32_t attempt) {
  enum { ATTEMPTS = 64 };
  c->sweep = ((kw_hash(KW_HASH_START, c->op->name) + c->key) * 4096 + c->number) * ATTEMPTS + attempt + 1;
  c->class = c->number % 3 == 2 && attempt < KW_SWEEP_BASES / 2 ? KW_CLASS_TRANSPOSED : KW_CLASS_PRIME;
  c->number = (c->number + 5 * attempt) % KW_SWEEP_BASES;
}

static uint64_t product_of(const kw_shape *sizes) {
  uint64_t product = 1;
  for (uint32_t d = 0; d < sizes->rank; d++) product *= (uint64_t)sizes->dims[d];
  return product;
}

/* Number below `count` drawn from the case; each `what` draws anew. */
static uint32_t draw(const kw_case *c, uint32_t what, uint32_t count) {
  uint64_t mixed = (16 * c->sweep + what) * UINT64_C(0x9e3779b97f4a7c15); /* Fibonacci hashing, Knuth 6.4 */
  mixed ^= mixed >> 32;
  mixed *= UINT64_C(0x9e3779b97f4a7c15);
  return (uint32_t)((mixed >> 32) % count);
}

/* Cuts the largest size that stands for nothing until the case is cheap; the first `kept` places stay. */
static void cut(const kw_case *c, kw_shape *sizes, const uint32_t *places, uint32_t kept, uint32_t count) {
  const bool own_bound = strchr(c->op->row.magnitude, '/') != NULL;
  const uint64_t most = MOST / (c->key == KW_F64 ? LESS : 1) / (own_bound ? LESS : 1);
  for (uint32_t i = count; i-- > kept && product_of(sizes) > most;) {
    int64_t *size = &sizes->dims[places[i]];
    const int64_t small = rest[draw(c, 8 + i, COUNT(rest))];
    if (*size > small) *size = small;
  }
  for (uint32_t i = kept; i-- > 1 && product_of(sizes) > most;) sizes->dims[places[i]] = rest[draw(c, 8 + i, 2)];
}

void kw_case_sweep(const kw_case *c, kw_shape *io_sizes) {
  uint32_t places[KW_MAX_RANK], count = 0;
  for (uint32_t d = 0; d < io_sizes->rank; d++) {
    if (io_sizes->dims[d] > 1) places[count++] = d;
  }
  if (count == 0) return;
  const uint32_t chosen = draw(c, 0, count), first = places[chosen];
  places[chosen] = places[0];
  places[0] = first;
  const int64_t edge = edges[draw(c, 1, COUNT(edges))];
  const uint32_t kind = draw(c, 2, 4);
  io_sizes->dims[places[0]] = edge;
  if (count > 1 && kind == 0 && edge <= 129) io_sizes->dims[places[1]] = edge;
  if (count > 1 && kind > 1) io_sizes->dims[places[1]] = small_edges[draw(c, 3, COUNT(small_edges))];
  cut(c, io_sizes, places, count > 1 && kind != 1 ? 2 : 1, count);
}

bool kw_case_sweep_fits(const kw_case *c) {
  bool sized = c->shrunk, cheap = c->sizes.rank <= MOST_RANK;
  for (uint32_t d = 0; d < c->sizes.rank; d++) sized |= c->sizes.dims[d] > 1;
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) cheap &= c->tensors[i].extent <= MOST_ELEMENTS;
  for (uint32_t r = 0; r < c->result_count; r++) cheap &= c->outs[r].extent <= MOST_ELEMENTS;
  return sized && cheap;
}
