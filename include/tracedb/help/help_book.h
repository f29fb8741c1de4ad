// What the command line takes, read from its definition: for --help, the man page and completions,
// which so never differ.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tracedb {

struct HelpOption {
  std::vector<std::string> names;   // "-p", "--param"; of a positional its one name
  std::string value;                // "KEY=VALUE"; empty: a flag
  std::string text;                 // what it does
  std::vector<std::string> values;  // the only ones; may be empty
  bool is_required = false;
  bool takes_many = false;  // of a positional: may be given several times

  std::string Shown() const;  // "-p, --param KEY=VALUE"
};

struct HelpCommand {
  std::string name;  // "query"; of the program "tracedb"
  std::vector<std::string> aliases;
  std::string text;  // what it is for
  std::vector<HelpOption> inputs;
  std::vector<HelpOption> options;
  std::string more;  // paragraphs, and lines of examples, which begin with blanks
};

struct HelpBook {
  HelpCommand program;  // its options are those of every command
  std::vector<HelpCommand> commands;
};

HelpBook ReadHelp(const CLI::App& app);

}  // namespace tracedb
