// `tracedb shell`: a prompt over the database. A line is the name of a canned query with its
// parameters, SQL up to a semicolon, or a command that begins with a dot.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/query/doc/query_catalog.h"
#include "tracedb/query/run/query_command.h"

namespace tracedb {

struct ShellOptions {
  // The database, on_open, colours and the pager; the rest is what is typed.
  QueryOptions query;
  std::string version;
  // Whether ctrl-C was pressed since this was asked last.
  std::function<bool()> take_stop;
  // For people, a line each: notes, and what went wrong with a line.
  std::function<void(const std::string&)> say;
  std::function<void(const Error&)> say_error;
};

// Until the person leaves. What a script on standard input gets wrong ends it, and is the error; a
// person at a terminal is told, and goes on.
Status RunShell(const ShellOptions& options, const QueryCatalog& catalog);

}  // namespace tracedb
