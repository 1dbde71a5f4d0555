/* SPDX-License-Identifier: Apache-2.0
 *
 * Suite abi: the library's ELF file and what its query answers.
 */
#include "contract_helpers.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <keyway/plugin.h>

/* ---- The ELF file ------------------------------------------------------------------------------------------------ */

typedef struct elf_file {
  const unsigned char *bytes;
  size_t size;
  const ElfW(Sym) * symbols; /* the dynamic symbols */
  size_t symbol_count;
  const char *strings; /* their names */
  size_t string_size;
  const ElfW(Dyn) * dynamic;
  size_t dynamic_count;
} elf_file;

static const char *need_path(void) {
  if (!kw_contract.plugin_path) kw_test_skip("the file of this device's plugin is not known");
  return kw_contract.plugin_path;
}

/* A piece of the file, checked to lie inside it. */
static const void *elf_piece(const elf_file *file, uint64_t offset, uint64_t size) {
  KW_CHECK(offset <= file->size && size <= file->size - offset, "%s: a section reaches past the end of the file",
           kw_contract.plugin_path);
  return file->bytes + offset;
}

static const char *elf_string(const elf_file *file, uint64_t at) {
  KW_CHECK(at < file->string_size && memchr(file->strings + at, 0, file->string_size - at),
           "%s: a name lies outside the string table", kw_contract.plugin_path);
  return file->strings + at;
}

/* Maps the plugin's file and finds its dynamic symbols. Mapped until the process ends. */
static elf_file elf_open(void) {
  const char *path = need_path();
  elf_file file = {0};
  struct stat status;
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  KW_CHECK(fd >= 0 && fstat(fd, &status) == 0, "%s cannot be opened", path);
  file.size = (size_t)status.st_size;
  KW_CHECK(file.size >= sizeof(ElfW(Ehdr)), "%s is too short for an ELF file", path);
  void *map = mmap(NULL, file.size, PROT_READ, MAP_PRIVATE, fd, 0);
  KW_CHECK(map != MAP_FAILED, "%s cannot be mapped", path);
  close(fd);
  file.bytes = map;
  const ElfW(Ehdr) *header = map;
  KW_CHECK(memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_type == ET_DYN, "%s is no ELF shared object",
           path);
  KW_CHECK(header->e_shnum > 0 && header->e_shentsize == sizeof(ElfW(Shdr)), "%s has no section headers", path);
  const ElfW(Shdr) *sections = elf_piece(&file, header->e_shoff, (uint64_t)header->e_shnum * sizeof *sections);
  for (unsigned i = 0; i < header->e_shnum; i++) {
    const ElfW(Shdr) *section = &sections[i];
    if (section->sh_type == SHT_DYNAMIC) {
      file.dynamic = elf_piece(&file, section->sh_offset, section->sh_size);
      file.dynamic_count = section->sh_size / sizeof(ElfW(Dyn));
    } else if (section->sh_type == SHT_DYNSYM) {
      KW_CHECK(section->sh_link < header->e_shnum, "%s: its symbols have no names", path);
      const ElfW(Shdr) *names = &sections[section->sh_link];
      file.symbols = elf_piece(&file, section->sh_offset, section->sh_size);
      file.symbol_count = section->sh_size / sizeof(ElfW(Sym));
      file.strings = elf_piece(&file, names->sh_offset, names->sh_size);
      file.string_size = names->sh_size;
    }
  }
  KW_CHECK(file.symbols && file.dynamic, "%s has no dynamic symbols", path);
  return file;
}

static bool begins_with(const char *text, const char *start) {
  return strncmp(text, start, strlen(start)) == 0;
}

/* The library exports exactly one symbol, keyway_plugin_query. */
void kw_contract_abi_exports_only_query(void **state) {
  (void)state;
  elf_file file = elf_open();
  bool found = false;
  for (size_t i = 1; i < file.symbol_count; i++) {
    const ElfW(Sym) *symbol = &file.symbols[i];
    if (symbol->st_shndx == SHN_UNDEF || ELF64_ST_BIND(symbol->st_info) == STB_LOCAL) continue;
    const char *name = elf_string(&file, symbol->st_name);
    KW_CHECK(strcmp(name, KW_QUERY_SYMBOL) == 0,
             "%s exports %s; a plugin exports " KW_QUERY_SYMBOL
             " only. Link it with -fvisibility=hidden and a version script",
             kw_contract.plugin_path, name);
    KW_CHECK(ELF64_ST_TYPE(symbol->st_info) == STT_FUNC, KW_QUERY_SYMBOL " is not a function");
    found = true;
  }
  KW_CHECK(found, "%s does not export " KW_QUERY_SYMBOL, kw_contract.plugin_path);
}

/* No undefined Keyway symbol, weak ones included: everything a plugin may call is in the host table. */
void kw_contract_abi_no_keyway_symbol(void **state) {
  (void)state;
  elf_file file = elf_open();
  for (size_t i = 1; i < file.symbol_count; i++) {
    const ElfW(Sym) *symbol = &file.symbols[i];
    if (symbol->st_shndx != SHN_UNDEF) continue;
    const char *name = elf_string(&file, symbol->st_name);
    KW_CHECK(!begins_with(name, "kw_") && !begins_with(name, "keyway_"),
             "%s needs %s%s from its host; a plugin calls what is in kw_host_api and nothing else",
             kw_contract.plugin_path, ELF64_ST_BIND(symbol->st_info) == STB_WEAK ? "(weakly) " : "", name);
  }
}

/* Nor is it linked to libkeyway. */
void kw_contract_abi_does_not_link_keyway(void **state) {
  (void)state;
  elf_file file = elf_open();
  for (size_t i = 0; i < file.dynamic_count && file.dynamic[i].d_tag != DT_NULL; i++) {
    if (file.dynamic[i].d_tag != DT_NEEDED) continue;
    const char *name = elf_string(&file, file.dynamic[i].d_un.d_val), *slash = strrchr(name, '/');
    KW_CHECK(!begins_with(slash ? slash + 1 : name, "libkeyway"),
             "%s is linked to %s; a plugin includes a header and links nothing of Keyway", kw_contract.plugin_path,
             name);
  }
}

/* ---- Query ------------------------------------------------------------------------------------------------------- */

static kw_query_fn query_function(void) {
  const char *path = need_path();
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL); /* loaded already: this only counts it once more */
  KW_CHECK(library, "%s", dlerror());
  kw_query_fn query = NULL;
  *(void **)&query = dlsym(library, KW_QUERY_SYMBOL);
  KW_CHECK(query, "%s", dlerror());
  return query;
}

static const kw_plugin_desc *query_plugin(void) {
  kw_query_info host = {.struct_size = sizeof host,
                        .abi_min = KW_ABI_VERSION_MIN,
                        .abi_max = KW_ABI_VERSION,
                        .host_version = kw_version()};
  const kw_plugin_desc *desc = NULL;
  const char *reason = NULL;
  kw_status status = query_function()(&host, &desc, &reason);
  KW_CHECK(status == KW_OK && desc, "query gave %d (%s) to the host that loaded this plugin: %s", (int)status,
           kw_status_name(status), reason ? reason : "no reason");
  return desc;
}

/* Query is pure: the same answer each time, and the answer lives on. */
void kw_contract_abi_query_is_pure(void **state) {
  (void)state;
  const kw_plugin_desc *first = query_plugin();
  kw_plugin_desc copy = {0};
  size_t size = first->struct_size < sizeof copy ? first->struct_size : sizeof copy;
  memcpy(&copy, first, size);
  kw_test_usable("a round trip after query");
  const kw_plugin_desc *second = query_plugin();
  KW_CHECK(memcmp(second, &copy, size) == 0, "query answered differently the second time");
  KW_CHECK(memcmp(first, &copy, size) == 0, "the descriptor of the first query changed");
}

/* A host of another major is refused with KW_ERR_ABI_MISMATCH and a reason. */
void kw_contract_abi_query_refuses_major_9(void **state) {
  (void)state;
  kw_query_info host = {
      .struct_size = sizeof host, .abi_min = KW_ABI_MAKE(9, 0), .abi_max = KW_ABI_MAKE(9, 0), .host_version = "9.0.0"};
  const kw_plugin_desc *desc = NULL;
  const char *reason = NULL;
  kw_status status = query_function()(&host, &desc, &reason);
  KW_CHECK(status == KW_ERR_ABI_MISMATCH, "query gave %d (%s) to a host that serves 9.0 only, not %d (%s)", (int)status,
           kw_status_name(status), KW_ERR_ABI_MISMATCH, kw_status_name(KW_ERR_ABI_MISMATCH));
  KW_CHECK(!desc, "query refused the host and set *out_plugin all the same");
  KW_CHECK(reason && *reason, "query refused the host without a reason");
  (void)query_plugin(); /* and serves this host as before */
}

/* A shorter kw_query_info is read no further than its struct_size: what follows cannot be read here. */
void kw_contract_abi_query_reads_no_further(void **state) {
  (void)state;
  kw_query_fn query = query_function();
  size_t page = (size_t)sysconf(_SC_PAGESIZE), size = offsetof(kw_query_info, host_version);
  unsigned char *pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  KW_CHECK(pages != MAP_FAILED && mprotect(pages + page, page, PROT_NONE) == 0, "no memory");
  kw_query_info *host = (kw_query_info *)(void *)(pages + page - size);
  host->struct_size = (uint32_t)size;
  host->abi_min = KW_ABI_VERSION_MIN;
  host->abi_max = KW_ABI_VERSION;
  host->reserved = 0;
  const kw_plugin_desc *desc = NULL;
  const char *reason = NULL;
  kw_status status = query(host, &desc, &reason);
  KW_CHECK(status == KW_OK && desc, "query gave %d (%s) to a host whose kw_query_info ends before host_version: %s",
           (int)status, kw_status_name(status), reason ? reason : "no reason");
  munmap(pages, 2 * page);
}

/* ---- The descriptor ---------------------------------------------------------------------------------------------- */

static const void *find_group(const kw_plugin_desc *desc, const char *name) {
  for (uint32_t i = 0; i < desc->group_count; i++) {
    if (strcmp(desc->groups[i].name, name) == 0) return desc->groups[i].table;
  }
  return NULL;
}

/* struct_size of the descriptor and of every table reaches at least the frozen smallest size; the majors agree. */
void kw_contract_abi_struct_sizes(void **state) {
  (void)state;
  static const struct {
    const char *group;
    uint32_t min;
    bool floor;
  } tables[] = {
#define KW_SLOT_GROUP(group, NAME, required, native, text) {KW_GROUP_##NAME, KW_##NAME##_API_MIN, required},
#include "slots.def"
  };
  const kw_plugin_desc *desc = query_plugin();
  KW_CHECK(desc->struct_size >= KW_PLUGIN_DESC_MIN, "kw_plugin_desc.struct_size is %u, less than %u", desc->struct_size,
           KW_PLUGIN_DESC_MIN);
  KW_CHECK(KW_ABI_MAJOR(desc->abi_version) == KW_ABI_MAJOR(KW_ABI_VERSION),
           "the plugin follows ABI %u.%u, the host %u.%u", KW_ABI_MAJOR(desc->abi_version),
           KW_ABI_MINOR(desc->abi_version), KW_ABI_MAJOR(KW_ABI_VERSION), KW_ABI_MINOR(KW_ABI_VERSION));
  for (uint32_t i = 0; i < desc->group_count; i++) {
    const char *name = desc->groups[i].name;
    KW_CHECK(name && *name && desc->groups[i].table, "group %u has no name or no table", i);
    for (uint32_t j = 0; j < i; j++) KW_CHECK(strcmp(name, desc->groups[j].name) != 0, "group %s is there twice", name);
  }
  for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
    const void *table = find_group(desc, tables[i].group);
    KW_CHECK(table || !tables[i].floor, "the group %s is missing", tables[i].group);
    if (!table) continue;
    uint32_t size = *(const uint32_t *)table;
    KW_CHECK(size >= tables[i].min, "%s: struct_size is %u, less than %u", tables[i].group, size, tables[i].min);
  }
}

/* Every slot of the floor is there. */
void kw_contract_abi_floor_slots(void **state) {
  (void)state;
  const kw_plugin_desc *desc = query_plugin();
  KW_CHECK(desc->probe && desc->init && desc->shutdown, "probe, init or shutdown is NULL");
#define KW_SLOT(group, name, since, required, parameters, arguments)                                  \
  {                                                                                                   \
    const kw_##group##_api *table = find_group(desc, "keyway." #group "/1");                          \
    if (table && required) {                                                                          \
      KW_CHECK(KW_HAS_FIELD(table, name) && table->name, "the slot " #group "." #name " is missing"); \
    }                                                                                                 \
  }
#include "slots.def"
}

static bool is_name(const char *text) { /* [a-z][a-z0-9_]* */
  if (!text || *text < 'a' || *text > 'z') return false;
  return strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(text);
}

/* The texts of the descriptor: key and vendor as the syntax says, the others there. */
void kw_contract_abi_key_and_vendor(void **state) {
  (void)state;
  const kw_plugin_desc *desc = query_plugin();
  KW_CHECK(is_name(desc->key), "the key \"%s\" is not [a-z][a-z0-9_]*", desc->key ? desc->key : "(NULL)");
  KW_CHECK(is_name(desc->vendor), "the vendor \"%s\" is not [a-z][a-z0-9_]*", desc->vendor ? desc->vendor : "(NULL)");
  KW_CHECK(desc->version && *desc->version, "the plugin has no version");
  KW_CHECK(desc->description && *desc->description, "the plugin has no description");
  KW_CHECK(!strchr(desc->description, '\n'), "the description is more than one line");
  KW_CHECK(desc->build && desc->sanitizer, "build or sanitizer is NULL; the unknown is \"\"");
}

/* Probe is cheap and repeatable: with a device open it still says that there is hardware. */
void kw_contract_abi_probe_again(void **state) {
  (void)state;
  const kw_plugin_desc *desc = query_plugin();
  for (int i = 0; i < 2; i++) {
    const char *reason = NULL;
    kw_status status = desc->probe(&reason);
    KW_CHECK(status == KW_OK, "probe gave %d (%s) while a device of the plugin is open: %s", (int)status,
             kw_status_name(status), reason ? reason : "no reason");
  }
  kw_test_usable("a round trip after probe");
}
