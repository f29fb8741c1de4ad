// A file that gets its name when it is ready for it: whoever sees the name sees it as it is to be,
// and a process that is killed before leaves nothing behind.
#pragma once

#include <filesystem>

namespace tracedb {

// An empty file in that folder, open for reading and writing; -1 where the file system, or a system
// without /proc, has no such files.
int OpenNameless(const std::filesystem::path& folder, unsigned mode);

// False with errno, which is EEXIST where something has the name already: that stays as it is.
bool GiveName(int file, const std::filesystem::path& name);

// `start` and 16 random hexadecimal digits, so that nobody can have put anything there before.
std::filesystem::path RandomName(std::filesystem::path start);
// Whether `name`, without folders, is such a name.
bool IsRandomName(const std::filesystem::path& start, const std::filesystem::path& name);

}  // namespace tracedb
