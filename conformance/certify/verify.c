/* SPDX-License-Identifier: Apache-2.0
 *
 * Checks certification packages: each check trusts what those before it have shown, and nothing else of the package.
 */
#include "certify/verify.h"

#include "base/suite_version.h"
#include "base/text.h"
#include "certify/manifest.h"
#include "certify/minisign.h"
#include "certify/mustpass.h"
#include "certify/rerun.h"
#include "report/formats.h"

#include <keyway/keyway.h>

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct verifier {
  const kw_verify_options *options;
  kw_manifest manifest;
  kw_mustpass lists;
  kw_report report;
  kw_entry_list waivers;
  kw_level_claim claim;
  kw_waived_verdict verdict;
  char *text; /* of the check that is made */
  size_t size;
} verifier;

#define SAY(v, ...) snprintf((v)->text, (v)->size, __VA_ARGS__)

static kw_check_end refuse(bool good) {
  return good ? KW_CHECK_GOOD : KW_CHECK_REFUSED;
}

static const char *text_of(const verifier *v, kw_manifest_text text) {
  return v->manifest.texts[text];
}

static void path_of(const verifier *v, const char *name, char path[PATH_MAX]) {
  if (snprintf(path, PATH_MAX, "%s/%s", v->options->folder, name) >= PATH_MAX) *path = 0; /* no file has that name */
}

/* The index of a file that the manifest names; file_count when it does not. */
static uint32_t find_file(const verifier *v, const char *name) {
  uint32_t i = 0;
  while (i < v->manifest.file_count && strcmp(v->manifest.files[i].path, name) != 0) i++;
  return i;
}

static bool has_file(const verifier *v, const char *name) {
  return find_file(v, name) < v->manifest.file_count;
}

/* ---- What was signed --------------------------------------------------------------------------------------------- */

static kw_check_end check_manifest(verifier *v) {
  if (!kw_manifest_read(v->options->folder, &v->manifest, v->text, v->size)) {
    char path[PATH_MAX];
    path_of(v, KW_PACKAGE_MANIFEST, path);
    return access(path, F_OK) == 0 ? KW_CHECK_REFUSED : KW_CHECK_IMPOSSIBLE;
  }
  SAY(v, "%s at %s, of %s", text_of(v, KW_MANIFEST_DEVICE), text_of(v, KW_MANIFEST_LEVEL),
      text_of(v, KW_MANIFEST_CREATED));
  return KW_CHECK_GOOD;
}

static kw_check_end check_signature(verifier *v) {
  char manifest[PATH_MAX], signature[PATH_MAX];
  path_of(v, KW_PACKAGE_MANIFEST, manifest);
  path_of(v, KW_PACKAGE_SIGNATURE, signature);
  const bool is_signed = access(signature, F_OK) == 0;
  if (!v->options->public_key) {
    SAY(v, is_signed ? "not looked at: --public-key names whose it should be" : "the package is not signed");
    return KW_CHECK_LEFT_OUT;
  }
  if (!is_signed) {
    SAY(v, "the signature " KW_PACKAGE_SIGNATURE " is missing: the package is not signed, or was robbed of it");
    return KW_CHECK_REFUSED;
  }
  const kw_signature found = kw_minisign_verify(manifest, v->options->public_key, v->text, v->size);
  if (found == KW_SIGNATURE_GOOD) SAY(v, "of the key %s", v->options->public_key);
  return found == KW_SIGNATURE_GOOD    ? KW_CHECK_GOOD
         : found == KW_SIGNATURE_WRONG ? KW_CHECK_REFUSED
                                       : KW_CHECK_IMPOSSIBLE;
}

static kw_check_end check_files(verifier *v) {
  const kw_package_file *named = v->manifest.files;
  kw_package_file *there;
  uint32_t count, i = 0;
  if (!kw_package_list(v->options->folder, &there, &count, v->text, v->size)) return KW_CHECK_REFUSED;
  while (i < count && i < v->manifest.file_count && strcmp(named[i].path, there[i].path) == 0 &&
         strcmp(named[i].hash, there[i].hash) == 0) {
    i++;
  }
  const kw_package_file *mine = i < v->manifest.file_count ? &named[i] : NULL, *other = i < count ? &there[i] : NULL;
  const int order = mine && other ? strcmp(mine->path, other->path) : mine ? -1 : 1;
  if (!mine && !other) {
    SAY(v, "%u, each with the hash in the manifest, and no others", count);
  } else if (order == 0) {
    SAY(v, "the file %s was changed: it has not the hash that the manifest names", mine->path);
  } else if (order < 0) {
    SAY(v, "the file %s is missing, which the manifest names", mine->path);
  } else {
    SAY(v, "the file %s was added: the manifest does not name it", other->path);
  }
  kw_package_files_free(there, count);
  return refuse(!mine && !other);
}

/* ---- By what was judged ------------------------------------------------------------------------------------------ */

static kw_check_end check_suite(verifier *v) {
  char tolerances[KW_DIGEST_SIZE];
  kw_digest_tolerances(tolerances);
  if (strcmp(text_of(v, KW_MANIFEST_SUITE), KW_SUITE_VERSION) != 0) {
    SAY(v, "the package is of suite %s, this is " KW_SUITE_VERSION ": only a keyway with suite %s can verify it",
        text_of(v, KW_MANIFEST_SUITE), text_of(v, KW_MANIFEST_SUITE));
  } else if (strcmp(text_of(v, KW_MANIFEST_OP_SET), KW_OP_SET_VERSION) != 0) {
    SAY(v, "the package is of op set %s, suite " KW_SUITE_VERSION " has " KW_OP_SET_VERSION,
        text_of(v, KW_MANIFEST_OP_SET));
  } else if (strcmp(text_of(v, KW_MANIFEST_TOLERANCES_HASH), tolerances) != 0) {
    SAY(v, "the package was judged by other tolerances than those of suite " KW_SUITE_VERSION " (%s)", tolerances);
  } else {
    SAY(v, KW_SUITE_VERSION ", op set " KW_OP_SET_VERSION ", and its tolerances");
    return KW_CHECK_GOOD;
  }
  return KW_CHECK_REFUSED;
}

/* The must-pass lists in the package are for whoever reads it: those that count are the installed ones. */
static kw_check_end check_lists(verifier *v) {
  char folder[PATH_MAX], name[64];
  if (!kw_mustpass_folder(folder, sizeof folder)) {
    SAY(v, "the must-pass lists of suite " KW_SUITE_VERSION " are not installed beside this program");
    return KW_CHECK_IMPOSSIBLE;
  }
  if (!kw_mustpass_read(folder, &v->lists, v->text, v->size)) return KW_CHECK_IMPOSSIBLE;
  if (strcmp(v->lists.tolerance_hash, text_of(v, KW_MANIFEST_TOLERANCES_HASH)) != 0) {
    SAY(v, "the installed must-pass lists are not of this program: they name other tolerances; install Keyway again");
    return KW_CHECK_IMPOSSIBLE;
  }
  if (!kw_level_parse(text_of(v, KW_MANIFEST_LEVEL), &v->claim)) {
    SAY(v, "'%s' is no level of suite " KW_SUITE_VERSION, text_of(v, KW_MANIFEST_LEVEL));
    return KW_CHECK_REFUSED;
  }
  const uint32_t count = kw_mustpass_file_count(&v->claim);
  for (uint32_t f = 0; f < count; f++) {
    snprintf(name, sizeof name, KW_PACKAGE_LISTS "/%s", kw_mustpass_name(f));
    const uint32_t i = find_file(v, name);
    if (i < v->manifest.file_count && strcmp(v->manifest.files[i].hash, v->lists.files[f].hash) == 0) continue;
    SAY(v, "%s %s suite " KW_SUITE_VERSION, name,
        i < v->manifest.file_count ? "is not the must-pass list of" : "is missing, the must-pass list of");
    return KW_CHECK_REFUSED;
  }
  SAY(v, "%u, as installed", count);
  return KW_CHECK_GOOD;
}

/* ---- What is said ------------------------------------------------------------------------------------------------ */

/* Says how a file differs from what the report makes of it. */
static void explain(verifier *v, const char *name, const char *should) {
  char path[PATH_MAX], *text = NULL;
  path_of(v, name, path);
  const char *is = kw_text_read_file(path, &text) ? text : "";
  cJSON *mine = cJSON_Parse(is), *right = cJSON_Parse(should);
  static const char *const members[] = {"verdict", "summary", "counts", "ops", "suites", "failures"};
  const char *wrong = NULL;
  for (size_t i = 0; !wrong && mine && right && i < sizeof members / sizeof members[0]; i++) {
    const cJSON *a = cJSON_GetObjectItemCaseSensitive(mine, members[i]);
    if (!cJSON_Compare(a, cJSON_GetObjectItemCaseSensitive(right, members[i]), true)) wrong = members[i];
  }
  uint32_t line = 1;
  for (; *is && *is == *should; is++, should++) line += *is == '\n';
  if (wrong && strcmp(wrong, "verdict") == 0) {
    SAY(v, "%s says '%s', but its cases make it '%s'", name,
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(mine, wrong)),
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(right, wrong)));
  } else if (wrong) {
    SAY(v, "%s: its \"%s\" are not what its cases add up to", name, wrong);
  } else {
    SAY(v, "%s is not what the cases in " KW_PACKAGE_REPORT " make: line %u was changed", name, line);
  }
  cJSON_Delete(mine);
  cJSON_Delete(right);
  free(text);
}

/* Whether a file in the package, whose hash has been checked, is what its report makes in that format. */
static bool is_written_so(verifier *v, const char *name, void (*put)(const kw_report *, FILE *)) {
  const uint32_t at = find_file(v, name);
  if (at == v->manifest.file_count) {
    SAY(v, "%s is missing", name);
    return false;
  }
  char hash[KW_DIGEST_SIZE], *should = kw_report_text(&v->report, put);
  kw_digest_text(should, hash);
  const bool same = strcmp(hash, v->manifest.files[at].hash) == 0;
  if (!same) explain(v, name, should);
  free(should);
  return same;
}

/* Whether manifest and report say the same. */
static bool agrees(verifier *v) {
  const kw_report *r = &v->report;
  char seed[32];
  snprintf(seed, sizeof seed, "%" PRIu64, r->seed);
  const struct {
    kw_manifest_text text;
    const char *value;
  } said[] = {{KW_MANIFEST_SUITE, r->suite_version},
              {KW_MANIFEST_OP_SET, r->op_set_version},
              {KW_MANIFEST_DEVICE, r->device},
              {KW_MANIFEST_PRODUCT, r->product},
              {KW_MANIFEST_LEVEL, r->level},
              {KW_MANIFEST_SEED, seed},
              {KW_MANIFEST_PLUGIN, r->plugin},
              {KW_MANIFEST_PLUGIN_HASH, r->plugin_hash},
              {KW_MANIFEST_TOLERANCES_HASH, r->tolerance_hash},
              {KW_MANIFEST_CASES_HASH, r->case_hash}};
  for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
    if (strcmp(text_of(v, said[i].text), said[i].value) == 0) continue;
    SAY(v, "manifest and report contradict each other: \"%s\" is '%s' in the manifest and '%s' in the report",
        kw_manifest_key(said[i].text), text_of(v, said[i].text), said[i].value);
    return false;
  }
  return true;
}

static kw_check_end check_report(verifier *v) {
  char path[PATH_MAX];
  path_of(v, KW_PACKAGE_REPORT, path);
  if (!has_file(v, KW_PACKAGE_REPORT)) {
    SAY(v, KW_PACKAGE_REPORT " is missing");
    return KW_CHECK_REFUSED;
  }
  if (!kw_report_read(path, &v->report, v->text, v->size)) return KW_CHECK_REFUSED;
  if (!agrees(v)) return KW_CHECK_REFUSED;
  if (!is_written_so(v, KW_PACKAGE_REPORT, kw_report_put_json)) return KW_CHECK_REFUSED;
  if (strcmp(text_of(v, KW_MANIFEST_KEYWAY), kw_version()) != 0) { /* whose pages may look otherwise */
    SAY(v, "adds up; the pages, made by keyway %s, are not compared", text_of(v, KW_MANIFEST_KEYWAY));
    return KW_CHECK_GOOD;
  }
  if (!is_written_so(v, KW_PACKAGE_PAGE, kw_report_put_html)) return KW_CHECK_REFUSED;
  if (!is_written_so(v, KW_PACKAGE_TABLE, kw_report_put_plain_table)) return KW_CHECK_REFUSED;
  SAY(v, "adds up, page and table say the same");
  return KW_CHECK_GOOD;
}

static kw_effort effort_of(const verifier *v) {
  return strcmp(text_of(v, KW_MANIFEST_EFFORT), "thorough") == 0 ? KW_EFFORT_THOROUGH : KW_EFFORT_NORMAL;
}

static kw_check_end check_cases(verifier *v) {
  const kw_report *r = &v->report;
  kw_id_list ids = {0};
  char hash[KW_DIGEST_SIZE];
  const char *half = text_of(v, KW_MANIFEST_HALF);
  if (*r->chosen || r->shards != 1) {
    SAY(v, "the run left cases out: %s", *r->chosen ? r->chosen : "--shard");
    return KW_CHECK_REFUSED;
  }
  if (strcmp(half, "f16") != 0 && strcmp(half, "bf16") != 0) {
    SAY(v, "the level was judged in '%s', which is no 16-bit float", half);
    return KW_CHECK_REFUSED;
  }
  for (uint32_t i = 0; i < r->case_count; i++) kw_id_list_add(&ids, "%s", r->cases[i].id);
  kw_report_hash_cases(r, hash);
  const kw_mustpass_level level = {&v->claim, strcmp(half, "f16") == 0 ? KW_F16 : KW_BF16, effort_of(v)};
  bool good = kw_mustpass_check(&v->lists, &level, &ids, v->text, v->size);
  if (good && strcmp(hash, r->case_hash) != 0) {
    SAY(v, "the cases are not those that the report names by hash, in their order");
    good = false;
  }
  kw_id_list_free(&ids);
  if (good) SAY(v, "%u, which are all that %s has to pass, and no others", r->case_count, r->level);
  return refuse(good);
}

static kw_check_end check_seed(verifier *v) {
  const kw_verify_options *o = v->options;
  if (!o->has_seed) {
    SAY(v, "%" PRIu64 ": --seed holds it against the one that was given", v->report.seed);
    return KW_CHECK_LEFT_OUT;
  }
  if (o->seed == v->report.seed) {
    SAY(v, "%" PRIu64 ", as given", o->seed);
  } else {
    SAY(v, "the package was made with seed %" PRIu64 ", not with the %" PRIu64 " that was given", v->report.seed,
        o->seed);
  }
  return refuse(o->seed == v->report.seed);
}

/* The plugin's file: the given one, else the package's copy. False: there is none. */
static bool find_plugin(const verifier *v, char path[PATH_MAX]) {
  char name[PATH_MAX];
  snprintf(name, sizeof name, KW_PACKAGE_PLUGIN "/%s", text_of(v, KW_MANIFEST_PLUGIN));
  if (v->options->plugin) {
    snprintf(path, PATH_MAX, "%s", v->options->plugin);
  } else {
    path_of(v, name, path);
  }
  return v->options->plugin || has_file(v, name);
}

static kw_check_end check_plugin(verifier *v) {
  char path[PATH_MAX], hash[KW_DIGEST_SIZE];
  if (!find_plugin(v, path)) {
    SAY(v, "not here: --plugin names a file to hold against %s", text_of(v, KW_MANIFEST_PLUGIN_HASH));
    return KW_CHECK_LEFT_OUT;
  }
  if (!kw_digest_file(path, hash)) {
    SAY(v, "%s cannot be read: %s", path, strerror(errno));
    return KW_CHECK_IMPOSSIBLE;
  }
  const bool same = strcmp(hash, text_of(v, KW_MANIFEST_PLUGIN_HASH)) == 0;
  if (same) {
    SAY(v, "%s", path);
  } else {
    SAY(v, "%s is not the plugin that was judged: that one has the hash %s", path, text_of(v, KW_MANIFEST_PLUGIN_HASH));
  }
  return refuse(same);
}

/* ---- What it comes to -------------------------------------------------------------------------------------------- */

static kw_check_end check_waivers(verifier *v) {
  char path[PATH_MAX], hash[KW_DIGEST_SIZE];
  path_of(v, KW_PACKAGE_EXPECT, path);
  const bool expects = has_file(v, KW_PACKAGE_EXPECT);
  if (expects != (*v->report.expect_hash != 0) ||
      (expects && (!kw_digest_file(path, hash) || strcmp(hash, v->report.expect_hash) != 0))) {
    SAY(v, KW_PACKAGE_EXPECT " is not the list of known failures that the report names by hash");
    return KW_CHECK_REFUSED;
  }
  path_of(v, KW_PACKAGE_WAIVERS, path);
  if (v->options->waivers && !kw_digest_file(v->options->waivers, hash)) {
    SAY(v, "%s cannot be read: %s", v->options->waivers, strerror(errno));
    return KW_CHECK_IMPOSSIBLE;
  }
  const uint32_t at = find_file(v, KW_PACKAGE_WAIVERS);
  if (v->options->waivers && (!has_file(v, KW_PACKAGE_WAIVERS) || strcmp(v->manifest.files[at].hash, hash) != 0)) {
    SAY(v, "the package's waivers are not those in %s", v->options->waivers);
    return KW_CHECK_REFUSED;
  }
  if (!has_file(v, KW_PACKAGE_WAIVERS)) {
    SAY(v, "none");
  } else if (!kw_waivers_read(path, v->options->date, &v->waivers, v->text, v->size)) {
    return KW_CHECK_REFUSED;
  } else {
    SAY(v, "%u, which hold on %s", v->waivers.count, v->options->date);
  }
  return KW_CHECK_GOOD;
}

static kw_check_end check_verdict(verifier *v) {
  v->verdict = kw_waivers_judge(&v->report, &v->waivers);
  const bool same = strcmp(v->verdict.text, text_of(v, KW_MANIFEST_VERDICT)) == 0;
  if (same) {
    SAY(v, "%s", v->verdict.text);
  } else {
    SAY(v, "the package says '%s', but its cases and waivers make it '%s'", text_of(v, KW_MANIFEST_VERDICT),
        v->verdict.text);
  }
  return refuse(same);
}

static kw_check_end check_rerun(verifier *v) {
  char plugin[PATH_MAX];
  kw_run_options *options = v->options->rerun;
  if (v->options->share <= 0) {
    SAY(v, "nothing was run again: --rerun 5%% does that");
    return KW_CHECK_LEFT_OUT;
  }
  if (!options->device) options->device = text_of(v, KW_MANIFEST_DEVICE);
  if (find_plugin(v, plugin)) options->plugins[options->plugin_count++] = plugin;
  options->level = v->claim;
  options->effort = effort_of(v);
  static const kw_check_end ends[] = {[KW_RERUN_SAME] = KW_CHECK_GOOD,
                                      [KW_RERUN_DIFFERENT] = KW_CHECK_REFUSED,
                                      [KW_RERUN_INCONCLUSIVE] = KW_CHECK_INCONCLUSIVE,
                                      [KW_RERUN_IMPOSSIBLE] = KW_CHECK_IMPOSSIBLE};
  return ends[kw_rerun(options, &v->report, v->options->share, v->text, v->size)];
}

/* ---- All --------------------------------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  kw_check_end (*make)(verifier *v);
} checks[] = {{"manifest", check_manifest}, {"signature", check_signature}, {"files", check_files},
              {"suite", check_suite},       {"lists", check_lists},         {"report", check_report},
              {"cases", check_cases},       {"seed", check_seed},           {"plugin", check_plugin},
              {"waivers", check_waivers},   {"verdict", check_verdict},     {"rerun", check_rerun}};

/* Of a package that holds: 1 is said of one that does not. */
static int code_of(const kw_waived_verdict *verdict, bool inconclusive) {
  const int code = kw_waived_exit_code(verdict);
  const bool conformant = verdict->verdict == KW_VERDICT_CONFORMANT;
  return conformant && inconclusive ? 4 : code == 1 ? 3 : code;
}

void kw_verify(const kw_verify_options *options, kw_verification *out_verification) {
  verifier v = {.options = options};
  bool goes_on = true, inconclusive = false;
  *out_verification = (kw_verification){.exit_code = 0};
  for (size_t i = 0; goes_on && i < sizeof checks / sizeof checks[0]; i++) {
    kw_check *check = &out_verification->checks[out_verification->check_count++];
    check->name = checks[i].name;
    v.text = check->text;
    v.size = sizeof check->text;
    check->end = checks[i].make(&v);
    inconclusive |= check->end == KW_CHECK_INCONCLUSIVE;
    goes_on = check->end != KW_CHECK_REFUSED && check->end != KW_CHECK_IMPOSSIBLE;
    if (!goes_on) out_verification->exit_code = check->end == KW_CHECK_REFUSED ? 1 : 2;
  }
  if (goes_on) out_verification->exit_code = code_of(&v.verdict, inconclusive);
  out_verification->verdict = kw_text_clean(goes_on ? v.verdict.text : "");
  free(v.verdict.text);
  kw_manifest_free(&v.manifest);
  kw_mustpass_free(&v.lists);
  kw_report_free(&v.report);
  kw_entry_list_free(&v.waivers);
}

void kw_verification_free(kw_verification *verification) {
  free(verification->verdict);
  verification->verdict = NULL;
}
