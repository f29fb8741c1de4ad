// Options that several commands have, and those of cut and what-if, which have the most.
#pragma once

#include <string>

#include "cli_options.h"

namespace CLI {
class App;
}

namespace tracedb {

// For a file to write: an empty name, as of a variable that is not set, is an error. What is wrong,
// or nothing.
std::string IsNamed(const std::string& file);
void AddForce(CLI::App& app, bool& force);
void AddCut(CLI::App& app, CutOptions& options);
void AddWhatIf(CLI::App& app, WhatIfArguments& arguments);

}  // namespace tracedb
