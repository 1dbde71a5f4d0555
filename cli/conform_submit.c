/* SPDX-License-Identifier: Apache-2.0
 *
 * `keyway conform --submit`.
 */
#include "conform_submit.h"

#include "certify/manifest.h"

#include <stdlib.h>

bool kw_cli_submission_begin(const kw_cli_args *args, kw_submission *submission, char *out_message, size_t size) {
  static const char *const dependent[] = {"--sign", "--waivers", "--with-plugin"};
  static const char *const partial[] = {"--op",    "--case", "--suite",  "--shard",     "--after",     "--budget",
                                        "--quick", "--list", "--source", "--fail-fast", "--exhaustive"};
  if (!submission->folder) {
    for (size_t i = 0; i < sizeof dependent / sizeof dependent[0]; i++) {
      if (!kw_cli_args_has(args, dependent[i])) continue;
      snprintf(out_message, size, "%s goes with --submit DIR", dependent[i]);
      return false;
    }
    return true;
  }
  for (size_t i = 0; i < sizeof partial / sizeof partial[0]; i++) {
    if (!kw_cli_args_has(args, partial[i])) continue;
    snprintf(out_message, size, "--submit is about all that a level has to pass, and %s leaves something out",
             partial[i]);
    return false;
  }
  if (!kw_cli_args_has(args, "--level")) {
    snprintf(out_message, size, "--submit is about a level: --level core, inference or training, with extensions");
    return false;
  }
  if (!kw_cli_args_has(args, "--seed")) {
    snprintf(out_message, size, "--submit wants the seed that the certifier gave: --seed S");
    return false;
  }
  submission->key = kw_cli_args_value(args, "--sign");
  submission->waivers = kw_cli_args_value(args, "--waivers");
  submission->with_plugin = kw_cli_args_has(args, "--with-plugin");
  return kw_submission_begin(submission, out_message, size);
}

int kw_cli_submit(const kw_cli_args *args, kw_submission *submission, const kw_run *run, const kw_report *report,
                  FILE *out) {
  kw_waived_verdict verdict = kw_waivers_judge(report, &submission->granted);
  char message[1024];
  int code = kw_waived_exit_code(&verdict);
  if (!kw_submission_write(submission, run, report, &verdict, message, sizeof message)) {
    kw_cli_complain(kw_cli_args_command(args), "no package was made: %s", message);
    code = KW_CLI_USAGE;
  } else {
    fprintf(out, "package: %s, %s%s\n  certifies    %s\n", submission->folder,
            submission->key ? "signed with " : "not signed", submission->key ? submission->key : "", verdict.text);
    if (!submission->key) {
      fprintf(out, "  to sign it   minisign -S -s KEY -m %s/" KW_PACKAGE_MANIFEST "\n", submission->folder);
    }
  }
  free(verdict.text);
  return code;
}
