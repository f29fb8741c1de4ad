#include "cli_mistakes.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include "tracedb/base/database_files.h"
#include "tracedb/help/help_text.h"
#include "tracedb/query/doc/query_builtin.h"
#include "tracedb/query/doc/query_catalog.h"
#include "tracedb/query/doc/query_explain.h"
#include "tracedb/query/run/query_arguments.h"
#include "tracedb/query/run/query_command.h"
#include "tracedb/text/near_name.h"
#include "tracedb/text/quoted_word.h"
#include "tracedb/text/result_sink.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

// With what there is to read in any case.
std::string OrHelp(const std::vector<std::string>& near, const std::string& help) {
  return near.empty() ? help : DidYouMean(near) + " " + help;
}

// "--rank=0" is the option --rank.
std::string NameOf(const std::string& option) { return option.substr(0, option.find('=')); }

// What other programs call it.
struct OtherWord {
  std::string_view word;
  std::string_view advice;
};
constexpr std::array kOtherWords = {
    OtherWord{"man", "the man page: tracedb --man | man -l -"},
    OtherWord{"version", "tracedb --version"},
    OtherWord{"ls", "the queries: tracedb query; what is in the database: tracedb info"},
    OtherWord{"list", "the queries: tracedb query; what is in the database: tracedb info"},
    OtherWord{"tables", "tracedb query --schema"},
    OtherWord{"schema", "tracedb query --schema"},
    OtherWord{"sql", "tracedb query -c \"SELECT ...\", or tracedb shell"},
    OtherWord{"load", "tracedb ingest"},
    OtherWord{"import", "tracedb ingest"},
    OtherWord{"open", "tracedb serve --open"},
    OtherWord{"diff", "tracedb compare"},
};

// Of a word in the place of a command that names a file; empty: it does not.
std::string AdviceOnFile(const std::string& word) {
  std::error_code code;
  if (!std::filesystem::exists(word, code)) return "";
  if (word.ends_with(".sql")) return fmt::format("to run it: tracedb query {}", QuotedWord(word));
  if (IsSqliteFile(word)) {
    return fmt::format("of a database: tracedb info --db {0}, or tracedb query NAME --db {0}",
                       QuotedWord(word));
  }
  return fmt::format("to load it: tracedb ingest {}", QuotedWord(word));
}

// "serve" and "serve-csv" are one: the nearer is enough.
std::vector<std::string> NearCommands(const CLI::App& app, const std::string& word) {
  std::map<std::string, const CLI::App*> commands;
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) {
    names.push_back(command->get_name());
    for (const std::string& alias : command->get_aliases()) names.push_back(alias);
    while (commands.size() < names.size()) commands[names[commands.size()]] = command;
  }
  std::vector<std::string> near;
  for (const std::string& name : NearNames(word, names)) {
    const bool is_said = std::ranges::any_of(
        near, [&](const std::string& said) { return commands[said] == commands[name]; });
    if (!is_said) near.push_back(name);
  }
  return near;
}

std::string AdviceOnCommand(const CLI::App& app, const std::string& word) {
  if (std::string advice = AdviceOnFile(word); !advice.empty()) return advice;
  const auto other = std::ranges::find(kOtherWords, word, &OtherWord::word);
  if (other != kOtherWords.end()) return std::string(other->advice);
  if (const std::string select = SelectOfTable(word); !select.empty()) {
    return fmt::format("tracedb query -c \"{}\"", select);
  }
  if (word.find(' ') != word.npos) {
    return "SQL text is given with -c: tracedb query -c \"SELECT ...\"";
  }
  std::vector<std::string> near = NearCommands(app, word);
  const auto catalog = QueryCatalog::Load(BuiltInQueries());
  if (near.empty() && catalog.ok()) {
    std::vector<std::string> queries;
    for (const QueryDoc& doc : catalog.value().queries()) {
      if (!doc.IsInFolder()) queries.push_back(doc.name);
    }
    for (const std::string& query : NearNames(word, queries)) near.push_back("query " + query);
  }
  return OrHelp(near, "see: tracedb --help");
}

Error UnknownCommand(const CLI::App& app, const std::string& word) {
  return Error{ErrorKind::kUsage,
               fmt::format("there is no command '{}'{}", ShownText(word),
                           SelectOfTable(word).empty() ? "" : ", but a table of that name"),
               AdviceOnCommand(app, word)};
}

bool IsOption(const std::string& word) { return word.size() > 1 && word.starts_with('-'); }

std::vector<std::string> LongOptions(const CLI::App& app, const CLI::App* command) {
  std::vector<std::string> options;
  for (const CLI::App* one : {command, &app}) {
    if (one == nullptr) continue;
    for (const CLI::Option* known : one->get_options()) {
      for (const std::string& name : known->get_lnames()) options.push_back("--" + name);
    }
  }
  return options;
}

// "--database" is "--db", and "--json" is "--format json".
std::vector<std::string> NearOptions(const CLI::App& app, const CLI::App* command,
                                     const std::string& option) {
  const bool has_formats = command != nullptr && command->get_option_no_throw("--wide") != nullptr;
  if (has_formats && option.starts_with("--") && FormatByName(option.substr(2)).has_value()) {
    return {"--format " + option.substr(2)};
  }
  std::vector<std::string> names = LongOptions(app, command);
  if (option == "-V") return {"--version"};
  names.emplace_back("--database");
  std::vector<std::string> near = NearNames(option, names);
  std::ranges::replace(near, std::string("--database"), std::string("--db"));
  return near;
}

// Of one that stands before every command: whose it is, or what it was meant to be.
std::string AdviceBeforeCommands(const CLI::App& app, const std::string& option) {
  constexpr size_t kCommandsShownMax = 3;
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands({})) {
    if (command->get_option_no_throw(option) == nullptr) continue;
    commands.push_back(fmt::format("tracedb {} {}", command->get_name(), option));
  }
  const std::string help = "see: tracedb --help";
  if (commands.empty()) return OrHelp(NearOptions(app, nullptr, option), help);
  if (commands.size() > kCommandsShownMax) return help;
  return fmt::format("it stands after its command: {}; {}", JoinNames(commands, " or "), help);
}

// The parameter of the query on the line, or where none is named of any query, that is so called;
// "ranks" is "rank". Empty: there is none, or the command takes no parameters.
std::string ParamCalled(const CLI::App& command, const std::vector<std::string>& typed,
                        const std::string& name) {
  const auto catalog = QueryCatalog::Load(BuiltInQueries());
  if (!catalog.ok() || command.get_option_no_throw("--param") == nullptr) return "";
  const QueryDoc* named = nullptr;
  for (const std::string& word : typed) {
    if (named == nullptr) named = catalog.value().Find(word);
  }
  const std::string singular = name.ends_with('s') ? name.substr(0, name.size() - 1) : name;
  for (const QueryDoc& doc : catalog.value().queries()) {
    if (named != nullptr && &doc != named) continue;
    for (const std::string& called : {name, singular}) {
      if (doc.FindParam(called) != nullptr) return called;
    }
  }
  return "";
}

Error IsParam(const std::string& word, const std::string& param, const std::string& value) {
  return Error{ErrorKind::kUsage,
               fmt::format("{} is a parameter of the query, not an option", ShownText(word)),
               "write it as: -p " + QuotedWord(param + "=" + (value.empty() ? "VALUE" : value))};
}

// `command` may be null.
Error UnknownOption(const CLI::App& app, const CLI::App* command,
                    const std::vector<std::string>& typed, const std::string& word) {
  const std::string option = NameOf(word);
  const std::string program =
      command == nullptr ? "tracedb" : fmt::format("tracedb {}", command->get_name());
  if (command != nullptr && option.starts_with("--")) {
    const std::string param = ParamCalled(*command, typed, option.substr(2));
    const auto next = std::next(std::find(typed.begin(), typed.end(), word));
    const bool has_next = next != typed.end() && !IsOption(*next) && !IsCannedQuery(*next);
    const std::string value = word != option ? word.substr(option.size() + 1)
                              : has_next     ? *next
                                             : "";
    if (!param.empty()) return IsParam(option, param, value);
  }
  return Error{ErrorKind::kUsage, fmt::format("{} has no option {}", program, ShownText(option)),
               command == nullptr ? AdviceBeforeCommands(app, option)
                                  : OrHelp(NearOptions(app, command, option),
                                           fmt::format("see: {} --help", program))};
}

// "serve" for who typed that, not its other name.
std::string NameTyped(const CLI::App& command, const std::vector<std::string>& typed) {
  for (const std::string& alias : command.get_aliases()) {
    if (std::ranges::find(typed, alias) != typed.end()) return alias;
  }
  return command.get_name();
}

// "query overlap" where that was asked.
std::string NameWithQuery(const CLI::App& command, const std::string& name) {
  const CLI::Option* const query = command.get_option_no_throw("QUERY");
  if (command.get_name() != "query" || query->count() == 0) return name;
  return name + " " + QuotedWord(query->as<std::string>());
}

// A word "rank=3" among those that the command took or did not take; empty: there is none.
std::string WordOfParam(const CLI::App& command, const std::vector<std::string>& typed) {
  for (auto word = typed.begin(); word != typed.end(); ++word) {
    const size_t equals = word->find('=');
    const bool is_value = word != typed.begin() && IsOption(*std::prev(word));
    if (equals == std::string::npos || IsOption(*word) || is_value) continue;
    if (!ParamCalled(command, typed, word->substr(0, equals)).empty()) return *word;
  }
  return "";
}

// Of a query's name that was mistyped before the first word that nothing took.
std::optional<Error> UnknownQuery(const CLI::App& command, const std::vector<std::string>& typed,
                                  const std::string& unexpected) {
  const CLI::Option* const query = command.get_option_no_throw("QUERY");
  if (command.get_name() != "query" || query->count() == 0) return std::nullopt;
  const std::string name = query->as<std::string>();
  std::error_code error;
  if (name == "-" || std::filesystem::exists(name, error)) return std::nullopt;
  if (std::find(typed.begin(), typed.end(), name) >
      std::find(typed.begin(), typed.end(), unexpected)) {
    return std::nullopt;
  }
  const auto catalog = QueryCatalog::Load(BuiltInQueries());
  if (!catalog.ok() || catalog.value().Find(name) != nullptr) return std::nullopt;
  return catalog.value().Get(name).error();
}

// Of -p KEY=VALUE that the query on the line does not know, before the first word that nothing
// took.
std::optional<Error> UnknownParam(const CLI::App& command, const std::vector<std::string>& typed,
                                  const std::string& unexpected) {
  const CLI::Option* const query = command.get_option_no_throw("QUERY");
  if (command.get_name() != "query" || query->count() == 0) return std::nullopt;
  const auto catalog = QueryCatalog::Load(BuiltInQueries());
  const QueryDoc* const doc =
      catalog.ok() ? catalog.value().Find(query->as<std::string>()) : nullptr;
  if (doc == nullptr) return std::nullopt;
  std::vector<std::string> params;
  for (auto word = typed.begin(); word != typed.end() && *word != unexpected; ++word) {
    const bool is_next =
        word != typed.begin() && (*std::prev(word) == "-p" || *std::prev(word) == "--param");
    if (is_next && word->find('=') != word->npos) params.push_back(*word);
  }
  Status bound = BindArguments({}, *doc, params);
  if (bound.ok()) return std::nullopt;
  return std::move(bound).error();
}

// `range` is "0 to 7"; bounds that only keep an integer from overflowing are nobody's business.
Error OutOfRange(const std::string& option, const std::string& typed, const std::string& range,
                 const std::string& help) {
  constexpr size_t kDigitsSaidMax = 9;
  const size_t to = range.find(" to ");
  const std::string least = range.substr(0, to);
  const bool is_bounded = range.size() - to <= std::string_view(" to ").size() + kDigitsSaidMax;
  return Error{ErrorKind::kUsage,
               fmt::format("{} {}: a whole number is wanted, {}", option, ShownText(typed),
                           is_bounded ? range : "not less than " + least),
               help};
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

Error UnexpectedError(const CLI::App& app, const std::vector<std::string>& typed,
                      const std::vector<std::string>& unexpected) {
  const auto chosen = app.get_subcommands();
  const CLI::App* const command = chosen.empty() ? nullptr : chosen.front();
  const std::string& first = unexpected.front();
  if (command == nullptr && !IsOption(first)) return UnknownCommand(app, first);
  if (command == nullptr) return UnknownOption(app, nullptr, typed, first);
  if (const auto unknown = UnknownQuery(*command, typed, first)) {
    const std::string word = WordOfParam(*command, typed);
    if (word.empty()) return *unknown;
  }
  if (const auto unknown = UnknownParam(*command, typed, first)) return *unknown;
  if (IsOption(first)) return UnknownOption(app, command, typed, first);
  if (const std::string word = WordOfParam(*command, typed); !word.empty()) {
    const size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    Error error = IsParam(word, ParamCalled(*command, typed, name), word.substr(equals + 1));
    error.what = fmt::format("'{}': parameters of a query are given with -p", ShownText(word));
    return error;
  }
  const std::string name = NameTyped(*command, typed);
  std::string advice = fmt::format("see: tracedb {} --help", name);
  if (IsSqliteFile(first) || first.ends_with(".db")) {
    advice = fmt::format("a database is named with --db: tracedb {} --db {}",
                         NameWithQuery(*command, name), QuotedWord(first));
  }
  return Error{ErrorKind::kUsage,
               fmt::format("tracedb {}: '{}' is one argument too many", name, ShownText(first)),
               std::move(advice)};
}

Error WrongUsage(const CLI::App& app, const std::string& what) {
  const auto chosen = app.get_subcommands();
  const std::string command = chosen.empty() ? "tracedb" : "tracedb " + chosen[0]->get_name();
  const std::string line = what.substr(0, what.find('\n'));
  const std::string help = "see: " + command + " --help";
  // As CLI11 has it: "--format: 1 required FORMAT:{table,csv} missing".
  if (const size_t required = line.find(": 1 required "); required != line.npos) {
    return Error{ErrorKind::kUsage, line.substr(0, required) + ": its value is missing", help};
  }
  // "--rank: Value x not in range 0 to 7".
  constexpr std::string_view kValue = ": Value ";
  constexpr std::string_view kNotInRange = " not in range ";
  const size_t value = line.find(kValue);
  const size_t range = line.rfind(kNotInRange);
  if (value != line.npos && range != line.npos && value + kValue.size() <= range) {
    return OutOfRange(line.substr(0, value),
                      line.substr(value + kValue.size(), range - value - kValue.size()),
                      line.substr(range + kNotInRange.size()), help);
  }
  // "--format: cvs not in {table,csv}".
  constexpr std::string_view kNotIn = " not in {";
  const size_t colon = line.find(": ");
  const size_t at = line.rfind(kNotIn);
  if (colon == line.npos || at == line.npos || colon > at || !line.ends_with('}')) {
    return Error{ErrorKind::kUsage, line, help};
  }
  const std::string option = line.substr(0, colon);
  const std::string typed = line.substr(colon + 2, at - colon - 2);
  const size_t begin = at + kNotIn.size();
  const std::vector<std::string> values =
      CLI::detail::split(line.substr(begin, line.size() - 1 - begin), ',');
  return Error{ErrorKind::kUsage,
               fmt::format("{} {}: it may be {}", option, ShownText(typed), JoinNames(values)),
               OrHelp(NearNames(typed, values), help)};
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
