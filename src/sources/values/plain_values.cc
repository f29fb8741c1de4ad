#include "sources/values/plain_values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>

#include "tracedb/json/json_text.h"

namespace tracedb {
namespace {

constexpr size_t kTextChunkBytes = size_t{256} << 10;
constexpr size_t kItemChunk = size_t{64} << 10;
constexpr uint32_t kItemsMin = 4;
constexpr size_t kItemsLookedThrough = 64;  // of a larger dictionary keys are sorted

// With the fewest digits that tell it from all others; JSON knows no infinity.
void AddReal(double value, std::string& json) {
  std::array<char, 32> text;
  if (!std::isfinite(value)) {
    json += "null";
    return;
  }
  const auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{}) json.append(text.data(), end);
}

}  // namespace

PlainValues::PlainValues(size_t bytes_max) : bytes_max_(bytes_max) {
  Add(ValueKind::kNone, 0);
  Add(ValueKind::kBool, 0);
  Add(ValueKind::kBool, 1);
}

ValueId PlainValues::Add(ValueKind kind, uint64_t payload) {
  bytes_ += sizeof(kind) + sizeof(payload);
  kinds_.push_back(kind);
  payloads_.push_back(payload);
  return static_cast<ValueId>(kinds_.size() - 1);
}

ValueId PlainValues::Int(int64_t value) {
  return Add(ValueKind::kInt, std::bit_cast<uint64_t>(value));
}

ValueId PlainValues::Real(double value) {
  return Add(ValueKind::kReal, std::bit_cast<uint64_t>(value));
}

ValueId PlainValues::Text(std::string_view text) {
  if (text_chunks_.empty() ||
      text_chunks_.back().capacity() - text_chunks_.back().size() < text.size()) {
    text_chunks_.emplace_back().reserve(std::max(kTextChunkBytes, text.size()));
    bytes_ += text_chunks_.back().capacity();
  }
  std::vector<char>& chunk = text_chunks_.back();
  const size_t at = chunk.size();
  chunk.insert(chunk.end(), text.begin(), text.end());
  texts_.emplace_back(chunk.data() + at, text.size());
  bytes_ += sizeof(std::string_view);
  return Add(ValueKind::kText, texts_.size() - 1);
}

ValueId PlainValues::List() {
  extents_.emplace_back();
  bytes_ += sizeof(Extent);
  return Add(ValueKind::kList, extents_.size() - 1);
}

ValueId PlainValues::Dict() {
  extents_.emplace_back();
  bytes_ += sizeof(Extent);
  return Add(ValueKind::kDict, extents_.size() - 1);
}

ValueId* PlainValues::Room(size_t count) {
  if (item_chunks_.empty() || item_chunks_.back().capacity() - item_chunks_.back().size() < count) {
    item_chunks_.emplace_back().reserve(std::max(kItemChunk, count));
    bytes_ += item_chunks_.back().capacity() * sizeof(ValueId);
  }
  std::vector<ValueId>& chunk = item_chunks_.back();
  chunk.resize(chunk.size() + count);
  return chunk.data() + chunk.size() - count;
}

void PlainValues::Append(ValueId container, std::span<const ValueId> items) {
  if (items.empty()) return;
  Extent& extent = extents_[payloads_[container]];
  const size_t count = extent.count + items.size();
  if (count > extent.capacity) {
    // What comes at once often comes alone; what comes again will come often.
    const size_t capacity =
        extent.count == 0 ? std::max<size_t>(items.size(), kItemsMin) : count * 2;
    ValueId* room = Room(capacity);
    std::copy_n(extent.items, extent.count, room);
    extent.items = room;
    extent.capacity = static_cast<uint32_t>(capacity);
  }
  std::copy(items.begin(), items.end(), extent.items + extent.count);
  extent.count = static_cast<uint32_t>(count);
  if (kinds_[container] == ValueKind::kDict && count > kItemsLookedThrough) {
    bytes_ += items.size() / 2 * sizeof(uint32_t);  // of its places, once it is looked into
    places_.erase(container);
  }
}

std::optional<int64_t> PlainValues::IntOf(ValueId id) const {
  if (kinds_[id] != ValueKind::kInt) return std::nullopt;
  return std::bit_cast<int64_t>(payloads_[id]);
}

std::optional<double> PlainValues::NumberOf(ValueId id) const {
  if (kinds_[id] == ValueKind::kReal) return std::bit_cast<double>(payloads_[id]);
  if (kinds_[id] == ValueKind::kInt) return static_cast<double>(*IntOf(id));
  return std::nullopt;
}

std::optional<bool> PlainValues::BoolOf(ValueId id) const {
  if (kinds_[id] != ValueKind::kBool) return std::nullopt;
  return payloads_[id] != 0;
}

std::optional<std::string_view> PlainValues::TextOf(ValueId id) const {
  if (kinds_[id] != ValueKind::kText) return std::nullopt;
  return texts_[payloads_[id]];
}

std::span<const ValueId> PlainValues::ItemsOf(ValueId id) const {
  if (kinds_[id] != ValueKind::kList) return {};
  const Extent& extent = extents_[payloads_[id]];
  return {extent.items, extent.count};
}

std::span<const ValueId> PlainValues::PairsOf(ValueId dict) const {
  if (kinds_[dict] != ValueKind::kDict) return {};
  const Extent& extent = extents_[payloads_[dict]];
  return {extent.items, extent.count / 2 * 2};
}

const std::vector<uint32_t>& PlainValues::PlacesOf(ValueId dict) const {
  const auto [found, is_new] = places_.try_emplace(dict);
  std::vector<uint32_t>& places = found->second;
  if (!is_new) return places;
  const std::span<const ValueId> pairs = PairsOf(dict);
  places.reserve(pairs.size() / 2);
  for (size_t i = 0; i < pairs.size(); i += 2) {
    if (kinds_[pairs[i]] == ValueKind::kText) places.push_back(static_cast<uint32_t>(i));
  }
  std::sort(places.begin(), places.end(), [&](uint32_t a, uint32_t b) {
    const int order = TextOf(pairs[a])->compare(*TextOf(pairs[b]));
    return order != 0 ? order < 0 : a < b;
  });
  return places;
}

std::optional<ValueId> PlainValues::Find(ValueId dict, std::string_view key) const {
  const std::span<const ValueId> pairs = PairsOf(dict);
  if (pairs.size() > kItemsLookedThrough) {
    const std::vector<uint32_t>& places = PlacesOf(dict);
    const auto after = std::upper_bound(
        places.begin(), places.end(), key,
        [&](std::string_view wanted, uint32_t at) { return wanted < *TextOf(pairs[at]); });
    if (after == places.begin() || TextOf(pairs[*(after - 1)]) != key) return std::nullopt;
    return pairs[*(after - 1) + 1];
  }
  for (size_t i = pairs.size(); i >= 2; i -= 2) {
    if (TextOf(pairs[i - 2]) == key) return pairs[i - 1];
  }
  return std::nullopt;
}

// A pickle's keys may be numbers or tuples; JSON's are texts.
bool PlainValues::AddKey(ValueId key, int depth_left, size_t bytes_max, std::string& json) const {
  std::string text;
  if (!AddJson(key, depth_left, bytes_max, text)) return false;
  if (kinds_[key] == ValueKind::kText) {
    json += text;
  } else {
    AppendJsonString(json, text);
  }
  return true;
}

bool PlainValues::AddJson(ValueId id, int depth_left, size_t bytes_max, std::string& json) const {
  if (depth_left == 0 || json.size() > bytes_max) return false;
  switch (kinds_[id]) {
    case ValueKind::kNone:
      json += "null";
      return true;
    case ValueKind::kBool:
      json += *BoolOf(id) ? "true" : "false";
      return true;
    case ValueKind::kInt:
      json += std::to_string(*IntOf(id));
      return true;
    case ValueKind::kReal:
      AddReal(*NumberOf(id), json);
      return true;
    case ValueKind::kText:
      AppendJsonString(json, *TextOf(id));
      return true;
    case ValueKind::kList:
    case ValueKind::kDict:
      break;
  }
  const bool is_list = kinds_[id] == ValueKind::kList;
  json += is_list ? '[' : '{';
  const std::span<const ValueId> items = is_list ? ItemsOf(id) : PairsOf(id);
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) json += is_list || i % 2 == 0 ? ',' : ':';
    const bool is_key = !is_list && i % 2 == 0;
    const bool added = is_key ? AddKey(items[i], depth_left - 1, bytes_max, json)
                              : AddJson(items[i], depth_left - 1, bytes_max, json);
    if (!added) return false;
  }
  json += is_list ? ']' : '}';
  return true;
}

std::optional<std::string> PlainValues::Json(ValueId id, int depth_max, size_t bytes_max) const {
  std::string json;
  if (!AddJson(id, depth_max, bytes_max, json) || json.size() > bytes_max) return std::nullopt;
  return json;
}

}  // namespace tracedb
