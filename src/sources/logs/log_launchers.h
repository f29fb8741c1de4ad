// What stands in front of every line because of how a job was started and its output collected:
// pdsh's "worker-3: ", Open MPI's "[1,3]<stdout>:", "[pod/job/pytorch] ", syslog's machine and
// process. Each function takes it off the beginning of `text`; false: it is something else.
#pragma once

#include <cstddef>
#include <string_view>

#include "sources/logs/log_line.h"

namespace tracedb {

bool IsLogLevel(std::string_view word);

// Brackets at the beginning of `text`, up to `close`.
bool TakeLauncherBracket(std::string_view& text, size_t close, LogLine& line);
// "Nov 22 00:50:19 node7 torchrun[4711]: ", which has no year, and so no time.
bool TakeSyslog(std::string_view& text, LogLine& line);
// "I1122 00:50:19.082800  4711 training.py:77] ", which has none either.
bool TakeGlog(std::string_view& text, LogLine& line);
// "worker-3  | " of Docker Compose.
bool TakeComposeName(std::string_view& text, LogLine& line);
// After a date: " stdout F " of containerd, " node7 torchrun[4711]: " of journald,
// " | INFO     | train:log:77 - " of loguru, " - root - INFO - " of Python's logging.
void TakeBehindStamp(std::string_view& text, LogLine& line);

}  // namespace tracedb
