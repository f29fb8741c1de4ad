// Addresses of results: a name and the form that its ending asks for.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tracedb/text/result_sink.h"

namespace tracedb {

// In which results are answered, by an address's ending or its parameter format.
inline constexpr std::array kServedFormats = {Format::kCsv, Format::kTsv, Format::kJson,
                                              Format::kNdjson, Format::kParquet};

struct SiteAddress {
  std::string name;  // "overlap", "tables/kernels"
  Format format = Format::kCsv;
};

// Of "/overlap.csv", "/tables/kernels.json"; endings are those of kServedFormats. Nothing
// where the path has none of them.
std::optional<SiteAddress> ReadAddress(std::string_view path);

// What to say of a name that is not there: those that it was probably meant to be, as addresses
// with this ending; else `otherwise`.
std::string NearAddress(const SiteAddress& address, std::span<const std::string> names,
                        std::string_view otherwise);

// The same of any path: "/overlap", "/overlap.xlsx", "/reprt".
std::string NearPath(std::string_view path, std::span<const std::string> queries);

// What a browser keeps the answer as: a name that every file system takes, without folders.
std::string FileName(std::string_view name, std::string_view extension);

}  // namespace tracedb
