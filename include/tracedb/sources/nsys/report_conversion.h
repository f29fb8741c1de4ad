// A report of Nsight Systems (.nsys-rep) made an export by its own program, where that is
// installed.
#pragma once

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "tracedb/base/result.h"

namespace tracedb {

class ReportConversion {
 public:
  // Whether there is an nsys in PATH.
  static bool IsPossible();
  // Runs nsys export. The export is in a folder of its own beside the database, which goes with
  // this object; what a killed process has left there goes before. An error of kNoTrace: there is
  // no nsys in PATH, and its advice says what to do.
  static Result<std::shared_ptr<const ReportConversion>> Run(const std::filesystem::path& report,
                                                             const std::filesystem::path& database,
                                                             const std::atomic<bool>& stop);
  ~ReportConversion();
  ReportConversion(const ReportConversion&) = delete;
  ReportConversion& operator=(const ReportConversion&) = delete;

  std::filesystem::path made() const { return std::filesystem::path(folder_) / "export.sqlite"; }

 private:
  explicit ReportConversion(std::string folder) : folder_(std::move(folder)) {}

  std::string folder_;  // empty: there is none
};

}  // namespace tracedb
