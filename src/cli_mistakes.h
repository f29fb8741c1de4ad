// What to say of a command line that has words nobody expected, with what they were probably meant
// to be.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "tracedb/base/result.h"

namespace tracedb {

// The arguments that nothing took, in the order in which they were typed.
std::vector<std::string> UnexpectedWords(const CLI::App& app,
                                         const std::vector<std::string>& typed);

// `unexpected` is not empty.
Error UnexpectedError(const CLI::App& app, const std::vector<std::string>& typed,
                      const std::vector<std::string>& unexpected);

// Of a value that an option does not take, or another mistake that CLI11 has words for.
Error WrongUsage(const CLI::App& app, const std::string& what);

// Of "tracedb overlap --help": what there is to know of the query of that name; empty: none has it.
std::string HelpOfQuery(const std::string& word);

// Whether it is the name of a canned query: "tracedb overlap" asks it.
bool IsCannedQuery(const std::string& word);

}  // namespace tracedb
