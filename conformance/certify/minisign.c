/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs minisign, and tells a signature of another key from one of another text.
 */
#include "certify/minisign.h"

#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

bool kw_minisign_find(char *out_path, size_t size) {
  const char *list = getenv("PATH");
  for (const char *p = list ? list : "/usr/bin:/bin"; *p;) {
    const size_t length = strcspn(p, ":");
    const int printed = snprintf(out_path, size, "%.*s/minisign", (int)length, p);
    if (length > 0 && printed > 0 && (size_t)printed < size && access(out_path, X_OK) == 0) return true;
    p += length + (p[length] != 0);
  }
  return false;
}

/* Runs it to its end. What it prints goes to stderr, or into `captured` (a descriptor), and then it may ask nothing.
 * Returns its exit code; -1 with errno set. */
static int run(const char *const *arguments, int captured) {
  char path[PATH_MAX];
  pid_t pid;
  int status = 0;
  posix_spawn_file_actions_t actions;
  if (!kw_minisign_find(path, sizeof path)) {
    errno = ENOENT;
    return -1;
  }
  posix_spawn_file_actions_init(&actions);
  if (captured >= 0) {
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, captured, STDERR_FILENO);
  }
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
  const int error = posix_spawn(&pid, path, &actions, NULL, (char *const *)arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  errno = error;
  if (error != 0) return -1;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

bool kw_minisign_sign(const char *file, const char *key, const char *comment, char *out_message, size_t size) {
  fflush(stderr);
  const int code = run((const char *[]){"minisign", "-S", "-s", key, "-t", comment, "-m", file, NULL}, -1);
  if (code == 0) return true;
  if (code < 0) {
    snprintf(out_message, size, "%s was not signed: %s", file, errno == ENOENT ? KW_MINISIGN_MISSING : strerror(errno));
  } else {
    snprintf(out_message, size, "%s was not signed with %s: minisign says why above", file, key);
  }
  return false;
}

/* ---- Verifying --------------------------------------------------------------------------------------------------- */

/* Base64 of two bytes of algorithm, eight that name the key, and more: the characters that are of the name alone. */
enum { NAME_FIRST = 3, NAME_LENGTH = 10, NAME_END = NAME_FIRST + NAME_LENGTH };

/* The line of a public key or a signature that is no comment, and what is behind it. */
static const char *skip_comment(const char *text) {
  if (strncmp(text, "untrusted comment:", 18) != 0) return text;
  const char *end = strchr(text, '\n');
  return end ? end + 1 : "";
}

/* The name of the key in a public key or a signature. False when it is nothing of the kind. */
static bool find_name(const char *text, char out_name[NAME_LENGTH + 1]) {
  const char *line = skip_comment(text);
  if (strlen(line) < NAME_END) return false;
  memcpy(out_name, line + NAME_FIRST, NAME_LENGTH);
  out_name[NAME_LENGTH] = 0;
  return true;
}

/* 42 bytes, whose first are "Ed": 56 characters. */
static bool is_public_key(const char *public_key) {
  char *text = NULL;
  const char *line = skip_comment(kw_text_read_file(public_key, &text) ? text : public_key);
  const bool good = strncmp(line, "RW", 2) == 0 && strcspn(line, "\r\n") == 56;
  free(text);
  return good;
}

static bool is_of_another_key(const char *file, const char *public_key) {
  char path[PATH_MAX], mine[NAME_LENGTH + 1], given[NAME_LENGTH + 1], *signature = NULL, *key = NULL;
  snprintf(path, sizeof path, "%s.minisig", file);
  const bool is_file = kw_text_read_file(public_key, &key);
  const bool known =
      kw_text_read_file(path, &signature) && find_name(signature, mine) && find_name(is_file ? key : public_key, given);
  free(signature);
  free(key);
  return known && strcmp(mine, given) != 0;
}

kw_signature kw_minisign_verify(const char *file, const char *public_key, char *out_message, size_t size) {
  const bool is_file = access(public_key, R_OK) == 0;
  if (!is_public_key(public_key)) {
    snprintf(out_message, size, "'%s' is no public key of minisign, neither a file nor its text, RW...", public_key);
    return KW_SIGNATURE_UNKNOWN;
  }
  const int captured = memfd_create("minisign", MFD_CLOEXEC);
  const int code =
      run((const char *[]){"minisign", "-V", "-m", file, is_file ? "-p" : "-P", public_key, NULL}, captured);
  char said[512] = "";
  const ssize_t length = captured >= 0 ? pread(captured, said, sizeof said - 1, 0) : 0;
  said[length > 0 ? length : 0] = 0;
  said[strcspn(said, "\n")] = 0;
  if (captured >= 0) close(captured);
  if (code == 0) return KW_SIGNATURE_GOOD;
  if (code < 0) {
    snprintf(out_message, size, "the signature was not checked: %s",
             errno == ENOENT ? KW_MINISIGN_MISSING : strerror(errno));
    return KW_SIGNATURE_UNKNOWN;
  }
  if (is_of_another_key(file, public_key)) {
    snprintf(out_message, size, "the signature is of another key than %s", public_key);
  } else {
    snprintf(out_message, size, "%s or its signature was changed after it was signed (minisign: %s)", file, said);
  }
  return KW_SIGNATURE_WRONG;
}
