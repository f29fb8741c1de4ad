#include "tracedb/compare/compare_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "compare/row_places.h"
#include "tracedb/compare/compare_words.h"
#include "tracedb/text/markdown_text.h"
#include "tracedb/text/result_sink.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr size_t kFactWidthMax = 60;
constexpr size_t kNameWidthMax = 50;
constexpr size_t kWhereWidthMax = 44;
constexpr std::string_view kMostName = "changed_most";  // of a part
constexpr std::string_view kPathNote =
    "The critical path is that of a step over all ranks: what had to be shorter for it to end "
    "sooner.\n";

double MsOf(double ns) { return std::round(ns) / 1e6; }

// Three decimals: a table is read, JSON is for who counts nanoseconds.
std::string Ms(double ns) { return fmt::format("{:.3f}", MsOf(ns)); }

std::string SignedPct(double ns, double whole_ns) {
  return whole_ns == 0 ? "-" : fmt::format("{:+.1f} %", 100 * ns / whole_ns);
}

using Value = std::variant<std::string, int64_t, double>;

// Text of whole lines, in lines that fit.
std::string Wrapped(const std::string& text, const CompareTextOptions& options) {
  if (options.width <= 0 || options.markdown) return text;
  std::string wrapped;
  std::string_view left = text;
  while (!left.empty()) {
    const size_t end = left.find('\n');
    for (const std::string& line :
         WrapText(left.substr(0, end), static_cast<size_t>(options.width))) {
      wrapped += line + "\n";
    }
    left.remove_prefix(std::min(end, left.size() - 1) + 1);
  }
  return wrapped;
}

std::string Prose(std::string text, const CompareTextOptions& options) {
  return options.markdown ? EscapedMarkdown(text) : text;
}

// One table of rows, in either format.
class Table {
 public:
  // `lead`: columns by importance, where there is no room for all.
  Table(const CompareTextOptions& options, OutputStream& output, std::vector<std::string> lead = {})
      : markdown_(options.markdown), output_(output) {
    SinkOptions sink;
    sink.table.width = options.width;
    sink.table.lead = std::move(lead);
    sink.table.wrap = {std::string(kMostName)};
    sink.table.others = "--format json has them";
    sink_ = MakeSink(options.markdown ? Format::kMarkdown : Format::kTable, sink, output);
  }

  Status Begin(const std::vector<std::string>& names) { return sink_->Begin(names); }

  Status Row(const std::vector<Value>& values) {
    std::vector<Cell> cells;
    for (const Value& value : values) {
      Cell& cell = cells.emplace_back();
      if (const auto* text = std::get_if<std::string>(&value)) {
        cell.type = SqlType::kText;
        cell.text = *text;
      } else if (const auto* whole = std::get_if<int64_t>(&value)) {
        cell.type = SqlType::kInteger;
        cell.integer = *whole;
      } else {
        cell.type = SqlType::kReal;
        cell.real = std::get<double>(value);
      }
    }
    return sink_->Row(cells);
  }

  Status End() {
    TRACEDB_TRY(sink_->End());
    return output_.Write("\n");
  }

  std::string Short(const std::string& name, size_t width) const {
    return markdown_ ? name : CutToWidth(name, width);
  }

 private:
  bool markdown_;
  OutputStream& output_;
  std::unique_ptr<RowSink> sink_;
};

std::string RunsText(const std::vector<RunUsed>& runs) {
  std::string text;
  for (const RunUsed& run : runs) {
    text += fmt::format("{}{} (", text.empty() ? "" : "; ", ShownText(run.name));
    text +=
        run.is_log ? "training log" : fmt::format("{} GPU{}", run.ranks, run.ranks == 1 ? "" : "s");
    if (run.is_whole) {
      text += ", no steps: the whole recording)";
      continue;
    }
    text += fmt::format(", {} {}{}", run.steps, run.is_log ? "iteration" : "step",
                        run.steps == 1 ? "" : "s");
    if (run.steady_count == 0) {
      text += ", not steady: they grow or shrink";
    } else if (run.steady_count < run.steps) {
      text += fmt::format(", {} of them steady", run.steady_count);
    }
    text += ")";
  }
  return text;
}

// Empty where single activities are not in the databases.
std::string KernelTimeText(const Comparison& comparison) {
  if (!comparison.base_kernel_ns.has_value() || !comparison.new_kernel_ns.has_value()) return "";
  const auto base_ns = static_cast<double>(*comparison.base_kernel_ns);
  const auto new_ns = static_cast<double>(*comparison.new_kernel_ns);
  return fmt::format("GPU time of its kernels, all GPUs together: {} ms, was {} ({}).\n",
                     Ms(new_ns), Ms(base_ns), SignedPct(new_ns - base_ns, base_ns));
}

// No percentages: the runs are of different things, and one of them would be taken for an answer.
std::string NotComparableText(const Comparison& comparison) {
  std::string text = fmt::format("not comparable: {}.\n", WhyNotComparable(comparison));
  text += fmt::format("Without a verdict: {} takes {} ms in base, {} in new.\n", UnitOf(comparison),
                      Ms(static_cast<double>(comparison.base_ns)),
                      Ms(static_cast<double>(comparison.new_ns)));
  if (!comparison.base_kernel_ns.has_value() || !comparison.new_kernel_ns.has_value()) return text;
  return text +
         fmt::format("GPU time of its kernels, all GPUs together: {} ms in base, {} in new.\n",
                     Ms(static_cast<double>(*comparison.base_kernel_ns)),
                     Ms(static_cast<double>(*comparison.new_kernel_ns)));
}

std::string StepText(const Comparison& comparison) {
  if (!comparison.comparable) return NotComparableText(comparison);
  const auto base_ns = static_cast<double>(comparison.base_ns);
  const auto new_ns = static_cast<double>(comparison.new_ns);
  const Finding& finding = comparison.finding;
  const std::string kernels = KernelTimeText(comparison);
  std::string text = fmt::format("{}: {} takes {} ms, was {} ({})\n", VerdictName(finding.verdict),
                                 UnitOf(comparison), Ms(new_ns), Ms(base_ns),
                                 SignedPct(new_ns - base_ns, base_ns));
  if (!finding.reason.empty()) text += fmt::format("Why: {}.\n", finding.reason);
  if (!finding.least_visible_ns.has_value()) return text + kernels;
  text +=
      fmt::format("With 95 % the change is between {} and {}; p = {:.2g}; {}.\n",
                  SignedPct(finding.low_ns, base_ns), SignedPct(finding.high_ns, base_ns),
                  finding.p, comparison.between_runs ? "between runs" : "within one run a side");
  text += fmt::format("A change by less than {:.1f} % could not be seen in them.\n",
                      100 * *finding.least_visible_ns / base_ns);
  return text + kernels;
}

Status WriteUnlike(const Comparison& comparison, const CompareTextOptions& options,
                   OutputStream& output) {
  constexpr size_t kShown = 6;
  const std::vector<std::string> texts = UnlikeTexts(comparison);
  if (texts.empty()) return Done{};
  std::string text;
  for (size_t i = 0; i < std::min(kShown, texts.size()); ++i) {
    text += (options.markdown ? "- " : "") + Prose(texts[i], options) + "\n";
  }
  if (texts.size() > kShown) {
    text += fmt::format("{} such facts more; --format json has all.\n", texts.size() - kShown);
  }
  return output.Write(Wrapped(text, options) + "\n");
}

Status WriteDifferences(const Comparison& comparison, const CompareTextOptions& options,
                        OutputStream& output) {
  if (comparison.differences.empty()) return Done{};
  TRACEDB_TRY(output.Write("What differs beside the times:\n\n"));
  Table table(options, output);
  TRACEDB_TRY(table.Begin({"fact", "base", "new", "comparable"}));
  for (const FactDifference& difference : comparison.differences) {
    TRACEDB_TRY(table.Row({difference.fact, table.Short(difference.base, kFactWidthMax),
                           table.Short(difference.now, kFactWidthMax),
                           std::string(difference.decides ? "no" : "yes")}));
  }
  return table.End();
}

Status WriteParts(const Comparison& comparison, const CompareTextOptions& options,
                  OutputStream& output) {
  if (comparison.IsOfLogs()) return Done{};
  TRACEDB_TRY(output.Write(fmt::format("Where the {} time went (a mean of ranks; adds up):\n\n",
                                       comparison.IsWhole() ? "recording's" : "step's")));
  Table table(options, output);
  const bool has_most =
      std::any_of(comparison.parts.begin(), comparison.parts.end(),
                  [&](const PartChange& part) { return !MostOfPart(comparison, part).empty(); });
  const auto row = [&](std::string_view name, int64_t base_ns, int64_t new_ns, Verdict verdict,
                       std::string most) {
    std::vector<Value> values = {
        std::string(name), MsOf(static_cast<double>(base_ns)), MsOf(static_cast<double>(new_ns)),
        MsOf(static_cast<double>(new_ns - base_ns)), std::string(VerdictName(verdict))};
    if (has_most) values.emplace_back(std::move(most));
    return table.Row(values);
  };
  std::vector<std::string> names = {"part", "base_ms", "new_ms", "delta_ms", "verdict"};
  if (has_most) names.emplace_back(kMostName);
  TRACEDB_TRY(table.Begin(names));
  for (const PartChange& part : comparison.parts) {
    TRACEDB_TRY(row(part.name, part.base_ns, part.new_ns, part.finding.verdict,
                    MostOfPart(comparison, part)));
  }
  TRACEDB_TRY(row(comparison.IsWhole() ? "all" : "step", comparison.base_ns, comparison.new_ns,
                  comparison.finding.verdict, ""));
  return table.End();
}

Status WriteRanks(const Comparison& comparison, const CompareTextOptions& options,
                  OutputStream& output) {
  constexpr size_t kShown = 4;
  constexpr double kTellingShare = 0.01;  // of the step
  if (comparison.ranks.size() < 2) return Done{};
  const double telling_ns = kTellingShare * static_cast<double>(comparison.base_ns);
  const RankChange& usual = comparison.ranks[comparison.ranks.size() / 2];
  const auto is_telling = [&](const RankChange& rank) {  // it changed otherwise than the others
    return !rank.base_rank.has_value() || !rank.new_rank.has_value() ||
           std::abs(rank.new_ns - rank.base_ns - (usual.new_ns - usual.base_ns)) >= telling_ns;
  };
  if (comparison.ranks_moved == 0 &&
      std::none_of(comparison.ranks.begin(), comparison.ranks.end(), is_telling)) {
    return Done{};
  }
  std::string title = comparison.by_role ? "Ranks by their role in the job" : "Ranks by number";
  if (comparison.ranks_moved > 0) {
    title += fmt::format("; {} of {} roles have another rank in new", comparison.ranks_moved,
                         comparison.ranks.size());
  }
  TRACEDB_TRY(output.Write(title + " (how long ranks wait because of it, on average):\n\n"));
  Table table(options, output, {"role", "delta_ms", "verdict", "base_ms", "new_ms"});
  TRACEDB_TRY(
      table.Begin({"role", "base_rank", "new_rank", "base_ms", "new_ms", "delta_ms", "verdict"}));
  const auto number = [](const std::optional<int64_t>& rank) {
    return rank.has_value() ? fmt::to_string(*rank) : std::string("none");
  };
  const size_t shown = std::min(comparison.ranks.size(), kShown);
  for (size_t i = 0; i < shown; ++i) {
    const RankChange& rank = comparison.ranks[i];
    TRACEDB_TRY(table.Row({rank.role, number(rank.base_rank), number(rank.new_rank),
                           MsOf(rank.base_ns), MsOf(rank.new_ns), MsOf(rank.new_ns - rank.base_ns),
                           std::string(VerdictName(rank.finding.verdict))}));
  }
  TRACEDB_TRY(table.End());
  if (shown == comparison.ranks.size()) return Done{};
  return output.Write(
      fmt::format("{} ranks more; --format json has all.\n\n", comparison.ranks.size() - shown));
}

std::string InText(const RowChange& row) {
  std::string text = row.in == RowIn::kBoth ? "" : std::string(RowInName(row.in));
  if (row.kind == "recomputation") text = row.in == RowIn::kBase ? "base" : "new";
  constexpr size_t kRanksMax = 4;
  for (size_t i = 0; i < std::min(row.ranks.size(), kRanksMax); ++i) {
    const RankRole& rank = row.ranks[i];
    text += fmt::format("{}{}", i == 0 ? ", rank " : " ", rank.rank);
    if (rank.other == rank.rank) continue;
    text += fmt::format(" ({}: ", rank.role);
    text += rank.other.has_value() ? fmt::format("rank {}", *rank.other) : std::string("nobody");
    text += row.in == RowIn::kBase ? " in new)" : " in base)";
  }
  return text + (row.ranks.size() > kRanksMax ? " ..." : "");
}

Status WriteRows(const Comparison& comparison, const CompareTextOptions& options,
                 OutputStream& output) {
  if (comparison.rows.empty()) return Done{};
  TRACEDB_TRY(output.Write(fmt::format("What changed in it (of {}):\n\n",
                                       comparison.IsWhole()    ? "a rank"
                                       : comparison.IsOfLogs() ? "one iteration"
                                                               : "one step and rank")));
  Table table(options, output, {"kind", "name", "delta_ms", "verdict", "base_ms", "new_ms", "in"});
  TRACEDB_TRY(table.Begin({"kind", "name", "where", "base_calls", "new_calls", "base_ms", "new_ms",
                           "delta_ms", "verdict", "in"}));
  std::string notes;
  bool has_path = false;
  size_t shown = 0;
  for (const RowChange& row : comparison.rows) {
    if (++shown > options.rows_max) break;
    if (row.kind == "recomputation") notes += ShownText(row.text) + "\n";
    if (row.kind == kPathRow && !std::exchange(has_path, true)) notes += kPathNote;
    const auto calls = [](double count) { return std::round(count * 100) / 100; };
    TRACEDB_TRY(table.Row({row.kind, table.Short(row.name, kNameWidthMax),
                           table.Short(PlaceText(row), kWhereWidthMax), calls(row.base_calls),
                           calls(row.new_calls), MsOf(row.base_ns), MsOf(row.new_ns),
                           MsOf(row.new_ns - row.base_ns),
                           std::string(VerdictName(row.finding.verdict)), InText(row)}));
  }
  TRACEDB_TRY(table.End());
  if (shown > options.rows_max) {
    const size_t more = comparison.rows.size() - options.rows_max;
    notes += fmt::format("{} row{} more; --rows {} shows them.\n", more, more == 1 ? "" : "s",
                         comparison.rows.size());
  }
  if (comparison.rows_left_out > 0) {
    notes += fmt::format("{} smaller changes are not judged, and have no row.\n",
                         comparison.rows_left_out);
  }
  return output.Write(Wrapped(Prose(std::move(notes), options), options));
}

}  // namespace

Status WriteCompareText(const Comparison& comparison, const CompareTextOptions& options,
                        OutputStream& output) {
  const std::string_view between = options.markdown ? "\n\n" : "\n";
  if (options.markdown) TRACEDB_TRY(output.Write("### tracedb compare\n\n"));
  TRACEDB_TRY(
      output.Write(fmt::format("base: {}{}new: {}{}", Prose(RunsText(comparison.base), options),
                               between, Prose(RunsText(comparison.now), options), between)));
  if (!options.markdown) TRACEDB_TRY(output.Write("\n"));
  std::string step = Prose(StepText(comparison), options);
  if (options.markdown) {
    const size_t end = step.find(':');
    step = "**" + step.substr(0, end) + "**" + step.substr(end);
  }
  TRACEDB_TRY(output.Write(Wrapped(step, options) + "\n"));
  TRACEDB_TRY(WriteUnlike(comparison, options, output));
  TRACEDB_TRY(WriteDifferences(comparison, options, output));
  TRACEDB_TRY(WriteParts(comparison, options, output));
  TRACEDB_TRY(WriteRanks(comparison, options, output));
  return WriteRows(comparison, options, output);
}

}  // namespace tracedb
