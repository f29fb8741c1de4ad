#include <unistd.h>

#include "cli_commands.h"
#include "tracedb/text/pager_output.h"

namespace tracedb {

Status WriteForPerson(const GlobalOptions& global,
                      const std::function<Status(OutputStream&)>& write) {
  const auto pager = isatty(STDOUT_FILENO) == 1 && !global.no_pager ? FindPager() : std::nullopt;
  const auto lines = ScreenLines();
  if (!pager.has_value() || !lines.has_value()) {
    DescriptorOutput output(STDOUT_FILENO, "standard output");
    TRACEDB_TRY(write(output));
    return output.Flush();
  }
  PagerOutput output(*pager, *lines);
  Status written = write(output);
  Status shown = output.Finish();
  return written.ok() ? shown : written;
}

}  // namespace tracedb
