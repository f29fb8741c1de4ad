#include "sources/logs/log_arguments.h"

#include <cctype>
#include <functional>

namespace tracedb {
namespace {

constexpr size_t kNameBytesMax = 120;

bool IsDashes(std::string_view text) {
  return text.starts_with("-----") && text.ends_with("-----");
}

// "name ...... value" apart by dots between blanks. Prose ("loading ... done") has three of them,
// and so has a short line of a version.
bool SplitDots(std::string_view text, bool is_inside, std::string_view& name,
               std::string_view& value) {
  const std::string_view head = text.substr(0, kNameBytesMax);
  size_t dot = head.find('.');
  while (dot != std::string_view::npos && (dot == 0 || text[dot - 1] != ' ')) {
    dot = head.find('.', dot + 1);
  }
  if (dot == std::string_view::npos || dot < 2) return false;
  const size_t at = dot - 1;
  size_t end = at + 1;
  while (end < text.size() && text[end] == '.') ++end;
  if (end < text.size() && text[end] != ' ') return false;
  name = TrimBlanks(text.substr(0, at));
  value = TrimBlanks(text.substr(end));
  if (is_inside) return name.find(' ') == std::string_view::npos;
  const size_t dots = end - at - 1;
  if (name.starts_with("> ")) name.remove_prefix(2);
  return !value.empty() && (dots > 3 || (dots == 3 && name.ends_with(" version")));
}

// "ddp_param_name_patterns_for_fp32_local_accumulation  []": too long a name for dots.
bool SplitBlanks(std::string_view text, std::string_view& name, std::string_view& value) {
  constexpr size_t kColumnsOfDots = 47;
  const size_t at = text.find("  ");
  if (at == std::string_view::npos || at < kColumnsOfDots) return false;
  name = text.substr(0, at);
  value = TrimBlanks(text.substr(at));
  return name.find_first_of(" |:") == std::string_view::npos;
}

// "0.1Emitting ninja build file": another writer's line without a line end between.
bool HasForeignEnd(std::string_view value) {
  if (IsGlued(value)) return true;
  for (const std::string_view word : {"None", "True", "False"}) {
    if (value.starts_with(word) && value.size() > word.size() && value[word.size()] != ' ' &&
        value[word.size()] != ',' && value.find(' ') != std::string_view::npos) {
      return true;
    }
  }
  return false;
}

}  // namespace

bool IsSecretName(std::string_view name) {
  std::string upper;
  for (const char c : name) {
    upper += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  for (const char* const word :
       {"SECRET", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "CREDENTIAL", "PRIVATE_KEY",
        "ACCESS_KEY", "AUTH_TOKEN", "HF_TOKEN", "ACCESS_TOKEN", "HUB_TOKEN"}) {
    if (upper.find(word) != std::string::npos) return true;
  }
  return false;
}

Result<bool> LogArguments::Take(const LogLine& line, const LogPlace& place, uint64_t offset) {
  const std::string_view text = line.text;
  if (IsDashes(text)) {
    if (text.find(" end of arguments ") != std::string_view::npos) {
      is_inside_ = false;
      return true;
    }
    if (text.find(" arguments ") == std::string_view::npos) return false;
    is_inside_ = true;
    return true;
  }
  std::string_view name, value;
  const bool may_be_inside = is_inside_ && line.is_indented;
  if (!SplitDots(text, may_be_inside, name, value) &&
      !(may_be_inside && SplitBlanks(text, name, value))) {
    return false;
  }
  if (HasForeignEnd(value)) {
    issues_.Add("half_line", offset, line.whole);
    return true;
  }
  const std::string_view section = may_be_inside ? "arguments" : "environment";
  key_.assign(section).append(name).append(1, '\n').append(value);
  if (seen_.size() >= kSeenMax) seen_.clear();
  if (!seen_.insert(std::hash<std::string>{}(key_)).second) return true;
  if (IsSecretName(name) && value != "None") value = "(not copied)";
  TRACEDB_TRY(rows_.AddArgument(place, section, name, value));
  return true;
}

}  // namespace tracedb
