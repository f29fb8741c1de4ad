// The messages of an Arrow IPC stream (metadata version 5): what tells a reader the columns, and of
// each batch where its buffers lie. Their FlatBuffers are written here, byte by byte: a dozen
// fields do not need a library.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tracedb {

enum class ArrowType { kInt64, kFloat64, kText, kBinary };

struct ArrowField {
  std::string_view name;  // UTF-8
  ArrowType type = ArrowType::kText;
};

// A column's share in a batch.
struct ArrowNode {
  int64_t rows = 0;
  int64_t nulls = 0;
};

// Bytes of the batch's body.
struct ArrowBuffer {
  int64_t begin = 0;  // a multiple of kArrowAlignment
  int64_t bytes = 0;
};

inline constexpr size_t kArrowAlignment = 8;

// Each with its length in front, as it stands in the stream; of a batch the body follows.
std::string ArrowSchemaMessage(std::span<const ArrowField> fields);
std::string ArrowBatchMessage(int64_t rows, std::span<const ArrowNode> nodes,
                              std::span<const ArrowBuffer> buffers, int64_t body_bytes);
// What ends a stream.
std::string_view ArrowEnd();

}  // namespace tracedb
