/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts for a vendor's op: constants of the plugin's file, tried on its reference.
 */
#include "worker/texts.h"

#include "base/need.h"
#include "case/element.h"
#include "case/make.h"

#include <elf.h>
#include <fcntl.h>
#include <keyway/plugin.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIED 20000 /* texts of one file */

/* ---- The file ---------------------------------------------------------------------------------------------------- */

typedef struct image {
  const char *bytes;
  size_t size;
} image;

static image map_file(const char *path) {
  struct stat stat;
  image file = {NULL, 0};
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd >= 0 && fstat(fd, &stat) == 0 && stat.st_size >= (off_t)sizeof(Elf64_Ehdr)) {
    void *bytes = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes != MAP_FAILED) file = (image){bytes, (size_t)stat.st_size};
  }
  if (fd >= 0) close(fd);
  return file;
}

/* The next section with constants, from number *io_number on; its size is 0 behind the last. */
static image next_constants(const image *file, uint32_t *io_number) {
  Elf64_Ehdr head;
  memcpy(&head, file->bytes, sizeof head);
  const bool good = memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 && head.e_ident[EI_CLASS] == ELFCLASS64 &&
                    head.e_shentsize == sizeof(Elf64_Shdr) && head.e_shoff <= file->size;
  const size_t most = good ? (file->size - head.e_shoff) / sizeof(Elf64_Shdr) : 0;
  for (; *io_number < head.e_shnum && *io_number < most; ++*io_number) {
    Elf64_Shdr section;
    memcpy(&section, file->bytes + head.e_shoff + *io_number * sizeof section, sizeof section);
    const uint64_t kind = section.sh_flags & (SHF_ALLOC | SHF_WRITE | SHF_EXECINSTR);
    const bool inside = section.sh_offset <= file->size && section.sh_size <= file->size - section.sh_offset;
    if (section.sh_type != SHT_PROGBITS || kind != SHF_ALLOC || !inside || section.sh_size == 0) continue;
    ++*io_number;
    return (image){file->bytes + section.sh_offset, section.sh_size};
  }
  return (image){NULL, 0};
}

static bool is_word(const char *text, size_t length) {
  static const char signs[] = "_-+. ";
  for (size_t i = 0; i < length; i++) {
    const char c = text[i];
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter && !strchr(signs, c)) return false;
  }
  return true;
}

/* Goes through the texts of a section that may be values. */
typedef struct walk {
  size_t at;
  bool ends; /* not the texts themselves, but what they end with: linkers keep "mean" in the end of "nanmean" */
} walk;

static const char *next_word(const image *section, walk *io_walk) {
  while (io_walk->at < section->size) {
    const char *text = section->bytes + io_walk->at;
    const size_t left = section->size - io_walk->at,
                 most = io_walk->ends && left > KW_SUITE_TEXT ? KW_SUITE_TEXT : left;
    const size_t length = strnlen(text, most); /* from each byte on: of long texts no more than tells that they are */
    const bool whole = io_walk->at == 0 || text[-1] == 0;
    io_walk->at += io_walk->ends ? 1 : length + 1;
    const bool terminated = (size_t)(text - section->bytes) + length < section->size;
    if (terminated && length > 0 && length < KW_SUITE_TEXT && whole != io_walk->ends && is_word(text, length))
      return text;
  }
  return NULL;
}

/* ---- The reference ----------------------------------------------------------------------------------------------- */

/* A call of the reference on the host, made again and again with other texts. */
typedef struct trial {
  const kw_op *op;
  kw_device *device;
  kw_case c;
  kw_tensor_ref inputs[KW_CASE_TENSORS], results[KW_SUITE_RESULTS];
  kw_tensor_ref forms[KW_CASE_TENSORS]; /* inputs as the device would have them */
  const kw_tensor_ref *entries[KW_CASE_TENSORS], *form_entries[KW_CASE_TENSORS];
  kw_tensor_ref *outs[KW_SUITE_RESULTS];
  kw_value metas[KW_MAX_ARGS], args[KW_MAX_ARGS]; /* for questions, and for the reference */
  void *memory[KW_CASE_TENSORS];
} trial;

/* What it said. */
typedef struct answer {
  unsigned char *bytes; /* of all results, one after the other */
  size_t size;
} answer;

static void make_inputs(trial *t) {
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) {
    const kw_case_tensor *tensor = &t->c.tensors[i];
    if (!tensor->given) continue;
    t->memory[i] = kw_need(tensor->extent * kw_element_size(tensor->dtype));
    kw_case_fill(&t->c, i, 1, 0, true, t->memory[i]);
    kw_tensor_ref *ref = &t->inputs[i];
    *ref = (kw_tensor_ref){.struct_size = sizeof *ref, .dtype = tensor->dtype, .rank = (uint8_t)tensor->rank};
    ref->mem = t->memory[i];
    ref->offset = (uint64_t)tensor->offset * kw_element_size(tensor->dtype);
    ref->numel = tensor->numel;
    ref->alignment = 1;
    memcpy(ref->shape, tensor->shape, sizeof ref->shape);
    memcpy(ref->strides, tensor->strides, sizeof ref->strides);
    t->entries[i] = ref;
    t->forms[i] = *ref;
    t->forms[i].mem = NULL;
    t->forms[i].alignment = 0;
    t->form_entries[i] = &t->forms[i];
  }
}

static void make_arguments(trial *t) {
  for (uint32_t i = 0; i < t->c.op->arg_count; i++) {
    kw_value *arg = &t->args[i];
    *arg = t->metas[i] = kw_case_arg_value(&t->c, i);
    if (arg->tag == KW_TAG_TENSOR) {
      arg->u.tensor = t->entries[i];
      t->metas[i] = kw_arg_meta(t->form_entries[i]);
    } else if (arg->tag == KW_TAG_TENSOR_LIST) {
      arg->u.tensors = &t->entries[t->c.args[i].first];
      t->metas[i] = kw_arg_meta_list(&t->form_entries[t->c.args[i].first], arg->count);
    }
  }
}

/* Gives the results memory in one piece; false where the op says that they are more than such small arguments make. */
static bool make_results(trial *t, uint32_t count, answer *out) {
  enum { MOST = 1 << 20, ALIGNMENT = 16 }; /* elements; bytes */
  *out = (answer){.size = 0};
  for (uint32_t o = 0; o < count; o++) {
    if (t->results[o].numel < 0 || t->results[o].numel > MOST) return false;
    t->results[o].offset = out->size;
    out->size += (size_t)t->results[o].numel * kw_element_size(t->results[o].dtype);
    out->size = (out->size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }
  out->bytes = kw_need(out->size);
  for (uint32_t o = 0; o < count; o++) t->results[o].mem = out->bytes;
  return true;
}

/* Gives argument `arg` a text, or for NULL its default. */
static void give(trial *t, uint32_t arg, const char *text) {
  t->args[arg] = t->metas[arg] = text ? kw_arg_string(text) : kw_suite_arg_default(&t->c.op->args[arg]);
}

/* What the reference says with `text` for argument `arg`, or with its default. False where the device refuses that; the
 * bytes are the caller's to free. */
static bool ask(trial *t, uint32_t arg, const char *text, answer *out) {
  const kw_suite_op *described = t->c.op;
  const uint32_t count = described->result_count;
  give(t, arg, text);
  for (uint32_t o = 0; o < count; o++) {
    t->results[o] = (kw_tensor_ref){.struct_size = sizeof t->results[o]};
    t->outs[o] = &t->results[o];
  }
  if (kw_op_can_run(t->op, t->device, t->metas, described->arg_count, NULL) != KW_OK) return false;
  if (kw_op_infer(t->op, t->metas, described->arg_count, t->outs, count) != KW_OK) return false;
  if (!make_results(t, count, out)) return false;
  const kw_call call = {.struct_size = sizeof call,
                        .arg_count = described->arg_count,
                        .out_count = count,
                        .op = described->name,
                        .args = t->args,
                        .outs = (const kw_tensor_ref *const *)t->outs};
  const bool good = kw_op_run_reference(t->op, &call) == KW_OK;
  if (!good) free(out->bytes);
  return good;
}

/* ---- Which texts ------------------------------------------------------------------------------------------------- */

/* The answers to the texts that were found, and to the default ahead of them. */
typedef struct answers {
  answer items[KW_SUITE_TEXTS + 1];
  uint32_t count;
} answers;

/* The case that texts are tried with: all attributes given, more than one element, the widest dtype that there is. */
static bool make_case(const trial *t, const kw_suite_op *op, kw_case *out_case) {
  for (kw_dtype d = KW_KEY_DTYPE_COUNT; d-- > 0;) {
    if (kw_op_support(t->op, t->device, d) == KW_SUPPORT_NONE) continue;
    if (kw_case_make(op, d, KW_CLASS_ATTRS, 1, out_case)) return true;
  }
  return false;
}

/* Whether the reference says with this text what it said with none so far. */
static bool is_new(trial *t, uint32_t arg, const char *text, answers *io_answers) {
  answer said;
  if (!ask(t, arg, text, &said)) return false;
  for (uint32_t i = 0; i < io_answers->count; i++) {
    const answer *other = &io_answers->items[i];
    if (said.size != other->size || memcmp(said.bytes, other->bytes, said.size) != 0) continue;
    free(said.bytes);
    return false;
  }
  io_answers->items[io_answers->count++] = said;
  return true;
}

static bool may_be_left_out(const kw_suite_arg *arg) {
  return arg->has_default || arg->optional;
}

/* The argument has afterwards what others can be tried beside: its default, or else the first text that was found. */
static void find_texts(trial *t, uint32_t index, const image *file, kw_suite_arg *out_arg) {
  uint32_t tried = 0;
  answers known = {.count = 0};
  out_arg->text_count = 0;
  if (may_be_left_out(out_arg)) is_new(t, index, NULL, &known);
  for (int ends = 0; ends < 2; ends++) {
    uint32_t number = 0;
    for (image section = next_constants(file, &number); section.size > 0; section = next_constants(file, &number)) {
      walk way = {0, ends};
      const char *word;
      while (out_arg->text_count < KW_SUITE_TEXTS && tried < TRIED && (word = next_word(&section, &way)) != NULL) {
        tried++;
        if (is_new(t, index, word, &known)) strcpy(out_arg->texts[out_arg->text_count++], word);
      }
    }
  }
  for (uint32_t i = 0; i < known.count; i++) free(known.items[i].bytes);
  if (may_be_left_out(out_arg) || out_arg->text_count > 0) {
    give(t, index, may_be_left_out(out_arg) ? NULL : out_arg->texts[0]);
  }
}

void kw_worker_find_texts(const kw_op *op, kw_device *device, const char *plugin_path, kw_suite_op *io_op) {
  uint32_t wanted = 0;
  kw_suite_op described = *io_op; /* with a text for every argument, or there would be no case */
  for (uint32_t i = 0; i < io_op->arg_count; i++) {
    if (io_op->args[i].tag != KW_TAG_STRING) continue;
    wanted++;
    described.args[i].text_count = 1;
  }
  if (!wanted) return;
  const image file = map_file(plugin_path);
  trial *t = kw_need(sizeof *t);
  t->op = op;
  t->device = device;
  if (file.bytes && make_case(t, &described, &t->c)) {
    make_inputs(t);
    make_arguments(t);
    for (uint32_t i = 0; i < io_op->arg_count; i++) {
      if (io_op->args[i].tag == KW_TAG_STRING && may_be_left_out(&io_op->args[i])) give(t, i, NULL);
    }
    for (uint32_t i = 0; i < io_op->arg_count; i++) {
      if (io_op->args[i].tag == KW_TAG_STRING) find_texts(t, i, &file, &io_op->args[i]);
    }
  }
  for (uint32_t i = 0; i < KW_CASE_TENSORS; i++) free(t->memory[i]);
  free(t);
  if (file.bytes) munmap((void *)file.bytes, file.size);
}
