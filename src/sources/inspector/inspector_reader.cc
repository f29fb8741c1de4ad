#include "sources/inspector/inspector_reader.h"

#include <string>

#include "sources/inspector/inspector_record.h"
#include "sources/inspector/inspector_rows.h"
#include "sources/inspector/json_leaves.h"
#include "sources/read/code_or_document.h"

namespace tracedb {
namespace {

constexpr size_t kObjectBytesMax = size_t{1} << 20;

// Puts lines together to objects.
class InspectorObjects {
 public:
  InspectorObjects(SourceText& text, InspectorRows& rows) : text_(text), rows_(rows) {}

  Status Read() {
    std::string_view line;
    for (;;) {
      TRACEDB_ASSIGN(is_line, text_.NextLine(line));
      if (!is_line) break;
      if (text_.was_cut()) {
        Drop("object_too_long");
        rows_.issues().Add("object_too_long", text_.line_offset(), line);
        continue;
      }
      TRACEDB_TRY(Line(line));
    }
    Drop("half_object");
    return Done{};
  }

 private:
  // What is open now is no whole object, and never will be.
  void Drop(std::string_view kind) {
    if (!open_.empty()) rows_.issues().Add(kind, open_offset_, open_);
    open_.clear();
    depth_.Reset();
  }

  // Only the first brace of an object stands at the beginning of a line: another tells that the
  // object before has no end.
  Status Line(std::string_view line) {
    if (line.starts_with('{')) Drop("half_object");
    uint64_t offset = text_.line_offset();
    while (!line.empty()) {
      if (open_.empty()) {
        const size_t begin = line.find('{');
        const std::string_view before = line.substr(0, begin);
        if (before.find_first_not_of(" \t\r,[]\x1e") != std::string_view::npos) {
          rows_.issues().Add("no_object", offset, before);
        }
        if (begin == std::string_view::npos) return Done{};
        line.remove_prefix(begin);
        offset += begin;
        open_offset_ = offset;
      }
      const size_t end = depth_.EndIn(line);
      if (end == std::string_view::npos) {
        if (open_.size() + line.size() > kObjectBytesMax) {
          Drop("object_too_long");
          return Done{};
        }
        open_.append(line).append(1, '\n');
        return Done{};
      }
      TRACEDB_TRY(Object(line.substr(0, end)));
      line.remove_prefix(end);
      offset += end;
    }
    return Done{};
  }

  Status Object(std::string_view end) {
    std::string_view object = end;
    if (!open_.empty()) {
      open_ += end;
      object = open_;
    }
    const bool is_record = ReadInspectorRecord(object, leaves_, record_);
    if (!is_record) rows_.issues().Add("object_not_understood", open_offset_, object);
    open_.clear();
    depth_.Reset();
    return is_record ? rows_.Add(record_) : Status(Done{});
  }

  SourceText& text_;
  InspectorRows& rows_;
  JsonDepth depth_;
  JsonLeaves leaves_;
  InspectorRecord record_;
  std::string open_;  // the object so far
  uint64_t open_offset_ = 0;
};

}  // namespace

// Its first object, as far as the head has it, has a header and a part of ours. A file that goes on
// from another begins within an object, and one that others write to as well with their lines.
bool InspectorReader::Fits(const SourceHead& head) const {
  std::string_view text = head.text.substr(0, size_t{16} << 10);
  const size_t begin = text.find_first_not_of(" \t\r\n[");
  if (begin == std::string_view::npos) return false;
  if (text[begin] != '{') {
    const size_t object = text.find("\n{\"header\"");
    if (object == std::string_view::npos || IsCodeOrDocument(head)) return false;
    text.remove_prefix(object);
  }
  const bool has_perf = text.find("\"coll_perf\"") != std::string_view::npos ||
                        text.find("\"p2p_perf\"") != std::string_view::npos ||
                        text.find("\"dump_stats\"") != std::string_view::npos;
  return has_perf && text.find("\"header\"") != std::string_view::npos &&
         text.find("\"traceEvents\"") == std::string_view::npos;
}

Status InspectorReader::Read(SourceText& text, SourceRows& rows) const {
  InspectorRows found(rows);
  TRACEDB_TRY(found.Begin());
  TRACEDB_TRY(InspectorObjects(text, found).Read());
  return found.Finish();
}

}  // namespace tracedb
