/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts of attributes, which last until the plugin is shut down: here as long as the library, equal ones once.
 */
#include "isolate/wire/slot_codec.h"

#include <pthread.h>
#include <stdlib.h>

#define KEPT_LIMIT 4096u /* texts; a plugin that has always new ones runs out of them */

typedef struct kept_text {
  struct kept_text *next;
  char text[];
} kept_text;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kept_text *texts;
static uint32_t count;

/* NULL: no memory. */
static const char *keep(const char *text) {
  pthread_mutex_lock(&lock);
  kept_text *kept = texts;
  while (kept != NULL && strcmp(kept->text, text) != 0) kept = kept->next;
  if (kept == NULL && count < KEPT_LIMIT && (kept = malloc(sizeof *kept + strlen(text) + 1)) != NULL) {
    strcpy(kept->text, text);
    kept->next = texts;
    texts = kept;
    count++;
  }
  pthread_mutex_unlock(&lock);
  return kept != NULL ? kept->text : NULL;
}

void kw_get_kw_attribute(kw_message *m, kw_attribute *out_result) {
  kw_attribute result = {.struct_size = sizeof result};
  char text[KW_ATTRIBUTE_TEXT_LIMIT + 1];
  result.type = kw_take_u32(m);
  if (result.type == KW_ATTRIBUTE_STRING) {
    kw_take_text(m, text, sizeof text);
    result.u.s = keep(text);
    if (result.u.s == NULL) m->broken = true;
  } else {
    kw_take_raw(m, &result.u, sizeof result.u);
  }
  if (!m->broken) *out_result = result;
}
