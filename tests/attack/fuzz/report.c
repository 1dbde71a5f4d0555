/* SPDX-License-Identifier: Apache-2.0
 *
 * Reports of runs, read, put together with themselves, and written in every format.
 */
#include "report/report.h"

#include "input.h"
#include "report/formats.h"
#include "report/merge.h"

#include <stdlib.h>

static void write_all(const kw_report *report) {
  static FILE *nowhere;
  if (nowhere == NULL) nowhere = fopen("/dev/null", "w");
  kw_report_put_table(report, nowhere, true, true);
  kw_report_put_json(report, nowhere);
  kw_report_put_junit(report, nowhere);
  kw_report_put_tap(report, nowhere);
  kw_report_put_html(report, nowhere);
  kw_report_put_markdown(report, nowhere);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  kw_report reports[2], merged;
  char message[512];
  if (!kw_report_read(input_file(data, size), &reports[0], message, sizeof message)) return 0;
  reports[1] = reports[0];
  for (uint32_t count = 1; count <= 2; count++) {
    if (!kw_report_merge(reports, count, &merged, message, sizeof message)) continue;
    write_all(&merged);
    kw_report_free(&merged);
  }
  write_all(&reports[0]);
  kw_report_free(&reports[0]);
  return 0;
}
