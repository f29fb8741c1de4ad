// The file from which whoever opens a database after a crash makes it what it was: of the format of
// SQLite's own, which any SQLite rolls back.
//
// It says how long the database was from Begin() on, and what its pages had from Add() on.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "tracedb/base/result.h"
#include "tracedb/pages/btree_page.h"

namespace tracedb {

class RollbackJournal {
 public:
  // Beside `database`, which has `page_count` pages.
  RollbackJournal(std::filesystem::path database, PageSizes sizes, uint32_t page_count);
  ~RollbackJournal();
  RollbackJournal(const RollbackJournal&) = delete;
  RollbackJournal& operator=(const RollbackJournal&) = delete;

  // Whether there is one, which is to be removed.
  bool exists() const { return exists_; }
  // On the disk when it returns. `file` is the database's descriptor.
  Status Begin(int file);
  // What these pages have now; on the disk when it returns. Once.
  Status Add(std::span<const uint32_t> pages, int file);
  Status Remove();

 private:
  std::filesystem::path database_;
  std::filesystem::path name_;
  PageSizes sizes_;
  uint32_t page_count_;
  uint32_t nonce_ = 0;
  int journal_ = -1;
  bool exists_ = false;
};

}  // namespace tracedb
