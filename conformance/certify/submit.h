/* SPDX-License-Identifier: Apache-2.0
 *
 * Making a certification package out of a run.
 */
#ifndef KEYWAY_CONFORMANCE_SUBMIT_H
#define KEYWAY_CONFORMANCE_SUBMIT_H

#include "certify/mustpass.h"
#include "certify/waiver.h"
#include "run/run.h"

typedef struct kw_submission {
  const char *folder;  /* of the package; it is made */
  const char *key;     /* secret key of minisign, a file; NULL: unsigned */
  const char *waivers; /* file; NULL */
  bool with_plugin;    /* puts a copy of the plugin into the package */
  kw_mustpass lists;
  kw_entry_list granted; /* the waivers */
  char date[KW_DATE_SIZE];
  bool made; /* the folder */
} kw_submission;

/* Before a run: makes the folder, and reads what the package needs, so that nothing is missing at the end. False:
 * *out_message says what is wrong. */
bool kw_submission_begin(kw_submission *submission, char *out_message, size_t size);

/* Once its cases are chosen: whether they are those that the level has to pass. */
bool kw_submission_takes(const kw_submission *submission, const kw_run *run, char *out_message, size_t size);

/* After it: writes the package and signs it. */
bool kw_submission_write(kw_submission *submission, const kw_run *run, const kw_report *report,
                         const kw_waived_verdict *verdict, char *out_message, size_t size);

/* Frees what it holds, and removes the folder if it is empty. */
void kw_submission_end(kw_submission *submission);

#endif /* KEYWAY_CONFORMANCE_SUBMIT_H */
