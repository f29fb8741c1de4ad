#include "sources/read/code_or_document.h"

#include <string>
#include <string_view>

#include "sources/read/text_words.h"

namespace tracedb {
namespace {

constexpr std::string_view kOtherEnds[] = {
    ".md",  ".rst", ".py",   ".pyi", ".ipynb", ".c",    ".cc",  ".cpp",  ".cxx",  ".cu",    ".cuh",
    ".h",   ".hh",  ".hpp",  ".rs",  ".go",    ".java", ".js",  ".ts",   ".css",  ".html",  ".htm",
    ".xml", ".sql", ".json", ".csv", ".tsv",   ".yaml", ".yml", ".toml", ".ini",  ".cmake", ".tex",
    ".pdf", ".png", ".jpg",  ".svg", ".npz",   ".npy",  ".pt",  ".pkl",  ".diff", ".patch"};

bool IsCodeLine(std::string_view line) {
  if (line.starts_with("```") || line.starts_with("#include ") || line.starts_with("#pragma ") ||
      line.starts_with("<!DOCTYPE") || line.starts_with("<html")) {
    return true;
  }
  if (line.starts_with("def ") || line.starts_with("class ")) return line.ends_with(':');
  if (line.starts_with("import ")) return line.find(' ', 7) == std::string_view::npos;
  return line.starts_with("from ") && line.find(" import ") != std::string_view::npos;
}

}  // namespace

bool IsCodeOrDocument(const SourceHead& head) {
  std::string name(head.file_name);
  for (const std::string_view packed : {".gz", ".zst"}) {
    if (name.ends_with(packed)) name.resize(name.size() - packed.size());
  }
  for (const std::string_view end : kOtherEnds) {
    if (name.ends_with(end)) return true;
  }
  std::string_view rest = head.text;
  while (!rest.empty()) {
    if (IsCodeLine(TakeTextLine(rest))) return true;
  }
  return false;
}

}  // namespace tracedb
