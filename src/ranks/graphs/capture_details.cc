#include "ranks/graphs/capture_details.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tracedb/base/file_bytes.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;
constexpr uintmax_t kBytesMax = 1u << 20;

// Empty where there is none that can be looked at.
std::string TextOf(const fs::path& path) {
  std::optional<std::string> text = ReadFileStart(path, kBytesMax + 1);
  return text.has_value() && text->size() <= kBytesMax ? *std::move(text) : std::string();
}

}  // namespace

Result<int64_t> CaptureDetails::BatchOf(const fs::path& trace) {
  if (trace == last_) return last_batch_;
  last_ = trace;
  last_batch_ = 0;
  const std::string text = TextOf(trace.parent_path() / "execution_details.json");
  if (text.empty()) return int64_t{0};
  if (!find_.has_value()) {
    // Each condition guards what is after it: a text that is no JSON is an error of json_each.
    TRACEDB_ASSIGN(find, db_->Prepare("SELECT CASE WHEN count(*) = sum(kind IS 'integer') AND "
                                      "  min(batch) = max(batch) THEN min(batch) END FROM ("
                                      "  SELECT CASE type WHEN 'object' THEN "
                                      "      json_extract(value, '$.file') END AS file, "
                                      "    CASE type WHEN 'object' THEN "
                                      "      json_extract(value, '$.batch_size') END AS batch, "
                                      "    CASE type WHEN 'object' THEN "
                                      "      json_type(value, '$.batch_size') END AS kind "
                                      "  FROM json_each(iif(json_valid(?1), ?1, '[]'))) "
                                      "WHERE file = ?2"));
    find_.emplace(std::move(find));
  }
  TRACEDB_TRY(find_->Bind(1, std::string_view(text)));
  TRACEDB_TRY(find_->Bind(2, std::string_view(trace.filename().native())));
  TRACEDB_ASSIGN(any, find_->Step());
  if (any && find_->Int(0) > 0) last_batch_ = find_->Int(0);
  find_->Reset();
  return last_batch_;
}

}  // namespace tracedb
