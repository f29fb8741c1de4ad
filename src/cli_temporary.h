// Where commands put a database that nobody is to keep.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "tracedb/base/result.h"

namespace tracedb {

// A folder that only this user may enter, and that goes with this object.
class TemporaryFolder {
 public:
  // Below $TMPDIR, else /tmp; its name begins with `name`.
  static Result<std::unique_ptr<TemporaryFolder>> Create(std::string_view name);
  explicit TemporaryFolder(std::string name) : name_(std::move(name)) {}
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path path() const { return name_; }

 private:
  std::string name_;  // empty: there is none
};

}  // namespace tracedb
