// The words that header lines of queries are made of.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracedb {

// Without blanks at both ends.
std::string_view Trim(std::string_view text);

// Takes the word at the start of `text` off it, with the blanks after it.
std::string_view TakeWord(std::string_view& text);

// The words of a list, parted by blanks, by commas, or by both.
std::vector<std::string> WordsOf(std::string_view text);

// Whether it is a plain SQL name.
bool IsName(std::string_view name);

// The word before a ':' at the start of a line; empty when there is none.
std::string_view KeyOf(std::string_view line);

// The text of a comment line, without "--" and one blank. Nothing when it is no comment.
std::optional<std::string_view> CommentText(std::string_view line);

}  // namespace tracedb
