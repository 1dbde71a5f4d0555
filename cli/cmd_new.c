/* SPDX-License-Identifier: Apache-2.0
 *
 * `keyway new`: a vendor's plugin as a project of its own. What it writes are the files of examples/vendor_bare and
 * examples/vendor_gpu, under another name.
 */
#include "commands.h"
#include "base/word.h"
#include "project_files.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What stands for the new names in the examples' files. */
#define NAMES_OF_BARE \
  { "vendor_bare", NULL }
#define NAMES_OF_GPU \
  { "vendor_gpu", "vendor_bare", "agpu", NULL }
#define VENDOR "acme"

static const struct {
  const char *name;
  const char *names[4];
} kits[] = {{"bare", NAMES_OF_BARE}, {"gpu", NAMES_OF_GPU}};
enum { BARE, GPU, KITS };

typedef struct project {
  const char *name, *vendor;
  unsigned kit;
  char folder[PATH_MAX]; /* where it goes ... */
  char part[PATH_MAX];   /* ... and where it lies until it is whole */
} project;

/* ---- What is asked for ------------------------------------------------------------------------------------------- */

static bool is_taken(const char *name) {
  static const char *const taken[] = {"cpu", "opencl", "cuda", "hip", "levelzero", "keyway", "test"};
  for (unsigned i = 0; i < sizeof taken / sizeof taken[0]; ++i)
    if (strcmp(name, taken[i]) == 0) return true;
  return kw_word_is_policy(name);
}

static bool read_kit(const kw_cli_args *args, unsigned *out_kit) {
  const char *kit = kw_cli_args_value(args, "--kit");
  for (*out_kit = 0; *out_kit < KITS; ++*out_kit)
    if (strcmp(kit ? kit : kits[BARE].name, kits[*out_kit].name) == 0) return true;
  kw_cli_complain(&kw_cli_new,
                  "there is no kit '%s'; use bare, where you write each kernel, or gpu, for a runtime that "
                  "compiles them",
                  kit);
  return false;
}

static bool read_project(const kw_cli_args *args, project *p) {
  p->name = kw_cli_args_positional(args, 0);
  p->vendor = kw_cli_args_value(args, "--vendor");
  if (!p->name || !p->vendor) {
    kw_cli_complain(&kw_cli_new, "needs a name and a vendor: keyway new my_npu --vendor my_company");
    return false;
  }
  const char *const words[] = {p->name, p->vendor};
  for (unsigned i = 0; i < 2; ++i) {
    if (kw_word_is_valid(words[i])) continue;
    kw_cli_complain(&kw_cli_new, "'%s' is no %s: [a-z][a-z0-9_]*, at most 31 characters, as in %s", words[i],
                    i == 0 ? "name" : "vendor", i == 0 ? "my_npu" : "my_company");
    return false;
  }
  if (is_taken(p->name)) {
    kw_cli_complain(&kw_cli_new, "the name '%s' is taken; applications write %s:0 and would get another device",
                    p->name, p->name);
    return false;
  }
  if (!read_kit(args, &p->kit)) return false;
  const char *folder = kw_cli_args_value(args, "--dir");
  const int length = snprintf(p->folder, sizeof p->folder, "%s", folder ? folder : p->name);
  const int part = snprintf(p->part, sizeof p->part, "%s.part", p->folder);
  if (length > 0 && part > 0 && (size_t)part < sizeof p->part) return true;
  kw_cli_complain(&kw_cli_new, "the folder's path is empty or too long");
  return false;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

/* A line with the new names in place of the examples'. */
static void write_line(FILE *file, const project *p, const char *line) {
  while (*line) {
    const char *const *name = kits[p->kit].names;
    while (*name && strncmp(line, *name, strlen(*name)) != 0) ++name;
    const bool is_vendor = strncmp(line, VENDOR, strlen(VENDOR)) == 0;
    if (*name || is_vendor) {
      fputs(*name ? p->name : p->vendor, file);
      line += strlen(*name ? *name : VENDOR);
    } else {
      fputc(*line++, file);
    }
  }
}

/* The folders above a file of the project. */
static bool make_folders(char *path) {
  for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    const bool made = mkdir(path, 0777) == 0 || errno == EEXIST;
    *slash = '/';
    if (!made) return false;
  }
  return true;
}

static bool write_file(const project *p, const kw_project_file *from) {
  char path[PATH_MAX];
  const int length = snprintf(path, sizeof path, "%s/%s", p->part, from->path);
  errno = ENAMETOOLONG;
  FILE *file = length > 0 && (size_t)length < sizeof path && make_folders(path) ? fopen(path, "wx") : NULL;
  if (!file) return false;
  for (const char *const *line = from->lines; *line; ++line) write_line(file, p, *line);
  const bool written = !ferror(file);
  return fclose(file) == 0 && written;
}

/* What was written so far, in the order in which it can go: files first, then folders, the deepest of them first. */
static void remove_part(const project *p) {
  char path[PATH_MAX];
  for (const kw_project_file *file = kw_project_files; file->path; ++file)
    if (snprintf(path, sizeof path, "%s/%s", p->part, file->path) < (int)sizeof path) unlink(path);
  for (const kw_project_file *file = kw_project_files; file->path; ++file) {
    if (snprintf(path, sizeof path, "%s/%s", p->part, file->path) >= (int)sizeof path) continue;
    for (char *slash = strrchr(path, '/'); slash && (size_t)(slash - path) >= strlen(p->part);
         slash = strrchr(path, '/')) {
      *slash = '\0';
      rmdir(path);
    }
  }
}

static bool is_of_kit(const kw_project_file *file, unsigned kit) {
  return file->kit == NULL || strcmp(file->kit, kits[kit].name) == 0;
}

/* All of it or nothing. rename takes an empty folder's place, and no other's. */
static bool write_project(const project *p) {
  char path[PATH_MAX];
  memcpy(path, p->part, sizeof path);
  bool written = make_folders(path) && mkdir(p->part, 0777) == 0;
  if (!written) {
    kw_cli_complain(&kw_cli_new, "cannot make %s: %s", p->part, strerror(errno));
    return false;
  }
  for (const kw_project_file *file = kw_project_files; file->path && written; ++file)
    if (is_of_kit(file, p->kit)) written = write_file(p, file);
  written = written && rename(p->part, p->folder) == 0;
  if (written) return true;
  const int error = errno;
  remove_part(p);
  kw_cli_complain(&kw_cli_new, "cannot make %s: %s%s", p->folder, strerror(error),
                  error == ENOTEMPTY || error == EEXIST ? "; choose another with --dir" : "");
  return false;
}

static int run(const kw_cli_args *args) {
  project p = {0};
  if (!read_project(args, &p)) return KW_CLI_USAGE;
  if (!write_project(&p)) return KW_CLI_FAILED;
  printf(
      "%s is a plugin for the device %s:0; its README.md has the next hour\n\n"
      "  cmake -S %s -B %s/build && cmake --build %s/build\n"
      "  ctest --test-dir %s/build -R contract\n",
      p.folder, p.name, p.folder, p.folder, p.folder, p.folder);
  return KW_CLI_OK;
}

static const kw_cli_option options[] = {
    {"--vendor", "NAME", "who makes it: my_company, as in my_company.my_npu:0"},
    {"--kit", "bare|gpu",
     "bare (default): you write each kernel; gpu: your runtime compiles kernels, and the plugin\n"
     "kit brings one for every op"},
    {"--dir", "FOLDER", "where to; default: the name"},
};
const kw_cli_command kw_cli_new = {
    .name = "new",
    .synopsis = "NAME --vendor NAME [--kit bare|gpu] [--dir FOLDER]",
    .summary = "Make a plugin for a device of yours, as a project to build",
    .details =
        "  keyway new my_npu --vendor my_company\n"
        "\n"
        "The project builds against the installed package, passes the contract suites, and fails by name for want\n"
        "of ops: its README.md says what to write first. It has tests, a file of known failures, and settings\n"
        "for continuous integration, editors and debuggers. Where cmake does not find Keyway, name it with\n"
        "-DCMAKE_PREFIX_PATH=FOLDER.\n",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .positional_max = 1,
    .main = run,
};
