// An Arrow IPC stream: what pandas, polars, DuckDB and R read without guessing types. Batches of
// rows, column by column; the first of them tells the columns' types.
#include <bit>
#include <string>
#include <vector>

#include "text/arrow_messages.h"
#include "text/typed_column.h"
#include "tracedb/text/result_sinks.h"

namespace tracedb {
namespace {

constexpr int64_t kBatchRowsMax = 65'536;
// Of all columns: with the copy in a body twice as much memory, and one more value.
constexpr size_t kBatchTextBytesMax = size_t{8} << 20;

static_assert(std::endian::native == std::endian::little, "buffers are written as they lie");

ArrowType ArrowTypeOf(SqlType type) {
  switch (type) {
    case SqlType::kInteger:
      return ArrowType::kInt64;
    case SqlType::kReal:
      return ArrowType::kFloat64;
    case SqlType::kBlob:
      return ArrowType::kBinary;
    case SqlType::kNull:
    case SqlType::kText:
      break;
  }
  return ArrowType::kText;
}

void AddBuffer(std::string& body, std::vector<ArrowBuffer>& buffers, const void* bytes,
               size_t size) {
  buffers.push_back({static_cast<int64_t>(body.size()), static_cast<int64_t>(size)});
  if (size > 0) body.append(static_cast<const char*>(bytes), size);
  while (body.size() % kArrowAlignment != 0) body += '\0';
}

// Validity, offsets of text, values: after what is in `body`.
void AddBuffers(const TypedColumn& column, std::string& body, std::vector<ArrowBuffer>& buffers) {
  AddBuffer(body, buffers, column.validity().data(),
            column.nulls() == 0 ? 0 : column.validity().size());
  if (column.type() == SqlType::kInteger || column.type() == SqlType::kReal) {
    AddBuffer(body, buffers, column.words().data(), column.words().size() * sizeof(int64_t));
    return;
  }
  std::vector<int32_t> offsets = {0};
  offsets.insert(offsets.end(), column.ends().begin(), column.ends().end());
  AddBuffer(body, buffers, offsets.data(), offsets.size() * sizeof(int32_t));
  AddBuffer(body, buffers, column.text().data(), column.text().size());
}

class ArrowSink : public RowSink {
 public:
  ArrowSink(std::vector<SqlType> types, OutputStream& output)
      : types_(std::move(types)), output_(output) {}

  Status Begin(std::span<const std::string> column_names) override {
    if (begun_) {
      return Error{ErrorKind::kUsage, "--format arrow takes one result, and here is a second",
                   "ask for each by itself"};
    }
    begun_ = true;
    const std::vector<std::string> distinct = DistinctNames(column_names);
    if (types_.empty()) types_ = std::move(declared_);
    for (size_t i = 0; i < distinct.size(); ++i) {
      AppendUtf8(names_.emplace_back(), distinct[i]);
      const bool is_known = types_.size() == distinct.size();
      columns_.emplace_back(is_known ? types_[i] : SqlType::kNull);
    }
    return Done{};
  }

  // A column that begins with NULLs has no other sign of its type.
  bool WantsDeclared() const override { return types_.empty(); }
  void Declare(std::span<const SqlType> types) override {
    declared_.assign(types.begin(), types.end());
  }

  Status Row(std::span<const Cell> cells) override {
    size_t text_bytes = 0;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (!columns_[i].Add(cells[i])) {
        return DoesNotFit("Arrow", names_[i], all_rows_ + 1, cells[i]);
      }
      text_bytes += columns_[i].text().size();
    }
    ++rows_;
    ++all_rows_;
    return rows_ == kBatchRowsMax || text_bytes >= kBatchTextBytesMax ? WriteBatch()
                                                                      : Status(Done{});
  }

  Status End() override {
    if (rows_ > 0 || !has_schema_) TRACEDB_TRY(WriteBatch());
    return output_.Write(ArrowEnd());
  }

 private:
  Status WriteSchema() {
    std::vector<ArrowField> fields;
    for (size_t i = 0; i < columns_.size(); ++i) {
      columns_[i].FreezeAsText();
      fields.push_back({names_[i], ArrowTypeOf(columns_[i].type())});
    }
    has_schema_ = true;
    return output_.Write(ArrowSchemaMessage(fields));
  }

  Status WriteBatch() {
    if (!has_schema_) TRACEDB_TRY(WriteSchema());
    std::vector<ArrowNode> nodes;
    std::vector<ArrowBuffer> buffers;
    body_.clear();
    for (TypedColumn& column : columns_) {
      nodes.push_back({rows_, column.nulls()});
      AddBuffers(column, body_, buffers);
      column.Clear();
    }
    const auto bytes = static_cast<int64_t>(body_.size());
    TRACEDB_TRY(output_.Write(ArrowBatchMessage(rows_, nodes, buffers, bytes)));
    rows_ = 0;
    return output_.Write(body_);
  }

  std::vector<SqlType> types_, declared_;
  OutputStream& output_;
  bool begun_ = false;
  bool has_schema_ = false;
  std::vector<std::string> names_;
  std::vector<TypedColumn> columns_;
  int64_t rows_ = 0;      // in the batch
  int64_t all_rows_ = 0;  // in the result
  std::string body_;
};

}  // namespace

std::unique_ptr<RowSink> MakeArrowSink(const SinkOptions& options, OutputStream& output) {
  return std::make_unique<ArrowSink>(options.types, output);
}

}  // namespace tracedb
