#include "sources/torch_dumps/dump_stacks.h"

#include <algorithm>

namespace tracedb {
namespace {

// In memory, beside the text or the frames' numbers.
constexpr size_t kBytesEach = 128;
// What the values leave of the share, and never less.
constexpr size_t kBytesMin = size_t{1} << 20;

}  // namespace

Result<DumpStacks> DumpStacks::Open(SourceRows& rows, const PlainValues& values) {
  TRACEDB_ASSIGN(row, DumpRow::Open(rows,
                                    "INSERT INTO _dump_stack (source_id, stack_id, "
                                    "frames) VALUES (?1, ?2, ?3)"));
  return DumpStacks(rows, values, std::move(row));
}

void DumpStacks::AddName(ValueId frame, std::string_view key, std::string& text) {
  const std::string_view name = values_.TextOf(values_.At(frame, key)).value_or("?");
  if (name.size() <= kNameBytesMax) {
    text += name;
    return;
  }
  size_t end = kNameBytesMax;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xC0) == 0x80) --end;  // whole letters
  text += name.substr(0, end);
  rows_.issues.Add("frame_cut", 0, name);
}

uint32_t DumpStacks::FrameOf(ValueId frame) {
  const auto seen = frames_.find(frame);
  if (seen != frames_.end()) return seen->second;
  std::string text;
  AddName(frame, "name", text);
  text += " (";
  AddName(frame, "filename", text);
  if (const auto line = values_.IntOf(values_.At(frame, "line"))) {
    text += ":" + std::to_string(*line);
  }
  text += ")";
  const size_t bytes = text.size() + kBytesEach;
  const auto [place, is_new] =
      frame_numbers_.emplace(std::move(text), static_cast<uint32_t>(frame_texts_.size()));
  if (is_new) {
    frame_texts_.push_back(&place->first);
    bytes_ += bytes;
  }
  frames_.emplace(frame, place->second);
  bytes_ += kBytesEach;
  return place->second;
}

std::string DumpStacks::TextOf(const std::vector<uint32_t>& stack) {
  std::string text;
  for (const uint32_t frame : stack) {
    if (text.size() + frame_texts_[frame]->size() >= kStackBytesMax) {
      rows_.issues.Add("stack_cut", 0, *frame_texts_[frame]);
      break;
    }
    if (!text.empty()) text += '\n';
    text += *frame_texts_[frame];
  }
  return text;
}

// What comes again is stored again, under another number.
void DumpStacks::Forget() {
  frames_.clear();
  frame_numbers_.clear();
  frame_texts_.clear();
  stacks_.clear();
  bytes_ = 0;
}

Result<std::optional<int64_t>> DumpStacks::NumberOf(ValueId frames) {
  const std::span<const ValueId> items = values_.ItemsOf(frames);
  if (items.empty()) return std::optional<int64_t>();
  if (bytes_ > std::max(values_.bytes_left(), kBytesMin)) Forget();
  std::vector<uint32_t> stack;
  for (const ValueId item : items.first(std::min(items.size(), kFramesMax))) {
    stack.push_back(FrameOf(item));
  }
  const auto seen = stacks_.find(stack);
  if (seen != stacks_.end()) return std::optional(seen->second);
  if (items.size() > kFramesMax) rows_.issues.Add("stack_cut", 0, "");
  const std::string text = TextOf(stack);
  ++last_;
  TRACEDB_TRY(
      row_.Add(rows_.source_id).Add(last_).Add(std::optional<std::string_view>(text)).Write());
  bytes_ += stack.size() * sizeof(uint32_t) + kBytesEach;
  stacks_.emplace(std::move(stack), last_);
  return std::optional(last_);
}

}  // namespace tracedb
