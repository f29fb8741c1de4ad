// The parts of the page that are the same for every database, as src/cmake/EmbedPage.cmake compiled
// them in.
#pragma once

#include <string_view>

namespace tracedb {

struct PagePart {
  std::string_view text;
  std::string_view sha256;  // of the text, 64 hexadecimal digits
};

PagePart ChartLibrary();  // d3
PagePart PageScript();
PagePart PageStyle();
std::string_view ChartLibraryLicence();

}  // namespace tracedb
