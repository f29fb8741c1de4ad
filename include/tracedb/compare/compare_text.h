// A comparison as text for people, as markdown for a pull request's summary, and as JSON.
#pragma once

#include "tracedb/base/result.h"
#include "tracedb/compare/comparison.h"
#include "tracedb/text/output_stream.h"

namespace tracedb {

struct CompareTextOptions {
  bool markdown = false;
  size_t rows_max = 15;
  int width = 0;  // of text: tables leave out columns to keep to it; 0: any number
};

Status WriteCompareText(const Comparison& comparison, const CompareTextOptions& options,
                        OutputStream& output);

}  // namespace tracedb
