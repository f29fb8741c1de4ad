#include "text/arrow_messages.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <utility>
#include <vector>

namespace tracedb {
namespace {

// Numbers of Arrow's Message.fbs and Schema.fbs.
constexpr uint64_t kMetadataVersion5 = 4;
constexpr uint64_t kHeaderSchema = 1;
constexpr uint64_t kHeaderBatch = 3;
constexpr uint64_t kTypeInt = 2;
constexpr uint64_t kTypeFloat = 3;
constexpr uint64_t kTypeBinary = 4;
constexpr uint64_t kTypeText = 5;
constexpr uint64_t kPrecisionDouble = 2;

// A field of a FlatBuffers table: its number, its size, its value. Of a reference (4 bytes) the
// value is set when what it refers to is written: after it, so offsets point forwards.
struct FlatField {
  size_t number;
  size_t bytes;
  uint64_t value = 0;
};

class FlatBuffer {
 public:
  FlatBuffer() { Number(0, 4); }  // refers to the first table

  // Where the fields of a table are, by their number.
  using Places = std::array<size_t, 6>;
  // What `reference` refers to comes next, and begins with a count of four bytes.
  void Text(size_t reference, std::string_view text);
  void Numbers(size_t reference, std::span<const int64_t> pairs);  // structs of two each
  std::vector<size_t> References(size_t reference, size_t count);
  Places TableAt(size_t reference, std::vector<FlatField> fields);

  std::string Message() &&;

 private:
  void Number(uint64_t value, size_t bytes) {  // little-endian
    for (size_t i = 0; i < bytes; ++i) bytes_ += static_cast<char>(value >> (8 * i));
  }
  void PadTo(size_t alignment, size_t ahead = 0) {
    while ((bytes_.size() + ahead) % alignment != 0) bytes_ += '\0';
  }
  void PointHere(size_t reference) {
    const size_t distance = bytes_.size() - reference;
    for (size_t i = 0; i < 4; ++i) bytes_[reference + i] = static_cast<char>(distance >> (8 * i));
  }

  std::string bytes_;
};

FlatBuffer::Places FlatBuffer::TableAt(size_t reference, std::vector<FlatField> fields) {
  // The largest first: then each stands at a multiple of its size, after the table's own 4 bytes
  // and 4 that are empty where one has 8.
  std::stable_sort(fields.begin(), fields.end(), [](const FlatField& one, const FlatField& other) {
    return one.bytes > other.bytes;
  });
  size_t numbers = 0;
  for (const FlatField& field : fields) numbers = std::max(numbers, field.number + 1);
  Places offsets{};  // 0: the field is not there
  assert(numbers <= offsets.size());
  size_t size = 4;
  for (const FlatField& field : fields) {
    size = (size + field.bytes - 1) / field.bytes * field.bytes;
    offsets[field.number] = size;
    size += field.bytes;
  }
  const size_t head = 4 + 2 * numbers;  // the list of offsets, which stands before the table
  PadTo(8, head);
  Number(head, 2);
  Number(size, 2);
  for (size_t i = 0; i < numbers; ++i) Number(offsets[i], 2);
  const size_t at = bytes_.size();
  PointHere(reference);
  Number(head, 4);
  Places places{};
  for (const FlatField& field : fields) {
    bytes_.resize(at + offsets[field.number], '\0');
    places[field.number] = bytes_.size();
    Number(field.value, field.bytes);
  }
  return places;
}

void FlatBuffer::Text(size_t reference, std::string_view text) {
  PadTo(4);
  PointHere(reference);
  Number(text.size(), 4);
  bytes_ += text;
  bytes_ += '\0';
}

void FlatBuffer::Numbers(size_t reference, std::span<const int64_t> pairs) {
  PadTo(8, 4);
  PointHere(reference);
  Number(pairs.size() / 2, 4);
  for (const int64_t number : pairs) Number(static_cast<uint64_t>(number), 8);
}

std::vector<size_t> FlatBuffer::References(size_t reference, size_t count) {
  PadTo(4);
  PointHere(reference);
  Number(count, 4);
  std::vector<size_t> places;
  for (size_t i = 0; i < count; ++i) {
    places.push_back(bytes_.size());
    Number(0, 4);
  }
  return places;
}

std::string FlatBuffer::Message() && {
  PadTo(kArrowAlignment);
  std::string framed(4, '\xFF');
  for (size_t i = 0; i < 4; ++i) framed += static_cast<char>(bytes_.size() >> (8 * i));
  return framed + bytes_;
}

// The reference to the header of the kind.
size_t BeginMessage(FlatBuffer& flat, uint64_t header, int64_t body_bytes) {
  const FlatBuffer::Places message = flat.TableAt(0, {{0, 2, kMetadataVersion5},
                                                      {1, 1, header},
                                                      {2, 4},
                                                      {3, 8, static_cast<uint64_t>(body_bytes)}});
  return message[2];
}

void AddField(FlatBuffer& flat, size_t reference, const ArrowField& field) {
  const uint64_t type = field.type == ArrowType::kInt64     ? kTypeInt
                        : field.type == ArrowType::kFloat64 ? kTypeFloat
                        : field.type == ArrowType::kBinary  ? kTypeBinary
                                                            : kTypeText;
  const FlatBuffer::Places places =
      flat.TableAt(reference, {{0, 4}, {1, 1, 1}, {2, 1, type}, {3, 4}, {5, 4}});
  flat.Text(places[0], field.name);
  if (type == kTypeInt) {
    flat.TableAt(places[3], {{0, 4, 64}, {1, 1, 1}});  // of 64 bits, signed
  } else if (type == kTypeFloat) {
    flat.TableAt(places[3], {{0, 2, kPrecisionDouble}});
  } else {
    flat.TableAt(places[3], {});
  }
  flat.References(places[5], 0);  // children: none, but readers want the list
}

}  // namespace

std::string ArrowSchemaMessage(std::span<const ArrowField> fields) {
  FlatBuffer flat;
  const size_t header = BeginMessage(flat, kHeaderSchema, 0);
  const FlatBuffer::Places schema = flat.TableAt(header, {{1, 4}});
  const std::vector<size_t> places = flat.References(schema[1], fields.size());
  for (size_t i = 0; i < fields.size(); ++i) AddField(flat, places[i], fields[i]);
  return std::move(flat).Message();
}

std::string ArrowBatchMessage(int64_t rows, std::span<const ArrowNode> nodes,
                              std::span<const ArrowBuffer> buffers, int64_t body_bytes) {
  FlatBuffer flat;
  const size_t header = BeginMessage(flat, kHeaderBatch, body_bytes);
  const FlatBuffer::Places batch =
      flat.TableAt(header, {{0, 8, static_cast<uint64_t>(rows)}, {1, 4}, {2, 4}});
  std::vector<int64_t> pairs;
  for (const ArrowNode& node : nodes) pairs.insert(pairs.end(), {node.rows, node.nulls});
  flat.Numbers(batch[1], pairs);
  pairs.clear();
  for (const ArrowBuffer& buffer : buffers) {
    pairs.insert(pairs.end(), {buffer.begin, buffer.bytes});
  }
  flat.Numbers(batch[2], pairs);
  return std::move(flat).Message();
}

std::string_view ArrowEnd() { return std::string_view("\xFF\xFF\xFF\xFF\0\0\0\0", 8); }

}  // namespace tracedb
