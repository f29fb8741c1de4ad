// Thrift's compact protocol, as far as the metadata of Parquet files needs it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tracedb {

enum class ThriftType : uint8_t {
  kStop = 0,
  kTrue = 1,
  kFalse = 2,
  kI32 = 5,
  kI64 = 6,
  kBinary = 8,
  kList = 9,
  kStruct = 12,
};

class ThriftWriter {
 public:
  // Fields of a struct come in the order of their ids.
  void Int(int id, ThriftType type, int64_t value);  // kI32 or kI64
  void Binary(int id, std::string_view bytes);
  void List(int id, ThriftType element, size_t count);  // its elements follow
  void BeginStruct(int id);
  void EndStruct();
  // As elements of a list.
  void BeginElement();
  void ElementInt(int64_t value);
  void ElementBinary(std::string_view bytes);

  const std::string& bytes() const { return bytes_; }

 private:
  void Field(int id, ThriftType type);
  void Varint(uint64_t value);

  std::string bytes_;
  std::string last_ids_;  // of each struct that is open, outermost first; ids are below 128
  int last_id_ = 0;
};

// Reads what may be anything: after the first thing that cannot be, ok() is false, and everything
// reads as nothing.
class ThriftReader {
 public:
  explicit ThriftReader(std::string_view bytes) : bytes_(bytes) {}

  struct Field {
    int id = 0;
    ThriftType type = ThriftType::kStop;
  };
  // The next field of the struct; kStop at its end, which is then closed.
  Field Next();
  int64_t Int();  // of kI32 or kI64
  std::string_view Binary();
  // How many elements of this type follow; 0 when they are of another, or are more than `max`.
  size_t List(ThriftType element, size_t max);
  void BeginStruct();  // its fields follow, until kStop

  bool ok() const { return ok_; }
  void Fail() { ok_ = false; }
  size_t position() const { return at_; }

 private:
  uint8_t Byte();
  uint64_t Varint();

  static constexpr size_t kDepthMax = 8;
  std::string_view bytes_;
  size_t at_ = 0;
  bool ok_ = true;
  int last_ids_[kDepthMax] = {};
  size_t depth_ = 0;
};

}  // namespace tracedb
