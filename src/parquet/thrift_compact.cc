#include "parquet/thrift_compact.h"

namespace tracedb {
namespace {

uint64_t ZigZag(int64_t value) {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}

int64_t UnZigZag(uint64_t value) { return static_cast<int64_t>(value >> 1 ^ (0 - (value & 1))); }

constexpr size_t kShortList = 15;

}  // namespace

void ThriftWriter::Varint(uint64_t value) {
  while (value >= 0x80) {
    bytes_ += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  bytes_ += static_cast<char>(value);
}

void ThriftWriter::Field(int id, ThriftType type) {
  const int step = id - last_id_;
  bytes_ += static_cast<char>(step << 4 | static_cast<int>(type));  // steps are below 16
  last_id_ = id;
}

void ThriftWriter::Int(int id, ThriftType type, int64_t value) {
  Field(id, type);
  Varint(ZigZag(value));
}

void ThriftWriter::Binary(int id, std::string_view bytes) {
  Field(id, ThriftType::kBinary);
  ElementBinary(bytes);
}

void ThriftWriter::List(int id, ThriftType element, size_t count) {
  Field(id, ThriftType::kList);
  const size_t head = count < kShortList ? count : kShortList;
  bytes_ += static_cast<char>(head << 4 | static_cast<size_t>(element));
  if (head == kShortList) Varint(count);
}

void ThriftWriter::BeginStruct(int id) {
  Field(id, ThriftType::kStruct);
  BeginElement();
}

void ThriftWriter::BeginElement() {
  last_ids_ += static_cast<char>(last_id_);
  last_id_ = 0;
}

void ThriftWriter::EndStruct() {
  bytes_ += static_cast<char>(ThriftType::kStop);
  if (last_ids_.empty()) return;  // the outermost
  last_id_ = last_ids_.back();
  last_ids_.pop_back();
}

void ThriftWriter::ElementInt(int64_t value) { Varint(ZigZag(value)); }

void ThriftWriter::ElementBinary(std::string_view bytes) {
  Varint(bytes.size());
  bytes_.append(bytes);
}

uint8_t ThriftReader::Byte() {
  if (!ok_ || at_ >= bytes_.size()) {
    ok_ = false;
    return 0;
  }
  return static_cast<uint8_t>(bytes_[at_++]);
}

uint64_t ThriftReader::Varint() {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const uint8_t byte = Byte();
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  ok_ = false;
  return 0;
}

ThriftReader::Field ThriftReader::Next() {
  const uint8_t head = Byte();
  const auto type = static_cast<ThriftType>(head & 0xf);
  if (!ok_ || type == ThriftType::kStop) {
    if (head != 0) ok_ = false;
    if (depth_ > 0) --depth_;
    return {};
  }
  int& last_id = last_ids_[depth_];
  if (head >> 4 == 0) ok_ = false;  // the long form: our files have no need of it
  last_id += head >> 4;
  return {last_id, type};
}

int64_t ThriftReader::Int() { return UnZigZag(Varint()); }

std::string_view ThriftReader::Binary() {
  const uint64_t length = Varint();
  if (!ok_ || length > bytes_.size() - at_) {
    ok_ = false;
    return {};
  }
  const std::string_view found = bytes_.substr(at_, length);
  at_ += length;
  return found;
}

size_t ThriftReader::List(ThriftType element, size_t max) {
  const uint8_t head = Byte();
  uint64_t count = head >> 4;
  if (count == kShortList) count = Varint();
  if ((head & 0xf) != static_cast<uint8_t>(element) || count > max) ok_ = false;
  return ok_ ? count : 0;
}

void ThriftReader::BeginStruct() {
  if (depth_ + 1 >= kDepthMax) {
    ok_ = false;
    return;
  }
  last_ids_[++depth_] = 0;
}

}  // namespace tracedb
