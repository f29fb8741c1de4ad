// How a page names its own scripts and style in a Content-Security-Policy.
#pragma once

#include <string>
#include <string_view>

namespace tracedb {

// "'sha256-...'" from 64 hexadecimal digits.
std::string PolicyHash(std::string_view hexadecimal);

}  // namespace tracedb
