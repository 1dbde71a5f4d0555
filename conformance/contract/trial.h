/* SPDX-License-Identifier: Apache-2.0
 *
 * Wrong calls of one op: each is to be refused with KW_ERR_INVALID_ARGUMENT and a text that names op and argument.
 */
#ifndef KEYWAY_CONTRACT_TRIAL_H
#define KEYWAY_CONTRACT_TRIAL_H

#include "call.h"

#define KW_TRIAL_ANY_ARGUMENT (-1) /* the text names one of the op's arguments, or a result */
#define KW_TRIAL_NO_ARGUMENT (-2)  /* the call as a whole is wrong: the text names the op */

/* The call under test: `call` is right, `values` and the others are what a wrong call passes. */
typedef struct kw_trial {
  kw_test_call call;
  kw_value values[KW_MAX_ARGS];
  uint32_t given;
  kw_tensor *outs[KW_MAX_RESULTS]; /* of the right shape, with known contents; NULL where an argument is the result */
  unsigned char *known[KW_MAX_RESULTS];                /* these contents */
  unsigned char *inputs[KW_MAX_ARGS][KW_TEST_ENTRIES]; /* what the arguments hold */
  bool by_address;                                     /* what is wrong is where tensors lie: no part of a plan */
} kw_trial;

/* What a tensor holds; the caller's to free. */
unsigned char *kw_trial_contents(const kw_tensor *tensor);

/* Makes the call right again. */
void kw_trial_reset(kw_trial *t);

/* The status, with the message of this thread, of a call with this wrong: a refusal that names `argument`, an index or
 * one of the above. `what` says what is wrong, for the text of a failure. */
void kw_trial_check_refusal(const kw_trial *t, kw_status status, int argument, const char *what);
/* The wrong call with these results is refused, now and as a plan; results are not replaced. */
void kw_trial_refuse_with(kw_trial *t, kw_tensor **outs, uint32_t out_count, int argument, const char *what);
/* The wrong call with results to allocate, and with results given. */
void kw_trial_refuse(kw_trial *t, int argument, const char *what);
/* Passes `value` as argument `index`, expects a refusal that names it, and makes the call right again. */
void kw_trial_refuse_value(kw_trial *t, uint32_t index, kw_value value, const char *what);

/* Results and changed arguments of wrong kinds and places, and what belongs to another device (error_result.c). */
void kw_trial_refuse_results(kw_trial *t);

#endif /* KEYWAY_CONTRACT_TRIAL_H */
