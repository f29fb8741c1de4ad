// Pages of other files on their way to the end of a database, which a thread of its own writes
// there: while it does, and after, they can be read from where they come from.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <future>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tracedb/base/result.h"
#include "tracedb/pages/btree_page.h"
#include "tracedb/pages/staged_changes.h"

namespace tracedb {

class PageCopies {
 public:
  using Copy = StagedChanges::Copy;
  using CheckPage = StagedChanges::CheckPage;

  // `target` is the database's descriptor, `name` its name for errors. Ends early once `stop` is
  // true.
  PageCopies(int target, std::filesystem::path name, PageSizes sizes,
             const std::atomic<bool>* stop);
  ~PageCopies();  // gives up what is not copied yet
  PageCopies(const PageCopies&) = delete;
  PageCopies& operator=(const PageCopies&) = delete;

  // Begins with these, after those that were given before: `copies` in the order of both numbers.
  // `source` must stay open for as long as this is there.
  void Add(int source, std::vector<Copy> copies, CheckPage check);
  // Waits until all have been copied. An error of kUnfit: a page did not pass its check.
  Status Finish();

  // Where the page that is copied to `to` is.
  struct Origin {
    int source;
    uint32_t from;
  };
  std::optional<Origin> OriginOf(uint32_t to) const;

 private:
  struct Lot {
    int source;
    std::vector<Copy> copies;
    CheckPage check;
  };
  Status Write(const Lot& lot) const;
  Status WriteRuns(const Lot& lot, std::span<const Copy> copies, std::span<uint8_t> buffer) const;

  int target_;
  std::filesystem::path name_;
  PageSizes sizes_;
  const std::atomic<bool>* stop_;
  std::atomic<bool> give_up_ = false;
  std::deque<Lot> lots_;  // none changes once it is here
  std::future<Status> writing_;
};

}  // namespace tracedb
