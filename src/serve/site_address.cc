#include "serve/site_address.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tracedb/text/near_name.h"

namespace tracedb {

std::optional<SiteAddress> ReadAddress(std::string_view path) {
  for (const Format format : kServedFormats) {
    const std::string ending = fmt::format(".{}", FormatName(format));
    if (!path.starts_with('/') || !path.ends_with(ending)) continue;
    path.remove_prefix(1);
    path.remove_suffix(ending.size());
    return SiteAddress{std::string(path), format};
  }
  return std::nullopt;
}

std::string NearAddress(const SiteAddress& address, std::span<const std::string> names,
                        std::string_view otherwise) {
  std::vector<std::string> near;
  for (const std::string& name : NearNames(address.name, names)) {
    near.push_back(fmt::format("/{}.{}", name, FormatName(address.format)));
  }
  return near.empty() ? std::string(otherwise) : fmt::format("{} {}", DidYouMean(near), otherwise);
}

std::string NearPath(std::string_view path, std::span<const std::string> queries) {
  constexpr std::string_view kOtherwise = "/ lists what there is";
  const std::vector<std::string> pages = {"/report", "/metrics", "/healthz", "/cut.json.gz"};
  if (const auto near = NearNames(path, pages); !near.empty()) {
    return fmt::format("{} {}", DidYouMean(near), kOtherwise);
  }
  std::string name(path.substr(1));
  const std::string bare = name.substr(0, name.rfind('.'));  // of another ending
  if (std::ranges::find(queries, bare) != queries.end()) name = bare;
  return NearAddress({name, Format::kCsv}, queries, kOtherwise);
}

std::string FileName(std::string_view name, std::string_view extension) {
  if (const size_t slash = name.rfind('/'); slash != std::string_view::npos) {
    name.remove_prefix(slash + 1);
  }
  std::string file;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '-';
    file += plain ? c : '_';
  }
  return fmt::format("{}.{}", file, extension);
}

}  // namespace tracedb
