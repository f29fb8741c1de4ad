// Options that several commands have, and those of cut, which has the most.
#pragma once

#include "cli_options.h"

namespace CLI {
class App;
}

namespace tracedb {

void AddForce(CLI::App& app, bool& force);
void AddCut(CLI::App& app, CutOptions& options);

}  // namespace tracedb
