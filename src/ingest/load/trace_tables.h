// Which tables have rows of one trace, and by which of its numbers.
#pragma once

#include <array>

namespace tracedb {

// Beside the tables of its events: by the numbers of its texts, by those of its events, and by its
// own.
inline constexpr std::array<const char*, 3> kTextTables = {"_event_name", "_track", "_args_text"};
inline constexpr std::array<const char*, 4> kRowTables = {"_step", "_row_times", "_launch",
                                                          "_impossible_time"};
inline constexpr std::array<const char*, 17> kTraceTables = {
    "_trace",         "_process",     "_thread",       "_issue",         "_host_use",
    "_kernel_use",    "_sync_use",    "_step_use",     "_call_path",     "_busy_segment",
    "_device_use",    "_stream_use",  "_memory_piece", "_graph_capture", "_captured_launch",
    "_captured_call", "_graph_launch"};

}  // namespace tracedb
