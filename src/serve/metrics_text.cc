#include "serve/metrics_text.h"

#include <fmt/format.h>

#include <array>
#include <span>
#include <string_view>

#include "tracedb/query/run/query_run.h"
#include "tracedb/text/result_sink.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

// As the query has them; those between help and value tell the series apart.
constexpr std::array<std::string_view, 7> kColumns = {"metric", "help", "run",  "rank",
                                                      "device", "kind", "value"};
constexpr size_t kHelp = 1;
constexpr size_t kValue = 6;

// Broken UTF-8 becomes U+FFFD, as a scrape with it is thrown away whole.
std::string Escaped(std::string_view text, bool quotes) {
  std::string escaped;
  while (!text.empty()) {
    const Utf8Character character = ReadUtf8(text);
    if (!character.valid) {
      escaped += "\xEF\xBF\xBD";
    } else if (character.code == '\\') {
      escaped += "\\\\";
    } else if (character.code == '\n') {
      escaped += "\\n";
    } else if (quotes && character.code == '"') {
      escaped += "\\\"";
    } else {
      escaped += text.substr(0, character.bytes);
    }
    text.remove_prefix(character.bytes);
  }
  return escaped;
}

std::string TextOf(const Cell& cell) {
  if (cell.type == SqlType::kInteger) return fmt::format("{}", cell.integer);
  if (cell.type != SqlType::kReal) return std::string(cell.text);
  std::string text;
  AppendReal(text, cell.real);
  return text;
}

class MetricsSink : public RowSink {
 public:
  explicit MetricsSink(std::string& text) : text_(text) {}
  Status Begin(std::span<const std::string> names) override {
    if (names.size() == kColumns.size()) return Done{};
    return Error{ErrorKind::kQuery, "the query metrics has other columns", ""};
  }
  Status Row(std::span<const Cell> cells) override {
    const std::string name = TextOf(cells[0]);
    if (name != name_) {
      text_ += fmt::format("# HELP {0} {1}\n# TYPE {0} gauge\n", name,
                           Escaped(cells[kHelp].text, false));
      name_ = name;
    }
    text_ += name;
    char before = '{';
    for (size_t i = kHelp + 1; i < kValue; ++i) {
      if (cells[i].type == SqlType::kNull) continue;
      text_ += fmt::format("{}{}=\"{}\"", before, kColumns[i], Escaped(TextOf(cells[i]), true));
      before = ',';
    }
    if (before == ',') text_ += '}';
    const bool is_known = cells[kValue].type != SqlType::kNull;
    text_ += fmt::format(" {}\n", is_known ? TextOf(cells[kValue]) : "NaN");
    return Done{};
  }
  Status End() override { return Done{}; }

 private:
  std::string& text_;
  std::string name_;
};

}  // namespace

Result<std::string> MetricsText(SqliteDb& db, const QueryCatalog& catalog,
                                const std::string& version) {
  TRACEDB_ASSIGN(doc, catalog.Get("metrics"));
  TRACEDB_ASSIGN(query, PreparedQuery::Prepare(db, *doc, {}));
  std::string text = fmt::format(
      "# HELP tracedb_build_info The program that answers.\n# TYPE tracedb_build_info gauge\n"
      "tracedb_build_info{{version=\"{}\"}} 1\n",
      Escaped(version, true));
  MetricsSink sink(text);
  TRACEDB_ASSIGN(outcome, query.Run(sink));
  (void)outcome;
  return text;
}

}  // namespace tracedb
