#include "cli_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "cli_commands.h"
#include "cli_progress.h"
#include "tracedb/json/json_text.h"
#include "tracedb/ranks/runs/decide_runs.h"

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

std::string IssueLine(const EventIssues& issues) {
  std::string line;
  for (size_t i = 0; i < kIssueKinds; ++i) {
    const auto kind = static_cast<IssueKind>(i);
    if (issues.entry(kind).count == 0) continue;
    if (!line.empty()) line += ", ";
    line += fmt::format("{} {}", GroupedText(issues.entry(kind).count), IssueName(kind));
  }
  return line;
}

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

std::string TraceLine(const LoadSummary& summary, const std::optional<std::string>& run) {
  if (summary.skipped) {
    return fmt::format("{}: skipped, its content is in the database already (trace {}){}\n",
                       summary.path, summary.trace_id,
                       run.has_value() ? "; it is of run " + *run + " now" : "");
  }
  std::string text = fmt::format(
      "{}: {}rank {}, {} events, {} slices, {} GPU activities; {:.1f} MB of JSON in {:.2f} s "
      "({:.0f} MB/s)\n",
      summary.path, IsGraphCaptureFile(summary.path) ? "captures of graphs of " : "", summary.rank,
      GroupedText(summary.events), GroupedText(summary.slices), GroupedText(summary.gpu_activities),
      static_cast<double>(summary.text_bytes) / 1e6, summary.seconds,
      static_cast<double>(summary.text_bytes) / 1e6 / std::max(summary.seconds, 1e-6));
  if (!summary.complete) text += "  incomplete: the file was cut short or damaged\n";
  if (summary.issues.Any()) text += "  issues: " + IssueLine(summary.issues) + "\n";
  return text;
}

std::string TraceJson(const LoadSummary& summary) {
  if (summary.skipped) {
    return fmt::format("{{\"path\":{},\"skipped\":true,\"trace_id\":{}}}", JsonString(summary.path),
                       summary.trace_id);
  }
  std::string issues;
  for (size_t i = 0; i < kIssueKinds; ++i) {
    const auto kind = static_cast<IssueKind>(i);
    const EventIssues::Entry& entry = summary.issues.entry(kind);
    if (entry.count == 0) continue;
    issues +=
        fmt::format("{}{{\"kind\":\"{}\",\"count\":{},\"first_offset\":{},\"first_excerpt\":{}}}",
                    issues.empty() ? "" : ",", IssueName(kind), entry.count, entry.first_offset,
                    JsonString(entry.first_excerpt));
  }
  return fmt::format(
      "{{\"path\":{},\"skipped\":false,\"trace_id\":{},\"rank\":{},\"rank_source\":\"{}\","
      "\"file_bytes\":{},\"text_bytes\":{},\"events\":{},\"slices\":{},\"gpu_activities\":{},"
      "\"complete\":{},\"graph_captures\":{},\"seconds\":{:.6f},\"issues\":[{}]}}",
      JsonString(summary.path), summary.trace_id, summary.rank, summary.rank_source,
      summary.file_bytes, summary.text_bytes, summary.events, summary.slices,
      summary.gpu_activities, summary.complete, IsGraphCaptureFile(summary.path), summary.seconds,
      issues);
}

void SayWarnings(const GlobalOptions& global, const LoadSummary& summary,
                 std::optional<int64_t> asked_rank) {
  if (summary.rank_source == "device order") {
    SayNote(global, fmt::format("{}: nothing tells its rank; by the order of GPUs it is taken for "
                                "rank {} (a guess; --rank N chooses another)",
                                summary.path, summary.rank));
  } else if (summary.rank_source == "communicator") {
    SayNote(global, fmt::format("{}: it is taken for rank {}, as in the largest communicator that "
                                "it began (a guess, which holds where that has all ranks of the "
                                "job; --rank N chooses another)",
                                summary.path, summary.rank));
  } else if (summary.rank_source == "chosen") {
    SayNote(global, fmt::format("{}: neither its header nor its name tells a rank; it is rank {} "
                                "now (--rank N chooses another)",
                                summary.path, summary.rank));
  } else if (asked_rank.has_value() && *asked_rank != summary.rank) {
    SayNote(global, fmt::format("{}: --rank {} is not used: the {} says rank {}", summary.path,
                                *asked_rank, summary.rank_source, summary.rank));
  }
  if (!summary.complete) {
    SayNote(global, fmt::format("{}: cut short or damaged; what comes before the damage was "
                                "loaded ({} events)",
                                summary.path, GroupedText(summary.events)));
  }
  constexpr uint64_t kEventsOfACutTrace = 1'000'000;  // where JAX and TensorFlow stop writing
  if (summary.events == kEventsOfACutTrace) {
    SayNote(global, fmt::format("{}: exactly 1,000,000 events: its writer probably left the others "
                                "out (TF_PROFILER_TRACE_VIEWER_MAX_EVENTS)",
                                summary.path));
  }
  if (summary.issues.Any()) {
    SayNote(global, fmt::format("{}: {} (details: tracedb info --issues)", summary.path,
                                IssueLine(summary.issues)));
  }
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
