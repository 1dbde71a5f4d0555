/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of built modules: named by a hash of what they were built from, written whole, and checked when read.
 */
#include "program/store.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file is a header and the module's bytes. */
typedef struct header {
  char magic[8];
  uint64_t size;      /* of what follows, bytes */
  uint8_t key[32];    /* a file under another name is foreign */
  uint8_t digest[32]; /* SHA-256 of what follows */
} header;

static const char magic[8] = "KWMOD\0\0\1"; /* the last is the version of this format */

#define SIZE_LIMIT (UINT64_C(256) << 20) /* bytes; larger is not ours */

static void hash(const void *bytes, size_t size, uint8_t out_digest[32]) {
  SHA2_CTX state;
  SHA256Init(&state);
  SHA256Update(&state, bytes, size);
  SHA256Final(out_digest, &state);
}

void kw_gpu_store_key_make(kw_gpu_store_key *out_key, const char *identity, const char *const *sources,
                           uint32_t source_count) {
  SHA2_CTX state;
  SHA256Init(&state);
  SHA256Update(&state, (const uint8_t *)identity, strlen(identity) + 1);
  for (uint32_t i = 0; i < source_count; ++i) SHA256Update(&state, (const uint8_t *)sources[i], strlen(sources[i]) + 1);
  SHA256Final(out_key->digest, &state);
}

/* ---- Where ------------------------------------------------------------------------------------------------------- */

/* Where modules are kept; false when they are not. */
static bool find_cache(char path[PATH_MAX]) {
  const char *own = secure_getenv("KEYWAY_MODULE_CACHE");
  const char *cache = secure_getenv("XDG_CACHE_HOME"), *home = secure_getenv("HOME");
  struct stat folder;
  int length;
  if (own && own[0]) {
    if (strcmp(own, "off") == 0) return false;
    length = snprintf(path, PATH_MAX, "%s", own);
  } else if (cache && cache[0] == '/') {
    length = snprintf(path, PATH_MAX, "%s/keyway/modules", cache);
  } else if (home && home[0] == '/' && stat(home, &folder) == 0 && S_ISDIR(folder.st_mode)) {
    length = snprintf(path, PATH_MAX, "%s/.cache/keyway/modules", home);
  } else {
    return false;
  }
  return length > 0 && length < PATH_MAX;
}

/* What came with the plugin that this code is in, and whose that is. */
static bool find_shipped(char path[PATH_MAX], uid_t *out_owner) {
  const char *own = secure_getenv("KEYWAY_MODULE_CACHE");
  Dl_info plugin;
  struct stat file;
  if ((own && strcmp(own, "off") == 0) || !dladdr(magic, &plugin)) return false;
  if (plugin.dli_fname[0] != '/' || stat(plugin.dli_fname, &file) != 0) return false;
  const char *end = strrchr(plugin.dli_fname, '.');
  const int stem = end && strcmp(end, ".so") == 0 ? (int)(end - plugin.dli_fname) : (int)strlen(plugin.dli_fname);
  *out_owner = file.st_uid;
  return snprintf(path, PATH_MAX, "%.*s.modules", stem, plugin.dli_fname) < PATH_MAX;
}

/* Makes the directories of `path` that are missing. */
static void make_directories(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    mkdir(path, 0700);
    *slash = '/';
  }
}

/* Room for a directory, a digest in hexadecimal, and the end of a temporary name. */
#define NAME_MAX_LENGTH (PATH_MAX + 80)

static void name_file(const char *directory, const kw_gpu_store_key *key, char path[NAME_MAX_LENGTH]) {
  char hex[65];
  for (int i = 0; i < 32; ++i) snprintf(hex + 2 * (size_t)i, 3, "%02x", key->digest[i]);
  snprintf(path, NAME_MAX_LENGTH, "%s/%s", directory, hex);
}

/* ---- Reading and writing ----------------------------------------------------------------------------------------- */

static bool read_all(int file, void *bytes, size_t size) {
  for (size_t done = 0; done < size;) {
    ssize_t count = read(file, (char *)bytes + done, size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += (size_t)count;
  }
  return true;
}

static bool write_all(int file, const void *bytes, size_t size) {
  for (size_t done = 0; done < size;) {
    ssize_t count = write(file, (const char *)bytes + done, size - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    done += (size_t)count;
  }
  return true;
}

/* The bytes of an open file, NULL for one that is not the owner's or cannot be trusted otherwise. */
static void *read_trusted(int file, uid_t owner, const kw_gpu_store_key *key, size_t *out_size) {
  struct stat info;
  header head;
  uint8_t digest[32];
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != owner || (info.st_mode & S_IWOTH) ||
      !read_all(file, &head, sizeof head) || memcmp(head.magic, magic, sizeof magic) != 0 ||
      memcmp(head.key, key->digest, sizeof head.key) != 0 || head.size > SIZE_LIMIT ||
      (uint64_t)info.st_size != sizeof head + head.size)
    return NULL;
  void *bytes = malloc(head.size + 1);
  if (bytes && read_all(file, bytes, head.size)) {
    hash(bytes, head.size, digest);
    if (memcmp(digest, head.digest, sizeof digest) == 0) {
      *out_size = head.size;
      return bytes;
    }
  }
  free(bytes);
  return NULL;
}

static void *read_from(const char *directory, uid_t owner, const kw_gpu_store_key *key, size_t *out_size) {
  char path[NAME_MAX_LENGTH];
  name_file(directory, key, path);
  int file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return NULL;
  void *bytes = read_trusted(file, owner, key, out_size);
  close(file);
  return bytes;
}

bool kw_gpu_store_read(const kw_gpu_store_key *key, void **out_bytes, size_t *out_size) {
  char directory[PATH_MAX];
  uid_t owner;
  *out_bytes = find_cache(directory) ? read_from(directory, geteuid(), key, out_size) : NULL;
  if (!*out_bytes && find_shipped(directory, &owner)) *out_bytes = read_from(directory, owner, key, out_size);
  return *out_bytes != NULL;
}

/* A file without a name where the file system has such: a process that is killed while it writes leaves nothing. */
static int open_temporary(const char *path, const char *temporary, bool *out_named) {
  char directory[NAME_MAX_LENGTH];
  snprintf(directory, sizeof directory, "%.*s", (int)(strrchr(path, '/') - path), path);
  int file = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  *out_named = file < 0;
  unlink(temporary); /* an earlier process's */
  return file >= 0 ? file : open(temporary, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
}

static bool give_name(int file, const char *temporary) {
  char self[32];
  snprintf(self, sizeof self, "/proc/self/fd/%d", file);
  return linkat(AT_FDCWD, self, AT_FDCWD, temporary, AT_SYMLINK_FOLLOW) == 0;
}

void kw_gpu_store_write(const kw_gpu_store_key *key, const void *bytes, size_t size) {
  char directory[PATH_MAX], path[NAME_MAX_LENGTH], temporary[NAME_MAX_LENGTH + 24];
  bool named;
  header head = {.size = size};
  if (size > SIZE_LIMIT || !find_cache(directory)) return;
  name_file(directory, key, path);
  memcpy(head.magic, magic, sizeof magic);
  memcpy(head.key, key->digest, sizeof head.key);
  hash(bytes, size, head.digest);
  make_directories(path);
  snprintf(temporary, sizeof temporary, "%s.%ld", path, (long)gettid());
  int file = open_temporary(path, temporary, &named);
  if (file < 0) return;
  bool whole = write_all(file, &head, sizeof head) && write_all(file, bytes, size);
  whole = whole && (named || give_name(file, temporary));
  if (close(file) != 0) whole = false;
  if (!whole || rename(temporary, path) != 0) unlink(temporary);
}
