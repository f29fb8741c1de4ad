// Python's pickles as plain values, without ever running anything.
//
// A pickle is a program for a machine with a stack, and may tell it to import and call whatever it
// likes. This machine knows numbers, texts, tuples, lists, dictionaries and sets only, which is
// what PyTorch's dumps consist of; at anything else it stops with an error that names it.
// DECISION-own-pickle-reader.md weighs the other ways.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sources/values/pickle_scalars.h"
#include "sources/values/plain_values.h"
#include "sources/values/source_bytes.h"
#include "tracedb/base/result.h"

namespace tracedb {

class PickleReader {
 public:
  PickleReader(SourceBytes& bytes, PlainValues& values)
      : bytes_(bytes), values_(values), scalars_(bytes, values) {}

  // An error: it is no pickle, not one of plain values, or does not fit in the bound. Of one that
  // breaks off, what came before.
  Result<ValueId> Read();
  bool is_cut() const { return is_cut_; }

 private:
  enum class Next { kGoOn, kStop, kCut };

  Result<Next> Run(unsigned char opcode);
  Result<Next> RunContainer(unsigned char opcode);
  Result<Next> RunMemo(unsigned char opcode);
  Error Refusal(unsigned char opcode);

  void Push(ValueId value);
  std::optional<ValueId> Pop();
  std::optional<std::vector<ValueId>> PopToMark();
  Result<Next> AddPopped(ValueKind kind, bool to_mark);
  Result<Next> PushTuple(size_t count);
  Status SetMemo(uint64_t place);
  Result<Next> PushMemo(uint64_t place);
  ValueId Rest();
  Error Wrong(const std::string& what) const;

  SourceBytes& bytes_;
  PlainValues& values_;
  PickleScalars scalars_;
  std::vector<ValueId> stack_;
  std::vector<size_t> marks_;  // how high the stack was
  std::vector<ValueId> memo_;
  uint64_t opcode_at_ = 0;
  bool is_cut_ = false;
};

}  // namespace tracedb
