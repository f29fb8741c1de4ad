#include "tracedb/compare/compare_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "compare/compare_charts.h"
#include "compare/compare_lines.h"
#include "compare/row_places.h"
#include "tracedb/compare/compare_words.h"
#include "tracedb/report/page_head.h"
#include "tracedb/text/html_text.h"

namespace tracedb {
namespace {

std::string Ms(double ns) { return fmt::format("{:.3f}", std::round(ns) / 1e6); }

std::string Pct(double ns, double whole_ns) {
  return whole_ns == 0 ? "-" : fmt::format("{:+.1f} %", 100 * ns / whole_ns);
}

class HtmlTable {
 public:
  HtmlTable(std::string_view caption, const std::vector<std::string_view>& names) {
    html_ = fmt::format("<div class=\"scroll\"><table><caption>{}</caption><thead><tr>",
                        EscapedHtml(caption));
    for (const std::string_view name : names) {
      html_ += fmt::format("<th scope=\"col\">{}</th>", EscapedHtml(name));
    }
    html_ += "</tr></thead><tbody>\n<tr>";
  }
  void Text(std::string_view text) {
    html_ += fmt::format("<td title=\"{0}\">{0}</td>", EscapedHtml(text));
  }
  void Number(const std::string& text) {
    html_ += "<td class=\"n\">" + EscapedHtml(text) + "</td>";
  }
  void EndRow() { html_ += "</tr>\n<tr>"; }
  std::string End() {
    html_.resize(html_.size() - 4);  // the row that was begun
    return html_ + "</tbody></table></div>\n";
  }

 private:
  std::string html_;
};

std::string Section(std::string_view title, std::string_view inside) {
  return fmt::format("<section><h2>{}</h2>\n{}</section>\n", EscapedHtml(title), inside);
}

std::string RunsTable(const Comparison& comparison) {
  const bool is_of_logs = comparison.IsOfLogs();
  std::vector<std::string_view> columns = {"side", "run"};
  if (!is_of_logs) columns.push_back("GPUs");
  columns.push_back(is_of_logs ? "iterations" : "steps");
  columns.push_back("steady");
  columns.push_back(is_of_logs ? "iteration_ms" : "step_ms");
  HtmlTable table("", columns);
  for (const auto* side : {&comparison.base, &comparison.now}) {
    for (const RunUsed& run : *side) {
      table.Text(side == &comparison.base ? "base" : "new");
      table.Text(run.name);
      if (!is_of_logs) table.Number(run.is_log ? "" : fmt::to_string(run.ranks));
      table.Number(run.is_whole ? "none" : fmt::to_string(run.steps));
      table.Number(run.is_whole ? "" : fmt::to_string(run.steady_count));
      table.Number(Ms(static_cast<double>(run.step_ns)));
      table.EndRow();
    }
  }
  return table.End();
}

std::string DifferencesTable(const Comparison& comparison) {
  std::string unlike;
  for (const std::string& text : UnlikeTexts(comparison)) {
    unlike += "<p>" + EscapedHtml(text) + "</p>\n";
  }
  if (comparison.differences.empty()) {
    return unlike + fmt::format("<p>Nothing between the sides that the {} tell of.</p>\n",
                                comparison.IsOfLogs() ? "logs" : "traces");
  }
  HtmlTable table("", {"fact", "base", "new", "comparable"});
  for (const FactDifference& difference : comparison.differences) {
    table.Text(difference.fact);
    table.Text(difference.base);
    table.Text(difference.now);
    table.Text(difference.decides ? "no" : "yes");
    table.EndRow();
  }
  return unlike + table.End();
}

std::string PartsTable(const Comparison& comparison) {
  HtmlTable table("A mean of the ranks; the parts add up to the whole.",
                  {"part", "base_ms", "new_ms", "delta_ms", "change", "verdict", "changed most"});
  const auto row = [&](std::string_view name, double base_ns, double new_ns, const Finding& finding,
                       const std::string& most) {
    table.Text(name);
    table.Number(Ms(base_ns));
    table.Number(Ms(new_ns));
    table.Number(Ms(new_ns - base_ns));
    table.Number(Pct(new_ns - base_ns, base_ns));
    table.Text(VerdictName(finding.verdict));
    table.Text(most);
    table.EndRow();
  };
  for (const PartChange& part : comparison.parts) {
    row(part.name, static_cast<double>(part.base_ns), static_cast<double>(part.new_ns),
        part.finding, MostOfPart(comparison, part));
  }
  row(comparison.IsWhole() ? "all" : "step", static_cast<double>(comparison.base_ns),
      static_cast<double>(comparison.new_ns), comparison.finding, "");
  return table.End();
}

std::string RowsTable(const Comparison& comparison, size_t rows_max) {
  std::string notes;
  HtmlTable table(comparison.IsWhole()    ? "Of a rank, the most telling first."
                  : comparison.IsOfLogs() ? "Of one iteration, the most telling first."
                                          : "Of one step and rank, the most telling first.",
                  {"kind", "name", "base_calls", "new_calls", "base_ms", "new_ms", "delta_ms",
                   "verdict", "in", "where"});
  for (size_t i = 0; i < std::min(rows_max, comparison.rows.size()); ++i) {
    const RowChange& row = comparison.rows[i];
    if (row.kind == "recomputation") notes += "<p>" + EscapedHtml(row.text) + "</p>\n";
    table.Text(row.kind);
    table.Text(row.name);
    table.Number(fmt::format("{:.6g}", row.base_calls));
    table.Number(fmt::format("{:.6g}", row.new_calls));
    table.Number(Ms(row.base_ns));
    table.Number(Ms(row.new_ns));
    table.Number(Ms(row.new_ns - row.base_ns));
    table.Text(VerdictName(row.finding.verdict));
    table.Text(RowInName(row.in));
    table.Text(PlaceText(row));
    table.EndRow();
  }
  return notes + table.End();
}

// A chart that is not shrunk beyond what can be read: a narrow window scrolls it.
std::string Scrolled(std::string_view chart) {
  return fmt::format("<div class=\"scroll chart\" tabindex=\"0\">{}</div>\n", chart);
}

// Of training logs there are none.
std::string Parts(const Comparison& comparison) {
  if (comparison.IsOfLogs()) return "";
  return Section("From base to new", Scrolled(WaterfallChart(comparison))) +
         Section(comparison.IsWhole() ? "Where the recording's time went"
                                      : "Where the step's time went",
                 Scrolled(PartsChart(comparison)) + PartsTable(comparison));
}

// Not where nobody waits and each rank has its number.
bool HasRanksToShow(const Comparison& comparison) {
  if (comparison.ranks.size() < 2) return false;
  return comparison.ranks_moved > 0 ||
         std::any_of(comparison.ranks.begin(), comparison.ranks.end(),
                     [](const RankChange& rank) { return rank.base_ns != 0 || rank.new_ns != 0; });
}

std::string RanksTable(const Comparison& comparison) {
  constexpr size_t kShown = 64;
  const auto number = [](const std::optional<int64_t>& rank) {
    return rank.has_value() ? fmt::to_string(*rank) : std::string("none");
  };
  HtmlTable table("How long ranks wait in a step because of one, on average.",
                  {"role", "base_rank", "new_rank", "base_ms", "new_ms", "delta_ms", "verdict"});
  for (size_t i = 0; i < std::min(kShown, comparison.ranks.size()); ++i) {
    const RankChange& rank = comparison.ranks[i];
    table.Text(rank.role);
    table.Number(number(rank.base_rank));
    table.Number(number(rank.new_rank));
    table.Number(Ms(rank.base_ns));
    table.Number(Ms(rank.new_ns));
    table.Number(Ms(rank.new_ns - rank.base_ns));
    table.Text(VerdictName(rank.finding.verdict));
    table.EndRow();
  }
  std::string moved =
      comparison.by_role
          ? fmt::format(
                "<p>Aligned by their role in the job; {} of {} have another rank in new."
                "</p>\n",
                comparison.ranks_moved, comparison.ranks.size())
          : std::string("<p>Aligned by number: the traces do not tell their roles.</p>\n");
  if (comparison.ranks.size() > kShown) {
    moved += fmt::format("<p>The {} that changed most.</p>\n", kShown);
  }
  return moved + table.End();
}

std::string Training(const Comparison& comparison) {
  size_t beyond = 0;
  const std::string times = IterationTimeChart(comparison, beyond);
  const std::string losses = LossChart(comparison);
  std::string html;
  if (!times.empty()) {
    html += "<h3>Time of an iteration (ms)</h3>\n" + Scrolled(times);
    if (beyond > 0) {
      html += fmt::format("<p>{} that took more than twice the usual time {} not shown.</p>\n",
                          beyond, beyond == 1 ? "is" : "are");
    }
  }
  if (!losses.empty()) html += "<h3>Loss</h3>\n" + Scrolled(losses);
  return html;
}

std::string StepsText(const Comparison& comparison) {
  const int64_t base_step = comparison.base.front().usual_step;
  const int64_t new_step = comparison.now.front().usual_step;
  if (comparison.IsWhole()) return "The recordings";
  if (base_step == new_step) return fmt::format("Step {} of both", base_step);
  return fmt::format("Step {} of base and step {} of new", base_step, new_step);
}

std::string KernelTime(const Comparison& comparison) {
  if (!comparison.base_kernel_ns.has_value() || !comparison.new_kernel_ns.has_value()) return "";
  const auto base_ns = static_cast<double>(*comparison.base_kernel_ns);
  const auto new_ns = static_cast<double>(*comparison.new_kernel_ns);
  return fmt::format("<p>GPU time of its kernels, all GPUs together: {} ms, was {} ({}).</p>\n",
                     Ms(new_ns), Ms(base_ns), Pct(new_ns - base_ns, base_ns));
}

std::string Headline(const Comparison& comparison) {
  if (!comparison.comparable) {
    return fmt::format(
        "<p><strong>not comparable</strong>: {}.</p>\n<p>Without a verdict: {} takes {} ms in "
        "base, {} in new.</p>\n",
        EscapedHtml(WhyNotComparable(comparison)), UnitOf(comparison),
        Ms(static_cast<double>(comparison.base_ns)), Ms(static_cast<double>(comparison.new_ns)));
  }
  const auto base_ns = static_cast<double>(comparison.base_ns);
  const auto delta_ns = static_cast<double>(comparison.new_ns - comparison.base_ns);
  const Finding& finding = comparison.finding;
  std::string html =
      fmt::format("<p><strong>{}</strong>: {} takes {} ms, was {} ({}).</p>\n",
                  VerdictName(finding.verdict), UnitOf(comparison),
                  Ms(static_cast<double>(comparison.new_ns)), Ms(base_ns), Pct(delta_ns, base_ns));
  html += KernelTime(comparison);
  if (!finding.reason.empty()) {
    html += fmt::format("<p>Why: {}.</p>\n", EscapedHtml(finding.reason));
  }
  if (!finding.least_visible_ns.has_value()) return html;
  return html + fmt::format(
                    "<p>With 95 % the change is between {} and {}; p = {:.2g}; {}. A change by "
                    "less than {:.1f} % could not be seen in these {}.</p>\n",
                    Pct(finding.low_ns, base_ns), Pct(finding.high_ns, base_ns), finding.p,
                    comparison.between_runs ? "between runs" : "within one run a side",
                    base_ns == 0 ? 0 : 100 * *finding.least_visible_ns / base_ns,
                    comparison.IsOfLogs() ? "iterations" : "steps");
}

}  // namespace

std::string ComparePage(const Comparison& comparison, size_t rows_max, std::string_view version) {
  const std::string title =
      comparison.base.front().name + " against " + comparison.now.front().name;
  std::string html = PageHead(
      title + ": tracedb compare",
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
      "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n",
      ".chart svg { min-width: 620px; } p { overflow-wrap: anywhere; }\n"
      ".line-base, .line-new { fill: none; stroke: var(--soft); stroke-width: 1.8; }\n"
      ".line-new { stroke: var(--c1); } .rule { stroke: var(--card); stroke-width: 1; }\n");
  html += fmt::format("<body>\n<header><h1>{}</h1>{}</header>\n<main>\n", EscapedHtml(title),
                      Headline(comparison));
  html += Section("The runs", RunsTable(comparison));
  html += Section("What differs beside the times", DifferencesTable(comparison));
  html += Parts(comparison);
  const std::string operators = OperatorsChart(comparison, 16);
  if (!operators.empty()) {
    html += Section("Operators by what changed on the GPU",
                    "<p>In ms, a mean of the ranks: to the left less, to the right more.</p>\n" +
                        Scrolled(operators));
  }
  const std::string lanes = StepChart(comparison);
  if (!lanes.empty()) {
    html +=
        Section(comparison.IsWhole() ? "On the GPUs" : "A step on the GPUs",
                fmt::format("<p>{}, on one scale: compute, communication and copies that nothing "
                            "hides.</p>\n{}",
                            StepsText(comparison), Scrolled(lanes)));
  }
  if (HasRanksToShow(comparison)) html += Section("The ranks", RanksTable(comparison));
  if (!comparison.rows.empty() || !comparison.IsOfLogs()) {
    html += Section("What changed in it", RowsTable(comparison, rows_max));
  }
  const std::string training = Training(comparison);
  if (!training.empty()) html += Section("What the training logs say", training);
  return html + fmt::format(
                    "</main>\n<footer><p>Made by tracedb {}. Everything is in this file; "
                    "nothing is loaded from a network.</p></footer>\n</body>\n</html>\n",
                    EscapedHtml(version));
}

}  // namespace tracedb
