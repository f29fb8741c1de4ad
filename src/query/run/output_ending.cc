#include "tracedb/query/run/output_ending.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "tracedb/text/output_file.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

Error Refused(const std::filesystem::path& output, std::string_view what, std::string advice) {
  return Error{ErrorKind::kUsage, fmt::format("{}: {}", ShownText(output.string()), what),
               std::move(advice)};
}

// What is asked for may be written under such a name.
Status CheckWorkbook(const std::filesystem::path& output, const std::string& source) {
  const std::string ending = EndingOf(output);
  if (ending == ".xlsx" && !source.empty()) {
    return Refused(
        output, "a workbook is written by tracedb export",
        fmt::format("tracedb export {} -o {}", ShownText(source), ShownText(output.string())));
  }
  for (const std::string_view other : {".xlsx", ".xls", ".ods"}) {
    if (ending != other) continue;
    return Refused(
        output, fmt::format("{} is not among the formats that are written", ending),
        fmt::format("spreadsheets read csv: -o {}.csv", ShownText(output.stem().string())));
  }
  return Done{};
}

}  // namespace

std::optional<Format> FormatByEnding(const std::filesystem::path& output) {
  constexpr std::array<std::pair<std::string_view, Format>, 9> kEndings = {
      {{".parquet", Format::kParquet},
       {".arrows", Format::kArrow},
       {".csv", Format::kCsv},
       {".tsv", Format::kTsv},
       {".json", Format::kJson},
       {".ndjson", Format::kNdjson},
       {".jsonl", Format::kNdjson},
       {".md", Format::kMarkdown},
       {".markdown", Format::kMarkdown}}};
  const std::string ending = EndingOf(output);
  for (const auto& [known, format] : kEndings) {
    if (ending == known) return format;
  }
  return std::nullopt;
}

Status CheckEnding(const std::filesystem::path& output, std::optional<Format> format,
                   const std::string& source, bool to_terminal) {
  if (format.has_value() && IsBinary(*format) && to_terminal) {
    return Error{ErrorKind::kUsage,
                 fmt::format("--format {} is bytes for programs, and this is a terminal",
                             FormatName(*format)),
                 fmt::format("write it to a file: -o FILE.{}",
                             *format == Format::kArrow ? "arrows" : FormatName(*format))};
  }
  const std::string ending = EndingOf(output);
  if (ending == ".arrow" || ending == ".feather") {
    return Refused(output, "Arrow's file format is not among those that are written",
                   fmt::format("its stream format is: --format arrow -o {0}.arrows; a file for "
                               "Arrow's readers is: -o {0}.parquet",
                               ShownText(output.stem().string())));
  }
  // Texts of any format may go by any name of a text.
  if (const auto by_ending = FormatByEnding(output);
      by_ending.has_value() && IsBinary(*by_ending) && format.has_value() && format != by_ending) {
    return Refused(output,
                   fmt::format("a name of {}, and --format {} is given", FormatName(*by_ending),
                               FormatName(*format)),
                   "leave out --format, or write to another name");
  }
  return CheckWorkbook(output, source);
}

}  // namespace tracedb
