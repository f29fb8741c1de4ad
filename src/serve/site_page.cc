#include "serve/site_page.h"

#include <fmt/format.h>

#include <algorithm>
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

std::string QuerySection(const PageContent& content, const PageQuery& query) {
  const QueryDoc& doc = *query.doc;
  const std::string address = AddressOf(content, doc.name, query.given);
  std::string html =
      fmt::format("<section id=\"{0}\"><h3>{1}<small>{0}</small></h3>\n{2}", EscapedHtml(doc.name),
                  EscapedHtml(doc.title), HtmlParagraphs(doc.description));
  html += Form(content, doc.name, doc.name, doc.params, query.given);
  html += fmt::format("<p><a class=\"csv\" href=\"{0}\">{0}</a></p>\n", EscapedHtml(address));
  html += query.preview;
  html += SpreadsheetSteps(content, address);
  return html + "</section>\n";
}

std::string RowsCell(const PageTable& table) {
  if (!table.rows.has_value()) return "<td class=\"n\">?</td>";
  if (!table.more_rows) return fmt::format("<td class=\"n\">{}</td>", *table.rows);
  return fmt::format(
      "<td class=\"n warn\" title=\"more than Excel shows: use limit and offset\">&gt; {}</td>",
      *table.rows);
}

std::string TableRow(const PageContent& content, const PageTable& table) {
  const std::string name = "tables/" + table.name;
  std::string columns;
  for (const std::string& column : table.columns) {
    columns += (columns.empty() ? "" : ", ") + EscapedHtml(column);
  }
  std::string show = fmt::format("/?show={}", UrlEncoded(name));
  if (!content.token.empty()) show += "&token=" + UrlEncoded(content.token);
  return fmt::format(
      "<tr><td><a href=\"{}#tables\">{}</a></td>{}<td><a class=\"csv\" href=\"{}\">CSV</a></td>"
      "<td class=\"wide soft\">{}</td></tr>\n",
      EscapedHtml(show), EscapedHtml(table.name), RowsCell(table),
      EscapedHtml(AddressOf(content, name, {})), columns);
}

std::string TableRows(const PageContent& content, bool views) {
  std::string html =
      "<div class=\"scroll\"><table><thead><tr><th>table</th><th>rows</th><th></th>"
      "<th>columns</th></tr></thead><tbody>\n";
  for (const PageTable& table : content.tables) {
    if (table.is_view == views) html += TableRow(content, table);
  }
  return html + "</tbody></table></div>\n";
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
    html += content.table_preview;
    html += SpreadsheetSteps(content, AddressOf(content, name, content.table_given));
  }
  html += TableRows(content, true);
  html += "<details><summary>As they are stored</summary>\n" + TableRows(content, false);
  return html + "</details></section>\n";
}

std::string ChecksPart(const PageContent& content) {
  std::string html =
      "<h2 id=\"checks\">Checks</h2><section><p>What <code>tracedb doctor</code> looks for: no row "
      "means that nothing was found.</p>\n<div class=\"scroll\"><table><tbody>\n";
  for (const QueryDoc* doc : content.checks) {
    html += fmt::format("<tr><td><a class=\"csv\" href=\"{}\">{}</a></td><td>{}</td></tr>\n",
                        EscapedHtml(AddressOf(content, doc->name, {})), EscapedHtml(doc->name),
                        EscapedHtml(doc->title));
  }
  return html + "</tbody></table></div></section>\n";
}

}  // namespace

std::string RenderPage(const PageContent& content) {
  const std::string report =
      content.token.empty() ? "/report" : "/report?token=" + UrlEncoded(content.token);
  std::string html = PageHead(content.database + " - tracedb", "", kSiteStyle);
  html += fmt::format(
      "<body><h1>{0}</h1>\n<p><a class=\"report\" href=\"{2}\">The report</a>: all of it as one "
      "page with charts, to keep or to send.</p>\n<p class=\"soft\">Queries and tables of this "
      "database as CSV, for spreadsheets and programs. <a href=\"{1}\">All queries as a list</a>. "
      "Every address takes <code>format=json</code>, <code>header=0</code>, <code>bom=1</code> "
      "(for "
      "Excel, when it opens a downloaded file) and <code>safe=0</code> (texts that start like a "
      "formula get no <code>&#39;</code> in front).</p>\n",
      EscapedHtml(content.database), EscapedHtml(AddressOf(content, "queries", {})),
      EscapedHtml(report));
  html +=
      "<h2>In the database</h2><section>" + content.traces + "</section>\n<h2>Queries</h2><nav>";
  for (const PageQuery& query : content.queries) {
    html += fmt::format("<a href=\"#{}\">{}</a>\n", EscapedHtml(query.doc->name),
                        EscapedHtml(query.doc->title));
  }
  html += "<a href=\"#tables\">Tables</a></nav>\n";
  for (const PageQuery& query : content.queries) html += QuerySection(content, query);
  return html + TablesPart(content) + ChecksPart(content) + "</body></html>\n";
}

}  // namespace tracedb
