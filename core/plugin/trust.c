/* SPDX-License-Identifier: Apache-2.0
 *
 * What is cheap is asked first: the folder, then signatures, then the digest. A digest is kept while the process lives,
 * for the file as it is, and nowhere else: in a user's cache could stand what any program of the user's has put there.
 */
#include "plugin/trust.h"

#include "base/array.h"
#include "base/error.h"
#include "base/log.h"
#include "plugin/file_bytes.h"
#include "plugin/trust_rules.h"

#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sha256.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIST_LIMIT ((size_t)1 << 20)       /* bytes of a list */
#define SIGNATURE_LIMIT ((size_t)16 << 10) /* bytes of a signature's file */

/* A list that is in force. */
typedef struct trust_list {
  kw_trust_file file; /* with texts of its own */
  kw_trust_rules rules;
  bool machines; /* the one that root alone may write */
} trust_list;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static trust_list lists[2]; /* unchanged once all are read */
static uint32_t list_count;
static bool is_read;

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* Why a list that was found is not read; KW_OK when it can be. */
static kw_status check_list(const kw_safe_path *found, const char *path, bool machines) {
  if (machines && !found->is_roots) {
    return kw_fail(KW_ERR_PERMISSION, "all that 'namei -l %s' shows has to belong to root, and root alone may write it",
                   path);
  }
  if (found->danger[0] != '\0') return kw_fail(KW_ERR_PERMISSION, "%s", found->danger);
  if (!S_ISREG(found->info.st_mode)) return kw_fail(KW_ERR_IO, "it is no file");
  return found->file >= 0 ? KW_OK : kw_fail(KW_ERR_IO, "it cannot be read: %s", strerror(found->error));
}

static kw_status read_rules(const char *path, bool machines, kw_trust_rules *out_rules) {
  kw_safe_path found;
  size_t size = 0;
  char *text = NULL;
  if (path[0] != '/') return kw_fail(KW_ERR_INVALID_ARGUMENT, "a list is named by its whole path, from / on");
  kw_status status = kw_safe_path_open(path, "", &found);
  if (status != KW_OK) return status;
  status = check_list(&found, path, machines);
  if (status == KW_OK && (text = kw_file_read(found.file, LIST_LIMIT, &size)) == NULL) {
    status = kw_errno_status(errno);
    kw_fail(status, "it cannot be read: %s", strerror(errno));
  }
  if (status == KW_OK) status = kw_trust_rules_read(text, size, out_rules);
  free(text);
  if (found.file >= 0) close(found.file);
  return status;
}

/* Puts the list into force; one that is not understood allows nothing. KW_ERR_OUT_OF_MEMORY or KW_OK. */
static kw_status add_list(const char *path, bool machines) {
  trust_list *list = &lists[list_count];
  char reason[1024] = "";
  *list = (trust_list){.machines = machines, .file.struct_size = sizeof list->file};
  const kw_status status = read_rules(path, machines, &list->rules);
  if (status == KW_ERR_OUT_OF_MEMORY) return status;
  if (status != KW_OK) kw_error_sentence(reason, sizeof reason);
  char *path_copy = strdup(path), *reason_copy = strdup(reason);
  if (path_copy == NULL || reason_copy == NULL) {
    free(path_copy);
    free(reason_copy);
    kw_trust_rules_free(&list->rules);
    return kw_fail(KW_ERR_OUT_OF_MEMORY, "no memory for the name of %s", path);
  }
  if (status != KW_OK) {
    kw_error_clear();
    kw_log(KW_LOG_ERROR, "%s allows no plugin at all: %s", path, reason);
  }
  list->file.path = path_copy;
  list->file.reason = reason_copy;
  list->file.rule_count = list->rules.count;
  list_count++;
  return KW_OK;
}

static void forget_lists(void) {
  while (list_count > 0) {
    trust_list *list = &lists[--list_count];
    free((char *)list->file.path);
    free((char *)list->file.reason);
    kw_trust_rules_free(&list->rules);
  }
}

/* Where nothing can be said about the file it is taken to be there: it will not be read either. */
static kw_status read_all(void) {
  struct stat info;
  const char *own = secure_getenv("KEYWAY_TRUST");
  const bool there = fstatat(AT_FDCWD, KW_TRUST_MACHINE_FILE, &info, AT_SYMLINK_NOFOLLOW) == 0;
  if (!there && kw_errno_is_shortage(errno)) {
    return kw_fail(KW_ERR_OUT_OF_MEMORY, KW_TRUST_MACHINE_FILE " cannot be looked for now: %s", strerror(errno));
  }
  kw_status status = KW_OK;
  if (there || (errno != ENOENT && errno != ENOTDIR)) status = add_list(KW_TRUST_MACHINE_FILE, true);
  if (status == KW_OK && own != NULL && own[0] != '\0') status = add_list(own, false);
  if (status != KW_OK) forget_lists();
  return status;
}

kw_status kw_trust_start(void) {
  pthread_mutex_lock(&lock);
  const kw_status status = is_read ? KW_OK : read_all();
  is_read = status == KW_OK;
  pthread_mutex_unlock(&lock);
  return status;
}

uint32_t kw_trust_file_count(void) {
  return list_count;
}

const kw_trust_file *kw_trust_file_at(uint32_t index) {
  return index < list_count ? &lists[index].file : NULL;
}

/* ---- Digests ----------------------------------------------------------------------------------------------------- */

typedef struct digest {
  struct stat info; /* of the file when it was read */
  uint8_t sha256[KW_SHA256_SIZE];
} digest;

static digest *digests; /* under the lock; of the files that were read */
static uint32_t digest_count;

static bool is_same_time(struct timespec a, struct timespec b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool is_unchanged(const struct stat *a, const struct stat *b) {
  return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
         is_same_time(a->st_mtim, b->st_mtim) && is_same_time(a->st_ctim, b->st_ctim);
}

static bool find_digest(const struct stat *info, uint8_t sha256[KW_SHA256_SIZE]) {
  bool found = false;
  pthread_mutex_lock(&lock);
  for (uint32_t i = 0; i < digest_count && !found; i++) {
    found = is_unchanged(&digests[i].info, info);
    if (found) memcpy(sha256, digests[i].sha256, KW_SHA256_SIZE);
  }
  pthread_mutex_unlock(&lock);
  return found;
}

/* Without memory it is made again the next time. */
static void keep_digest(const struct stat *info, const uint8_t sha256[KW_SHA256_SIZE]) {
  pthread_mutex_lock(&lock);
  digest *grown = kw_array_grow(digests, digest_count, sizeof *grown);
  if (grown != NULL) {
    digests = grown;
    digests[digest_count].info = *info;
    memcpy(digests[digest_count++].sha256, sha256, KW_SHA256_SIZE);
  }
  pthread_mutex_unlock(&lock);
}

static void digest_more(void *state, const void *bytes, size_t size) {
  SHA256Update(state, bytes, size);
}

static kw_status fail_to_read(const char *path) {
  return kw_fail(kw_errno_is_shortage(errno) ? KW_ERR_OUT_OF_MEMORY : KW_ERR_IO, "%s cannot be read: %s", path,
                 strerror(errno));
}

static kw_status make_digest(const kw_safe_path *found, uint8_t sha256[KW_SHA256_SIZE]) {
  SHA2_CTX state;
  if (find_digest(&found->info, sha256)) return KW_OK;
  SHA256Init(&state);
  if (!kw_file_feed(found->file, digest_more, &state)) return fail_to_read(found->path);
  SHA256Final(sha256, &state);
  keep_digest(&found->info, sha256);
  return KW_OK;
}

/* ---- Rules ------------------------------------------------------------------------------------------------------- */

/* A file that is held against the lists, and what is known of it so far. */
typedef struct subject {
  const kw_safe_path *found;
  size_t folder_length; /* of its path, without the last slash */
  kw_status status;     /* why it is not known whether it is allowed */
  uint8_t sha256[KW_SHA256_SIZE];
  kw_minisig signature;
  bool has_signature, has_digest;
  char remark[100]; /* why its signature does not count; "" without one */
} subject;

/* Reads NAME.minisig beside the file, if there is one that can be read. */
static void read_signature(subject *s) {
  char path[PATH_MAX + 16];
  size_t size;
  snprintf(path, sizeof path, "%s.minisig", s->found->path);
  const int file = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  char *text = file >= 0 ? kw_file_read(file, SIGNATURE_LIMIT, &size) : NULL;
  if (text != NULL) {
    s->has_signature = kw_minisig_read(text, &s->signature, s->remark, sizeof s->remark);
  } else if (kw_errno_is_shortage(errno)) {
    s->status = fail_to_read(path);
  } else if (file >= 0 || errno != ENOENT) {
    snprintf(s->remark, sizeof s->remark, "%s", strerror(errno));
  }
  free(text);
  if (file >= 0) close(file);
}

/* Of the machine's list, where root alone could put it; of the user's, where the user could as well. */
static bool is_in_folder(const subject *s, const trust_list *list, const kw_trust_rule *rule) {
  return (s->found->is_roots || !list->machines) && strlen(rule->folder) == s->folder_length &&
         memcmp(rule->folder, s->found->path, s->folder_length) == 0;
}

static bool is_signed(subject *s, const kw_trust_rule *rule) {
  if (!s->has_signature && s->remark[0] == '\0') read_signature(s);
  if (!s->has_signature) return false;
  if (rule->key.id == s->signature.key_id) {
    return kw_minisig_verify(&s->signature, &rule->key, s->found->file, s->remark, sizeof s->remark);
  }
  if (s->remark[0] == '\0') {
    snprintf(s->remark, sizeof s->remark, "no rule has its key, %" PRIX64, s->signature.key_id);
  }
  return false;
}

static bool has_digest(subject *s, const kw_trust_rule *rule) {
  if (!s->has_digest) s->status = make_digest(s->found, s->sha256);
  s->has_digest = s->status == KW_OK;
  return s->has_digest && rule != NULL && memcmp(rule->sha256, s->sha256, sizeof s->sha256) == 0;
}

static bool matches(subject *s, const trust_list *list, const kw_trust_rule *rule) {
  if (rule->kind == KW_TRUST_FOLDER) return is_in_folder(s, list, rule);
  return rule->kind == KW_TRUST_MINISIGN ? is_signed(s, rule) : has_digest(s, rule);
}

/* The rule that allows the file; NULL without one, or with s->status. */
static const kw_trust_rule *find_rule(subject *s, const trust_list *list) {
  for (kw_trust_kind kind = 0; kind < KW_TRUST_KINDS; kind++) {
    for (uint32_t i = 0; i < list->rules.count && s->status == KW_OK; i++) {
      const kw_trust_rule *rule = &list->rules.items[i];
      if (rule->kind == kind && matches(s, list, rule)) return rule;
    }
  }
  return NULL;
}

/* ---- Verdicts ---------------------------------------------------------------------------------------------------- */

/* The line that would allow it is ready to be copied. */
static void say_refused(const subject *s, const trust_list *list, char text[KW_TRUST_TEXT_SIZE]) {
  char hex[2 * KW_SHA256_SIZE + 1];
  for (size_t i = 0; i < KW_SHA256_SIZE; i++) snprintf(hex + 2 * i, 3, "%02x", s->sha256[i]);
  const bool remarked = s->remark[0] != '\0';
  snprintf(text, KW_TRUST_TEXT_SIZE,
           "no rule in %.120s allows it; who trusts it adds the line: sha256 %s %.80s%s%.100s%s", list->file.path, hex,
           s->found->path + s->folder_length + 1, remarked ? " (its signature does not count: " : "", s->remark,
           remarked ? ")" : "");
}

static void judge_by(subject *s, const trust_list *list, char text[KW_TRUST_TEXT_SIZE]) {
  const size_t length = strlen(text);
  if (list->file.reason[0] != '\0') {
    s->status = KW_ERR_PERMISSION;
    snprintf(text, KW_TRUST_TEXT_SIZE, "%.150s allows no plugin at all: %.300s", list->file.path, list->file.reason);
    return;
  }
  const kw_trust_rule *rule = find_rule(s, list);
  if (rule == NULL && s->status == KW_OK) has_digest(s, NULL);
  if (s->status != KW_OK) {
    kw_error_sentence(text, KW_TRUST_TEXT_SIZE);
  } else if (rule == NULL) {
    s->status = KW_ERR_PERMISSION;
    say_refused(s, list, text);
  } else {
    snprintf(text + length, KW_TRUST_TEXT_SIZE - length, "%s%.150s, line %u: %s", length > 0 ? "; " : "",
             list->file.path, rule->line, kw_trust_kind_name(rule->kind));
  }
}

kw_status kw_trust_judge(const kw_safe_path *found, char text[KW_TRUST_TEXT_SIZE]) {
  text[0] = '\0';
  if (list_count == 0) return KW_OK;
  if (found->danger[0] != '\0') {
    snprintf(text, KW_TRUST_TEXT_SIZE, "%.150s is in force, and %.300s", lists[0].file.path, found->danger);
    return KW_ERR_PERMISSION;
  }
  const size_t folder_length = (size_t)(strrchr(found->path, '/') - found->path);
  subject s = {.found = found, .folder_length = folder_length, .status = KW_OK};
  for (uint32_t i = 0; i < list_count && s.status == KW_OK; i++) judge_by(&s, &lists[i], text);
  return s.status;
}
