// Values as JSON knows them: nothing, truth, numbers, texts, lists and dictionaries. What a pickle
// or a JSON file holds that has to be in memory as a whole.
//
// Compact, as such files have millions of values: one is 9 bytes, its place in a list 4 more.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tracedb/base/result.h"

namespace tracedb {

enum class ValueKind : uint8_t { kNone, kBool, kInt, kReal, kText, kList, kDict };

using ValueId = uint32_t;

class PlainValues {
 public:
  explicit PlainValues(size_t bytes_max);

  ValueId None() const { return 0; }
  ValueId Bool(bool value) const { return value ? 2 : 1; }
  ValueId Int(int64_t value);
  ValueId Real(double value);
  ValueId Text(std::string_view text);
  ValueId List();
  ValueId Dict();

  // To the end of a list; of a dictionary, key and value in turn. The last of equal keys counts.
  void Append(ValueId container, std::span<const ValueId> items);

  // Whether the bound has been passed: whoever fills it stops then.
  bool IsFull() const { return bytes_ > bytes_max_; }
  size_t bytes_max() const { return bytes_max_; }
  size_t bytes_left() const { return IsFull() ? 0 : bytes_max_ - bytes_; }
  // What somebody else needs beside the values is counted with them.
  void Count(size_t bytes) { bytes_ += bytes; }

  ValueKind kind(ValueId id) const { return kinds_[id]; }
  // Null where the value is of another kind; a whole REAL is no integer.
  std::optional<int64_t> IntOf(ValueId id) const;
  std::optional<double> NumberOf(ValueId id) const;
  std::optional<bool> BoolOf(ValueId id) const;
  std::optional<std::string_view> TextOf(ValueId id) const;  // lives as long as the values
  // Of a list; of others none. Lives until the next Append.
  std::span<const ValueId> ItemsOf(ValueId id) const;
  // Of a dictionary, by a key that is a text: At() is None() where it has none.
  std::optional<ValueId> Find(ValueId dict, std::string_view key) const;
  ValueId At(ValueId dict, std::string_view key) const { return Find(dict, key).value_or(None()); }
  std::span<const ValueId> PairsOf(ValueId dict) const;  // key, value, key, value, ...

  // As JSON; null where it is nested deeper than `depth_max` or longer than `bytes_max`: a list may
  // hold itself.
  std::optional<std::string> Json(ValueId id, int depth_max, size_t bytes_max) const;

 private:
  struct Extent {
    ValueId* items = nullptr;
    uint32_t count = 0;
    uint32_t capacity = 0;
  };
  ValueId Add(ValueKind kind, uint64_t payload);
  ValueId* Room(size_t count);
  // The places of a dictionary's keys that are texts, by text; of equal ones the last comes last.
  const std::vector<uint32_t>& PlacesOf(ValueId dict) const;
  bool AddKey(ValueId key, int depth_left, size_t bytes_max, std::string& json) const;
  bool AddJson(ValueId id, int depth_left, size_t bytes_max, std::string& json) const;

  size_t bytes_max_;
  size_t bytes_ = 0;
  std::deque<ValueKind> kinds_;
  std::deque<uint64_t> payloads_;  // the number; or a place in one of the two below
  std::deque<std::string_view> texts_;
  std::deque<Extent> extents_;
  std::deque<std::vector<char>> text_chunks_;  // neither moves
  std::deque<std::vector<ValueId>> item_chunks_;
  // Of large dictionaries that were looked into since they last grew.
  mutable std::unordered_map<ValueId, std::vector<uint32_t>> places_;
};

}  // namespace tracedb
