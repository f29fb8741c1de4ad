#include "compare/row_places.h"

#include <string_view>

namespace tracedb {
namespace {

std::string InnermostFirst(std::string_view path) {
  constexpr std::string_view kBetween = " > ";
  std::string text;
  while (!path.empty()) {
    const size_t at = path.rfind(kBetween);
    const size_t from = at == std::string_view::npos ? 0 : at + kBetween.size();
    text += (text.empty() ? "" : " in ") + std::string(path.substr(from));
    path = path.substr(0, at == std::string_view::npos ? 0 : at);
  }
  return text;
}

}  // namespace

std::string PlaceText(const RowChange& row) {
  std::string text = InnermostFirst(row.path);
  if (row.kind != "operator") return text;
  const std::string own = row.name + " in ";
  return text.starts_with(own) ? text.substr(own.size()) : text == row.name ? "" : text;
}

}  // namespace tracedb
