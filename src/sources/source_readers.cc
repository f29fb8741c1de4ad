#include "tracedb/sources/source_readers.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "sources/gpu_samples/gpustat.h"
#include "sources/gpu_samples/nvidia_smi_csv.h"
#include "sources/gpu_samples/nvidia_smi_dmon.h"
#include "sources/gpu_samples/nvidia_smi_table.h"
#include "sources/inspector/inspector_reader.h"
#include "sources/logs/log_reader.h"
#include "sources/ncu/ncu_reader.h"
#include "sources/settings/settings_reader.h"
#include "sources/torch_dumps/flight_recorder.h"
#include "sources/torch_dumps/memory_snapshot.h"
#include "sources/torch_dumps/memory_timeline.h"

namespace tracedb {
namespace {

std::string_view WithoutBlanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  return text;
}

// `text` begins with `token`, which is taken off with the blanks after it.
bool Take(std::string_view& text, std::string_view token) {
  if (!text.starts_with(token)) return false;
  text = WithoutBlanks(text.substr(token.size()));
  return true;
}

// A trace, which most files are: no reader has to look through it.
bool IsTrace(std::string_view text) {
  constexpr std::string_view kEvents = "traceEvents\"";  // rarer than with the quote in front
  text = WithoutBlanks(text);
  if (Take(text, "[")) return Take(text, "{") && Take(text, "\"ph\"") && Take(text, ":");
  if (!text.starts_with('{')) return false;
  const size_t events = text.find(kEvents);
  if (events == std::string_view::npos || text[events - 1] != '"') return false;
  text = WithoutBlanks(text.substr(events + kEvents.size()));
  return Take(text, ":") && text.starts_with('[');
}

}  // namespace

std::span<const SourceReader* const> SourceReaders() {
  static const NvidiaSmiCsv nvidia_smi_csv;
  static const NvidiaSmiDmon nvidia_smi_dmon;
  static const NvidiaSmiTable nvidia_smi_table;
  static const Gpustat gpustat;
  static const NcuReader ncu;
  static const InspectorReader inspector;
  static const NcuMetricsReader ncu_metrics;
  static const MemorySnapshot memory_snapshot;
  static const MemoryTimeline memory_timeline;
  static const FlightRecorder flight_recorder;
  static const LogReader logs;
  static const SettingsReader settings;
  static const std::vector<const SourceReader*> readers = {
      &nvidia_smi_csv,    //
      &nvidia_smi_dmon,   //
      &nvidia_smi_table,  //
      &gpustat,           //
      &ncu,               //
      &inspector,         //
      &ncu_metrics,       //
      &memory_snapshot,   //
      &memory_timeline,   //
      &flight_recorder,   //
      &logs,              //
      &settings,
  };
  return readers;
}

const SourceReader* TellSource(const SourceHead& given) {
  SourceHead head = given;
  head.text = WithoutByteOrderMark(head.text);
  if (IsTrace(head.text)) return nullptr;
  for (const SourceReader* reader : SourceReaders()) {
    if (reader->Fits(head)) return reader;
  }
  return nullptr;
}

}  // namespace tracedb
