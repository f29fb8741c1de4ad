#include "tracedb/base/folder_entries.h"

#include <cerrno>

#include "tracedb/base/no_memory.h"

namespace tracedb {

namespace fs = std::filesystem;

FolderEntries::FolderEntries(const fs::path& folder)
    : folder_(folder), stream_(opendir(folder.c_str())) {
  if (stream_ == nullptr) error_.assign(errno, std::generic_category());
  ThrowIfNoMemory(error_);
}

bool FolderEntries::Next() {
  if (stream_ == nullptr) return false;
  do {
    errno = 0;
    entry_ = readdir(stream_.get());
  } while (entry_ != nullptr && (name() == "." || name() == ".."));
  if (entry_ == nullptr && errno != 0) error_.assign(errno, std::generic_category());
  return entry_ != nullptr;
}

bool FolderEntries::IsLink() const {
  if (entry_->d_type != DT_UNKNOWN) return entry_->d_type == DT_LNK;
  std::error_code ignored;
  return fs::is_symlink(fs::symlink_status(path(), ignored));
}

bool FolderEntries::IsFolder() const {
  if (entry_->d_type != DT_UNKNOWN && entry_->d_type != DT_LNK) return entry_->d_type == DT_DIR;
  std::error_code ignored;
  return fs::is_directory(path(), ignored);
}

bool FolderEntries::IsFile() const {
  if (entry_->d_type != DT_UNKNOWN && entry_->d_type != DT_LNK) return entry_->d_type == DT_REG;
  std::error_code ignored;
  return fs::is_regular_file(path(), ignored);
}

}  // namespace tracedb
