#include "tracedb/query/doc/query_catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

#include "query/doc/doc_words.h"
#include "query/doc/sql_text.h"
#include "tracedb/base/no_memory.h"
#include "tracedb/query/doc/query_file.h"
#include "tracedb/text/near_name.h"
#include "tracedb/text/result_text.h"

namespace tracedb {

Status QueryCatalog::Add(std::string_view file, std::string_view text) {
  TRACEDB_ASSIGN(doc, ParseQueryDoc(file, text));
  if (!doc.IsDocumented()) {
    return Error{ErrorKind::kQuery, fmt::format("{}:1: a canned query without a header", file),
                 "begin it with: -- title: What it tells"};
  }
  const auto place = std::lower_bound(
      queries_.begin(), queries_.end(), doc.name,
      [](const QueryDoc& one, const std::string& name) { return one.name < name; });
  if (place != queries_.end() && place->name == doc.name) {
    *place = std::move(doc);
  } else {
    queries_.insert(place, std::move(doc));
  }
  return Done{};
}

Result<QueryCatalog> QueryCatalog::Load(std::span<const QueryText> built_in,
                                        const std::filesystem::path& folder) {
  QueryCatalog catalog;
  for (const QueryText& query : built_in) TRACEDB_TRY(catalog.Add(query.file, query.text));
  if (!folder.empty()) TRACEDB_TRY(catalog.AddFolder(folder));
  TRACEDB_TRY(catalog.FindReasons());
  return catalog;
}

Status QueryCatalog::AddFolder(const std::filesystem::path& folder) {
  std::error_code code;
  std::vector<std::filesystem::path> files;
  std::filesystem::directory_iterator entry(folder, code);
  for (; !code && entry != std::filesystem::directory_iterator(); entry.increment(code)) {
    if (entry->path().extension() == ".sql") files.push_back(entry->path());
  }
  ThrowIfNoMemory(code);
  if (code) {
    return Error{ErrorKind::kInput,
                 fmt::format("{}: cannot list the queries: {}", folder.string(), code.message()),
                 ""};
  }
  for (const std::filesystem::path& file : files) {
    TRACEDB_ASSIGN(text, ReadQueryFile(file));
    TRACEDB_TRY(Add(file.filename().string(), text));
  }
  return Done{};
}

Status QueryCatalog::FindReasons() {
  for (QueryDoc& doc : queries_) {
    std::string_view left = doc.why_empty;
    while (!left.empty()) {
      const size_t comma = std::min(left.find(','), left.size());
      const std::string_view name = Trim(left.substr(0, comma));
      left.remove_prefix(std::min(comma + 1, left.size()));
      const QueryDoc* check = Find(name);
      if (check == nullptr) {
        return Error{ErrorKind::kQuery,
                     fmt::format("{}: why_empty names '{}', which is no canned query", doc.file,
                                 ShownText(name)),
                     "name checks as doctor/NAME, parted by commas"};
      }
      doc.why_empty_sql.push_back(check->sql);
    }
  }
  return Done{};
}

const QueryDoc* QueryCatalog::Find(std::string_view name) const {
  if (name.ends_with(".sql")) name.remove_suffix(4);
  const auto place = std::lower_bound(
      queries_.begin(), queries_.end(), name,
      [](const QueryDoc& one, std::string_view wanted) { return one.name < wanted; });
  return place != queries_.end() && place->name == name ? &*place : nullptr;
}

Result<const QueryDoc*> QueryCatalog::Get(std::string_view name) const {
  if (const QueryDoc* doc = Find(name); doc != nullptr) return doc;
  std::vector<std::string> names;
  // Those of a folder only for who speaks of one: the list is for people.
  const bool with_folders = name.find('/') != std::string_view::npos;
  for (const QueryDoc& doc : queries_) {
    if (with_folders || !doc.IsInFolder()) names.push_back(doc.name);
  }
  std::string_view bare = name;
  if (bare.ends_with(".sql")) bare.remove_suffix(4);
  const std::vector<std::string> near = NearNames(bare, names);
  std::string advice = "queries are listed by: tracedb query";
  if (names.empty()) advice = "there are no canned queries";
  if (!near.empty()) advice = DidYouMean(near) + " all are listed by: tracedb query";
  return Error{ErrorKind::kUsage, fmt::format("there is no canned query '{}'", ShownText(bare)),
               advice};
}

namespace {

std::string Listed(const std::vector<std::string>& names) {
  return names.empty() ? "none" : JoinNames(names);
}

Status CheckColumns(const SqliteStatement& statement, const QueryDoc& doc) {
  std::vector<std::string> said;
  std::vector<std::string> given;
  for (const QueryColumn& column : doc.columns) said.push_back(column.name);
  for (int i = 0; i < statement.ColumnCount(); ++i) given.emplace_back(statement.ColumnName(i));
  if (said == given) return Done{};
  return Error{ErrorKind::kQuery,
               fmt::format("{}: the result's columns are {}, its column lines say {}", doc.file,
                           Listed(given), Listed(said)),
               "give both the same names in the same order"};
}

Status CheckParams(const SqliteStatement& statement, const QueryDoc& doc) {
  std::set<std::string> said;
  std::set<std::string> bound;
  for (const QueryParam& param : doc.params) said.insert(':' + param.name);
  for (int i = 1; i <= statement.ParameterCount(); ++i) {
    bound.emplace(statement.ParameterName(i));
  }
  if (said == bound) return Done{};
  return Error{
      ErrorKind::kQuery,
      fmt::format("{}: the SQL has the parameters {}, its param lines say {}", doc.file,
                  Listed({bound.begin(), bound.end()}), Listed({said.begin(), said.end()})),
      "write each parameter as :name, and a param line for each"};
}

}  // namespace

Status CheckCannedQuery(SqliteDb& db, const QueryDoc& doc) {
  std::string_view rest;
  auto prepared = db.Prepare(SkipBlankSql(doc.sql), &rest);
  if (!prepared.ok()) {
    Error error = std::move(prepared).error();
    error.what = fmt::format("{}: {}", doc.file, error.what);
    return error;
  }
  const SqliteStatement statement = std::move(prepared).value();
  if (!SkipBlankSql(rest).empty()) {
    return Error{ErrorKind::kQuery, fmt::format("{}: more than one statement", doc.file), ""};
  }
  if (!statement.IsReadOnly() || VerbChanges(StatementVerb(doc.sql))) {
    return Error{ErrorKind::kQuery, fmt::format("{}: it does not only read", doc.file), ""};
  }
  if (!doc.IsInFolder() && doc.about.empty()) {
    return Error{ErrorKind::kQuery, fmt::format("{}: it does not say what it is about", doc.file),
                 "a line such as: -- about: communication"};
  }
  TRACEDB_TRY(CheckColumns(statement, doc));
  return CheckParams(statement, doc);
}

}  // namespace tracedb
