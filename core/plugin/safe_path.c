/* SPDX-License-Identifier: Apache-2.0
 *
 * The walk: one component at a time from the root, openat after openat, symbolic links read and walked likewise.
 */
#include "plugin/safe_path.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINK_LIMIT 40 /* as the kernel has it */

typedef struct walk {
  kw_safe_path *found;
  const char *asked, *trusted_folder;
  int folder;              /* O_PATH; what found->path names so far */
  char rest[2 * PATH_MAX]; /* of the path, still to be walked */
  unsigned links;
} walk;

/* ---- What is unsafe ---------------------------------------------------------------------------------------------- */

/* A group of the user's own name that is the one he has from the start: nobody else is in it (user private groups). */
static bool is_own_group(gid_t group) {
  if (group != getegid()) return false;
  char user_text[1024], group_text[1024];
  struct passwd user, *user_found = NULL;
  struct group entry, *group_found = NULL;
  getpwuid_r(geteuid(), &user, user_text, sizeof user_text, &user_found);
  getgrgid_r(group, &entry, group_text, sizeof group_text, &group_found);
  return user_found != NULL && group_found != NULL && strcmp(user.pw_name, entry.gr_name) == 0;
}

/* Says in `text` why others could have put something here; "" when none could. */
static void judge(const struct stat *info, const char *what, char *text, size_t size) {
  const bool sticky = S_ISDIR(info->st_mode) && (info->st_mode & S_ISVTX) != 0;
  const bool link = S_ISLNK(info->st_mode); /* has no permissions of its own */
  if ((info->st_mode & S_IWOTH) != 0 && !sticky && !link) {
    snprintf(text, size, "%s may be written by everyone: chmod o-w it", what);
  } else if ((info->st_mode & S_IWGRP) != 0 && !sticky && !link && !is_own_group(info->st_gid)) {
    snprintf(text, size, "%s may be written by group %u: chmod g-w it", what, (unsigned)info->st_gid);
  } else if (info->st_uid != 0 && info->st_uid != geteuid()) {
    snprintf(text, size, "%s belongs to user %u, neither to root nor to you: chown it", what, (unsigned)info->st_uid);
  }
}

/* `path` is the folder itself, or one above it. */
static bool is_at_or_above(const char *path, const char *folder) {
  const size_t length = strlen(path);
  if (strcmp(path, "/") == 0) return folder[0] == '/';
  return strncmp(path, folder, length) == 0 && (folder[length] == '/' || folder[length] == '\0');
}

/* Nobody but root could have put something here. */
static bool is_roots(const struct stat *info) {
  return info->st_uid == 0 && (S_ISLNK(info->st_mode) || (info->st_mode & (S_IWGRP | S_IWOTH)) == 0);
}

/* The first danger on the way is the one that is told. */
static void judge_step(walk *w, const struct stat *info, const char *path) {
  w->found->is_roots = w->found->is_roots && is_roots(info);
  if (w->found->danger[0] != '\0' || is_at_or_above(path, w->trusted_folder)) return;
  char what[300];
  snprintf(what, sizeof what, "%s %.250s", S_ISLNK(info->st_mode) ? "the link" : "the folder", path);
  judge(info, what, w->found->danger, sizeof w->found->danger);
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static kw_status fail_errno(const walk *w, int error) {
  if (error == ENOENT || error == ENOTDIR) return kw_fail(KW_ERR_NOT_FOUND, "there is no file %s", w->asked);
  return kw_fail(kw_errno_status(error), "%s cannot be reached: %s", w->asked, strerror(error));
}

/* Makes the folder that `name` is in w->folder the one that w stands in; found->path is its path already. */
static kw_status enter(walk *w, const char *name) {
  const int next = openat(w->folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  struct stat info;
  if (next < 0 || fstat(next, &info) != 0) {
    const int error = errno;
    if (next >= 0) close(next);
    return fail_errno(w, error);
  }
  if (w->folder >= 0) close(w->folder);
  w->folder = next;
  judge_step(w, &info, w->found->path);
  return KW_OK;
}

static kw_status go_to_root(walk *w) {
  strcpy(w->found->path, "/");
  return enter(w, "/");
}

static kw_status go_up(walk *w) {
  char *slash = strrchr(w->found->path, '/');
  slash[slash == w->found->path ? 1 : 0] = '\0';
  return enter(w, "..");
}

/* Puts what the link says before the rest. */
static kw_status follow(walk *w, const char *name) {
  char target[PATH_MAX], rest[sizeof w->rest];
  const ssize_t length = readlinkat(w->folder, name, target, sizeof target - 1);
  if (length < 0) return fail_errno(w, errno);
  target[length] = '\0';
  if (++w->links > LINK_LIMIT) return fail_errno(w, ELOOP);
  if ((size_t)snprintf(rest, sizeof rest, "%s/%s", target, w->rest) >= sizeof rest) return fail_errno(w, ENAMETOOLONG);
  strcpy(w->rest, rest);
  return target[0] == '/' ? go_to_root(w) : KW_OK;
}

/* The last name, of no folder and no link. */
static kw_status take_file(walk *w, const char *name, const struct stat *seen) {
  kw_safe_path *found = w->found;
  found->info = *seen;
  if (!S_ISREG(seen->st_mode)) return KW_OK;
  found->file = openat(w->folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (found->file < 0) {
    found->error = errno;
    return kw_errno_is_shortage(errno) ? fail_errno(w, errno) : KW_OK;
  }
  if (fstat(found->file, &found->info) != 0) return fail_errno(w, errno);
  return KW_OK;
}

/* Takes the next component off the rest; false when there is none. */
static bool next_name(walk *w, char name[NAME_MAX + 1], bool *out_too_long) {
  const char *rest = w->rest + strspn(w->rest, "/");
  const size_t length = strcspn(rest, "/");
  *out_too_long = length > NAME_MAX;
  if (length == 0 || *out_too_long) return false;
  memcpy(name, rest, length);
  name[length] = '\0';
  memmove(w->rest, rest + length, strlen(rest + length) + 1);
  return true;
}

static kw_status step(walk *w, const char *name) {
  kw_safe_path *found = w->found;
  struct stat info;
  if (strcmp(name, ".") == 0) return KW_OK;
  if (strcmp(name, "..") == 0) return go_up(w);
  if (fstatat(w->folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return fail_errno(w, errno);
  char path[PATH_MAX];
  const char *slash = strcmp(found->path, "/") == 0 ? "" : "/";
  if ((size_t)snprintf(path, sizeof path, "%s%s%s", found->path, slash, name) >= sizeof path) {
    return fail_errno(w, ENAMETOOLONG);
  }
  if (S_ISLNK(info.st_mode)) {
    judge_step(w, &info, path);
    return follow(w, name);
  }
  strcpy(found->path, path);
  if (S_ISDIR(info.st_mode)) return enter(w, name);
  if (w->rest[strspn(w->rest, "/")] != '\0') return fail_errno(w, ENOTDIR);
  return take_file(w, name, &info);
}

/* A path that ends in a folder has it opened for reading. */
static kw_status finish(walk *w) {
  kw_safe_path *found = w->found;
  if (found->info.st_mode != 0) { /* a file: its own permissions come last */
    found->is_roots = found->is_roots && is_roots(&found->info);
    if (found->danger[0] == '\0') judge(&found->info, "the file", found->danger, sizeof found->danger);
    return KW_OK;
  }
  if (fstat(w->folder, &found->info) != 0) return fail_errno(w, errno);
  found->file = openat(w->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (found->file < 0) found->error = errno;
  return found->file < 0 && kw_errno_is_shortage(errno) ? fail_errno(w, errno) : KW_OK;
}

static kw_status walk_all(walk *w) {
  char name[NAME_MAX + 1];
  bool too_long;
  kw_status status = go_to_root(w);
  while (status == KW_OK && next_name(w, name, &too_long)) status = step(w, name);
  if (status != KW_OK) return status;
  return too_long ? fail_errno(w, ENAMETOOLONG) : finish(w);
}

kw_status kw_safe_path_open(const char *path, const char *trusted_folder, kw_safe_path *out_found) {
  kw_safe_path found = {.file = -1, .is_roots = true};
  walk w = {.found = &found, .asked = path, .trusted_folder = trusted_folder, .folder = -1};
  char here[PATH_MAX] = "";
  if (path[0] != '/' && getcwd(here, sizeof here) == NULL) return fail_errno(&w, errno);
  if ((size_t)snprintf(w.rest, sizeof w.rest, "%s/%s", here, path) >= sizeof w.rest)
    return fail_errno(&w, ENAMETOOLONG);
  kw_status status = path[0] == '\0' ? fail_errno(&w, ENOENT) : walk_all(&w);
  if (w.folder >= 0) close(w.folder);
  if (status == KW_OK) {
    *out_found = found;
  } else if (found.file >= 0) {
    close(found.file);
  }
  return status;
}
