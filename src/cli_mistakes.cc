#include "cli_mistakes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tracedb/help/help_text.h"
#include "tracedb/query/doc/query_builtin.h"
#include "tracedb/query/doc/query_catalog.h"
#include "tracedb/query/doc/query_explain.h"
#include "tracedb/text/near_name.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

// With what there is to read in any case.
std::string OrHelp(const std::vector<std::string>& near, const std::string& help) {
  return near.empty() ? help : DidYouMean(near) + " " + help;
}

// "--rank=0" is the option --rank.
std::string NameOf(const std::string& option) { return option.substr(0, option.find('=')); }

Error UnknownCommand(const CLI::App& app, const std::string& word) {
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands({})) commands.push_back(command->get_name());
  std::vector<std::string> near = NearNames(word, commands);
  const auto catalog = QueryCatalog::Load(BuiltInQueries());
  if (near.empty() && catalog.ok()) {
    std::vector<std::string> queries;
    for (const QueryDoc& doc : catalog.value().queries()) {
      if (!doc.IsInFolder()) queries.push_back(doc.name);
    }
    for (const std::string& query : NearNames(word, queries)) near.push_back("query " + query);
  }
  return Error{ErrorKind::kUsage, fmt::format("there is no command '{}'", ShownText(word)),
               OrHelp(near, "see: tracedb --help")};
}

// A parameter of the query that somebody took for an option of the command.
const QueryParam* ParamOf(const QueryCatalog& catalog, const CLI::App& command,
                          const std::string& option) {
  const CLI::Option* const query = command.get_option_no_throw("QUERY");
  if (query == nullptr || query->count() == 0 || !option.starts_with("--")) return nullptr;
  const QueryDoc* const doc = catalog.Find(query->as<std::string>());
  return doc == nullptr ? nullptr : doc->FindParam(option.substr(2));
}

Error UnknownOption(const CLI::App& app, const CLI::App& command, const std::string& word,
                    const std::string& next) {
  const std::string option = NameOf(word);
  const std::string help = fmt::format("see: tracedb {} --help", command.get_name());
  const auto catalog = QueryCatalog::Load(BuiltInQueries());
  if (catalog.ok() && ParamOf(catalog.value(), command, option) != nullptr) {
    const size_t equals = word.find('=');
    const std::string value = equals != std::string::npos ? word.substr(equals + 1) : next;
    return Error{ErrorKind::kUsage,
                 fmt::format("{} is a parameter of the query, not an option", ShownText(option)),
                 fmt::format("write it as: -p {}={}", ShownText(option.substr(2)),
                             value.empty() ? "VALUE" : ShownText(value))};
  }
  std::vector<std::string> options;
  for (const CLI::App* one : {&command, &app}) {
    for (const CLI::Option* known : one->get_options()) {
      for (const std::string& name : known->get_lnames()) options.push_back("--" + name);
    }
  }
  return Error{ErrorKind::kUsage,
               fmt::format("tracedb {} has no option {}", command.get_name(), ShownText(option)),
               OrHelp(NearNames(option, options), help)};
}

}  // namespace

std::vector<std::string> UnexpectedWords(const CLI::App& app,
                                         const std::vector<std::string>& typed) {
  std::vector<std::string> left = app.remaining(true);
  std::vector<std::string> words;
  for (const std::string& word : typed) {
    const auto at = std::find(left.begin(), left.end(), word);
    if (at == left.end()) continue;
    left.erase(at);
    words.push_back(word);
  }
  return words;
}

Error UnexpectedError(const CLI::App& app, const std::vector<std::string>& unexpected) {
  const auto chosen = app.get_subcommands();
  const auto is_option = [](const std::string& word) { return word.starts_with('-'); };
  const auto option = std::find_if(unexpected.begin(), unexpected.end(), is_option);
  if (chosen.empty()) {
    const auto word = std::find_if_not(unexpected.begin(), unexpected.end(), is_option);
    if (word != unexpected.end()) return UnknownCommand(app, *word);
    return Error{ErrorKind::kUsage, fmt::format("there is no option {}", ShownText(*option)),
                 "see: tracedb --help"};
  }
  if (option != unexpected.end()) {
    const auto next = option + 1;
    return UnknownOption(app, *chosen.front(), *option, next == unexpected.end() ? "" : *next);
  }
  return Error{ErrorKind::kUsage,
               fmt::format("tracedb {}: '{}' is one argument too many", chosen.front()->get_name(),
                           ShownText(unexpected.front())),
               fmt::format("see: tracedb {} --help", chosen.front()->get_name())};
}

std::string HelpOfQuery(const std::string& word) {
  const auto catalog = QueryCatalog::Load(BuiltInQueries());
  const QueryDoc* const doc = catalog.ok() ? catalog.value().Find(word) : nullptr;
  return doc == nullptr ? "" : QueryHelp(*doc, kHelpWidth);
}

bool IsCannedQuery(const std::string& word) {
  const auto catalog = QueryCatalog::Load(BuiltInQueries());
  return catalog.ok() && catalog.value().Find(word) != nullptr;
}

}  // namespace tracedb
