// What communicators are for, by what programs call them: names that were seen in traces of
// Megatron-LM, NeMo, DeepSpeed, TorchTitan, vLLM and PyTorch's own meshes.
#include "tracedb/schema/parallelism.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tracedb/base/sqlite_db.h"
#include "tracedb/schema/schema_sql.h"

namespace tracedb {
namespace {

ParallelismRules RulesOf(const std::string& more) {
  auto db = SqliteDb::OpenInMemory();
  EXPECT_TRUE(db.value().Execute(TablesSql() + more).ok());
  auto rows = db.value().Prepare("SELECT pattern, parallelism FROM parallelism_rules");
  std::vector<ParallelismRule> rules;
  while (rows.value().Step().value()) {
    const auto name =
        std::find(kParallelismNames.begin(), kParallelismNames.end(), rows.value().Text(1));
    rules.push_back({std::string(rows.value().Text(0)),
                     static_cast<Parallelism>(name - kParallelismNames.begin())});
  }
  return ParallelismRules(rules);
}

TEST(Parallelism, descriptions_of_the_field) {
  const ParallelismRules rules = RulesOf("");
  const auto expect = [&rules](Parallelism wanted, std::initializer_list<const char*> names) {
    for (const char* name : names) EXPECT_EQ(rules.Of(name), wanted) << name;
  };
  expect(Parallelism::kData,
         {"DATA_PARALLEL_GROUP", "DATA_PARALLEL_GROUP_WITH_CP", "DATA_PARALLEL_GROUP_WITH_CP_GLOO",
          "EXPERT_DATA_PARALLEL_GROUP", "INTRA_DISTRIBUTED_OPTIMIZER_INSTANCE_GROUP",
          "INTRA_EXPERT_DATA_PARALLEL_GROUP", "mesh_dp", "mesh_dp_shard", "mesh_dp_replicate",
          "mesh_dp_shard_cp", "mesh_dp_cp", "mesh_dp_shard_mod_ep", "mesh_fsdp", "dp:0"});
  expect(Parallelism::kTensor, {"TENSOR_MODEL_PARALLEL_GROUP", "mesh_tp", "tp:0", "attn_tp",
                                "EXPERT_TENSOR_PARALLEL_GROUP", "mesh_etp"});
  expect(Parallelism::kPipeline, {"PIPELINE_MODEL_PARALLEL_GROUP", "mesh_pp", "pp:0"});
  expect(Parallelism::kExpert, {"EXPERT_MODEL_PARALLEL_GROUP", "mesh_ep", "ep:0", "moe_ep",
                                "EXPERT_TENSOR_AND_MODEL_PARALLEL_GROUP", "expert_parallel"});
  expect(Parallelism::kContext, {"CONTEXT_PARALLEL_GROUP", "mesh_cp", "sequence_parallel",
                                 "HIERARCHICAL_CONTEXT_PARALLEL_GROUPS"});
  expect(Parallelism::kOther,
         {"", "default_pg", "world", "EMBEDDING_GROUP", "POSITION_EMBEDDING_GROUP",
          "MODEL_PARALLEL_GROUP", "TENSOR_AND_DATA_PARALLEL_GROUP",
          "TENSOR_AND_DATA_PARALLEL_GROUP_WITH_CP", "TENSOR_AND_CONTEXT_PARALLEL_GROUP",
          "EXPERT_TENSOR_MODEL_PIPELINE_PARALLEL_GROUP", "mesh_default", "adapter", "undefined"});
}

TEST(Parallelism, rules_of_a_person_decide_where_they_are_longer) {
  const ParallelismRules rules =
      RulesOf("INSERT INTO parallelism_rules VALUES ('_mesh_rows_', 'tensor')");
  EXPECT_EQ(rules.Of("mesh_rows"), Parallelism::kTensor);
  EXPECT_EQ(rules.Of("mesh_columns"), Parallelism::kOther);
  EXPECT_EQ(ParallelismRules().Of("DATA_PARALLEL_GROUP"), Parallelism::kOther);
}

}  // namespace
}  // namespace tracedb
