#include "tracedb/help/man_page.h"

#include <fmt/format.h>

#include <algorithm>

namespace tracedb {
namespace {

// Text that roff takes as it is: no line begins a request, and - is not a hyphen.
std::string Roff(std::string_view text) {
  std::string roff;
  for (const char c : text) {
    if (c == '\\') {
      roff += "\\e";
    } else if (c == '-') {
      roff += "\\-";
    } else {
      roff += c;
    }
  }
  const bool is_request = roff.starts_with('.') || roff.starts_with('\'');
  return is_request ? "\\&" + roff : roff;
}

void AppendOptions(std::string& page, const std::vector<HelpOption>& options) {
  for (const HelpOption& option : options) {
    page += fmt::format(".TP\n\\fB{}\\fR\n{}\n", Roff(option.Shown()), Roff(option.text));
  }
}

void AppendMore(std::string& page, std::string_view more) {
  bool is_example = false;
  while (!more.empty()) {
    const size_t end = std::min(more.find('\n'), more.size());
    const std::string_view line = more.substr(0, end);
    more.remove_prefix(std::min(end + 1, more.size()));
    const bool was_example = is_example;
    is_example = line.starts_with(' ');
    if (is_example && !was_example) page += ".PP\n.nf\n";
    if (!is_example && was_example) page += ".fi\n";
    if (!is_example) page += ".PP\n";
    if (!line.empty()) page += Roff(line) + '\n';
  }
  if (is_example) page += ".fi\n";
}

}  // namespace

std::string ManPage(const HelpBook& book, std::string_view version) {
  std::string page = fmt::format(
      ".TH TRACEDB 1 \"\" \"tracedb {}\" \"User Commands\"\n.SH NAME\ntracedb \\- {}\n"
      ".SH SYNOPSIS\n\\fBtracedb\\fR [OPTIONS] COMMAND\n.SH OPTIONS OF EVERY COMMAND\n",
      version, Roff(book.program.text));
  AppendOptions(page, book.program.options);
  page += ".SH COMMANDS\n";
  for (const HelpCommand& command : book.commands) {
    page += fmt::format(".SS tracedb {}\n{}\n", Roff(command.name), Roff(command.text));
    for (const std::string& alias : command.aliases) {
      page += fmt::format(".PP\nAlso called {}.\n", Roff(alias));
    }
    AppendOptions(page, command.inputs);
    AppendOptions(page, command.options);
    AppendMore(page, command.more);
  }
  page += ".SH EXAMPLES\n";
  AppendMore(page, book.program.more);
  return page;
}

}  // namespace tracedb
