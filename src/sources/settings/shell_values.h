// What a variable of a shell's file is, as far as that can be told without running it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace tracedb {

using ShellVariables = std::map<std::string, std::string, std::less<>>;

// The value of what stands after `NAME=`: quotes are taken off, a remark is left out, $A, ${A} and
// $((A * B)) are worked out with variables known so far. nullopt: it needs a shell, or a variable
// that nobody has set.
std::optional<std::string> ShellValue(std::string_view written, const ShellVariables& variables);

// The part of `text` that is the value: up to a blank outside of quotes and brackets.
std::string_view ShellWord(std::string_view text);

}  // namespace tracedb
