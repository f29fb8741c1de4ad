#include "tracedb/help/help_text.h"

#include <fmt/format.h>

#include <algorithm>

#include "tracedb/text/near_name.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

constexpr size_t kTextColumn = 26;

void AppendItem(std::string& text, const std::string& name, const std::string& meaning) {
  const std::string head = "  " + name;
  text += head;
  size_t column = head.size();
  if (column + 2 > kTextColumn) {
    text += '\n';
    column = 0;
  }
  for (const std::string& line : WrapText(meaning, kHelpWidth - kTextColumn)) {
    text += std::string(kTextColumn - column, ' ') + line + '\n';
    column = 0;
  }
}

void AppendItems(std::string& text, std::string_view heading,
                 const std::vector<HelpOption>& options) {
  if (options.empty()) return;
  text += fmt::format("\n{}:\n", heading);
  for (const HelpOption& option : options) AppendItem(text, option.Shown(), option.text);
}

// Paragraphs are wrapped, examples stay as they are.
void AppendMore(std::string& text, std::string_view more) {
  if (!more.empty()) text += '\n';
  while (!more.empty()) {
    const size_t end = std::min(more.find('\n'), more.size());
    const std::string_view line = more.substr(0, end);
    more.remove_prefix(std::min(end + 1, more.size()));
    if (line.starts_with(' ')) {
      text += std::string(line) + '\n';
      continue;
    }
    for (const std::string& piece : WrapText(line, kHelpWidth)) text += piece + '\n';
  }
}

// "serve, serve-csv": what is short to type comes first.
std::string NamesOf(const HelpCommand& command) {
  std::vector<std::string> names = command.aliases;
  names.push_back(command.name);
  return JoinNames(names);
}

std::string Usage(const HelpCommand& command) {
  const std::string& name = command.aliases.empty() ? command.name : command.aliases[0];
  std::string usage = fmt::format("Usage: tracedb {} [OPTIONS]", name);
  for (const HelpOption& input : command.inputs) {
    const std::string shown = input.names[0] + (input.takes_many ? "..." : "");
    usage += input.is_required ? " " + shown : " [" + shown + "]";
  }
  return usage + '\n';
}

}  // namespace

std::string HelpText(const HelpBook& book, std::string_view command) {
  const auto found = std::ranges::find(book.commands, command, &HelpCommand::name);
  if (found == book.commands.end()) {
    std::string text = book.program.text + "\nUsage: tracedb [OPTIONS] COMMAND\n\nCommands:\n";
    for (const HelpCommand& one : book.commands) AppendItem(text, NamesOf(one), one.text);
    AppendItem(text, "QUERY", "a canned query's name: as tracedb query QUERY");
    AppendItems(text, "Options of every command", book.program.options);
    AppendMore(text, book.program.more);
    return text;
  }
  std::string text = found->text + '\n' + Usage(*found);
  AppendItems(text, "Inputs", found->inputs);
  AppendItems(text, "Options", found->options);
  std::vector<HelpOption> shared = book.program.options;
  std::erase_if(shared, [](const HelpOption& option) {
    return option.names.back() == "--version" || option.names.back() == "--man";
  });
  AppendItems(text, "Options of every command", shared);
  AppendMore(text, found->more);
  return text;
}

}  // namespace tracedb
