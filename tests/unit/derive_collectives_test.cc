// DeriveCollectives against SQL with window functions, of random traces.

#include "derive/collectives/derive_collectives.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "random_json.h"
#include "tracedb/base/sqlite_db.h"
#include "tracedb/ingest/load/trace_load.h"

namespace tracedb {
namespace {

namespace fs = std::filesystem;

std::string CollectiveArgs(test::Random& random) {
  const std::string collective =
      random.Pick({"allreduce", "send", "recv", "Send", "_allgather_base"});
  const std::string group = random.Pick({"0", "1", "2", ""});
  const std::string ranks = random.Pick({"[0, 1]", "[0, 1, 2, 3]"});
  std::string args = R"("Collective name":")" + collective + R"(","dtype":")" +
                     random.Pick({"Float", "BFloat16", "Float8_e4m3fn", "odd"}) +
                     R"(","In msg nelems":)" + std::to_string(random.Between(0, 3)) +
                     R"(,"Out msg nelems":)" + std::to_string(random.Between(0, 3));
  if (!random.OneIn(9)) args += R"(,"Process Group Name":")" + group + '"';
  if (!random.OneIn(9)) args += R"(,"Process Group Ranks":")" + ranks + '"';
  if (!random.OneIn(3)) args += R"(,"Group size":)" + std::string(ranks.size() > 8 ? "4" : "2");
  if (!random.OneIn(3)) args += R"(,"Dst Rank":)" + std::to_string(random.Between(0, 3));
  if (!random.OneIn(3)) args += R"(,"Src Rank":)" + std::to_string(random.Between(0, 3));
  if (random.OneIn(2)) args += R"(,"Seq":)" + std::to_string(random.Between(0, 40));
  return args;
}

// Kernels of one device that start at few times, some within coalesced operators, some without
// launch or step.
void WriteTrace(const fs::path& path, int64_t rank, int64_t kernels, test::Random& random) {
  std::ofstream file(path);
  file << R"({"distributedInfo":{"rank":)" << rank << R"(},"traceEvents":[)"
       << R"({"ph":"X","cat":"user_annotation","name":"ProfilerStep#5","pid":1,"tid":1,)"
       << R"("ts":1000,"dur":20000})";
  for (int64_t number = 1; number <= kernels; ++number) {
    const std::string ts = std::to_string(random.Between(0, kernels * 5));
    if (random.OneIn(4)) {
      file << ",\n"
           << R"({"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":1,"tid":1,"ts":)" << ts
           << R"(,"dur":2,"args":{"External id":)" << random.Between(1, kernels / 4) << ','
           << CollectiveArgs(random) << "}}";
    }
    if (random.OneIn(2)) {
      file << ",\n"
           << R"({"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":)"
           << ts << R"(,"dur":1,"args":{"correlation":)" << number << "}}";
    }
    file << ",\n"
         << R"({"ph":"X","cat":"kernel","name":"ncclDevKernel_X","pid":0,"tid":7,"ts":)"
         << random.Between(0, kernels * 5);
    if (!random.OneIn(9)) file << R"(,"dur":)" << random.Between(0, 9);
    file << R"(,"args":{"device":0,"stream":)" << 7 + random.Below(2) << R"(,"correlation":)"
         << number;
    if (random.OneIn(2)) file << R"(,"External id":)" << random.Between(1, kernels / 4);
    if (!random.OneIn(4)) file << ',' << CollectiveArgs(random);
    file << "}}";
  }
  file << "]}";
}

std::string WantedSql(int64_t rank) {
  const std::string own = std::to_string(rank);
  return R"(
WITH fact AS MATERIALIZED (
  SELECT a.id, p.group_id, a.collective, a.dtype,
    CASE lower(a.dtype) WHEN 'float' THEN 4 WHEN 'bfloat16' THEN 2
                        WHEN 'float8_e4m3fn' THEN 1 END AS element,
    a.in_nelems, a.out_nelems, ifnull(a.group_size, p.size) <= 2 AS of_two,
    iif(lower(a.collective) = 'recv', a.src_rank, NULL) AS src,
    iif(lower(a.collective) = 'send', a.dst_rank, NULL) AS dst
  FROM _args_text a LEFT JOIN _process_group p
    ON p.name = ifnull(a.group_name, '') AND p.ranks = a.group_ranks AND a.collective IS NOT NULL),
op AS MATERIALIZED (
  SELECT s.external_id, s.args_text AS fact, s.collective_seq AS seq
  FROM _cpu_slice s JOIN _event_name n ON n.id = s.event_name JOIN fact f ON f.id = s.args_text
  WHERE n.name = 'record_param_comms' AND s.external_id IS NOT NULL AND f.group_id IS NOT NULL
    AND s.id = (SELECT min(o.id) FROM _cpu_slice o JOIN _event_name m ON m.id = o.event_name
                JOIN fact e ON e.id = o.args_text
                WHERE m.name = 'record_param_comms' AND o.external_id = s.external_id
                  AND e.group_id IS NOT NULL)),
item AS MATERIALIZED (
  SELECT g.id, g.ts + t.base_ns AS ts_ns, g.dur,
    iif(own.group_id IS NULL AND o.fact IS NOT NULL, o.fact, g.args_text) AS fact,
    iif(own.group_id IS NULL AND o.fact IS NOT NULL, o.seq, g.collective_seq) AS seq
  FROM _gpu_slice g JOIN _track t ON t.id = g.track LEFT JOIN fact own ON own.id = g.args_text
    LEFT JOIN op o ON o.external_id = g.external_id
  WHERE g.kind = 1),
paired AS MATERIALIZED (
  SELECT i.*, f.group_id, f.collective, f.dtype, f.in_nelems * f.element AS in_bytes,
    f.out_nelems * f.element AS out_bytes, f.of_two, coalesce(f.dst, f.src) AS peer,
    iif(f.group_id IS NULL, NULL,
        coalesce()" +
         own + R"( || '>' || f.dst, f.src || '>' || )" + own + R"()) AS pair
  FROM item i LEFT JOIN fact f ON f.id = i.fact),
counted AS (
  SELECT *, seq IS NOT NULL AND (pair IS NULL OR of_two) AS by_seq,
    row_number() OVER (PARTITION BY group_id ORDER BY ts_ns, id) AS ordinal,
    row_number() OVER (PARTITION BY group_id, pair ORDER BY ts_ns, id) AS of_pair,
    row_number() OVER (PARTITION BY group_id, pair, seq ORDER BY ts_ns, id) AS of_seq
  FROM paired)
SELECT c.id, )" +
         own + R"(, 1, 1, c.group_id, iif(c.group_id IS NULL, NULL, c.ordinal), c.seq,
  c.collective, c.dtype, c.in_bytes, c.out_bytes, c.ts_ns, c.dur, c.peer, l.step, l.launch_ts_ns,
  ifnull(c.pair, '') || iif(c.by_seq AND c.of_seq > 1, '#' || c.of_seq, ''), c.by_seq,
  iif(c.by_seq, c.seq, c.of_pair)
FROM counted c LEFT JOIN _launch l ON l.id = c.id)";
}

int64_t CountOf(SqliteDb& db, const std::string& sql) {
  auto count = db.Integer(sql);
  EXPECT_TRUE(count.ok()) << count.error().what;
  return count.ok() ? count.value() : -1;
}

TEST(DeriveCollectives, parts_are_what_window_functions_make_of_them) {
  std::string name = testing::TempDir() + "derive_collectives_test_XXXXXX";
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  const fs::path folder = name;
  test::Random random(77);
  LoadOptions options;
  // The last has more rows than fit in what is sorted at a time.
  for (const int64_t kernels : {8, 60, 900, 6000}) {
    options.limits = LoadLimits::For(LoadLimits::kMemoryBytesMin, 1);
    const int64_t rank = kernels % 7 % 4;
    const fs::path trace = folder / (std::to_string(kernels) + ".json");
    WriteTrace(trace, rank, kernels, random);
    const fs::path database = trace.string() + ".db";
    const auto loaded = LoadTrace(trace, database, options);
    ASSERT_TRUE(loaded.ok()) << loaded.error().what;
    auto opened = SqliteDb::Open(database, SqliteMode::kReadWrite);
    ASSERT_TRUE(opened.ok());
    SqliteDb& db = opened.value();
    const Status made = db.Execute("CREATE TEMP TABLE wanted AS " + WantedSql(rank));
    ASSERT_TRUE(made.ok()) << made.error().what;
    const std::string got = "SELECT * FROM _collective_part";
    const std::string wanted = "SELECT * FROM temp.wanted";
    EXPECT_EQ(CountOf(db, "SELECT count(*) FROM _collective_part"), kernels);
    EXPECT_EQ(CountOf(db, "SELECT count(*) FROM (" + got + " EXCEPT " + wanted + ")"), 0);
    EXPECT_EQ(CountOf(db, "SELECT count(*) FROM (" + wanted + " EXCEPT " + got + ")"), 0);
    if (kernels < 900) continue;
    // What is compared is there.
    EXPECT_GT(CountOf(db, "SELECT count(*) FROM _collective_part WHERE pair LIKE '%>%#%'"), 0);
    EXPECT_GT(CountOf(db, "SELECT count(*) FROM _collective_part WHERE by_seq = 0 AND seq > 0"), 0);
    EXPECT_GT(CountOf(db, "SELECT count(*) FROM _collective_part WHERE group_id IS NULL"), 0);
    EXPECT_GT(CountOf(db, "SELECT count(*) FROM _collective_part WHERE step = 5"), 0);
    // The index has what the table has.
    EXPECT_EQ(CountOf(db,
                      "SELECT count(*) FROM pragma_integrity_check WHERE "
                      "integrity_check <> 'ok'"),
              0);
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace tracedb
