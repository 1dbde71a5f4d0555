/* SPDX-License-Identifier: Apache-2.0
 *
 * The helper's own getenv, secure_getenv and opendir: as the C library's, and they note the name.
 */
#include "probe/watch.h"

#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#define NAME_LIMIT 1024 /* of each kind: more than any plugin asks for */

extern char **environ;

typedef struct names {
  char *items[NAME_LIMIT];
  unsigned count;
} names;

static atomic_bool watching;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static names variables, folders;

void kw_watch_begin(void) {
  atomic_store(&watching, true);
}

void kw_watch_end(void) {
  atomic_store(&watching, false);
}

static void note(names *list, const char *name) {
  if (!atomic_load(&watching) || name == NULL || name[0] == '\0') return;
  pthread_mutex_lock(&lock);
  unsigned i = 0;
  while (i < list->count && strcmp(list->items[i], name) != 0) i++;
  if (i == list->count && i < NAME_LIMIT && (list->items[i] = strdup(name)) != NULL) list->count++;
  pthread_mutex_unlock(&lock);
}

/* ---- In place of the C library's --------------------------------------------------------------------------------- */

static char *find_variable(const char *name) {
  const size_t length = strlen(name);
  for (char **variable = environ; variable != NULL && *variable != NULL && length > 0; variable++)
    if (strncmp(*variable, name, length) == 0 && (*variable)[length] == '=') return *variable + length + 1;
  return NULL;
}

__attribute__((visibility("default"))) char *getenv(const char *name) {
  note(&variables, name);
  return find_variable(name);
}

__attribute__((visibility("default"))) char *secure_getenv(const char *name) {
  note(&variables, name);
  return getauxval(AT_SECURE) != 0 ? NULL : find_variable(name);
}

__attribute__((visibility("default"))) DIR *opendir(const char *name) {
  DIR *(*next)(const char *);
  *(void **)&next = dlsym(RTLD_NEXT, "opendir");
  if (name[0] == '/') note(&folders, name);
  return next(name);
}

/* ---- Results ----------------------------------------------------------------------------------------------------- */

static cJSON *as_array(names *list) {
  cJSON *array = cJSON_CreateArray();
  pthread_mutex_lock(&lock);
  for (unsigned i = 0; i < list->count; i++) cJSON_AddItemToArray(array, cJSON_CreateString(list->items[i]));
  pthread_mutex_unlock(&lock);
  return array;
}

cJSON *kw_watch_variables(void) {
  cJSON *array = as_array(&variables);
  cJSON_AddItemToArray(array, cJSON_CreateString("LD_LIBRARY_PATH")); /* the loader looks at these by itself */
  cJSON_AddItemToArray(array, cJSON_CreateString("LD_PRELOAD"));
  return array;
}

cJSON *kw_watch_folders(void) {
  return as_array(&folders);
}

static int add_library(struct dl_phdr_info *info, size_t size, void *array) {
  (void)size;
  if (info->dlpi_name != NULL && info->dlpi_name[0] == '/') {
    cJSON_AddItemToArray(array, cJSON_CreateString(info->dlpi_name));
  }
  return 0;
}

cJSON *kw_watch_libraries(void) {
  cJSON *array = cJSON_CreateArray();
  dl_iterate_phdr(add_library, array);
  return array;
}
