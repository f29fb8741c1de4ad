#include "tracedb/ingest/read/input_files.h"

#include <algorithm>
#include <cctype>
#include <system_error>

#include "tracedb/base/folder_entries.h"
#include "tracedb/base/no_memory.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

constexpr size_t kFilesMax = 1'000'000;

bool NamedLikeTrace(const fs::path& path) {
  const std::string name = path.filename().string();
  for (const char* ending : {".json", ".json.gz", ".json.zst", ".json.gzip", ".json.zstd"}) {
    if (name.ends_with(ending)) return true;
  }
  return false;
}

constexpr const char* kDigits = "0123456789";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// "rank2" before "rank10": runs of digits compare by value.
bool NaturalLess(const std::string& a, const std::string& b) {
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (!IsDigit(a[i]) || !IsDigit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
      continue;
    }
    while (i < a.size() && a[i] == '0') ++i;
    while (j < b.size() && b[j] == '0') ++j;
    const size_t i_end = std::min(a.find_first_not_of(kDigits, i), a.size());
    const size_t j_end = std::min(b.find_first_not_of(kDigits, j), b.size());
    if (i_end - i != j_end - j) return i_end - i < j_end - j;
    const int order = a.compare(i, i_end - i, b, j, j_end - j);
    if (order != 0) return order < 0;
    i = i_end;
    j = j_end;
  }
  return a.size() - i < b.size() - j;
}

struct Folder {
  fs::path path;
  bool is_hidden;  // it, or one that it is in: .git has thousands of files that are not the job's
};

bool IsLookedAt(const fs::path& path, bool is_in_hidden) {
  const std::string name = path.filename().string();
  if (name.starts_with('.') || name.ends_with(".tmp")) return false;
  return !is_in_hidden || NamedLikeTrace(path);
}

// Appends the files that are right in `folder`, and its folders; links to folders are left aside.
std::error_code SearchFolder(const Folder& folder, std::vector<fs::path>& found,
                             std::vector<Folder>& folders) {
  FolderEntries entries(folder.path);
  while (entries.Next()) {
    if (!entries.IsLink() && entries.IsFolder()) {
      const bool is_hidden = entries.name().starts_with('.');
      folders.push_back({entries.path(), folder.is_hidden || is_hidden});
    }
    if (found.size() > kFilesMax || folders.size() > kFilesMax) return {};
    if (entries.IsFile() && IsLookedAt(entries.path(), folder.is_hidden)) {
      found.push_back(entries.path());
    }
  }
  return entries.error() == std::errc::permission_denied ? std::error_code() : entries.error();
}

bool IsGone(const std::error_code& error) {
  return error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
}

Result<std::vector<fs::path>> FilesBelow(const fs::path& folder, const OnNote& on_note) {
  std::vector<fs::path> found;
  std::vector<Folder> folders{{folder, false}};
  while (!folders.empty()) {
    const Folder next = std::move(folders.back());
    folders.pop_back();
    const std::error_code error = SearchFolder(next, found, folders);
    if (found.size() > kFilesMax || folders.size() > kFilesMax) {
      return Error{ErrorKind::kInput, folder.string() + ": more than a million files or folders",
                   "name a smaller folder"};
    }
    if (IsGone(error) && next.path != folder) {
      if (on_note)
        on_note(next.path.string() + ": is gone since its folder was listed; passed over");
    } else if (error) {
      return Error{ErrorKind::kInput, next.path.string() + ": cannot search it: " + error.message(),
                   ""};
    }
  }
  std::sort(found.begin(), found.end(), [](const fs::path& a, const fs::path& b) {
    return NaturalLess(a.string(), b.string());
  });
  return found;
}

}  // namespace

std::string AbsoluteFolder(const fs::path& folder) {
  std::error_code error;
  const fs::path absolute = fs::absolute(folder, error);
  ThrowIfNoMemory(error);
  std::string text = (error ? folder : absolute).lexically_normal().string();
  while (text.size() > 1 && text.ends_with('/')) text.pop_back();
  return text;
}

std::string FolderOfInput(const fs::path& input) {
  return AbsoluteFolder(input.has_parent_path() ? input.parent_path() : fs::path("."));
}

Result<std::vector<InputFile>> FindInputFiles(const std::vector<std::string>& inputs,
                                              const OnNote& on_note) {
  std::vector<InputFile> files;
  for (const std::string& input : inputs) {
    if (input == "-") {
      files.emplace_back(input);
      continue;
    }
    std::error_code error;
    const fs::file_status status = fs::status(input, error);
    if (!fs::exists(status)) {
      return Error{ErrorKind::kInput, input + ": there is no such file or folder", ""};
    }
    if (!fs::is_directory(status)) {
      files.emplace_back(input);
      continue;
    }
    TRACEDB_ASSIGN(found, FilesBelow(input, on_note));
    for (const fs::path& file : found) {
      files.emplace_back(file, input).is_named_like_trace = NamedLikeTrace(file);
    }
  }
  return files;
}

}  // namespace tracedb
