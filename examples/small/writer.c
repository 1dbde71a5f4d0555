/* SPDX-License-Identifier: Apache-2.0
 *
 * A decoder with a cache that writes text. Its weights are made, not trained: letters are drawn vectors, and its one
 * layer is an induction head, which looks for where the last letters stood before and goes on as the text went on
 * there. Keys are the last CONTEXT letters, values the letter behind them; both stay in a cache on the device, one row
 * a letter.
 *
 * usage: writer [DEVICE [PROMPT]]
 */
#include "example.h"

#include <string.h>

enum { LETTERS = 128, WIDTH = 32, CONTEXT = 12, ROOM = 1024, WRITTEN = 160 };

static const char song[] =
    "the key turns in the lock, the lock moves the bolt, the bolt opens the door, and the door "
    "shows the room; the room has a box, the box has a lock, and the key turns in the lock, ";

typedef struct decoder {
  kw_tensor *letters;       /* [LETTERS, WIDTH] */
  kw_tensor *keys, *values; /* the cache: [1, 1, ROOM, CONTEXT * WIDTH], [1, 1, ROOM, WIDTH] */
  int64_t length;           /* of the text so far, which is one more than the rows of the cache */
  char text[ROOM + 1];
} decoder;

/* The last CONTEXT letters side by side: [1, 1, 1, CONTEXT * WIDTH]. */
static kw_tensor *context_of(const decoder *d) {
  int64_t last[CONTEXT];
  for (int64_t i = 0; i < CONTEXT; ++i) {
    const int64_t at = d->length - CONTEXT + i;
    last[i] = at >= 0 ? (int64_t)d->text[at] : 0;
  }
  return kwx_view(kwx_embedding(d->letters, kwx_tensor(KW_I64, KW_INTS(CONTEXT), last)),
                  KW_INTS(1, 1, 1, CONTEXT * WIDTH));
}

/* The text goes on with this letter: a row of the cache says that it came behind those before it. */
static void append(decoder *d, char letter) {
  const int64_t index = letter;
  if (d->length > 0) {
    const int64_t row = d->length - 1;
    kw_tensor *value = kwx_embedding(d->letters, kwx_tensor(KW_I64, KW_INTS(1), &index));
    kw_copy_(kwx_slice(d->keys, 2, row, row + 1), context_of(d));
    kw_copy_(kwx_slice(d->values, 2, row, row + 1), kwx_view(value, KW_INTS(1, 1, 1, WIDTH)));
  }
  d->text[d->length++] = letter;
}

/* What stood behind letters like the last ones, the more alike the more of it, and the letter that is nearest to that.
 */
static int64_t next(const decoder *d) {
  int64_t letter = 0, rows = d->length - 1;
  kw_tensor *found =
      kwx_attention_decode(context_of(d), d->keys, d->values, kwx_tensor(KW_I64, KW_INTS(1), &rows), 0.5);
  kw_tensor *scores = kwx_mm(kwx_view(found, KW_INTS(1, WIDTH)), kwx_transpose(d->letters, 0, 1));
  kw_tensor *best = kwx_argmax(scores, 1);
  check(kw_scope_status());
  check(kw_tensor_read(best, &letter));
  return letter;
}

int main(int argc, char **argv) {
  static float vectors[LETTERS * WIDTH];
  static decoder d;
  const char *prompt = argc > 2 ? argv[2] : song;
  kw_device *device = open_device(argc, argv, 1);
  kw_scope *all = begin(device), *scope;
  for (int i = 0; i < LETTERS * WIDTH; ++i) vectors[i] = draw();
  d.letters = kwx_tensor(KW_F32, KW_INTS(LETTERS, WIDTH), vectors);
  d.keys = kwx_full(KW_INTS(1, 1, ROOM, CONTEXT * WIDTH), 0.0);
  d.values = kwx_full(KW_INTS(1, 1, ROOM, WIDTH), 0.0);
  for (const char *c = prompt; *c != '\0' && d.length + WRITTEN < ROOM; ++c) {
    scope = begin(device);
    append(&d, (char)(*c & 127));
    check(kw_scope_end(scope));
  }
  printf("%s|", d.text);
  for (int i = 0; i < WRITTEN && d.length > 1; ++i) {
    scope = begin(device);
    append(&d, (char)next(&d));
    check(kw_scope_end(scope));
    putchar(d.text[d.length - 1]);
    fflush(stdout);
  }
  printf("|\nmade weights, on %s\n", kw_device_name(device));
  check(kw_scope_end(all));
  check(kw_device_close(device));
  return 0;
}
