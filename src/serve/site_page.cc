#include "serve/site_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <initializer_list>
#include <string_view>

#include "serve/html_table.h"
#include "serve/http/web_message.h"
#include "serve/site_style.h"
#include "serve/table_query.h"
#include "tracedb/report/page_head.h"
#include "tracedb/text/html_text.h"

namespace tracedb {
namespace {

// "/overlap.csv" with the parameters that are given, and the token where there is one.
std::string AddressOf(const PageContent& content, std::string_view name, const GivenParams& given) {
  std::string address = fmt::format("/{}.csv", UrlEncoded(name));
  char separator = '?';
  const auto add = [&](std::string_view key, std::string_view value) {
    address += fmt::format("{}{}={}", separator, UrlEncoded(key), UrlEncoded(value));
    separator = '&';
  };
  for (const auto& [key, value] : given) add(key, value);
  if (!content.token.empty()) add("token", content.token);
  return address;
}

std::string TokenField(const PageContent& content) {
  if (content.token.empty()) return "";
  return fmt::format("<input type=\"hidden\" name=\"token\" value=\"{}\">",
                     EscapedHtml(content.token));
}

std::string_view GivenValue(const GivenParams& given, std::string_view name) {
  const auto found = std::ranges::find(given, name, &GivenParams::value_type::first);
  return found == given.end() ? std::string_view() : std::string_view(found->second);
}

std::string Field(const QueryParam& param, const GivenParams& given) {
  const bool is_number =
      (param.type == DocType::kInteger && !param.takes_list) || param.type == DocType::kReal;
  const std::string unit = param.unit.empty() ? "" : " (" + param.unit + ")";
  const std::string otherwise =
      param.default_is_null ? "all" : param.default_text.value_or("needed");
  return fmt::format(
      "<label title=\"{}\">{}{}<input name=\"{}\" value=\"{}\" placeholder=\"{}\"{}></label>\n",
      EscapedHtml(param.text), EscapedHtml(param.name), EscapedHtml(unit), EscapedHtml(param.name),
      EscapedHtml(GivenValue(given, param.name)), EscapedHtml(otherwise),
      is_number ? " inputmode=\"decimal\"" : "");
}

std::string Form(const PageContent& content, std::string_view name, std::string_view anchor,
                 const std::vector<QueryParam>& params, const GivenParams& given) {
  std::string html = fmt::format(
      "<form method=\"get\" action=\"/#{}\"><input type=\"hidden\" name=\"show\" value=\"{}\">{}\n",
      EscapedHtml(anchor), EscapedHtml(name), TokenField(content));
  for (const QueryParam& param : params) html += Field(param, given);
  html += fmt::format("<button>Show</button><button formaction=\"/{}.csv\">CSV</button></form>\n",
                      EscapedHtml(UrlEncoded(name)));
  return html;
}

// What to paste where; `address` is without the origin.
std::string SpreadsheetSteps(const PageContent& content, const std::string& address) {
  const std::string url = EscapedHtml(content.origin + address);
  return fmt::format(
      "<details><summary>In a spreadsheet</summary>\n"
      "<p><b>LibreOffice</b>: Sheet ▸ External Links…, paste this, press Enter, choose UTF-8 and "
      "comma (or File ▸ Open, for a sheet of its own):</p><pre>{0}</pre>\n"
      "<p><b>Excel</b>: Data ▸ Get Data ▸ From Other Sources ▸ Blank Query ▸ Advanced Editor, and "
      "Refresh All later on:</p><pre>let\n"
      "  Source = Csv.Document(Web.Contents(&quot;{0}&quot;), [Delimiter=&quot;,&quot;, "
      "Encoding=65001]),\n"
      "  Rows = Table.PromoteHeaders(Source, [PromoteAllScalars=true])\nin\n  Rows</pre>\n"
      "<p><b>Google Sheets</b>: its servers fetch the address, so it must be one that they reach, "
      "with a token in it:</p><pre>=IMPORTDATA(&quot;{0}&quot;)</pre></details>\n",
      url);
}

// "12 rows", "5+ rows"; nothing of a result that failed or takes long, which says so itself.
std::string RowsOf(const PageResult& result) {
  if (!result.rows.has_value()) return "";
  if (*result.rows == 0) return "no rows";
  return fmt::format("{}{} row{}", *result.rows, result.more_rows ? "+" : "",
                     *result.rows == 1 ? "" : "s");
}

std::string ResultPart(const PageResult& result) {
  if (result.chart.empty()) return result.html;
  return fmt::format(
      "{}<details open><summary>Drawn</summary><pre class=\"chart\">{}</pre></details>\n",
      result.html, EscapedMarks(result.chart));
}

// Folded up: a line that says what it answers and how many rows there are.
std::string QuerySection(const PageContent& content, const PageQuery& query) {
  const QueryDoc& doc = *query.doc;
  const std::string address = AddressOf(content, doc.name, query.given);
  std::string html = fmt::format(
      "<details class=\"query\"{3}><summary>{1}<small>{0}</small><span class=\"rows\">{4}</span>"
      "</summary><section id=\"{0}\">\n{2}",
      EscapedHtml(doc.name), EscapedHtml(doc.title), HtmlParagraphs(doc.description),
      query.is_asked ? " open" : "", RowsOf(query.result));
  html += Form(content, doc.name, doc.name, doc.params, query.given);
  html += fmt::format("<p><a class=\"csv\" href=\"{0}\">{0}</a></p>\n", EscapedHtml(address));
  html += ResultPart(query.result);
  html += SpreadsheetSteps(content, address);
  return html + "</section></details>\n";
}

// What people ask about, in the order in which most of them do; what is about something else
// comes after.
constexpr std::array<std::string_view, 11> kAbout = {
    "what to do",     "steps and GPU time",
    "communication",  "kernels and operators",
    "the host",       "memory",
    "inference",      "logs, settings, GPU samples",
    "Nsight Compute", "clocks",
    "the database"};

std::string Small(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return small;
}

// Whether each word that is looked for is in one of the texts.
bool IsFound(std::string_view find, std::initializer_list<std::string_view> texts) {
  const std::string words = Small(find);
  for (size_t at = 0; at < words.size();) {
    const size_t begin = words.find_first_not_of(' ', at);
    if (begin == std::string::npos) return true;
    const size_t end = std::min(words.find(' ', begin), words.size());
    const std::string word = words.substr(begin, end - begin);
    const bool is_in = std::ranges::any_of(
        texts, [&](std::string_view text) { return Small(text).find(word) != std::string::npos; });
    if (!is_in) return false;
    at = end;
  }
  return true;
}

bool IsShown(const PageContent& content, const PageQuery& query) {
  if (content.find.empty() || query.is_asked) return true;
  std::string columns;
  for (const QueryColumn& column : query.doc->columns) columns += column.name + ' ';
  return IsFound(content.find, {query.doc->name, query.doc->title, query.doc->description,
                                query.doc->about, columns});
}

bool IsShown(const PageContent& content, const PageTable& table) {
  if (content.find.empty()) return true;
  std::string columns;
  for (const PageTable::Column& column : table.columns) columns += column.name + ' ';
  return IsFound(content.find, {table.name, table.meaning, columns});
}

std::string QueriesPart(const PageContent& content) {
  std::vector<std::string_view> abouts(kAbout.begin(), kAbout.end());
  for (const PageQuery& query : content.queries) {
    if (std::ranges::find(abouts, query.doc->about) == abouts.end()) {
      abouts.push_back(query.doc->about);
    }
  }
  std::string html;
  for (const std::string_view about : abouts) {
    std::string group;
    for (const PageQuery& query : content.queries) {
      const bool is_of_it = query.doc->about == about && IsShown(content, query);
      if (is_of_it) group += QuerySection(content, query);
    }
    if (group.empty()) continue;
    const std::string title = about.empty() ? "others" : std::string(about);
    html += fmt::format("<h3 class=\"about\">{}</h3>\n{}", EscapedHtml(title), group);
  }
  return html.empty() ? "<p class=\"soft\">No query has these words.</p>\n" : html;
}

std::string SearchBox(const PageContent& content) {
  return fmt::format(
      "<form method=\"get\" action=\"/\" role=\"search\">{}<label>find a query, a table or a "
      "column<input type=\"search\" name=\"find\" value=\"{}\"></label><button>Find</button>{}"
      "</form>\n",
      TokenField(content), EscapedHtml(content.find),
      content.find.empty()
          ? ""
          : fmt::format(
                "<a href=\"{}\">all of them</a>",
                content.token.empty() ? "/" : "/?token=" + EscapedHtml(UrlEncoded(content.token))));
}

std::string SqlPart(const PageContent& content) {
  std::string html = fmt::format(
      "<h2 id=\"sql\">Ask with SQL</h2><section><form method=\"get\" action=\"/#sql\">{}"
      "<textarea name=\"sql\" rows=\"4\" aria-label=\"SQL\" spellcheck=\"false\" "
      "placeholder=\"SELECT name, count(*), sum(dur_ns) / 1e6 AS ms FROM kernels GROUP BY name "
      "ORDER BY ms DESC LIMIT 10\">{}</textarea><button>Show</button>"
      "<button formaction=\"/sql.csv\">CSV</button></form>\n",
      TokenField(content), EscapedMarks(content.sql));
  if (!content.sql.empty()) {
    const std::string address = AddressOf(content, "sql", {{"sql", content.sql}});
    html += ResultPart(content.sql_result);
    html += fmt::format("<p><a class=\"csv\" href=\"{}\">/sql.csv?sql=...</a></p>\n",
                        EscapedHtml(address));
    html += SpreadsheetSteps(content, address);
  }
  return html +
         "<p class=\"soft\">It only reads, within the limits of every answer. What may be asked "
         "for is under <a href=\"#tables\">Tables</a>.</p></section>\n";
}

std::string RowsOf(const PageTable& table) {
  if (!table.rows.has_value()) return "";
  if (table.more_rows) {
    return fmt::format(
        "<span class=\"warn\" title=\"more than Excel shows: use limit and offset\">&gt; {} "
        "rows</span>",
        *table.rows);
  }
  return fmt::format("{} row{}", *table.rows, *table.rows == 1 ? "" : "s");
}

// Up to a full stop, semicolon or colon that is in no brackets.
std::string_view FirstSentence(std::string_view text) {
  int brackets = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '(') ++brackets;
    if (text[i] == ')') --brackets;
    const bool is_mark = text[i] == '.' || text[i] == ';' || text[i] == ':';
    const bool is_last = i + 1 == text.size() || text[i + 1] == ' ' || text[i + 1] == '\n';
    if (is_mark && is_last && brackets <= 0) return text.substr(0, i);
  }
  return text;
}

// Folded up: a line that says what a row is and how many there are.
std::string TableSection(const PageContent& content, const PageTable& table) {
  const std::string name = "tables/" + table.name;
  std::string columns;
  for (const PageTable::Column& column : table.columns) {
    columns += fmt::format("<dt>{}</dt><dd>{}</dd>", EscapedHtml(column.name),
                           EscapedHtml(column.meaning));
  }
  std::string show = fmt::format("/?show={}", UrlEncoded(name));
  if (!content.token.empty()) show += "&token=" + UrlEncoded(content.token);
  return fmt::format(
      "<details class=\"query\"><summary><code>{0}</code> <span class=\"soft\">{1}</span>"
      "<span class=\"rows\">{2}</span></summary><section>{3}"
      "<p><a href=\"{4}#tables\">Show</a> <a class=\"csv\" href=\"{5}\">CSV</a></p>\n"
      "<dl>{6}</dl></section></details>\n",
      EscapedHtml(table.name), EscapedHtml(FirstSentence(table.meaning)), RowsOf(table),
      HtmlParagraphs(table.meaning), EscapedHtml(show), EscapedHtml(AddressOf(content, name, {})),
      columns);
}

// Those without rows, and how the others are stored, are folded up.
std::string TableSections(const PageContent& content) {
  std::string with_rows;
  std::string empty;
  std::string stored;
  size_t empty_count = 0;
  for (const PageTable& table : content.tables) {
    if (!IsShown(content, table)) continue;
    const bool is_empty = table.is_view && table.rows == 0;
    (is_empty ? empty : table.is_view ? with_rows : stored) += TableSection(content, table);
    if (is_empty) ++empty_count;
  }
  const std::string_view open = content.find.empty() ? "" : " open";
  const auto folded = [&](const std::string& title, const std::string& sections) {
    return sections.empty() ? ""
                            : fmt::format("<details{}><summary>{}</summary>\n{}</details>", open,
                                          title, sections);
  };
  return with_rows + folded(fmt::format("{} without rows", empty_count), empty) +
         folded("As they are stored", stored);
}

std::string TablesPart(const PageContent& content) {
  std::string html = fmt::format(
      "<h2 id=\"tables\">Tables</h2><section>\n<p>An Excel sheet has {} rows and leaves out those "
      "after them without a word: <code>?limit=1000000&amp;offset=1000000</code> is the second "
      "million. <code>order=-dur_ns,rank</code> sorts, the longest first.</p>\n",
      kExcelRowsMax);
  if (!content.table_shown.empty()) {
    const std::string name = "tables/" + content.table_shown;
    std::vector<QueryParam> params(3);
    params[0].name = "limit";
    params[1].name = "offset";
    params[2].name = "order";
    for (QueryParam& param : params) param.default_text = "";
    html += fmt::format("<h3>{}</h3>\n", EscapedHtml(content.table_shown));
    html += Form(content, name, "tables", params, content.table_given);
    html += ResultPart(content.table_result);
    html += SpreadsheetSteps(content, AddressOf(content, name, content.table_given));
  }
  return html + TableSections(content) + "</section>\n";
}

std::string ChecksPart(const PageContent& content) {
  std::string html =
      "<h2 id=\"checks\">Checks</h2><details><summary>What <code>tracedb doctor</code> looks for: "
      "no row means that nothing was found</summary><section><div "
      "class=\"scroll\"><table><tbody>\n";
  for (const QueryDoc* doc : content.checks) {
    html += fmt::format("<tr><td><a class=\"csv\" href=\"{}\">{}</a></td><td>{}</td></tr>\n",
                        EscapedHtml(AddressOf(content, doc->name, {})), EscapedHtml(doc->name),
                        EscapedHtml(doc->title));
  }
  return html + "</tbody></table></div></section></details>\n";
}

}  // namespace

std::string RenderPage(const PageContent& content) {
  const std::string report =
      content.token.empty() ? "/report" : "/report?token=" + UrlEncoded(content.token);
  std::string html = PageHead(content.database + " - tracedb", "", kSiteStyle);
  html += fmt::format(
      "<body><h1>{0}</h1>\n<p><a href=\"{2}\">The report</a>: all of it as one "
      "page with charts, to keep or to send.</p>\n<p class=\"soft\">Queries and tables of this "
      "database as CSV, for spreadsheets and programs. <a href=\"{1}\">All queries as a list</a>. "
      "Every address takes <code>format=json</code>, <code>header=0</code>, <code>bom=1</code> "
      "(for Excel, when it opens a downloaded file), <code>ns=text</code> (times since 1970 as "
      "texts: a spreadsheet keeps 15 of their 19 digits) and <code>safe=0</code> (texts that start "
      "like a formula get no <code>&#39;</code> in front).</p>\n",
      EscapedHtml(content.database), EscapedHtml(AddressOf(content, "queries", {})),
      EscapedHtml(report));
  if (!content.missing.empty()) {
    html += "<p id=\"missing\" class=\"missing\">" + EscapedHtml(content.missing) + "</p>\n";
  }
  html += "<details open><summary>In the database</summary><section>" + content.traces +
          "</section></details>\n" + SqlPart(content) + "<h2 id=\"queries\">Queries</h2>\n" +
          SearchBox(content) + QueriesPart(content) + TablesPart(content);
  return html + ChecksPart(content) + "</body></html>\n";
}

}  // namespace tracedb
