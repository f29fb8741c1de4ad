// A folder of a fuzzer's own, in memory where the system has such a place: each input makes and
// takes away several files. It goes with the object.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace tracedb {

class MemoryFolder {
 public:
  explicit MemoryFolder(const std::string& name) {
    std::error_code error;
    const std::filesystem::path memory = "/dev/shm";
    const std::filesystem::path root = std::filesystem::is_directory(memory, error)
                                           ? memory
                                           : std::filesystem::temp_directory_path();
    path_ = root / (name + "." + std::to_string(getpid()));
    std::filesystem::create_directories(path_);
  }
  ~MemoryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  MemoryFolder(const MemoryFolder&) = delete;
  MemoryFolder& operator=(const MemoryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace tracedb
