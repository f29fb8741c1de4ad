#include "tracedb/query/doc/query_doc.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "query/doc/doc_words.h"
#include "query/doc/query_value.h"
#include "tracedb/text/near_name.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr size_t kTitleCharactersMax = 60;
constexpr std::string_view kKeys[] = {"title", "param",     "column", "empty", "meaning", "advice",
                                      "plot",  "why_empty", "lead",   "wrap",  "about"};

// Keys that hold a text and nothing else.
struct TextKey {
  std::string_view key;
  std::string QueryDoc::*text;
};
constexpr std::array<TextKey, 7> kTextKeys = {{{"empty", &QueryDoc::when_empty},
                                               {"about", &QueryDoc::about},
                                               {"why_empty", &QueryDoc::why_empty},
                                               {"meaning", &QueryDoc::meaning},
                                               {"advice", &QueryDoc::advice},
                                               {"lead", &QueryDoc::lead},
                                               {"wrap", &QueryDoc::wrap}}};

struct Unit {
  std::string_view name;
  std::string_view suffix;  // what a name of this unit ends in; empty: no rule
};
constexpr std::array<Unit, 17> kUnits = {{{"ns", "_ns"},
                                          {"us", "_us"},
                                          {"ms", "_ms"},
                                          {"pct", "_pct"},
                                          {"bytes", "_bytes"},
                                          {"gbps", ""},
                                          {"gflop", ""},
                                          {"tflops", ""},
                                          {"rows", ""},
                                          {"slices", ""},
                                          {"count", ""},
                                          {"hz", ""},
                                          {"mhz", "_mhz"},
                                          {"watts", "_w"},
                                          {"celsius", "_c"},
                                          {"0..1", ""},
                                          {"id", ""}}};

constexpr std::array<DocType, 4> kTypes = {DocType::kText, DocType::kInteger, DocType::kReal,
                                           DocType::kBool};

bool IsKey(std::string_view word) { return std::ranges::find(kKeys, word) != std::end(kKeys); }

// Reads the lines of one header, in order.
class DocReader {
 public:
  DocReader(std::string_view file, QueryDoc& doc) : file_(file), doc_(doc) {}

  Status Line(std::string_view line);
  Status Finish();

 private:
  Error At(int line, std::string what, std::string advice = "") const {
    return Error{ErrorKind::kQuery, fmt::format("{}:{}: {}", file_, line, what), std::move(advice)};
  }
  Error Here(std::string what, std::string advice = "") const {
    return At(line_, std::move(what), std::move(advice));
  }
  Status Key(std::string_view key, std::string_view rest);
  Status Title(std::string_view title);
  Status Param(std::string_view rest);
  Status Column(std::string_view rest);
  Status Plot(std::string_view rest);
  Status FinishPlot();
  Status FreeText(std::string_view line);
  // name type[(unit)] of a param or a column; takes them off `rest`.
  template <typename Item>
  Status NameAndType(std::string_view kind, Item& item, std::string_view& rest);
  template <typename Item>
  Status CheckUnit(std::string_view kind, const Item& item);
  Status Default(QueryParam& param, std::string_view& rest);

  std::string_view file_;
  QueryDoc& doc_;
  int line_ = 0;
  bool has_title_ = false;
  std::array<bool, kTextKeys.size()> has_text_{};
  bool past_description_ = false;
  std::string* open_text_ = nullptr;  // what an indented line goes on with
  std::vector<int> param_lines_;
  std::vector<int> column_lines_;
  int plot_line_ = 0;      // 0: there is none
  std::string plot_text_;  // read when all columns are known
};

Status DocReader::Line(std::string_view line) {
  ++line_;
  const std::string_view key = KeyOf(line);
  if (IsKey(key)) return Key(key, Trim(line.substr(key.size() + 1)));
  for (std::string_view known : kKeys) {
    const size_t distance = key.empty() ? 9 : EditDistance(key, known);
    // Of four letters two are half: "root:" is not meant to be "plot:".
    if (distance > 0 && distance <= (known.size() > 4 ? 2u : 1u) && key.size() >= 4) {
      return Here(fmt::format("there is no key '{}:'", key),
                  fmt::format("did you mean '{}:'?", known));
    }
  }
  return FreeText(line);
}

Status DocReader::FreeText(std::string_view line) {
  const std::string_view text = Trim(line);
  if (text.empty()) {
    open_text_ = nullptr;
    if (!past_description_ && !doc_.description.empty()) doc_.description += '\n';
    return Done{};
  }
  if (!past_description_) {
    doc_.description += line;
    doc_.description += '\n';
    return Done{};
  }
  if (line[0] != ' ' && line[0] != '\t') {
    return Here("free text after the first param, column or empty line",
                "indent it by two blanks or more if it goes on with the line above; a "
                "description stands before these lines");
  }
  if (open_text_ == nullptr) return Here("an indented line that goes on with nothing");
  if (!open_text_->empty()) *open_text_ += ' ';
  *open_text_ += text;
  return Done{};
}

Status DocReader::Key(std::string_view key, std::string_view rest) {
  if (key == "title") return Title(rest);
  past_description_ = true;
  if (key == "param") return Param(rest);
  if (key == "column") return Column(rest);
  if (key == "plot") return Plot(rest);
  for (size_t i = 0; i < kTextKeys.size(); ++i) {
    if (kTextKeys[i].key != key) continue;
    if (has_text_[i]) return Here(fmt::format("a second '{}:'", key), "keep one");
    has_text_[i] = true;
    open_text_ = &(doc_.*kTextKeys[i].text);
    *open_text_ = rest;
  }
  return Done{};
}

Status DocReader::Title(std::string_view title) {
  if (has_title_) return Here("a second 'title:'", "keep one");
  has_title_ = true;
  if (title.empty()) return Here("the title is empty");
  if (CountCharacters(title) > kTitleCharactersMax) {
    return Here(fmt::format("the title has {} characters, at most {} are allowed",
                            CountCharacters(title), kTitleCharactersMax),
                "say the rest in the description");
  }
  if (title.back() == '.') return Here("the title ends in a full stop", "leave it out");
  doc_.title = title;
  return Done{};
}

template <typename Item>
Status DocReader::NameAndType(std::string_view kind, Item& item, std::string_view& rest) {
  const std::string_view name = TakeWord(rest);
  if (name.empty()) {
    return Here(fmt::format("a {} without a name", kind),
                fmt::format("write: {}: name type(unit) what it is", kind));
  }
  item.name = name;
  if (!IsName(name)) {
    return Here(fmt::format("{} '{}' has a name that is no plain SQL name", kind, name),
                "use letters, digits and _");
  }
  std::string_view type = TakeWord(rest);
  const size_t open = type.find('(');
  if (open != std::string_view::npos) {
    if (type.back() != ')') {
      return Here(fmt::format("{} '{}': '{}' has no closing parenthesis", kind, name, type),
                  "write the unit without blanks: int(ns)");
    }
    item.unit = type.substr(open + 1, type.size() - open - 2);
    type = type.substr(0, open);
  }
  if constexpr (requires { item.takes_list; }) {
    item.takes_list = type == "ints";
    if (item.takes_list) type = DocTypeName(DocType::kInteger);
  }
  for (DocType known : kTypes) {
    if (DocTypeName(known) == type) {
      item.type = known;
      return CheckUnit(kind, item);
    }
  }
  return Here(type.empty() ? fmt::format("{} '{}' has no type", kind, name)
                           : fmt::format("{} '{}' has an unknown type '{}'", kind, name, type),
              "types are text, int(unit), real(unit), bool, and ints(unit) of a param that takes "
              "lists");
}

template <typename Item>
Status DocReader::CheckUnit(std::string_view kind, const Item& item) {
  const bool number = item.type == DocType::kInteger || item.type == DocType::kReal;
  std::vector<std::string> names;
  for (const Unit& unit : kUnits) names.emplace_back(unit.name);
  if (number && item.unit.empty()) {
    return Here(
        fmt::format("{} '{}' has no unit", kind, item.name),
        fmt::format("write {}(unit); units are {}", DocTypeName(item.type), JoinNames(names)));
  }
  if (item.unit.empty()) return Done{};
  const auto unit = std::find_if(kUnits.begin(), kUnits.end(),
                                 [&](const Unit& known) { return known.name == item.unit; });
  if (unit == kUnits.end()) {
    return Here(fmt::format("{} '{}' has an unknown unit '{}'", kind, item.name, item.unit),
                fmt::format("units are {}", JoinNames(names)));
  }
  if (!number && unit->name != "id") {
    return Here(
        fmt::format("{} '{}' is {} and has no unit", kind, item.name, DocTypeName(item.type)),
        fmt::format("leave out '({})'", item.unit));
  }
  // A name that is the unit itself ("bytes") says it as well as one that ends in it.
  if (!item.name.ends_with(unit->suffix) && item.name != unit->name) {
    return Here(fmt::format("{} '{}' is in {}, so its name must end in {}", kind, item.name,
                            unit->name, unit->suffix),
                fmt::format("call it {}{}, in the SQL too", item.name, unit->suffix));
  }
  return Done{};
}

Status DocReader::Default(QueryParam& param, std::string_view& rest) {
  if (!rest.starts_with('=')) return Done{};
  rest = Trim(rest.substr(1));
  std::string value;
  bool quoted = false;
  if (rest.starts_with('\'')) {
    quoted = true;
    size_t at = 1;
    while (at < rest.size() && (rest[at] != '\'' || rest.substr(at, 2) == "''")) {
      value += rest[at];
      at += rest[at] == '\'' ? 2 : 1;
    }
    if (at >= rest.size()) {
      return Here(fmt::format("param '{}': the default has no closing quote", param.name));
    }
    rest = Trim(rest.substr(at + 1));
  } else {
    value = TakeWord(rest);
    if (value.empty()) return Here(fmt::format("param '{}' has '=' but no default", param.name));
  }
  param.default_is_null = !quoted && value == "null";
  if (!param.default_is_null) {
    const auto parsed = ParseValueAs(param.type, value);
    if (!parsed.ok()) {
      return Here(fmt::format("param '{}': its default {}", param.name, parsed.error().what));
    }
  }
  param.default_text = std::move(value);
  return Done{};
}

Status DocReader::Param(std::string_view rest) {
  QueryParam param;
  TRACEDB_TRY(NameAndType("param", param, rest));
  if (doc_.FindParam(param.name) != nullptr) {
    return Here(fmt::format("param '{}' is there already", param.name));
  }
  TRACEDB_TRY(Default(param, rest));
  param.text = rest;
  doc_.params.push_back(std::move(param));
  param_lines_.push_back(line_);
  open_text_ = &doc_.params.back().text;
  return Done{};
}

Status DocReader::Column(std::string_view rest) {
  QueryColumn column;
  TRACEDB_TRY(NameAndType("column", column, rest));
  for (const QueryColumn& other : doc_.columns) {
    if (other.name == column.name) {
      return Here(fmt::format("column '{}' is there already", column.name));
    }
  }
  column.text = rest;
  doc_.columns.push_back(std::move(column));
  column_lines_.push_back(line_);
  open_text_ = &doc_.columns.back().text;
  return Done{};
}

Status DocReader::Plot(std::string_view rest) {
  if (plot_line_ > 0) return Here("a second 'plot:'", "keep one");
  plot_line_ = line_;
  plot_text_ = rest;
  open_text_ = &plot_text_;
  return Done{};
}

Status DocReader::FinishPlot() {
  if (plot_line_ == 0) return Done{};
  auto plot = ParsePlot(plot_text_, doc_.columns);
  if (!plot.ok()) return At(plot_line_, "plot: " + plot.error().what, plot.error().advice);
  doc_.plot = std::move(plot).value();
  return Done{};
}

Status DocReader::Finish() {
  // Somebody's own SQL may say how it is plotted and nothing else.
  const bool only_plot = plot_line_ > 0 && doc_.params.empty() && doc_.columns.empty() &&
                         std::find(has_text_.begin(), has_text_.end(), true) == has_text_.end();
  if (!has_title_ && !only_plot)
    return At(1, "the header has no title", "begin it with: -- title: What it tells");
  for (size_t i = 0; i < doc_.params.size(); ++i) {
    if (!doc_.params[i].text.empty()) continue;
    return At(param_lines_[i], fmt::format("param '{}' has no description", doc_.params[i].name),
              "say after it what it does");
  }
  for (size_t i = 0; i < doc_.columns.size(); ++i) {
    if (!doc_.columns[i].text.empty()) continue;
    return At(column_lines_[i], fmt::format("column '{}' has no description", doc_.columns[i].name),
              "say after it what it holds");
  }
  for (size_t i = 0; i < kTextKeys.size(); ++i) {
    if (!has_text_[i] || !(doc_.*kTextKeys[i].text).empty()) continue;
    return At(1, fmt::format("'{}:' has no text", kTextKeys[i].key));
  }
  for (const std::string& name : WordsOf(doc_.lead + ' ' + doc_.wrap)) {
    const auto is_named = [&](const QueryColumn& column) { return column.name == name; };
    if (std::any_of(doc_.columns.begin(), doc_.columns.end(), is_named)) continue;
    return At(1, fmt::format("lead: or wrap: names '{}', which is no column", name));
  }
  while (doc_.description.ends_with('\n')) doc_.description.pop_back();
  return FinishPlot();
}

// The comment lines at the top of `text`, and how much of it they take.
struct CommentBlock {
  std::vector<std::string_view> lines;
  size_t bytes = 0;
  bool has_key = false;
};

CommentBlock TopComment(std::string_view text) {
  CommentBlock block;
  while (block.bytes < text.size()) {
    const size_t end = std::min(text.find('\n', block.bytes), text.size());
    const auto line = CommentText(text.substr(block.bytes, end - block.bytes));
    if (!line.has_value()) break;
    block.has_key = block.has_key || IsKey(KeyOf(*line));
    block.lines.push_back(*line);
    block.bytes = std::min(end + 1, text.size());
  }
  return block;
}

}  // namespace

std::string_view DocTypeName(DocType type) {
  constexpr std::array<std::string_view, 4> kNames = {"text", "int", "real", "bool"};
  return kNames[static_cast<size_t>(type)];
}

const QueryParam* QueryDoc::FindParam(std::string_view param) const {
  for (const QueryParam& known : params) {
    if (known.name == param) return &known;
  }
  return nullptr;
}

Result<QueryDoc> ParseQueryDoc(std::string_view file, std::string_view text) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  QueryDoc doc;
  doc.file = file;
  doc.name = file.ends_with(".sql") ? file.substr(0, file.size() - 4) : file;
  const CommentBlock block = TopComment(text);
  if (!block.has_key) {
    doc.sql = text;
    return doc;
  }
  DocReader reader(file, doc);
  for (std::string_view line : block.lines) TRACEDB_TRY(reader.Line(line));
  TRACEDB_TRY(reader.Finish());
  doc.sql = text.substr(block.bytes);
  doc.sql_line = static_cast<int>(block.lines.size()) + 1;
  return doc;
}

}  // namespace tracedb
