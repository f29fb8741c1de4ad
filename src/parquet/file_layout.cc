#include "parquet/file_layout.h"

#include <algorithm>
#include <cstring>

#include "parquet/thrift_compact.h"

namespace tracedb {
namespace {

// As Parquet numbers them.
constexpr int64_t kPhysicalTypes[] = {2, 5, 6, 6};  // INT64, DOUBLE, BYTE_ARRAY
constexpr int64_t kUtf8 = 0;
constexpr int64_t kDataPage = 0;
constexpr int64_t kDictionaryPage = 2;
// Of a page's header, where each of these says more.
constexpr int kDataField = 5;
constexpr int kDictionaryField = 7;
constexpr int64_t kOptional = 1;
constexpr int64_t kZstd = 6;
constexpr int64_t kVersion = 1;
constexpr size_t kNameBytesMax = 128;

int64_t PhysicalType(ParquetType type) { return kPhysicalTypes[static_cast<size_t>(type)]; }

std::string IntegerBytes(int64_t value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

void WriteSchema(ThriftWriter& out, const std::vector<ParquetColumn>& columns) {
  out.List(2, ThriftType::kStruct, columns.size() + 1);
  out.BeginElement();
  out.Binary(4, "schema");
  out.Int(5, ThriftType::kI32, static_cast<int64_t>(columns.size()));
  out.EndStruct();
  for (const ParquetColumn& column : columns) {
    out.BeginElement();
    out.Int(1, ThriftType::kI32, PhysicalType(column.type));
    out.Int(3, ThriftType::kI32, kOptional);
    out.Binary(4, column.name);
    if (column.type == ParquetType::kText) out.Int(6, ThriftType::kI32, kUtf8);
    out.EndStruct();
  }
}

void WriteChunk(ThriftWriter& out, const ParquetColumn& column, const ColumnChunk& chunk) {
  out.BeginElement();
  out.Int(2, ThriftType::kI64, chunk.offset);
  out.BeginStruct(3);
  out.Int(1, ThriftType::kI32, PhysicalType(column.type));
  const bool has_dictionary = chunk.dictionary_offset.has_value();
  out.List(2, ThriftType::kI32, has_dictionary ? 3 : 2);
  out.ElementInt(static_cast<int64_t>(PageEncoding::kRle));
  out.ElementInt(static_cast<int64_t>(chunk.encoding));
  if (has_dictionary) out.ElementInt(static_cast<int64_t>(PageEncoding::kPlain));
  out.List(3, ThriftType::kBinary, 1);
  out.ElementBinary(column.name);
  out.Int(4, ThriftType::kI32, kZstd);
  out.Int(5, ThriftType::kI64, chunk.rows);
  out.Int(6, ThriftType::kI64, chunk.unpacked_bytes);
  out.Int(7, ThriftType::kI64, chunk.packed_bytes);
  out.Int(9, ThriftType::kI64, chunk.offset);
  if (has_dictionary) out.Int(11, ThriftType::kI64, *chunk.dictionary_offset);
  out.BeginStruct(12);
  out.Int(3, ThriftType::kI64, chunk.nulls);
  if (chunk.range.has_value()) {
    out.Binary(5, IntegerBytes(chunk.range->second));
    out.Binary(6, IntegerBytes(chunk.range->first));
  }
  out.EndStruct();
  out.EndStruct();
  out.EndStruct();
}

// Reads the fields of a struct: `take` is given each, and reads its value; false: it does not
// belong there.
template <typename Take>
void ReadStruct(ThriftReader& in, Take take) {
  for (;;) {
    const ThriftReader::Field field = in.Next();
    if (!in.ok() || field.type == ThriftType::kStop) return;
    if (!take(field.id, field.type)) in.Fail();
  }
}

bool IsInt(ThriftType type) { return type == ThriftType::kI32 || type == ThriftType::kI64; }

struct SchemaElement {
  int64_t type = -1;
  int64_t repetition = -1;
  int64_t children = -1;
  int64_t converted = -1;
  std::string name;
};

SchemaElement ReadElement(ThriftReader& in) {
  SchemaElement element;
  in.BeginStruct();
  ReadStruct(in, [&](int id, ThriftType type) {
    if (id == 4 && type == ThriftType::kBinary) {
      element.name = in.Binary().substr(0, kNameBytesMax);
      return true;
    }
    int64_t* const to = id == 1   ? &element.type
                        : id == 3 ? &element.repetition
                        : id == 5 ? &element.children
                        : id == 6 ? &element.converted
                                  : nullptr;
    if (to == nullptr || !IsInt(type)) return false;
    *to = in.Int();
    return true;
  });
  return element;
}

bool ReadSchema(ThriftReader& in, std::vector<ParquetColumn>& columns) {
  const size_t count = in.List(ThriftType::kStruct, LayoutLimits::kColumnsMax + 1);
  for (size_t i = 0; in.ok() && i < count; ++i) {
    const SchemaElement element = ReadElement(in);
    if (i == 0) {
      if (element.children != static_cast<int64_t>(count) - 1) in.Fail();
      continue;
    }
    if (element.repetition != kOptional || element.children != -1) in.Fail();
    if (element.type == PhysicalType(ParquetType::kText) && element.converted == kUtf8) {
      columns.push_back({element.name, ParquetType::kText});
    } else if (element.type == PhysicalType(ParquetType::kBytes) && element.converted == -1) {
      columns.push_back({element.name, ParquetType::kBytes});
    } else if (element.type == PhysicalType(ParquetType::kReal)) {
      columns.push_back({element.name, ParquetType::kReal});
    } else if (element.type == PhysicalType(ParquetType::kInteger)) {
      columns.push_back({element.name, ParquetType::kInteger});
    } else {
      in.Fail();
    }
  }
  return in.ok() && count > 1;
}

bool ReadStatistics(ThriftReader& in, ColumnChunk& chunk) {
  std::optional<int64_t> least, greatest;
  in.BeginStruct();
  ReadStruct(in, [&](int id, ThriftType type) {
    if (id == 3 && IsInt(type)) {
      chunk.nulls = in.Int();
      return true;
    }
    if ((id != 5 && id != 6) || type != ThriftType::kBinary) return false;
    const std::string_view bytes = in.Binary();
    if (bytes.size() != sizeof(int64_t)) return false;
    int64_t value = 0;
    std::memcpy(&value, bytes.data(), sizeof value);
    (id == 5 ? greatest : least) = value;
    return true;
  });
  if (least.has_value() && greatest.has_value()) chunk.range = {*least, *greatest};
  return true;
}

// The levels' encoding, the values', and with a dictionary that of its page.
bool ReadEncodings(ThriftReader& in, ParquetType type, ColumnChunk& chunk) {
  const size_t count = in.List(ThriftType::kI32, 3);
  if (count < 2 || in.Int() != static_cast<int64_t>(PageEncoding::kRle)) return false;
  const int64_t encoding = in.Int();
  chunk.encoding = static_cast<PageEncoding>(encoding);
  if (count == 3 && in.Int() != static_cast<int64_t>(PageEncoding::kPlain)) return false;
  const bool is_text = type == ParquetType::kText || type == ParquetType::kBytes;
  switch (encoding) {
    case static_cast<int64_t>(PageEncoding::kPlain):
      return count == 2;
    case static_cast<int64_t>(PageEncoding::kDeltaBinaryPacked):
      return count == 2 && type == ParquetType::kInteger;
    case static_cast<int64_t>(PageEncoding::kRleDictionary):
      return count == 3 && is_text;
    default:
      return false;
  }
}

bool ReadChunkData(ThriftReader& in, const ParquetColumn& column, ColumnChunk& chunk) {
  in.BeginStruct();
  ReadStruct(in, [&](int id, ThriftType type) {
    if (id == 12 && type == ThriftType::kStruct) return ReadStatistics(in, chunk);
    if (id == 2 && type == ThriftType::kList) return ReadEncodings(in, column.type, chunk);
    if (id == 3 && type == ThriftType::kList) {
      return in.List(ThriftType::kBinary, 1) == 1 && in.Binary() == column.name;
    }
    if (!IsInt(type)) return false;
    const int64_t value = in.Int();
    if (id == 1) return value == PhysicalType(column.type);
    if (id == 4) return value == kZstd;
    if (id == 11) chunk.dictionary_offset = value;
    if (id == 11) return true;
    int64_t* const to = id == 5   ? &chunk.rows
                        : id == 6 ? &chunk.unpacked_bytes
                        : id == 7 ? &chunk.packed_bytes
                        : id == 9 ? &chunk.offset
                                  : nullptr;
    if (to == nullptr) return false;
    *to = value;
    return true;
  });
  const bool has_dictionary = chunk.encoding == PageEncoding::kRleDictionary;
  return in.ok() && chunk.dictionary_offset.has_value() == has_dictionary &&
         chunk.dictionary_offset.value_or(0) <= chunk.offset;
}

bool ReadGroup(ThriftReader& in, FileLayout& layout) {
  ParquetRowGroup& group = layout.groups.emplace_back();
  in.BeginStruct();
  ReadStruct(in, [&](int id, ThriftType type) {
    if (id == 2 && IsInt(type)) return in.Int() >= 0;
    if (id == 3 && IsInt(type)) {
      group.rows = in.Int();
      return true;
    }
    if (id != 1 || type != ThriftType::kList) return false;
    const size_t count = in.List(ThriftType::kStruct, layout.columns.size());
    if (count != layout.columns.size()) return false;
    for (const ParquetColumn& column : layout.columns) {
      ColumnChunk& chunk = group.chunks.emplace_back();
      in.BeginStruct();
      ReadStruct(in, [&](int inner, ThriftType inner_type) {
        if (inner == 2 && IsInt(inner_type)) return in.Int() >= 0;
        return inner == 3 && inner_type == ThriftType::kStruct && ReadChunkData(in, column, chunk);
      });
      if (!in.ok()) return false;
    }
    return true;
  });
  const auto is_whole = [&](const ColumnChunk& chunk) { return chunk.rows == group.rows; };
  return in.ok() && group.chunks.size() == layout.columns.size() && group.rows > 0 &&
         group.rows <= LayoutLimits::kGroupRowsMax && std::ranges::all_of(group.chunks, is_whole);
}

}  // namespace

std::string WriteFooter(const FileLayout& layout) {
  ThriftWriter out;
  out.Int(1, ThriftType::kI32, kVersion);
  WriteSchema(out, layout.columns);
  out.Int(3, ThriftType::kI64, layout.rows);
  out.List(4, ThriftType::kStruct, layout.groups.size());
  for (const ParquetRowGroup& group : layout.groups) {
    out.BeginElement();
    out.List(1, ThriftType::kStruct, group.chunks.size());
    int64_t bytes = 0;
    for (size_t i = 0; i < group.chunks.size(); ++i) {
      WriteChunk(out, layout.columns[i], group.chunks[i]);
      bytes += group.chunks[i].unpacked_bytes;
    }
    out.Int(2, ThriftType::kI64, bytes);
    out.Int(3, ThriftType::kI64, group.rows);
    out.EndStruct();
  }
  out.Binary(6, "tracedb version 1");
  // Least and greatest values count by the order of each column's type.
  out.List(7, ThriftType::kStruct, layout.columns.size());
  for (size_t i = 0; i < layout.columns.size(); ++i) {
    out.BeginElement();
    out.BeginStruct(1);
    out.EndStruct();
    out.EndStruct();
  }
  out.EndStruct();
  return out.bytes();
}

std::optional<FileLayout> ReadFooter(std::string_view bytes) {
  ThriftReader in(bytes);
  FileLayout layout;
  ReadStruct(in, [&](int id, ThriftType type) {
    if (id == 1 && IsInt(type)) return in.Int() == kVersion;
    if (id == 2 && type == ThriftType::kList) return ReadSchema(in, layout.columns);
    if (id == 3 && IsInt(type)) {
      layout.rows = in.Int();
      return true;
    }
    if (id == 6 && type == ThriftType::kBinary) return in.Binary().starts_with("tracedb ");
    if (type != ThriftType::kList || layout.columns.empty()) return false;
    if (id == 4) {
      const size_t count = in.List(ThriftType::kStruct, LayoutLimits::kGroupsMax);
      for (size_t i = 0; in.ok() && i < count; ++i) {
        if (!ReadGroup(in, layout)) return false;
      }
      return true;
    }
    if (id != 7) return false;
    const size_t count = in.List(ThriftType::kStruct, layout.columns.size());
    for (size_t i = 0; in.ok() && i < count; ++i) {
      in.BeginStruct();
      ReadStruct(in, [&](int inner, ThriftType inner_type) {
        if (inner != 1 || inner_type != ThriftType::kStruct) return false;
        in.BeginStruct();
        ReadStruct(in, [](int, ThriftType) { return false; });
        return in.ok();
      });
    }
    return count == layout.columns.size();
  });
  int64_t rows = 0;
  for (const ParquetRowGroup& group : layout.groups) rows += group.rows;
  const bool fits = in.ok() && in.position() == bytes.size() && !layout.columns.empty() &&
                    rows == layout.rows && rows <= LayoutLimits::kRowsMax;
  return fits ? std::optional(std::move(layout)) : std::nullopt;
}

std::string WritePageHeader(const PageHeader& header) {
  ThriftWriter out;
  out.Int(1, ThriftType::kI32, header.is_dictionary ? kDictionaryPage : kDataPage);
  out.Int(2, ThriftType::kI32, header.unpacked_bytes);
  out.Int(3, ThriftType::kI32, header.packed_bytes);
  out.BeginStruct(header.is_dictionary ? kDictionaryField : kDataField);
  out.Int(1, ThriftType::kI32, header.rows);
  out.Int(2, ThriftType::kI32, static_cast<int64_t>(header.encoding));
  if (!header.is_dictionary) {
    out.Int(3, ThriftType::kI32, static_cast<int64_t>(PageEncoding::kRle));
    out.Int(4, ThriftType::kI32, static_cast<int64_t>(PageEncoding::kRle));
  }
  out.EndStruct();
  out.EndStruct();
  return out.bytes();
}

std::optional<std::pair<PageHeader, size_t>> ReadPageHeader(std::string_view bytes) {
  ThriftReader in(bytes);
  PageHeader header;
  ReadStruct(in, [&](int id, ThriftType type) {
    if (id == 1 && IsInt(type)) {
      const int64_t kind = in.Int();
      header.is_dictionary = kind == kDictionaryPage;
      return kind == kDataPage || kind == kDictionaryPage;
    }
    if (id == 2 && IsInt(type)) {
      header.unpacked_bytes = in.Int();
      return true;
    }
    if (id == 3 && IsInt(type)) {
      header.packed_bytes = in.Int();
      return true;
    }
    const int wanted = header.is_dictionary ? kDictionaryField : kDataField;
    if (id != wanted || type != ThriftType::kStruct) return false;
    in.BeginStruct();
    ReadStruct(in, [&](int inner, ThriftType inner_type) {
      if (!IsInt(inner_type)) return false;
      const int64_t value = in.Int();
      if (inner == 1) header.rows = value;
      if (inner == 2) header.encoding = static_cast<PageEncoding>(value);
      return inner >= 1 && inner <= (header.is_dictionary ? 2 : 4);
    });
    return in.ok();
  });
  const bool fits = in.ok() && header.packed_bytes >= 0 && header.unpacked_bytes >= 0 &&
                    header.packed_bytes <= LayoutLimits::kPageBytesMax &&
                    header.unpacked_bytes <= LayoutLimits::kPageBytesMax;
  return fits ? std::optional(std::pair(header, in.position())) : std::nullopt;
}

}  // namespace tracedb
