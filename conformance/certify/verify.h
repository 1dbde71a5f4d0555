/* SPDX-License-Identifier: Apache-2.0
 *
 * Checking a certification package.
 */
#ifndef KEYWAY_CONFORMANCE_VERIFY_H
#define KEYWAY_CONFORMANCE_VERIFY_H

#include "certify/waiver.h"
#include "run/run.h"

typedef struct kw_verify_options {
  const char *folder;
  const char *public_key; /* of minisign: a file, or its text; NULL: the signature is not looked at */
  bool has_seed;
  uint64_t seed;         /* that was given to the package's maker */
  const char *date;      /* on which waivers have to hold */
  const char *waivers;   /* file, which the package's waivers have to be; NULL: whichever */
  const char *plugin;    /* file, held against the package's hash; NULL: the copy in the package, if there is one */
  double share;          /* of the cases that are run again, 0 to 1 */
  kw_run_options *rerun; /* of those: device (NULL: the package's), seed, jobs and time limits */
} kw_verify_options;

typedef enum kw_check_end {
  KW_CHECK_GOOD,
  KW_CHECK_REFUSED,      /* the package does not hold */
  KW_CHECK_INCONCLUSIVE, /* nothing is known against it, but this could not be told */
  KW_CHECK_IMPOSSIBLE,   /* the check could not be made */
  KW_CHECK_LEFT_OUT      /* it was not asked for */
} kw_check_end;

typedef struct kw_check {
  const char *name;
  kw_check_end end;
  char text[1024]; /* what was found */
} kw_check;

#define KW_CHECK_MOST 16

typedef struct kw_verification {
  kw_check checks[KW_CHECK_MOST]; /* in order; none behind one that is refused or impossible */
  uint32_t check_count;
  char *verdict; /* the package's; "" unless everything before it holds */
  int exit_code; /* 0 conformant, 1 refused, 2 could not be checked, 3 not conformant, 4 inconclusive, 5 conformant with
                    waivers */
} kw_verification;

void kw_verify(const kw_verify_options *options, kw_verification *out_verification);
void kw_verification_free(kw_verification *verification);

#endif /* KEYWAY_CONFORMANCE_VERIFY_H */
