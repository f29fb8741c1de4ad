#include "sources/settings/settings_reader.h"

#include "sources/read/code_or_document.h"
#include "sources/settings/settings_lines.h"

namespace tracedb {
namespace {

constexpr std::string_view kTrainingNames[] = {
    "MODEL",         "NNODES",           "NODE_RANK",         "NPROC_PER_NODE",   "GPUS_PER_NODE",
    "MASTER_ADDR",   "MASTER_PORT",      "WORLD_SIZE",        "NUM_LAYERS",       "HIDDEN_SIZE",
    "SEQ_LENGTH",    "DP_SIZE",          "TP_SIZE",           "PP_SIZE",          "TENSOR_MP_SIZE",
    "PARTITION",     "PIPELINE_MP_SIZE", "GLOBAL_BATCH_SIZE", "MICRO_BATCH_SIZE", "TRAIN_ITERS",
    "NUM_ATTN_HEADS"};

std::string_view TakeLine(std::string_view& text, bool& is_whole) {
  const size_t end = text.find('\n');
  is_whole = end != std::string_view::npos;
  std::string_view line = text.substr(0, end);
  text.remove_prefix(is_whole ? end + 1 : text.size());
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool IsTrainingName(std::string_view name) {
  for (const std::string_view known : kTrainingNames) {
    if (name == known) return true;
  }
  return false;
}

// Every line is a variable or a remark, and two of them are a training job's.
bool IsVariables(const SourceHead& head) {
  int known = 0;
  std::string_view rest = head.text;
  while (!rest.empty()) {
    bool is_whole = false;
    const std::string_view line = TakeLine(rest, is_whole);
    if (!is_whole && !head.is_whole) break;  // the rest of it is not there
    if (line.empty() || line.starts_with('#')) continue;
    std::string_view name, written;
    if (!SplitVariable(line, name, written) || !IsOnlyAVariable(written)) return false;
    known += IsTrainingName(name) ? 1 : 0;
  }
  return known >= 2;
}

bool IsAccounting(std::string_view text) {
  bool is_whole = false;
  const std::string_view header = TakeLine(text, is_whole);
  return is_whole && IsSacctHeader(header) &&
         CountBars(TakeLine(text, is_whole)) == CountBars(header);
}

bool HoldsDirectives(std::string_view text) {
  bool is_whole = false;
  while (!text.empty()) {
    if (IsDirective(TakeLine(text, is_whole))) return true;
  }
  return false;
}

}  // namespace

bool SettingsReader::Fits(const SourceHead& head) const {
  if (head.text.find('\0') != std::string_view::npos || IsCodeOrDocument(head)) return false;
  return HoldsDirectives(head.text) || IsAccounting(head.text) || IsVariables(head);
}

Status SettingsReader::Read(SourceText& text, SourceRows& rows) const {
  TRACEDB_ASSIGN(lines, SettingsLines::Make(rows));
  std::string_view line;
  while (true) {
    TRACEDB_ASSIGN(is_line, text.NextLine(line));
    if (!is_line) return Done{};
    if (text.was_cut()) {
      rows.issues.Add("too_long_line", text.line_offset(), line);
      continue;
    }
    TRACEDB_TRY(lines->Take(line, text.line_number(), text.line_offset()));
  }
}

}  // namespace tracedb
