#include "tracedb/ingest/read/input_files.h"

#include <algorithm>
#include <cctype>
#include <system_error>

namespace tracedb {
namespace {

namespace fs = std::filesystem;

constexpr size_t kFilesMax = 1'000'000;

bool NamedLikeTrace(const fs::path& path) {
  const std::string name = path.filename().string();
  for (const char* ending : {".json", ".json.gz", ".json.zst", ".json.gzip", ".json.zstd"}) {
    if (name.ends_with(ending) && !name.starts_with('.')) return true;
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

// Appends the traces that are right in `folder`, and its folders; links to folders are left aside.
std::error_code SearchFolder(const fs::path& folder, std::vector<fs::path>& found,
                             std::vector<fs::path>& folders) {
  std::error_code error;
  fs::directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    std::error_code ignored;  // an entry that is gone by now is neither
    const bool link = at->is_symlink(ignored);
    if (!link && at->is_directory(ignored)) folders.push_back(at->path());
    if (found.size() > kFilesMax || folders.size() > kFilesMax) return {};
    if (at->is_regular_file(ignored) && NamedLikeTrace(at->path())) found.push_back(at->path());
  }
  return error;
}

bool IsGone(const std::error_code& error) {
  return error == std::errc::no_such_file_or_directory || error == std::errc::not_a_directory;
}

Result<std::vector<fs::path>> TracesBelow(const fs::path& folder, const OnNote& on_note) {
  std::vector<fs::path> found;
  std::vector<fs::path> folders{folder};
  while (!folders.empty()) {
    const fs::path next = std::move(folders.back());
    folders.pop_back();
    const std::error_code error = SearchFolder(next, found, folders);
    if (found.size() > kFilesMax || folders.size() > kFilesMax) {
      return Error{ErrorKind::kInput, folder.string() + ": more than a million traces or folders",
                   "name a smaller folder"};
    }
    if (IsGone(error) && next != folder) {
      if (on_note) on_note(next.string() + ": is gone since its folder was listed; passed over");
    } else if (error) {
      return Error{ErrorKind::kInput, next.string() + ": cannot search it: " + error.message(), ""};
    }
  }
  if (found.empty()) {
    return Error{ErrorKind::kInput, folder.string() + ": no trace in this folder or below it",
                 "traces are looked for by name: *.json, *.json.gz, *.json.zst; a file of another "
                 "name can be given itself"};
  }
  std::sort(found.begin(), found.end(), [](const fs::path& a, const fs::path& b) {
    return NaturalLess(a.string(), b.string());
  });
  return found;
}

}  // namespace

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
    TRACEDB_ASSIGN(found, TracesBelow(input, on_note));
    for (const fs::path& file : found) files.emplace_back(file, input);
  }
  return files;
}

}  // namespace tracedb
