/* SPDX-License-Identifier: Apache-2.0
 *
 * Marks: files "opening/FILE'S NUMBERS.RANDOM" in the cache folder, each locked (flock) by the process that made it for
 * as long as it lives. A mark that nobody has locked is one that its process left behind.
 */
#include "plugin/quarantine.h"

#include "base/log.h"
#include "plugin/cache_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FOLDER "opening"

struct kw_open_mark {
  kw_open_mark *next;
  int folder, file; /* stay open, so that taking the mark away needs nothing that may be short */
  char name[128];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kw_open_mark *marks; /* of this process */

/* What a mark of this very file is called, up to its random part. */
static void begin_of_name(const kw_candidate *candidate, char name[96]) {
  snprintf(name, 96, "%" PRIx64 "-%" PRIx64 "-%" PRIx64 "-%" PRIx64 ".", candidate->device, candidate->inode,
           candidate->size, candidate->mtime_ns);
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

/* Under another name until it is locked: a mark that is not counts as left behind. */
static int create(int folder, const char *begin, char name[128]) {
  uint64_t number;
  char unlocked[32];
  if (getrandom(&number, sizeof number, 0) != (ssize_t)sizeof number) return -1;
  snprintf(name, 128, "%s%016" PRIx64, begin, number);
  snprintf(unlocked, sizeof unlocked, ".%016" PRIx64, number);
  const int file = openat(folder, unlocked, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0) return -1;
  if (flock(file, LOCK_EX | LOCK_NB) == 0 && renameat(folder, unlocked, folder, name) == 0) return file;
  close(file);
  unlinkat(folder, unlocked, 0);
  return -1;
}

kw_open_mark *kw_quarantine_begin(const kw_candidate *candidate) {
  char begin[96];
  kw_open_mark *mark = calloc(1, sizeof *mark);
  if (mark == NULL) return NULL;
  begin_of_name(candidate, begin);
  mark->folder = kw_cache_folder_open(FOLDER);
  mark->file = mark->folder >= 0 ? create(mark->folder, begin, mark->name) : -1;
  if (mark->file < 0) {
    if (mark->folder >= 0) close(mark->folder);
    free(mark);
    return NULL;
  }
  pthread_mutex_lock(&lock);
  mark->next = marks;
  marks = mark;
  pthread_mutex_unlock(&lock);
  kw_quarantine_advance(mark, KW_STAGE_FOUND);
  return mark;
}

void kw_quarantine_advance(kw_open_mark *mark, kw_stage reached) {
  if (mark == NULL) return;
  const char digit = (char)('0' + reached);
  if (pwrite(mark->file, &digit, 1, 0) != 1) kw_log(KW_LOG_DEBUG, "a mark cannot be written: %s", strerror(errno));
}

void kw_quarantine_end(kw_open_mark *mark) {
  if (mark == NULL) return;
  pthread_mutex_lock(&lock);
  kw_open_mark **link = &marks;
  while (*link != mark) link = &(*link)->next;
  *link = mark->next;
  pthread_mutex_unlock(&lock);
  unlinkat(mark->folder, mark->name, 0); /* first: unlocked it would count */
  close(mark->file);
  close(mark->folder);
  free(mark);
}

void kw_quarantine_forgive(void) {
  pthread_mutex_lock(&lock);
  for (const kw_open_mark *mark = marks; mark != NULL; mark = mark->next) unlinkat(mark->folder, mark->name, 0);
  pthread_mutex_unlock(&lock);
}

/* ---- Finding ----------------------------------------------------------------------------------------------------- */

/* What a process was doing that had come so far. */
static const char *doing(char digit) {
  static const char *const texts[] = {"running its constructors (dlopen)",
                                      "looking up its query symbol",
                                      "in its query",
                                      "in its probe",
                                      "in its init",
                                      "counting its devices"};
  const size_t stage = (size_t)(digit - '0');
  return stage < sizeof texts / sizeof texts[0] ? texts[stage] : "opening it";
}

/* Whether nobody has the mark locked; says then what became of its process. */
static bool was_left(int folder, const char *name, char *reason, size_t size) {
  const int file = openat(folder, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return false;
  char digit = '0', when[32] = "";
  struct stat info;
  struct tm day;
  const bool left = flock(file, LOCK_EX | LOCK_NB) == 0 && fstat(file, &info) == 0 && info.st_nlink > 0;
  if (left) {
    if (pread(file, &digit, 1, 0) != 1) digit = '?';
    if (localtime_r(&info.st_mtim.tv_sec, &day) != NULL) strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &day);
    snprintf(reason, size,
             "in quarantine: a process ended on %s while it was %s; 'keyway doctor --retry' lets it be tried again",
             when, doing(digit));
  }
  close(file);
  return left;
}

bool kw_quarantine_find(const kw_candidate *candidate, char *reason, size_t size) {
  char begin[96];
  begin_of_name(candidate, begin);
  const int folder = kw_cache_folder_open(FOLDER);
  DIR *list = folder >= 0 ? fdopendir(folder) : NULL;
  if (list == NULL) {
    if (folder >= 0) close(folder);
    return false;
  }
  bool found = false;
  for (const struct dirent *entry; !found && (entry = readdir(list)) != NULL;) {
    if (strncmp(entry->d_name, begin, strlen(begin)) == 0) found = was_left(folder, entry->d_name, reason, size);
  }
  closedir(list);
  return found;
}

void kw_quarantine_lift(void) {
  char ignored[256];
  const int folder = kw_cache_folder_open(FOLDER);
  DIR *list = folder >= 0 ? fdopendir(folder) : NULL;
  for (const struct dirent *entry; list != NULL && (entry = readdir(list)) != NULL;) {
    if (entry->d_name[0] != '.' && was_left(folder, entry->d_name, ignored, sizeof ignored)) {
      unlinkat(folder, entry->d_name, 0);
    }
  }
  if (list != NULL) {
    closedir(list);
  } else if (folder >= 0) {
    close(folder);
  }
}
