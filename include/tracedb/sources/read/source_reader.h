// What a kind of file that is no trace has to be to be read: told from others by how it begins, and
// made rows of, line by line.
//
// A reader keeps to what holds for traces: every line is a row, or part of one, or known to say
// nothing (program output between the lines of a log), or counted as an issue with its place;
// a bad line is never an Error; memory does not depend on the input.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tracedb/base/result.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/pages/row_store.h"
#include "tracedb/sources/read/source_options.h"
#include "tracedb/sources/read/source_text.h"

namespace tracedb {

// How a file begins.
struct SourceHead {
  static constexpr size_t kBytesMax = size_t{64} << 10;
  std::string_view text;       // unpacked; up to kBytesMax
  bool is_whole = false;       // there is no more
  std::string_view file_name;  // without its folder: a hint, where the text fits several kinds
};

// Lines that became no rows, by kind ("half_line"): how many, and the first of them.
class SourceIssues {
 public:
  static constexpr size_t kKindsMax = 64;
  static constexpr size_t kExcerptBytes = 160;
  struct Entry {
    uint64_t count = 0;
    uint64_t first_offset = 0;  // bytes from the start of the unpacked text
    std::string first_excerpt;
  };
  // `kind` is a word of the reader, not of the input.
  void Add(std::string_view kind, uint64_t offset, std::string_view excerpt, uint64_t count = 1);
  const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }

 private:
  std::map<std::string, Entry, std::less<>> entries_;
};

// Where the rows of one source go, and what is known of it as a whole.
struct SourceRows {
  // One of the two. The tables of `db` are the database's, without the rows of others. A
  // transaction is open: prepare INSERTs once, and run them for each row. `pages` has the
  // PagedTables() of the reader in their order, and is for kinds of files that become millions of
  // rows: there a row costs a tenth of an INSERT. Every table of sources has the column source_id.
  SqliteDb* db = nullptr;
  RowStore* pages = nullptr;
  int64_t source_id;
  const SourceOptions& options;
  std::string path = {};  // absolute: names of files and folders may tell of ranks and order
  SourceIssues issues = {};

  // Said in the table _source, where the reader knows it.
  std::optional<std::string> host = {};
  std::optional<int64_t> rank = {};
  std::optional<int64_t> start_ns = {},
                         end_ns = {};  // Unix time of the first and the last row with a time
  std::string time_source = {};        // where times come from: "zone given", "local time", ...
  uint64_t rows = 0;                   // that it has become
  // In them, where the file has a text once for many rows, and when further ones are left out.
  uint64_t text_bytes = 0, text_bytes_max = 0;

  // Takes `at_ns` into start_ns and end_ns.
  void SawTime(int64_t at_ns);
};

class SourceReader {
 public:
  virtual ~SourceReader() = default;
  // What people call it: "training log". Stored in _source.kind.
  virtual std::string_view kind() const = 0;
  // Whether a file that begins so is one. Strict: a file of anything else must not fit. Readers are
  // asked in the order of SourceReaders().
  virtual bool Fits(const SourceHead& head) const = 0;
  // Whether the file's path may tell its rank: then files of the same text are told apart by it.
  virtual bool ReadsRankInPath() const { return false; }
  // Whether several jobs may have files of the same text, as long as it has no time: then a file in
  // another folder is another.
  virtual bool MayBeOfSeveralJobs() const { return false; }
  // Tables that the reader fills through SourceRows::pages: all that it has rows for, and none with
  // an index or a primary key. Empty: it fills tables through SourceRows::db.
  virtual std::span<const std::string_view> PagedTables() const { return {}; }
  // Reads all of `text`. An error: it cannot be read, rows cannot be written, or a stop was asked
  // for.
  virtual Status Read(SourceText& text, SourceRows& rows) const = 0;
};

}  // namespace tracedb
