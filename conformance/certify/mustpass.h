/* SPDX-License-Identifier: Apache-2.0
 *
 * Must-pass lists: which cases a level has to pass in one version of the suite. They are frozen in
 * conformance/mustpass/VERSION and installed; the format stands at the top of each list.
 */
#ifndef KEYWAY_CONFORMANCE_MUSTPASS_H
#define KEYWAY_CONFORMANCE_MUSTPASS_H

#include "base/effort.h"
#include "certify/id_list.h"
#include "run/level.h"

#define KW_MUSTPASS_FILES 4 /* contract.txt, core.txt, inference.txt, training.txt */

typedef struct kw_mustpass_file {
  char *text;
  char hash[KW_DIGEST_SIZE]; /* of the whole file */
} kw_mustpass_file;

typedef struct kw_mustpass {
  kw_mustpass_file files[KW_MUSTPASS_FILES];
  char tolerance_hash[KW_DIGEST_SIZE]; /* of the table that the cases are judged by */
} kw_mustpass;

/* "core.txt" */
const char *kw_mustpass_name(uint32_t file);
/* How many of the files a level takes: the contract's and those of the levels up to it. */
uint32_t kw_mustpass_file_count(const kw_level_claim *claim);

/* The folder in which the lists of this version of the suite are installed. False when there is none. */
bool kw_mustpass_folder(char *out_path, size_t size);

/* Reads all lists of a folder. False: *out_message says which one is unusable, and why; out is zeroed then. */
bool kw_mustpass_read(const char *folder, kw_mustpass *out_lists, char *out_message, size_t size);
void kw_mustpass_free(kw_mustpass *lists);

/* Adds every id that the text of a list names; "error/op/" and a star for tests of every op. */
void kw_mustpass_all(const char *text, kw_id_list *io_ids);

/* What a level asks for of a device. */
typedef struct kw_mustpass_level {
  const kw_level_claim *claim;
  kw_dtype half;    /* the 16-bit float that it is judged in */
  kw_effort effort; /* KW_EFFORT_NORMAL or above */
} kw_mustpass_level;

/* Adds the ids. */
void kw_mustpass_ids(const kw_mustpass *lists, const kw_mustpass_level *level, kw_id_list *io_ids);

/* Holds ids (which get sorted) against what the level asks for. False: *out_message says what is missing, or added. */
bool kw_mustpass_check(const kw_mustpass *lists, const kw_mustpass_level *level, kw_id_list *ids, char *out_message,
                       size_t size);

#endif /* KEYWAY_CONFORMANCE_MUSTPASS_H */
