/* SPDX-License-Identifier: Apache-2.0
 *
 * Input values, as a pure function of (seed, case, run, argument, element): the coordinator and a worker make the same
 * ones without exchanging them, and a replayed case sees the same numbers.
 */
#ifndef KEYWAY_CONFORMANCE_VALUE_H
#define KEYWAY_CONFORMANCE_VALUE_H

#include "case/element.h"
#include "case/words.h"

/* What the elements of one argument look like. */
typedef enum kw_domain {
  KW_DOMAIN_ANY,        /* floats: +-[2^-6, 2^6), evenly over exponents; integers: half of them all bits, half small */
  KW_DOMAIN_UNIT,       /* [-1, 1]; integers as ANY */
  KW_DOMAIN_POSITIVE,   /* as ANY, one in eight negative */
  KW_DOMAIN_NONZERO,    /* as ANY, never 0 */
  KW_DOMAIN_EXPONENT,   /* [-20, 20] */
  KW_DOMAIN_ANGLE,      /* +-[2^-6, 2^12) */
  KW_DOMAIN_NEAR,       /* [-8, 8], half of them close to 0 */
  KW_DOMAIN_ABOVE_ONE,  /* 1 + [2^-12, 2^6), evenly over exponents, one in eight below 1; integers as POSITIVE */
  KW_DOMAIN_HALVES,     /* [-8, 8], a third of them halves of integers, a third close to integers; integers as ANY */
  KW_DOMAIN_SHIFT,      /* integers: numbers of bits to shift by, from -3 to past what an i64 has */
  KW_DOMAIN_FEW,        /* {-2, -1, 0, 1, 2}: equal values and ties */
  KW_DOMAIN_POWER_BASE, /* [2^-3, 2^3]; integers -5 .. 5 */
  KW_DOMAIN_POWER,      /* [-4, 4]; integers -3 .. 8 */
  KW_DOMAIN_SMALL,      /* integers -8 .. 8 in any dtype: sums of them are exact */
  KW_DOMAIN_BOOL,       /* 0 and 1 */
  KW_DOMAIN_MASK,       /* bool: as BOOL; u8: 0 half the time, 1, 2, 128 and 255 */
  KW_DOMAIN_FACTOR, /* +-[2^-1/8, 2^1/8): no product of 2^17 of them leaves f32; integers: odd, so that none is lost */
  KW_DOMAIN_EXACT_FACTOR, /* +-1/2, +-1, +-2; integers +-1, +-3: products are exact */
  KW_DOMAIN_SIXTEENTH,    /* odd multiples of 1/16, +-[1/16, 23/16]; integers as UNIT */
  KW_DOMAIN_SPARSE,       /* 0, and one element in `stride` is not: NaN too, integers of one bit */
  KW_DOMAIN_DENSE,        /* the other way round: one element in `stride` is 0 */
  KW_DOMAIN_OFFSET,       /* a large number + [-1, 1]: differences cancel; integers as ANY */
  KW_DOMAIN_PROBABILITY,  /* [0, 1], both ends often; integers as ANY */
  KW_DOMAIN_WEIGHT,       /* above 0, up to 8; integers as ANY */
  KW_DOMAIN_STEP,         /* whole numbers from 1 to 1000, half of them up to 8 */
  KW_DOMAIN_HUGE,         /* floats: as large as their squares allow, with room for a sum of those; integers as ANY */
  KW_DOMAIN_TINY,         /* floats: as small as their squares allow; integers as ANY */
  KW_DOMAIN_SUBNORMAL,    /* floats: zeros of both signs, and among them subnormal numbers; others as FEW */
  KW_DOMAIN_BELOW_NORMAL, /* floats: subnormal numbers only; integers as SMALL */
  KW_DOMAIN_EDGE,         /* floats: beside the numbers at which an elementary function overflows, underflows, becomes 0
                             or saturates, beside 1 and beside 0; integers as SMALL */
  KW_DOMAIN_EDGE_BASE,    /* floats: bases whose powers do so at those numbers, and their inverses; integers as SMALL */
  KW_DOMAIN_CONVERT,      /* for copy_ into `target`: ANY, special values, values halfway between two of the target's */
  KW_DOMAIN_SPECIAL,      /* the list of special values, element i takes (i / stride) modulo its length */
  KW_DOMAIN_SPECIAL_RAW,  /* the same with signaling NaN: for moves only, arithmetic may treat it in two ways */
  KW_DOMAIN_SPECIAL_BITS, /* the list of special values, and behind it any bits, NaN quiet */
  KW_DOMAIN_SPECIAL_ROW,  /* SMALL, and one special value of those whose sums are defined in every `stride` elements */
  KW_DOMAIN_SPECIAL_ONE,  /* SMALL, and special value number `stride` in the middle */
  KW_DOMAIN_ENDS,         /* rows of `limit` elements at distance `stride`, or one: nothing but -inf, or inf, or all but
                             the first, the last, a quarter or one in 64 of them, which are 1 and -1; then rows of NaN.
                             Integers: the least and the greatest. In KW_VALUE_END_ROWS rows there is one of each */
  KW_DOMAIN_PAIRS,        /* u8: two nibbles, each of two places below 4 that ascend (2:4 sparsity) */
  KW_DOMAIN_ROWS,         /* from 0 to limit, ascending, not evenly: where the rows of a sparse matrix start */
  KW_DOMAIN_BITS,         /* element i has the bits of (limit + i / stride) */
  KW_DOMAIN_STRATA,       /* f32: element i has the bits of 1024 i and something below 1024 */
  KW_DOMAIN_PARTNER,      /* f32: what goes with element i of STRATA: any bits, or a number about as large, or one that
                             begins as it does, or one near 1 */
  KW_DOMAIN_INDEX,        /* [0, limit) */
  KW_DOMAIN_STARTS,       /* where `stride` parts of [0, limit) begin, in order, the first of them empty now and then,
                             and in element `stride` limit itself */
  KW_DOMAIN_BOX,          /* corners of boxes, x1, y1, x2, y2 in every four elements at distance `stride`: multiples of
                             1 / limit up to 20, some boxes without area; limit 0: from (0, 0), with sides 1, 2, 4, 8 */
  KW_DOMAIN_REGION,       /* every five: a number in [0, limit), then corners, multiples of 1/4 */
  KW_DOMAIN_ASCENDING, /* from -8 (u8: 0) up with i, in quarters, integers in ones, equal ones among them; at the ends
                          floats have infinities and then NaN, integers the least and the greatest. With a limit: up
                          with the place p = (i / stride) modulo limit, which has the value of place p + limit / 3 */
  KW_DOMAIN_TURN,      /* [0, limit): (i / stride - limit / 3) modulo limit: what puts such ASCENDING into order */
  KW_DOMAIN_SPREAD,    /* [0, limit): i / stride in a shuffled order, modulo limit: no index occurs twice in `limit`
                          elements that follow each other at distance `stride` */
  KW_DOMAIN_BLOCKS,    /* masks in rows of `stride` elements: whole blocks of 32 hide (false, -inf), of row r the first
                          r modulo 8 of them and some behind those; elsewhere true most of the time, floats as UNIT */
  KW_DOMAIN_LOWEST     /* masks of floats in rows of `stride` elements, four kinds of rows in turn: the dtype's lowest
                          number throughout; half -inf, half that number; half that number, half 0; and throughout
                          -2^100 or f32's lowest, or the dtype's where that is nearer to 0 */
} kw_domain;

#define KW_VALUE_END_ROWS 13
#define KW_VALUE_NAN 7 /* the number with which SPECIAL_ONE has NaN */

/* What a value depends on besides its element. */
typedef struct kw_value_key {
  uint64_t seed;
  uint64_t case_hash;
  uint32_t run; /* 0 or 1: the two runs of a case have different data (special lists: another order) */
  uint32_t arg;
  kw_domain domain;
  uint32_t stride; /* see the domain */
  uint64_t extent; /* elements of this argument's storage */
  int64_t limit;   /* ENDS, BITS, INDEX, SPREAD, STARTS, BOX, REGION, ASCENDING, TURN */
  bool from_end;   /* INDEX, SPREAD: half of the indices count from the end, limit less; ENDS: but the last only */
  kw_dtype target; /* CONVERT: the dtype that it will be converted to */
} kw_value_key;

/* Writes element `index` of the argument's storage. Philox is keyed by seed xor case hash, its counter is
 * (index low, index high, argument, run). */
void kw_value_make(const kw_value_key *key, kw_dtype dtype, uint64_t index, void *out_element);
/* The first `count` elements, in less time than one by one. */
void kw_values_make(const kw_value_key *key, kw_dtype dtype, uint64_t count, void *out_elements);

/* Length of the special-value list of a dtype, signaling NaN included. */
uint32_t kw_value_special_count(kw_dtype dtype);

#endif /* KEYWAY_CONFORMANCE_VALUE_H */
