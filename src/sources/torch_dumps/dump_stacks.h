// Stacks of a dump, each stored once: most of its rows have one of a few.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "sources/torch_dumps/dump_row.h"
#include "sources/values/plain_values.h"
#include "tracedb/base/result.h"
#include "tracedb/sources/read/source_reader.h"

namespace tracedb {

class DumpStacks {
 public:
  // Of more a stack is stored without its outermost frames, and a name without its end; both are
  // counted.
  static constexpr size_t kFramesMax = 256;
  static constexpr size_t kStackBytesMax = size_t{64} << 10;
  static constexpr size_t kNameBytesMax = 1024;

  static Result<DumpStacks> Open(SourceRows& rows, const PlainValues& values);

  // The number of a list of {"filename", "line", "name"}, the innermost first; null: it is empty,
  // or no list.
  Result<std::optional<int64_t>> NumberOf(ValueId frames);

 private:
  DumpStacks(SourceRows& rows, const PlainValues& values, DumpRow row)
      : rows_(rows), values_(values), row_(std::move(row)) {}
  uint32_t FrameOf(ValueId frame);
  void AddName(ValueId frame, std::string_view key, std::string& text);
  std::string TextOf(const std::vector<uint32_t>& stack);
  void Forget();

  SourceRows& rows_;
  const PlainValues& values_;
  DumpRow row_;
  std::unordered_map<ValueId, uint32_t> frames_;  // a pickle has each of them once
  std::map<std::string, uint32_t> frame_numbers_;
  std::vector<const std::string*> frame_texts_;
  std::map<std::vector<uint32_t>, int64_t> stacks_;
  size_t bytes_ = 0;  // of these
  int64_t last_ = 0;
};

}  // namespace tracedb
