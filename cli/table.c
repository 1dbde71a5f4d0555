/* SPDX-License-Identifier: Apache-2.0
 *
 * Aligned tables, JSON and colours on stdout.
 */
#include "table.h"

#include "core/base/array.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_COLUMNS 16

typedef struct cell {
  char *text;
  bool is_note; /* a line of its own */
} cell;

struct kw_cli_table {
  uint32_t columns;
  bool right[MAX_COLUMNS];
  uint32_t width[MAX_COLUMNS];
  cell *cells; /* row by row, the headings first */
  uint32_t count;
};

bool kw_cli_colour(void) {
  const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
  return isatty(STDOUT_FILENO) && !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
}

const char *kw_cli_style(const char *sequence) {
  return kw_cli_colour() ? sequence : "";
}

/* Columns that UTF-8 text takes, one per code point. */
static uint32_t display_width(const char *text) {
  uint32_t width = 0;
  for (; *text; ++text) width += ((unsigned char)*text & 0xc0) != 0x80;
  return width;
}

static bool append(kw_cli_table *table, char *text, bool is_note) {
  cell *cells = kw_array_grow(table->cells, table->count, sizeof *cells);
  if (!cells) return false;
  table->cells = cells;
  cells[table->count++] = (cell){text, is_note};
  return true;
}

/* Text of plugins is printed, not obeyed: no escape sequences, no line breaks. */
static char *format_cell(const char *format, va_list list) {
  char *text;
  if (vasprintf(&text, format, list) < 0) return NULL;
  for (char *c = text; *c; ++c) {
    if ((unsigned char)*c < 0x20 || *c == 0x7f) *c = *c == '\n' || *c == '\t' ? ' ' : '?';
  }
  return text;
}

kw_cli_table *kw_cli_table_create(const char *const *headings) {
  kw_cli_table *table = calloc(1, sizeof *table);
  if (!table) return NULL;
  while (headings[table->columns] && table->columns < MAX_COLUMNS) {
    table->right[table->columns] = headings[table->columns][0] == '>';
    ++table->columns;
  }
  for (uint32_t i = 0; i < table->columns; ++i) kw_cli_table_add(table, "%s", headings[i] + table->right[i]);
  return table;
}

/* Cells since the last note or start, modulo columns: the column of the next cell. */
static uint32_t next_column(const kw_cli_table *table) {
  uint32_t cells = 0;
  for (uint32_t i = table->count; i-- > 0 && !table->cells[i].is_note;) ++cells;
  return cells % table->columns;
}

void kw_cli_table_add(kw_cli_table *table, const char *format, ...) {
  if (!table) return;
  va_list list;
  va_start(list, format);
  char *text = format_cell(format, list);
  va_end(list);
  uint32_t column = next_column(table);
  if (!text || !append(table, text, false)) {
    free(text);
    return;
  }
  uint32_t width = display_width(text);
  if (width > table->width[column]) table->width[column] = width;
}

void kw_cli_table_note(kw_cli_table *table, const char *format, ...) {
  if (!table) return;
  va_list list;
  va_start(list, format);
  char *text = format_cell(format, list);
  va_end(list);
  if (!text || !append(table, text, true)) free(text);
}

static void print_cell(const kw_cli_table *table, uint32_t column, const char *text) {
  bool last = column + 1 == table->columns;
  uint32_t pad = table->width[column] - display_width(text);
  if (table->right[column]) printf("%*s", (int)pad, "");
  fputs(text, stdout);
  if (!table->right[column] && !last) printf("%*s", (int)pad, "");
  fputs(last ? "\n" : "  ", stdout);
}

void kw_cli_table_print(kw_cli_table *table) {
  if (!table) return;
  for (uint32_t i = 0, column = 0; i < table->count; ++i) {
    if (i == 0) fputs(kw_cli_style("\033[1m"), stdout);
    if (table->cells[i].is_note) {
      printf("    %s\n", table->cells[i].text);
      column = 0;
    } else {
      print_cell(table, column, table->cells[i].text);
      column = (column + 1) % table->columns;
    }
    if (i + 1 == table->columns) fputs(kw_cli_style("\033[0m"), stdout);
    free(table->cells[i].text);
  }
  free(table->cells);
  free(table);
}

bool kw_cli_json_print(cJSON *json) {
  char *text = cJSON_Print(json);
  cJSON_Delete(json);
  if (!text) {
    fprintf(stderr, "keyway: no memory to print the JSON\n");
    return false;
  }
  puts(text);
  cJSON_free(text);
  return true;
}

char *kw_cli_bytes(uint64_t bytes, char text[24]) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double value = (double)bytes;
  uint32_t unit = 0;
  for (; value >= 1024 && unit + 1 < sizeof units / sizeof units[0]; ++unit) value /= 1024;
  snprintf(text, 24, unit && value < 99.95 ? "%.1f %s" : "%.0f %s", value, units[unit]);
  return text;
}
