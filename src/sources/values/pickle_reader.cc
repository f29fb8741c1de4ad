#include "sources/values/pickle_reader.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "sources/values/pickle_opcodes.h"

namespace tracedb {
namespace {

constexpr ValueId kNoValue = UINT32_MAX;

constexpr uint64_t kProtocolMax = 5;

}  // namespace

Error PickleReader::Wrong(const std::string& what) const {
  return {ErrorKind::kInput, "byte " + std::to_string(opcode_at_) + ": " + what, ""};
}

Result<ValueId> PickleReader::Read() {
  for (;;) {
    opcode_at_ = bytes_.offset();
    TRACEDB_ASSIGN(opcode, bytes_.Next());
    if (!opcode.has_value()) break;
    TRACEDB_ASSIGN(next, Run(*opcode));
    if (next == Next::kCut) break;
    if (values_.IsFull()) {
      constexpr size_t kMiB = size_t{1} << 20;
      return Error{
          ErrorKind::kInput,
          "the pickle's values want more than " + std::to_string(values_.bytes_max() / kMiB) +
              " MiB",
          "a pickle has to be in memory as a whole: give --memory, some three times the file"};
    }
    if (next == Next::kGoOn) continue;
    if (stack_.size() != 1) return Wrong("the pickle ends with no value, or with several");
    return stack_.front();
  }
  is_cut_ = true;
  return Rest();
}

// What is open when a pickle breaks off goes where it would have gone.
ValueId PickleReader::Rest() {
  while (!marks_.empty()) {
    const std::vector<ValueId> items = *PopToMark();
    if (stack_.empty()) continue;
    const ValueKind kind = values_.kind(stack_.back());
    if (kind != ValueKind::kList && kind != ValueKind::kDict) continue;
    const size_t whole = kind == ValueKind::kDict ? items.size() / 2 * 2 : items.size();
    values_.Append(stack_.back(), std::span(items).first(whole));
  }
  // Where no mark is, what lies above a container is its next item: all of protocol 0.
  while (stack_.size() > 1) {
    const ValueId value = stack_.back();
    stack_.pop_back();
    const ValueId below = stack_.back();
    if (values_.kind(below) == ValueKind::kList) {
      values_.Append(below, std::array{value});
    } else if (stack_.size() > 1 && values_.kind(stack_[stack_.size() - 2]) == ValueKind::kDict) {
      stack_.pop_back();
      values_.Append(stack_.back(), std::array{below, value});
    }
  }
  return stack_.empty() ? values_.None() : stack_.front();
}

void PickleReader::Push(ValueId value) {
  if (stack_.size() == stack_.capacity()) {
    values_.Count(std::max<size_t>(stack_.capacity(), 64) * sizeof(ValueId));
  }
  stack_.push_back(value);
}

std::optional<ValueId> PickleReader::Pop() {
  if (stack_.empty() || (!marks_.empty() && marks_.back() == stack_.size())) return std::nullopt;
  const ValueId value = stack_.back();
  stack_.pop_back();
  return value;
}

std::optional<std::vector<ValueId>> PickleReader::PopToMark() {
  if (marks_.empty()) return std::nullopt;
  const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(marks_.back());
  std::vector<ValueId> items(begin, stack_.end());
  stack_.erase(begin, stack_.end());
  marks_.pop_back();
  return items;
}

Result<PickleReader::Next> PickleReader::Run(unsigned char opcode) {
  switch (opcode) {
    case kProto: {
      TRACEDB_ASSIGN(protocol, scalars_.TakeCount(1));
      if (!protocol.has_value()) return Next::kCut;
      if (*protocol > kProtocolMax) return Wrong("protocol " + std::to_string(*protocol));
      return Next::kGoOn;
    }
    case kFrame: {
      TRACEDB_ASSIGN(length, scalars_.TakeCount(8));  // a hint only
      return length.has_value() ? Next::kGoOn : Next::kCut;
    }
    case kStop:
      return Next::kStop;
    case kMark:
      if (marks_.size() == marks_.capacity()) {
        values_.Count(std::max<size_t>(marks_.capacity(), 64) * sizeof(size_t));
      }
      marks_.push_back(stack_.size());
      return Next::kGoOn;
    case kPop:
      if (!Pop().has_value() && !PopToMark().has_value()) return Wrong("POP of an empty stack");
      return Next::kGoOn;
    case kPopMark:
      if (!PopToMark().has_value()) return Wrong("POP_MARK without a mark");
      return Next::kGoOn;
    case kDup:
      if (stack_.empty()) return Wrong("DUP of an empty stack");
      Push(stack_.back());
      return Next::kGoOn;
    case kNone:
      Push(values_.None());
      return Next::kGoOn;
    case kNewTrue:
    case kNewFalse:
      Push(values_.Bool(opcode == kNewTrue));
      return Next::kGoOn;
    default:
      break;
  }
  if (!PickleScalars::IsScalar(opcode)) return RunContainer(opcode);
  auto taken = scalars_.Take(opcode);
  if (!taken.ok()) return Wrong(taken.error().what);
  if (!taken.value().has_value()) return Next::kCut;
  Push(*taken.value());
  return Next::kGoOn;
}

Result<PickleReader::Next> PickleReader::PushTuple(size_t count) {
  if (stack_.size() < count + (marks_.empty() ? 0 : marks_.back())) {
    return Wrong("a tuple of an empty stack");
  }
  const ValueId tuple = values_.List();
  values_.Append(tuple, std::span(stack_).last(count));
  stack_.resize(stack_.size() - count);
  Push(tuple);
  return Next::kGoOn;
}

// What lies above the last mark, or the uppermost, goes into the container below.
Result<PickleReader::Next> PickleReader::AddPopped(ValueKind kind, bool to_mark) {
  const size_t one = kind == ValueKind::kDict ? 2 : 1;
  std::vector<ValueId> items;
  if (to_mark) {
    auto popped = PopToMark();
    if (!popped.has_value()) return Wrong("items without a mark");
    items = std::move(*popped);
  } else {
    for (size_t i = 0; i < one; ++i) {
      const auto item = Pop();
      if (!item.has_value()) return Wrong("an item of an empty stack");
      items.insert(items.begin(), *item);
    }
  }
  const bool has_container = !stack_.empty() && (marks_.empty() || marks_.back() < stack_.size()) &&
                             values_.kind(stack_.back()) == kind;
  if (!has_container) return Wrong("items without what they belong to");
  if (items.size() % one != 0) return Wrong("a key without a value");
  values_.Append(stack_.back(), items);
  return Next::kGoOn;
}

Result<PickleReader::Next> PickleReader::RunContainer(unsigned char opcode) {
  switch (opcode) {
    case kEmptyList:
    case kEmptyTuple:
    case kEmptySet:
      Push(values_.List());
      return Next::kGoOn;
    case kEmptyDict:
      Push(values_.Dict());
      return Next::kGoOn;
    case kAppend:
      return AddPopped(ValueKind::kList, false);
    case kAppends:
    case kAddItems:
      return AddPopped(ValueKind::kList, true);
    case kSetItem:
      return AddPopped(ValueKind::kDict, false);
    case kSetItems:
      return AddPopped(ValueKind::kDict, true);
    case kTuple1:
      return PushTuple(1);
    case kTuple2:
      return PushTuple(2);
    case kTuple3:
      return PushTuple(3);
    case kTuple:
    case kList:
    case kFrozenSet:
    case kDict: {
      const auto items = PopToMark();
      if (!items.has_value()) return Wrong("items without a mark");
      if (opcode == kDict && items->size() % 2 != 0) return Wrong("a key without a value");
      const ValueId made = opcode == kDict ? values_.Dict() : values_.List();
      values_.Append(made, *items);
      Push(made);
      return Next::kGoOn;
    }
    default:
      return RunMemo(opcode);
  }
}

// Places are given one after the other by every pickler; a far one would be a gap to pay for.
Status PickleReader::SetMemo(uint64_t place) {
  constexpr uint64_t kGapMax = 1'000;
  if (stack_.empty()) return Wrong("a memo of an empty stack");
  if (place > memo_.size() + kGapMax) return Wrong("a memo far beyond the others");
  if (place >= memo_.size()) {
    if (place >= memo_.capacity()) {
      values_.Count(std::max<size_t>(memo_.capacity(), 256) * sizeof(ValueId));
    }
    memo_.resize(place + 1, kNoValue);
  }
  memo_[place] = stack_.back();
  return Done{};
}

Result<PickleReader::Next> PickleReader::PushMemo(uint64_t place) {
  if (place >= memo_.size() || memo_[place] == kNoValue) return Wrong("a memo that is not there");
  Push(memo_[place]);
  return Next::kGoOn;
}

Result<PickleReader::Next> PickleReader::RunMemo(unsigned char opcode) {
  const bool is_long = opcode == kLongBinGet || opcode == kLongBinPut;
  uint64_t place = memo_.size();
  switch (opcode) {
    case kGet:
    case kPut: {
      TRACEDB_ASSIGN(line, scalars_.TakeLine());
      if (!line.has_value()) return Next::kCut;
      const char* end = line->data() + line->size();
      const auto parsed = std::from_chars(line->data(), end, place);
      if (parsed.ec != std::errc{} || parsed.ptr != end) return Wrong("no memo's number");
      break;
    }
    case kBinGet:
    case kLongBinGet:
    case kBinPut:
    case kLongBinPut: {
      TRACEDB_ASSIGN(taken, scalars_.TakeCount(is_long ? 4 : 1));
      if (!taken.has_value()) return Next::kCut;
      place = *taken;
      break;
    }
    case kMemoize:
      break;
    default:
      return Refusal(opcode);
  }
  if (opcode == kGet || opcode == kBinGet || opcode == kLongBinGet) return PushMemo(place);
  TRACEDB_TRY(SetMemo(place));
  return Next::kGoOn;
}

// Says what it would have run; a damaged file has no names.
Error PickleReader::Refusal(unsigned char opcode) {
  constexpr size_t kNameMax = 80;
  std::string wanted = "opcode " + std::to_string(int{opcode});
  if (opcode == kGlobal || opcode == kInst) {
    const auto module = scalars_.TakeLine();
    const auto name = scalars_.TakeLine();
    if (module.ok() && name.ok() && module.value().has_value() && name.value().has_value()) {
      wanted = "the import of " + module.value()->substr(0, kNameMax) + "." +
               name.value()->substr(0, kNameMax);
    }
  } else if (opcode == kStackGlobal) {
    const auto name = Pop();
    const auto module = Pop();
    if (name && module && values_.TextOf(*name) && values_.TextOf(*module)) {
      wanted = "the import of " + std::string(values_.TextOf(*module)->substr(0, kNameMax)) + "." +
               std::string(values_.TextOf(*name)->substr(0, kNameMax));
    }
  }
  Error error = Wrong("the pickle wants " + wanted + ", which is refused: nothing of it was run");
  error.advice = "dumps of PyTorch consist of numbers, texts, lists and dictionaries alone";
  return error;
}

}  // namespace tracedb
