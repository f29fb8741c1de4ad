// A JSON file as plain values: for those that have to be in memory as a whole.
#pragma once

#include <vector>

#include "sources/values/json_tokens.h"
#include "sources/values/plain_values.h"
#include "tracedb/base/result.h"

namespace tracedb {

class JsonReader {
 public:
  JsonReader(SourceBytes& bytes, PlainValues& values) : tokens_(bytes), values_(values) {}

  // An error: the values do not fit in their bound. Of a text that breaks off, or is no JSON from
  // some place on, what came before.
  Result<ValueId> Read();
  bool is_cut() const { return is_cut_; }
  uint64_t offset() const { return tokens_.offset(); }  // where it broke off

 private:
  struct Open {
    ValueId container;
    std::vector<ValueId> items;  // not in it yet; of a dictionary keys and values
    bool is_dict;
  };
  bool Add(ValueId value);
  bool Close(bool is_dict);
  bool Take(JsonToken token);

  JsonTokens tokens_;
  PlainValues& values_;
  std::vector<Open> open_;
  ValueId root_ = 0;
  bool has_root_ = false;
  bool is_cut_ = false;
};

}  // namespace tracedb
