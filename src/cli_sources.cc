#include "cli_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "cli_commands.h"
#include "tracedb/json/json_text.h"

namespace tracedb {
namespace {

// Files of one searched folder that are neither trace nor source, by the ends of their names.
struct PassedOver {
  size_t files = 0;
  std::map<std::string, size_t> endings;

  void Add(const std::filesystem::path& path) {
    constexpr size_t kEndingsMax = 1000;
    ++files;
    const bool is_events = path.filename().string().starts_with("events.out.tfevents.");
    std::string ending = is_events ? "events.out.tfevents.*" : "*" + path.extension().string();
    if (endings.size() >= kEndingsMax && !endings.contains(ending)) ending = "others";
    ++endings[ending];
  }

  std::string Text() const {
    constexpr size_t kShownMax = 5;
    std::vector<std::pair<size_t, std::string>> order;
    for (const auto& [ending, count] : endings) {
      order.emplace_back(count, ending == "*" ? "without an ending" : ending);
    }
    std::stable_sort(order.begin(), order.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::string text;
    for (size_t i = 0; i < std::min(order.size(), kShownMax); ++i) {
      text += fmt::format("{}{} {}", i > 0 ? ", " : "", order[i].first, order[i].second);
    }
    return order.size() > kShownMax ? text + ", ..." : text;
  }
};

}  // namespace

Result<SortedInputs> SortInputs(const GlobalOptions& global, std::vector<InputFile> files,
                                const std::atomic<bool>& stop) {
  SortedInputs sorted;
  std::map<std::string, PassedOver> passed_over;
  std::map<std::string, size_t> used;
  for (InputFile& file : files) {
    if (stop.load()) {
      return Error{ErrorKind::kInput, "interrupted", "the database is as it was"};
    }
    const std::string folder = file.input_folder.string();
    const SourceReader* reader = nullptr;
    if (!file.open) {
      auto told = TellSourceFile(file.path);
      std::error_code gone;  // since its folder was listed: said when it is its turn
      if (!told.ok() && std::filesystem::exists(file.path, gone)) {
        if (!file.is_searched()) return std::move(told).error();
        if (!file.is_named_like_trace) {  // a database, a file of others
          passed_over[folder].Add(file.path);
          continue;
        }
        SayNote(global, told.error().what + "; the others go on");
        if (!sorted.failed.has_value()) sorted.failed = std::move(told).error();
        continue;
      }
      if (told.ok()) reader = told.value();
    }
    if (reader == nullptr && !file.open && file.is_searched() && !file.is_named_like_trace) {
      passed_over[folder].Add(file.path);
      continue;
    }
    ++used[folder];
    if (reader != nullptr) {
      sorted.sources.push_back({std::move(file), reader});
    } else {
      sorted.traces.push_back(std::move(file));
    }
  }
  for (const auto& [folder, passed] : passed_over) {
    if (!used.contains(folder)) continue;
    SayNote(global,
            fmt::format("{}: {} {} no trace and nothing else that is read: {}", folder,
                        passed.files, passed.files == 1 ? "file is" : "files are", passed.Text()));
  }
  return sorted;
}

std::string SourceLine(const SourceSummary& summary, const std::optional<std::string>& run) {
  if (summary.skipped) {
    return fmt::format("{}: skipped, its content is in the database already (source {}){}\n",
                       summary.path, summary.source_id,
                       run.has_value() ? "; it is of run " + *run + " now" : "");
  }
  std::string text = fmt::format("{}: {}, {} {}{}; {:.1f} MB in {:.2f} s\n", summary.path,
                                 summary.kind, summary.rows, summary.rows == 1 ? "row" : "rows",
                                 summary.replaced ? ", in place of what the file held before" : "",
                                 static_cast<double>(summary.text_bytes) / 1e6, summary.seconds);
  if (!summary.complete) text += "  incomplete: its compression breaks off\n";
  std::string issues;
  for (const auto& [kind, entry] : summary.issues.entries()) {
    issues += fmt::format("{}{} {}", issues.empty() ? "" : ", ", entry.count, kind);
  }
  if (!issues.empty()) text += "  issues: " + issues + "\n";
  return text;
}

std::string SourceJson(const SourceSummary& summary) {
  if (summary.skipped) {
    return fmt::format("{{\"path\":{},\"kind\":{},\"skipped\":true,\"source_id\":{}}}",
                       JsonString(summary.path), JsonString(summary.kind), summary.source_id);
  }
  std::string issues;
  for (const auto& [kind, entry] : summary.issues.entries()) {
    issues += fmt::format("{}{{\"kind\":{},\"count\":{},\"first_offset\":{},\"first_excerpt\":{}}}",
                          issues.empty() ? "" : ",", JsonString(kind), entry.count,
                          entry.first_offset, JsonString(entry.first_excerpt));
  }
  return fmt::format(
      "{{\"path\":{},\"kind\":{},\"skipped\":false,\"source_id\":{},\"file_bytes\":{},"
      "\"text_bytes\":{},\"rows\":{},\"complete\":{},\"seconds\":{:.6f},\"issues\":[{}]}}",
      JsonString(summary.path), JsonString(summary.kind), summary.source_id, summary.file_bytes,
      summary.text_bytes, summary.rows, summary.complete, summary.seconds, issues);
}

}  // namespace tracedb
