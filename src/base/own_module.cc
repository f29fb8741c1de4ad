#include "tracedb/base/own_module.h"

#include <dlfcn.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace tracedb {
namespace {

Error CannotLoad(std::string_view module, std::string_view why) {
  return Error{ErrorKind::kOutput, "a part of tracedb cannot be loaded: " + std::string(why),
               "install tracedb again: " + std::string(module) +
                   " belongs beside the program, or in " TRACEDB_MODULE_FOLDER " as seen from it"};
}

}  // namespace

Result<void*> ModuleFunction(const char* module, const char* function) {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return CannotLoad(module, "/proc/self/exe: " + error.message());
  std::filesystem::path file = program.parent_path() / module;
  if (!std::filesystem::exists(file, error)) {
    file = program.parent_path() / TRACEDB_MODULE_FOLDER / module;
  }
  void* const loaded = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) {
    const char* const said = dlerror();
    return CannotLoad(module, said == nullptr ? file.string() : said);
  }
  const auto* const version =
      static_cast<const char* const*>(dlsym(loaded, "tracedb_module_version"));
  void* const found = dlsym(loaded, function);
  if (version == nullptr || found == nullptr || std::string_view(*version) != TRACEDB_VERSION) {
    return CannotLoad(module, std::string(module) + " is not of tracedb " TRACEDB_VERSION);
  }
  return found;
}

}  // namespace tracedb
