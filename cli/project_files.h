/* SPDX-License-Identifier: Apache-2.0
 *
 * The files of `keyway new`, those of the examples; made by the build.
 */
#ifndef KEYWAY_CLI_PROJECT_FILES_H
#define KEYWAY_CLI_PROJECT_FILES_H

typedef struct kw_project_file {
  const char *path;         /* in the project */
  const char *kit;          /* the one that it belongs to; NULL: any */
  const char *const *lines; /* each with its newline; NULL-terminated */
} kw_project_file;

/* Ends with one that has no path. */
extern const kw_project_file kw_project_files[];

#endif /* KEYWAY_CLI_PROJECT_FILES_H */
