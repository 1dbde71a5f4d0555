/* SPDX-License-Identifier: Apache-2.0
 *
 * ELF headers, read by pread (System V ABI, "ELF-64 Object File Format").
 */
#include "plugin/elf_file.h"

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__)
#define OWN_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OWN_MACHINE EM_AARCH64
#elif defined(__riscv)
#define OWN_MACHINE EM_RISCV
#elif defined(__powerpc64__)
#define OWN_MACHINE EM_PPC64
#elif defined(__loongarch__)
#define OWN_MACHINE 258 /* EM_LOONGARCH, younger than some elf.h */
#else
#error "which e_machine is this?"
#endif

#define STRING_LIMIT (16u << 20) /* bytes of names: more has no library */
#define HEADER_LIMIT 256u        /* program headers and dynamic entries */

static const char *machine_name(unsigned machine, char other[32]) {
  static const struct {
    unsigned machine;
    const char *name;
  } names[] = {{EM_386, "i386"},        {EM_ARM, "arm"},     {EM_X86_64, "x86-64"},
               {EM_AARCH64, "aarch64"}, {EM_RISCV, "riscv"}, {EM_PPC64, "ppc64"},
               {EM_S390, "s390x"},      {EM_MIPS, "mips"},   {258, "loongarch"}};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (names[i].machine == machine) return names[i].name;
  snprintf(other, 32, "machine number %u", machine);
  return other;
}

static bool read_at(int file, uint64_t offset, void *to, size_t size) {
  return offset <= INT64_MAX && pread(file, to, size, (off_t)offset) == (ssize_t)size;
}

bool kw_elf_is_loadable(int file, char *reason, size_t size) {
  Elf64_Ehdr header = {.e_ident = {0}};
  if (!read_at(file, 0, header.e_ident, sizeof header.e_ident) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    snprintf(reason, size, "is not a shared object (no ELF header)");
    return false;
  }
  /* e_type and e_machine lie at the same place in files of 32 bits. */
  const unsigned char width = header.e_ident[EI_CLASS], order = header.e_ident[EI_DATA];
  const bool can_be = (width == ELFCLASS32 || width == ELFCLASS64) && (order == ELFDATA2LSB || order == ELFDATA2MSB);
  if (!can_be || !read_at(file, 0, &header, offsetof(Elf64_Ehdr, e_version))) {
    snprintf(reason, size, "is not a shared object (its ELF header is broken)");
    return false;
  }
  char own[32], other[32];
  const bool same_width = width == ELFCLASS64, same_order = order == ELFDATA2LSB;
  const unsigned machine = same_order ? header.e_machine : __builtin_bswap16(header.e_machine);
  if (!same_width || !same_order || machine != OWN_MACHINE) {
    snprintf(reason, size,
             "is for another architecture: %s, %s bits, %s-endian, and this is %s: install the one for it",
             machine_name(machine, other), same_width ? "64" : "32", same_order ? "little" : "big",
             machine_name(OWN_MACHINE, own));
    return false;
  }
  if (header.e_type != ET_DYN) {
    snprintf(reason, size, "is not a shared object: its ELF type is %u", header.e_type);
    return false;
  }
  return true;
}

/* ---- Names of symbols -------------------------------------------------------------------------------------------- */

typedef struct headers {
  Elf64_Phdr items[HEADER_LIMIT];
  unsigned count;
} headers;

static bool read_headers(int file, headers *all) {
  Elf64_Ehdr header;
  if (!read_at(file, 0, &header, sizeof header)) return false;
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0 || header.e_phnum > HEADER_LIMIT) return false;
  all->count = header.e_phnum;
  return read_at(file, header.e_phoff, all->items, all->count * sizeof all->items[0]);
}

/* Where in the file an address of the loaded library comes from. */
static bool offset_of(const headers *all, uint64_t address, uint64_t *out_offset) {
  for (unsigned i = 0; i < all->count; i++) {
    const Elf64_Phdr *segment = &all->items[i];
    if (segment->p_type != PT_LOAD || address < segment->p_vaddr) continue;
    if (address - segment->p_vaddr >= segment->p_filesz) continue;
    *out_offset = segment->p_offset + (address - segment->p_vaddr);
    return true;
  }
  return false;
}

/* The entries of a dynamic segment, as many as the file has of them and HEADER_LIMIT at most. */
static unsigned read_dynamic(int file, uint64_t offset, Elf64_Dyn entries[HEADER_LIMIT]) {
  const size_t size = HEADER_LIMIT * sizeof entries[0];
  const ssize_t count = offset <= INT64_MAX ? pread(file, entries, size, (off_t)offset) : 0;
  return count > 0 ? (unsigned)((size_t)count / sizeof entries[0]) : 0;
}

/* The table of names: where it lies and how long it is. */
static bool find_names(int file, const headers *all, uint64_t *out_offset, uint64_t *out_size) {
  Elf64_Dyn entries[HEADER_LIMIT];
  uint64_t address = 0;
  *out_size = 0;
  for (unsigned i = 0; i < all->count; i++) {
    if (all->items[i].p_type != PT_DYNAMIC) continue;
    const unsigned count = read_dynamic(file, all->items[i].p_offset, entries);
    for (unsigned k = 0; k < count && entries[k].d_tag != DT_NULL; k++) {
      if (entries[k].d_tag == DT_STRTAB) address = entries[k].d_un.d_ptr;
      if (entries[k].d_tag == DT_STRSZ) *out_size = entries[k].d_un.d_val;
    }
  }
  return address != 0 && *out_size > 0 && *out_size <= STRING_LIMIT && offset_of(all, address, out_offset);
}

bool kw_elf_may_export(int file, const char *name) {
  headers all;
  uint64_t offset, size;
  if (!read_headers(file, &all) || !find_names(file, &all, &offset, &size)) return true;
  char *names = malloc(size);
  if (names == NULL) return true;
  const bool known = read_at(file, offset, names, size);
  const bool found = known && memmem(names, size, name, strlen(name) + 1) != NULL;
  free(names);
  return found || !known;
}
