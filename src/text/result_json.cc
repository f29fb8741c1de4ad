// JSON (an array of objects, one a line) and NDJSON (the objects alone).
#include <fmt/format.h>

#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "tracedb/text/result_sinks.h"
#include "tracedb/text/result_text.h"

namespace tracedb {
namespace {

void AppendJsonCell(std::string& out, const Cell& cell) {
  switch (cell.type) {
    case SqlType::kNull:
      out += "null";
      break;
    case SqlType::kInteger:
      AppendCell(out, cell);
      break;
    case SqlType::kReal:
      if (std::isfinite(cell.real)) {
        AppendReal(out, cell.real);
      } else {
        out += "null";
      }
      break;
    case SqlType::kText:
      AppendJsonText(out, cell.text);
      break;
    case SqlType::kBlob:
      out += '"';
      AppendHex(out, cell.text);
      out += '"';
      break;
  }
}

class JsonSink : public RowSink {
 public:
  JsonSink(bool array, OutputStream& output) : array_(array), output_(output) {}

  Status Begin(std::span<const std::string> column_names) override {
    keys_.clear();
    for (const std::string& name : DistinctNames(column_names)) {
      std::string& key = keys_.emplace_back();
      AppendJsonText(key, name);
      key += ':';
    }
    rows_ = 0;
    return array_ ? output_.Write("[") : Status(Done{});
  }

  Status Row(std::span<const Cell> cells) override {
    line_.clear();
    if (array_) line_ += rows_ == 0 ? "\n" : ",\n";
    ++rows_;
    line_ += '{';
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) line_ += ',';
      line_ += keys_[i];
      AppendJsonCell(line_, cells[i]);
    }
    line_ += '}';
    if (!array_) line_ += '\n';
    return output_.Write(line_);
  }

  Status End() override {
    if (!array_) return Done{};
    return output_.Write(rows_ == 0 ? "]\n" : "\n]\n");
  }

 private:
  const bool array_;
  OutputStream& output_;
  std::vector<std::string> keys_;  // written as JSON, with the colon
  int64_t rows_ = 0;
  std::string line_;
};

}  // namespace

std::vector<std::string> DistinctNames(std::span<const std::string> names) {
  std::set<std::string> taken(names.begin(), names.end());
  std::set<std::string> used;
  std::vector<std::string> distinct;
  for (const std::string& name : names) {
    std::string key = name;
    for (int i = 2; used.contains(key) || (key != name && taken.contains(key)); ++i) {
      key = fmt::format("{}_{}", name, i);
    }
    used.insert(key);
    distinct.push_back(std::move(key));
  }
  return distinct;
}

std::unique_ptr<RowSink> MakeJsonSink(OutputStream& output) {
  return std::make_unique<JsonSink>(true, output);
}

std::unique_ptr<RowSink> MakeNdjsonSink(OutputStream& output) {
  return std::make_unique<JsonSink>(false, output);
}

}  // namespace tracedb
