// Words of commands that a person is to copy.
#pragma once

#include <string>
#include <string_view>

namespace tracedb {

// As a shell reads it back, and without harm to a terminal: "'my job.db'".
std::string QuotedWord(std::string_view word);

}  // namespace tracedb
