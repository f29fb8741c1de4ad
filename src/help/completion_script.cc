// Completion scripts. bash and zsh share the lists, which are shell functions; fish has a line for
// each word.
#include "tracedb/help/completion_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tracedb/text/near_name.h"

namespace tracedb {
namespace {

// In single quotes for a shell; fish takes \' within them, the others close and open again.
std::string Quoted(std::string_view text, bool is_fish) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += is_fish ? "\\'" : "'\\''";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

std::vector<const QueryDoc*> Queries(const QueryCatalog& catalog) {
  std::vector<const QueryDoc*> queries;
  for (const QueryDoc& doc : catalog.queries()) {
    if (!doc.IsInFolder()) queries.push_back(&doc);
  }
  return queries;
}

std::string QueryNames(const QueryCatalog& catalog) {
  std::string names;
  for (const QueryDoc* doc : Queries(catalog)) names += (names.empty() ? "" : " ") + doc->name;
  return names;
}

std::string ParamsOf(const QueryDoc& doc) {
  std::string params;
  for (const QueryParam& param : doc.params) {
    params += (params.empty() ? "" : " ") + param.name + "=";
  }
  return params;
}

std::string ParamsOfAny(const QueryCatalog& catalog) {
  std::set<std::string> params;
  for (const QueryDoc* doc : Queries(catalog)) {
    for (const QueryParam& param : doc->params) params.insert(param.name + "=");
  }
  return JoinNames(std::vector<std::string>(params.begin(), params.end()), " ");
}

std::vector<std::string> CommandNames(const HelpBook& book) {
  std::vector<std::string> names;
  for (const HelpCommand& command : book.commands) {
    names.push_back(command.name);
    names.insert(names.end(), command.aliases.begin(), command.aliases.end());
  }
  return names;
}

// "serve-csv|serve", for a case.
std::string Pattern(const HelpCommand& command) {
  return command.aliases.empty() ? command.name
                                 : command.name + "|" + JoinNames(command.aliases, "|");
}

std::string OptionNames(const HelpCommand& command) {
  std::string names;
  for (const HelpOption& option : command.options) {
    for (const std::string& name : option.names) names += (names.empty() ? "" : " ") + name;
  }
  return names;
}

// What may stand after an option: its values, or files.
void AppendValueCases(std::string& script, std::string_view command,
                      const std::vector<HelpOption>& options) {
  for (const HelpOption& option : options) {
    if (option.value.empty()) continue;
    std::string pattern;
    for (const std::string& name : option.names) {
      pattern += fmt::format("{}\"{} {}\"", pattern.empty() ? "" : "|", command, name);
    }
    const bool is_file = option.value == "FILE" || option.value == "PATH";
    script += fmt::format("    {}) echo \"{}\" ;;\n", pattern,
                          is_file ? "FILE" : JoinNames(option.values, " "));
  }
}

// Functions that print words, by a command's or a query's name.
std::string WordLists(const HelpBook& book, const QueryCatalog& catalog) {
  std::string script =
      fmt::format("_tracedb_commands='{}'\n_tracedb_queries='{}'\n_tracedb_params_of_any='{}'\n",
                  JoinNames(CommandNames(book), " "), QueryNames(catalog), ParamsOfAny(catalog));
  script += "_tracedb_options() {\n  echo '" + OptionNames(book.program) + "'\n  case $1 in\n";
  for (const HelpCommand& command : book.commands) {
    script += fmt::format("    {}) echo '{}' ;;\n", Pattern(command), OptionNames(command));
  }
  script +=
      "  esac\n}\n# What follows an option; nothing printed and status 1: it is no option "
      "with a value.\n_tracedb_values() {\n  case \"$1 $2\" in\n";
  for (const HelpCommand& command : book.commands) {
    AppendValueCases(script, command.name, command.options);
    for (const std::string& alias : command.aliases) {
      AppendValueCases(script, alias, command.options);
    }
  }
  script += "    *) case $2 in\n";
  for (const HelpOption& option : book.program.options) {
    if (option.value.empty()) continue;
    script += fmt::format("      {}) echo \"{}\" ;;\n", JoinNames(option.names, "|"),
                          option.value == "PATH" ? "FILE" : JoinNames(option.values, " "));
  }
  script += "      *) return 1 ;;\n      esac ;;\n  esac\n}\n_tracedb_params() {\n  case $1 in\n";
  for (const QueryDoc* doc : Queries(catalog)) {
    script += fmt::format("    {}) echo '{}' ;;\n", doc->name, ParamsOf(*doc));
  }
  return script + "  esac\n}\n";
}

// Sets `command` and `query` by the words before the one that is completed, and `values`,
// `has_value` by the last of them.
constexpr std::string_view kRead = R"(_tracedb_read() {
  command='' query=''
  local word last=''
  for word in "$@"; do
    if [ -n "$last" ] && _tracedb_values "$command" "$last" >/dev/null; then
      last=''
      continue
    fi
    last=''
    case $word in
      -*) last=$word ;;
      *)
        if [ -z "$command" ]; then
          case " $_tracedb_queries " in
            *" $word "*) command=query query=$word ;;
            *) command=$word ;;
          esac
        elif [ "$command" = query ] && [ -z "$query" ]; then
          query=$word
        fi ;;
    esac
  done
  has_value='' values=''
  if [ -n "$last" ] && values=$(_tracedb_values "$command" "$last"); then has_value=1; fi
  case "$command $last" in
    'query -p' | 'query --param') values=$(_tracedb_params "$query") ;;
    'export -p' | 'export --param') values=$_tracedb_params_of_any ;;
  esac
}
# The words that may come next; FILE: files as well.
_tracedb_next() {
  local command query has_value values
  local current=$1
  shift
  _tracedb_read "$@"
  if [ -n "$has_value" ]; then
    echo "$values"
    return
  fi
  case $current in
    -*) _tracedb_options "$command"; return ;;
  esac
  case $command in
    '') echo "$_tracedb_commands $_tracedb_queries" ;;
    query) if [ -z "$query" ]; then echo "$_tracedb_queries FILE"; fi ;;
    export) echo "$_tracedb_queries" ;;
    help) echo "$_tracedb_commands $_tracedb_queries" ;;
    completion) echo 'bash zsh fish' ;;
    *) echo FILE ;;
  esac
}
)";

// bash cuts "--format=csv" at its "=".
constexpr std::string_view kBash = R"(_tracedb() {
  local current=${COMP_WORDS[COMP_CWORD]} words last=$((COMP_CWORD - 1))
  if [ "$current" = = ]; then current=''; fi
  if [ "${COMP_WORDS[last]}" = = ]; then last=$((last - 1)); fi
  words=$(_tracedb_next "$current" "${COMP_WORDS[@]:1:last}")
  case " $words " in
    *' FILE '*) COMPREPLY=($(compgen -f -- "$current")); compopt -o filenames 2>/dev/null ;;
    *) COMPREPLY=() ;;
  esac
  words=$(echo " $words " | tr '\n' ' ' | sed 's/ FILE / /')
  COMPREPLY+=($(compgen -W "$words" -- "$current"))
  case "${COMPREPLY[*]-}" in *=) compopt -o nospace 2>/dev/null ;; esac
}
complete -F _tracedb tracedb
)";

constexpr std::string_view kZsh = R"(_tracedb() {
  local -a offered params before
  local current=${words[CURRENT]}
  before=("${(@)words[2,CURRENT-1]}")
  if [[ $current == --*=* ]]; then
    before+=("${current%%=*}")
    compset -P 1 '*='
    current=''
  fi
  offered=(${=$(_tracedb_next "$current" "${(@)before}")})
  params=(${(M)offered:#*=})
  if (( ${offered[(I)FILE]} )); then _files; fi
  if (( $#params )); then compadd -S '' -- $params; fi
  compadd -- ${${offered:#*=}:#FILE}
}
if [ "$funcstack[1]" = _tracedb ]; then
  _tracedb "$@"
else
  compdef _tracedb tracedb
fi
)";

std::string FishOption(const HelpOption& option, std::string_view when) {
  std::string line = "complete -c tracedb";
  if (!when.empty()) line += fmt::format(" -n {}", Quoted(when, true));
  for (const std::string& name : option.names) {
    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  }
  const bool is_file = option.value == "FILE" || option.value == "PATH";
  if (!option.value.empty()) line += is_file ? " -r -F" : " -x";
  if (!option.values.empty()) line += " -a " + Quoted(JoinNames(option.values, " "), true);
  return line + " -d " + Quoted(option.text, true) + '\n';
}

std::string FishScript(const HelpBook& book, const QueryCatalog& catalog) {
  std::string script;
  const std::string words = JoinNames(CommandNames(book), " ") + " " + QueryNames(catalog);
  const std::string first = "not __fish_seen_subcommand_from " + words;
  for (const HelpOption& option : book.program.options) script += FishOption(option, "");
  for (const HelpCommand& command : book.commands) {
    script += fmt::format("complete -c tracedb -f -n {} -a {} -d {}\n", Quoted(first, true),
                          command.name, Quoted(command.text, true));
    const std::string is_it =
        "__fish_seen_subcommand_from " + command.name +
        (command.aliases.empty() ? "" : " " + JoinNames(command.aliases, " ")) +
        (command.name == "query" ? " " + QueryNames(catalog) : "");
    for (const HelpOption& option : command.options) script += FishOption(option, is_it);
  }
  const std::string no_query =
      "__fish_seen_subcommand_from query; and not "
      "__fish_seen_subcommand_from " +
      QueryNames(catalog);
  for (const QueryDoc* doc : Queries(catalog)) {
    const std::string title = Quoted(doc->title, true);
    script += fmt::format("complete -c tracedb -f -n {} -a {} -d {}\n", Quoted(first, true),
                          doc->name, title);
    script += fmt::format("complete -c tracedb -n {} -a {} -d {}\n", Quoted(no_query, true),
                          doc->name, title);
    const std::string of_query = "__fish_seen_subcommand_from " + doc->name;
    script += fmt::format("complete -c tracedb -n {} -s p -l param -x -a {}\n",
                          Quoted(of_query, true), Quoted(ParamsOf(*doc), true));
  }
  return script +
         fmt::format(
             "complete -c tracedb -f -n '__fish_seen_subcommand_from export' -a {}\n"
             "complete -c tracedb -n '__fish_seen_subcommand_from export' -s p -l param -x -a {}\n"
             "complete -c tracedb -f -n '__fish_seen_subcommand_from help' -a {}\n"
             "complete -c tracedb -f -n '__fish_seen_subcommand_from completion' "
             "-a 'bash zsh fish'\n",
             Quoted(QueryNames(catalog), true), Quoted(ParamsOfAny(catalog), true),
             Quoted(words, true));
}

}  // namespace

std::string CompletionScript(const HelpBook& book, const QueryCatalog& catalog,
                             std::string_view shell) {
  if (shell == "fish") return FishScript(book, catalog);
  const std::string lists = WordLists(book, catalog) + std::string(kRead);
  return shell == "zsh" ? "#compdef tracedb\n" + lists + std::string(kZsh)
                        : lists + std::string(kBash);
}

}  // namespace tracedb
