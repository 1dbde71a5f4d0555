/* SPDX-License-Identifier: Apache-2.0
 *
 * A certification package: a folder with reports, lists and a manifest, which names every other file by its hash and
 * is what gets signed.
 */
#ifndef KEYWAY_CONFORMANCE_MANIFEST_H
#define KEYWAY_CONFORMANCE_MANIFEST_H

#include "run/digest.h"

#include <stdint.h>

#define KW_PACKAGE_MANIFEST "manifest.json"
#define KW_PACKAGE_SIGNATURE "manifest.json.minisig"
#define KW_PACKAGE_REPORT "report.json"
#define KW_PACKAGE_PAGE "report.html"
#define KW_PACKAGE_TABLE "report.txt"
#define KW_PACKAGE_MACHINE "machine.json"
#define KW_PACKAGE_WAIVERS "waivers.json"
#define KW_PACKAGE_EXPECT "expect.json"
#define KW_PACKAGE_LISTS "mustpass" /* a folder */
#define KW_PACKAGE_PLUGIN "plugin"  /* a folder */

typedef struct kw_package_file {
  char *path; /* in the package */
  char hash[KW_DIGEST_SIZE];
} kw_package_file;

/* Texts of the manifest, in their order. */
typedef enum kw_manifest_text {
  KW_MANIFEST_KEYWAY, /* version of the program that wrote it */
  KW_MANIFEST_SUITE,
  KW_MANIFEST_OP_SET,
  KW_MANIFEST_CREATED, /* the day */
  KW_MANIFEST_DEVICE,
  KW_MANIFEST_PRODUCT,
  KW_MANIFEST_LEVEL,
  KW_MANIFEST_HALF,   /* the 16-bit float that the level was judged in */
  KW_MANIFEST_EFFORT, /* "normal", "thorough" */
  KW_MANIFEST_SEED,
  KW_MANIFEST_VERDICT, /* with waivers */
  KW_MANIFEST_PLUGIN,  /* file name */
  KW_MANIFEST_PLUGIN_HASH,
  KW_MANIFEST_TOLERANCES_HASH,
  KW_MANIFEST_CASES_HASH,
  KW_MANIFEST_TEXTS
} kw_manifest_text;
/* "plugin_sha256" */
const char *kw_manifest_key(kw_manifest_text text);

typedef struct kw_manifest {
  char *texts[KW_MANIFEST_TEXTS]; /* clean; "" for none */
  uint32_t file_count;
  kw_package_file *files; /* sorted by path */
} kw_manifest;

void kw_manifest_set(kw_manifest *manifest, kw_manifest_text text, const char *value);
void kw_manifest_free(kw_manifest *manifest);

/* All files in a folder but manifest and signature, hashed and sorted. False: *out_message says what is no plain file
 * or cannot be read. */
bool kw_package_list(const char *folder, kw_package_file **out_files, uint32_t *out_count, char *out_message,
                     size_t size);
void kw_package_files_free(kw_package_file *files, uint32_t count);

/* Lists and hashes the folder's files and writes the manifest there. */
bool kw_manifest_write(kw_manifest *manifest, const char *folder, char *out_message, size_t size);
/* Reads it. False: *out_message says why it is none that was written like this; out is zeroed then. */
bool kw_manifest_read(const char *folder, kw_manifest *out_manifest, char *out_message, size_t size);

#endif /* KEYWAY_CONFORMANCE_MANIFEST_H */
