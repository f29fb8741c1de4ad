// What is in a folder, one name after another. In place of std::filesystem::directory_iterator,
// which ends the program where memory ends.
#pragma once

#include <dirent.h>

#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>

namespace tracedb {

class FolderEntries {
 public:
  explicit FolderEntries(const std::filesystem::path& folder);

  // Goes on to the next one, without "." and ".."; false: there is none, or error() says why it
  // cannot be read.
  bool Next();
  const std::error_code& error() const { return error_; }

  // Of the entry that Next() has come to.
  std::string_view name() const { return entry_->d_name; }
  std::filesystem::path path() const { return folder_ / entry_->d_name; }
  bool IsLink() const;
  // What a link leads to; an entry that is gone by now is neither.
  bool IsFolder() const;
  bool IsFile() const;

 private:
  struct Close {
    void operator()(DIR* stream) const { closedir(stream); }
  };
  std::filesystem::path folder_;
  std::unique_ptr<DIR, Close> stream_;
  const dirent* entry_ = nullptr;
  std::error_code error_;
};

}  // namespace tracedb
