#include "tracedb/memory/load_limits.h"

#include <algorithm>

#include "tracedb/base/cores.h"

namespace tracedb {

GraphLimits GraphLimits::Of(size_t bytes) {
  GraphLimits limits;
  limits.path_meaning_bytes_max = bytes / 8;
  limits.sum_bytes_max = bytes / 8;
  limits.name_bytes_max = bytes / 16;
  limits.path_update_bytes_max = bytes / 16;
  limits.first_replay_bytes_max = bytes / 16;
  limits.replayed_node_bytes_max = bytes / 16;
  limits.graph_bytes_max = bytes / 16;
  limits.pattern_bytes_max = bytes / 16;
  limits.eager_launch_bytes_max = bytes / 16;
  limits.match_state_bytes_max = bytes / 32;
  limits.captured_launch_bytes_max = bytes / 64;
  limits.capture_bytes_max = bytes / 8;
  limits.fitting_bytes_max = bytes / 64;
  return limits;
}

LoadLimits LoadLimits::For(size_t memory_bytes, unsigned threads) {
  constexpr size_t kMiB = size_t{1} << 20;
  LoadLimits limits;
  limits.memory_bytes = std::max(memory_bytes, kMemoryBytesMin);
  const unsigned cores = CoresToUse();
  // Reading keeps one core busy; on two, a second parser takes it away from the reader for longer
  // than it helps (bench/README.md).
  limits.parsers = threads != 0 ? threads : std::clamp(cores - 1, 1u, 6u);
  // Program and libraries take 12 to 14 MiB. Of the rest, half is for the parsers: each needs
  // windows and batches on their way, an index of four bytes for each byte of a window, and its
  // dictionary and layouts. The other half is shared out below; tests/unit adds it all up.
  const size_t spare = limits.memory_bytes - 14 * kMiB;
  limits.window_bytes = std::clamp(spare / 116 / 65536 * 65536, 4 * 65536 * size_t{1}, kMiB);
  limits.dictionary_bytes_max = std::clamp(spare / 64, kMiB / 2, 64 * kMiB);
  const size_t each_parser = 8 * limits.window_bytes + 2 * limits.dictionary_bytes_max;
  const size_t parsers_max = std::max<size_t>(1, spare / 2 / each_parser);
  limits.parsers = static_cast<unsigned>(std::min<size_t>(limits.parsers, parsers_max));
  // Eight cores or more: pieces are unpacked side by side, with the memory of a parser.
  constexpr unsigned kPiecesCoresMin = 8;
  constexpr unsigned kPiecesParsersMin = 5;  // to have one to spare
  if ((threads != 0 ? threads + 1 : cores) >= kPiecesCoresMin && parsers_max >= kPiecesParsersMin) {
    limits.parsers = static_cast<unsigned>(std::min<size_t>(limits.parsers, parsers_max - 1));
    limits.unpack_threads = 3;
    limits.unpack_bytes_max = each_parser;
  }
  // Sixteen: three threads that unpack take longer than three that parse.
  constexpr unsigned kManyCoresMin = 16;
  if (limits.unpack_threads > 0 && (threads != 0 ? threads + 1 : cores) >= kManyCoresMin) {
    limits.parsers = static_cast<unsigned>(std::min<size_t>(limits.parsers, parsers_max - 2));
    limits.unpack_threads = 4;
    limits.unpack_bytes_max += each_parser;
  }
  // Three cores or more: unpacking takes half of the time that the reader needs.
  if (limits.parsers > 1) limits.read_ahead_bytes = std::min(kMiB, limits.window_bytes);
  if (limits.unpack_threads > 0) {  // which outrun the reader
    limits.read_ahead_bytes = 4 * limits.window_bytes;
    limits.unpack_bytes_max -= limits.read_ahead_bytes;
  }
  // Six lots of rows, and three buffers of pages.
  constexpr size_t kWriteSpareMin = 48 * kMiB;
  if (limits.has_cores_to_spare() && spare >= kWriteSpareMin) limits.write_bytes_max = 3 * kMiB;
  limits.event_bytes_max = std::clamp(spare / 48, limits.window_bytes, 16 * kMiB);
  limits.header_bytes_max = spare / 64;
  limits.open_bytes_max = spare / 16;
  limits.export_bytes_max = spare / 8;
  limits.gpu_activity_bytes_max = spare / 20;
  limits.host_slice_bytes_max = spare / 40;
  limits.long_slice_bytes_max = spare / 100;
  limits.launch_call_bytes_max = spare / 80;
  limits.communication_bytes_max = spare / 80;
  limits.launch_lot_bytes_max = std::max(spare / 20, kMiB);
  limits.sort_bytes_max = std::max(spare / 20, kMiB);
  limits.step_bytes_max = spare / 128;
  limits.track_bytes_max = spare / 20;
  limits.args_group_bytes_max = spare / 128;
  // SQLite and the text take 6 MiB beside the program, and blocks that are freed are not all given
  // back.
  if (cores > 1) limits.source_ahead_bytes = kMiB / 2;
  limits.source_bytes_max = limits.memory_bytes - limits.memory_bytes / 8 - 18 * kMiB;
  limits.host.call_path_bytes_max = spare / 16;
  limits.host.recent_path_bytes_max = spare / 40;
  limits.host.host_use_bytes_max = spare / 12;
  limits.host.kernel_use_bytes_max = spare / 48;
  limits.host.sync_use_bytes_max = spare / 96;
  limits.host.sync_call_bytes_max = spare / 96;
  limits.host.graph_call_bytes_max = spare / 96;
  limits.graphs = GraphLimits::Of(spare / 4);
  limits.sqlite_cache_kib = static_cast<int64_t>(std::min(spare / 16, 64 * kMiB) / 1024);
  return limits;
}

}  // namespace tracedb
