#include "tracedb/help/help_book.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "tracedb/text/near_name.h"

namespace tracedb {
namespace {

// "FORMAT:{table,csv}" as CLI11 has it.
void ReadValue(const std::string& type, HelpOption& option) {
  const size_t colon = type.find(':');
  option.value = type.substr(0, colon);
  if (colon == std::string::npos || type.substr(colon + 1, 1) != "{") return;
  std::string values = type.substr(colon + 2);
  values.resize(values.find('}'));
  while (!values.empty()) {
    const size_t comma = std::min(values.find(','), values.size());
    option.values.push_back(values.substr(0, comma));
    values.erase(0, comma + 1);
  }
}

HelpOption ReadOption(const CLI::Option& option) {
  HelpOption read;
  if (option.get_positional() && option.get_lnames().empty()) {
    read.names = {option.get_name(true)};
    read.takes_many = option.get_items_expected_max() > 1;
  } else {
    for (const std::string& name : option.get_snames()) read.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) read.names.push_back("--" + name);
    if (option.get_items_expected_max() > 0) ReadValue(option.get_type_name(), read);
  }
  read.text = option.get_description();
  read.is_required = option.get_required();
  if (read.is_required && read.names[0].starts_with('-')) read.text += " (must be given)";
  return read;
}

HelpCommand ReadCommand(const CLI::App& app) {
  HelpCommand command;
  command.name = app.get_name();
  command.aliases = app.get_aliases();
  command.text = app.get_description();
  command.more = app.get_footer();
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;  // hidden
    HelpOption read = ReadOption(*option);
    const bool is_input = !read.names[0].starts_with('-');
    (is_input ? command.inputs : command.options).push_back(std::move(read));
  }
  return command;
}

}  // namespace

std::string HelpOption::Shown() const {
  return JoinNames(names) + (value.empty() ? "" : " " + value);
}

HelpBook ReadHelp(const CLI::App& app) {
  HelpBook book;
  book.program = ReadCommand(app);
  for (const CLI::App* command : app.get_subcommands({})) {
    book.commands.push_back(ReadCommand(*command));
    // Said once, with the options of every command.
    std::erase_if(book.commands.back().options,
                  [](const HelpOption& option) { return option.names.back() == "--help"; });
  }
  return book;
}

}  // namespace tracedb
