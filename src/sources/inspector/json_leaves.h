// The values of one JSON object, each with the path of its keys: "coll_perf.coll_sn". Lenient where
// writers are careless: numbers as bare hex (0x262ca50) and words without quotes (ncclFloat32) are
// values.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace tracedb {

struct JsonLeaf {
  std::string_view path;   // elements of arrays have that of the array
  std::string_view token;  // of a string what is between its quotes, with its escapes
  bool is_string = false;
};

// Finds where objects end, as text comes a line at a time.
class JsonDepth {
 public:
  // Bytes of `text` up to where the first open object ends, it included; npos: it does not.
  size_t EndIn(std::string_view text);
  bool is_open() const { return depth_ > 0; }
  void Reset() { *this = JsonDepth(); }

 private:
  size_t depth_ = 0;
  bool in_string_ = false;
  bool is_escaped_ = false;
};

class JsonLeaves {
 public:
  static constexpr size_t kDepthMax = 64;
  // Calls `leaf` for each value of `object`. False: its structure cannot be told.
  bool Read(std::string_view object, const std::function<void(const JsonLeaf&)>& leaf);

 private:
  struct Level {
    bool is_object;
    size_t path_bytes;  // of path_, outside this level's keys
  };
  bool Value(const std::function<void(const JsonLeaf&)>& leaf);
  bool Key();
  bool Open(bool is_object);
  void SkipBlanks();
  bool String(std::string_view& inside);

  std::string_view rest_;
  std::string path_;
  Level levels_[kDepthMax];
  size_t depth_ = 0;
};

}  // namespace tracedb
