#include "cut/cut_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "cut/cut_window.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr size_t kListedMax = 16;

Error SeveralRuns(const std::vector<ChosenRun>& runs) {
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(runs.size(), kListedMax); ++i) {
    names.push_back(ShownText(runs[i].sources.run()));
  }
  std::string list = fmt::format("{}", fmt::join(names, ", "));
  if (runs.size() > kListedMax) list += fmt::format(" and {} more", runs.size() - kListedMax);
  return Error{ErrorKind::kUsage,
               fmt::format("{} runs have something in that time: {}", runs.size(), list),
               fmt::format("name one, such as --run '{}'", names.front())};
}

void TellCaptures(const CutOptions& options, ChosenRun& chosen) {
  const std::vector<int64_t> captures = chosen.sources.Captures();
  const bool is_told = options.capture.has_value() || !chosen.sources.HasSomethingInWindow();
  if (captures.size() < 2 || is_told) return;
  const std::string which = captures.size() <= kListedMax
                                ? fmt::format("captures {}", fmt::join(captures, ", "))
                                : fmt::format("{} captures", captures.size());
  const std::string what =
      options.steps.empty() ? "" : fmt::format(" have a step {}, and all", options.steps);
  chosen.notes.push_back(fmt::format("{} of run {}{} are in the file; --capture N takes one", which,
                                     ShownText(chosen.sources.run()), what));
}

}  // namespace

Result<ChosenRun> ChooseRun(SqliteDb& db, const CutOptions& options,
                            const std::atomic<bool>& stop) {
  TRACEDB_ASSIGN(runs, CutSources::Read(db, {options.run, options.capture, options.ranks}));
  std::vector<ChosenRun> inside;
  std::optional<Error> not_there;
  for (CutSources& run : runs) {
    ChosenRun chosen{std::move(run), false, {}};
    std::string note;
    auto has_window = SetWindow(db, options, chosen.sources, stop, note);
    if (!has_window.ok()) {
      const bool may_be_elsewhere = runs.size() > 1 && has_window.error().kind == ErrorKind::kInput;
      if (!may_be_elsewhere) return std::move(has_window).error();
      if (!not_there.has_value()) not_there = std::move(has_window).error();
      continue;
    }
    chosen.has_window = has_window.value();
    if (!note.empty()) chosen.notes.push_back(note);
    if (runs.size() > 1 && !chosen.sources.HasSomethingInWindow()) continue;
    inside.push_back(std::move(chosen));
  }
  if (inside.size() > 1) return SeveralRuns(inside);
  if (inside.empty()) {
    if (not_there.has_value()) {
      if (!options.steps.empty()) {
        not_there->advice = "in none of the runs; tracedb query info_captures says which there are";
      }
      return *std::move(not_there);
    }
    return Error{ErrorKind::kInput, "no run has anything in that time",
                 "tracedb query info_runs says when each was"};
  }
  ChosenRun chosen = std::move(inside.front());
  if (runs.size() > 1) {
    chosen.notes.push_back(fmt::format("of {} runs, {} alone has something in that time",
                                       runs.size(), ShownText(chosen.sources.run())));
  }
  chosen.sources.DropCapturesOutside();
  TellCaptures(options, chosen);
  return chosen;
}

}  // namespace tracedb
