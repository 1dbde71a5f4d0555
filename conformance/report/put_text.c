/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing cleaned text, escaped as a format wants it.
 */
#include "report/put_text.h"

#include "base/need.h"

#include <cjson/cJSON.h>
#include <stdlib.h>

void kw_text_put_line(FILE *out, const char *text) {
  for (; *text; text++) fputc(*text == '\n' ? ' ' : *text, out);
}

void kw_text_put_json(FILE *out, const char *text) {
  cJSON *string = cJSON_CreateStringReference(text);
  char *json = string ? cJSON_PrintUnformatted(string) : NULL;
  if (!json) kw_out_of_memory();
  fputs(json, out);
  cJSON_free(json);
  cJSON_Delete(string);
}

void kw_text_put_markup(FILE *out, const char *text) {
  for (; *text; text++) {
    switch (*text) {
      case '&':
        fputs("&amp;", out);
        break;
      case '<':
        fputs("&lt;", out);
        break;
      case '>':
        fputs("&gt;", out);
        break;
      case '"':
        fputs("&quot;", out);
        break;
      case '\n':
        fputs("&#10;", out);
        break;
      default:
        fputc(*text, out);
    }
  }
}
