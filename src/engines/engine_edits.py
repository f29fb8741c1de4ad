"""Which queries and views engines have, and where their text differs for what engines lack."""
from typing import NamedTuple

QUERIES = (
    "annotations clock_pairs clocks expert_imbalance info_captures info_issues info_runs "
    "info_streams info_traces kernels_by_op metrics module_time nccl_bandwidth nccl_stall_ranks "
    "nccl_stall_roots nccl_stalls nccl_unmatched ops_top overlap overlap_by_group overlap_by_step "
    "pipeline_bubbles step_times straggler_steps stream_utilization time_partition").split()

VIEWS = (
    "args_texts captures clock_residuals collective_causes collectives device_uses host_uses "
    "issues kernel_uses kernels matched_collectives origin process_groups rank_clocks runs "
    "step_uses steps stream_uses traces").split()

# Of files that are no traces: summaries have none of them.
EMPTY = {"inspector_collectives", "inspector_matched", "inspector_communicators", "gpu_samples",
         "rank_clock_samples", "rank_gpus", "_source_issue", "sources"}

# Written for engines alone: they have no subqueries that look up the last of many for each row.
MATCHED = """
WITH met_part AS (
  SELECT slice_id AS id, capture_id, group_id, pair, by_seq, match_no, rank, dur_ns,
         aligned_ts_ns - zero_ns AS start_ns
  FROM collectives CROSS JOIN origin WHERE group_id IS NOT NULL
),
met_place AS (
  SELECT id, capture_id, group_id, pair, by_seq, match_no, rank, dur_ns, start_ns,
         row_number() OVER (PARTITION BY capture_id, group_id, pair, by_seq, match_no
                            ORDER BY start_ns DESC, rank, id) AS from_last,
         row_number() OVER (PARTITION BY capture_id, group_id, pair, by_seq, match_no
                            ORDER BY start_ns, rank, id) AS from_first
  FROM met_part
),
met_instance AS (
  SELECT capture_id, group_id, pair, by_seq, match_no, min(id) AS any_id, count(*) AS ranks_met,
         CASE WHEN min(rank) < max(rank) THEN 1 ELSE 0 END AS is_met, min(start_ns) AS first_ns,
         max(start_ns) AS last_ns, sum(start_ns) AS sum_ns,
         min(CASE WHEN dur_ns >= 0 THEN dur_ns END) AS transfer_ns,
         max(CASE WHEN from_last = 1 THEN id END) AS last_id,
         max(CASE WHEN from_first = 1 THEN rank END) AS first_rank
  FROM met_place GROUP BY capture_id, group_id, pair, by_seq, match_no
),
met_shortest AS (
  SELECT group_id, coalesce(collective, '') AS collective, coalesce(in_bytes, -1) AS in_bytes,
         coalesce(out_bytes, -1) AS out_bytes, min(dur_ns) AS shortest_ns
  FROM _collective_part WHERE group_id IS NOT NULL AND dur_ns >= 0
  GROUP BY group_id, coalesce(collective, ''), coalesce(in_bytes, -1), coalesce(out_bytes, -1)
),
met_whole AS (
  SELECT c.capture_id FROM captures c JOIN runs r ON r.run_id = c.run_id WHERE c.ranks = r.ranks
)
SELECT p.id AS slice_id, p.trace_id, p.capture_id, p.group_id, p.collective, p.dtype, p.ordinal,
       p.seq, p.step,
       CASE WHEN coalesce(p.in_bytes, p.out_bytes) > coalesce(p.out_bytes, p.in_bytes)
            THEN p.in_bytes ELSE coalesce(p.out_bytes, p.in_bytes) END AS bytes,
       i.ranks_met, i.first_rank, CASE WHEN i.last_ns > i.first_ns THEN p.rank END AS last_rank,
       i.first_ns + zero_ns AS first_start_ns, i.last_ns + zero_ns AS last_start_ns,
       i.ranks_met * i.last_ns - i.sum_ns AS wait_ns, i.last_ns - i.first_ns AS max_wait_ns,
       i.transfer_ns, 0 AS is_estimate
FROM met_instance i CROSS JOIN origin JOIN _collective_part p ON p.id = i.last_id
WHERE i.is_met = 1
UNION ALL
SELECT p.id AS slice_id, p.trace_id, p.capture_id, p.group_id, p.collective, p.dtype, p.ordinal,
       p.seq, p.step,
       CASE WHEN coalesce(p.in_bytes, p.out_bytes) > coalesce(p.out_bytes, p.in_bytes)
            THEN p.in_bytes ELSE coalesce(p.out_bytes, p.in_bytes) END AS bytes,
       1 AS ranks_met, p.rank AS first_rank, NO_INT() AS last_rank,
       i.first_ns + zero_ns AS first_start_ns, NO_INT() AS last_start_ns,
       p.dur_ns - s.shortest_ns AS wait_ns, p.dur_ns - s.shortest_ns AS max_wait_ns,
       s.shortest_ns AS transfer_ns, 1 AS is_estimate
FROM met_instance i CROSS JOIN origin JOIN _collective_part p ON p.id = i.any_id
     JOIN _process_group g ON g.group_id = p.group_id
     JOIN met_whole w ON w.capture_id = i.capture_id
     JOIN met_shortest s ON s.group_id = p.group_id
       AND s.collective = coalesce(p.collective, '') AND s.in_bytes = coalesce(p.in_bytes, -1)
       AND s.out_bytes = coalesce(p.out_bytes, -1)
WHERE i.is_met = 0 AND p.dur_ns >= 0 AND g.size > 1
"""

# Of kernels the summaries have names of those that communicate.
KERNELS = """
SELECT p.id AS slice_id, l.name
FROM _collective_part p LEFT JOIN _event_name l ON l.id = p.event_name
"""

WHOLE = {"views/matched_collectives": MATCHED, "views/kernels": KERNELS}

class Between(NamedTuple):
    """What stands from `begin` up to `end`, without that."""
    begin: str
    end: str

    def of(self, text):
        """That stretch; where there is none, what stands nowhere."""
        at = text.find(self.begin)
        end = text.find(self.end, at + 1)
        return f"{self.begin} ... {self.end}" if at < 0 or end < 0 else text[at:end]


# What stands in a text, and what engines get in its place: columns that a group has but one of are
# named in GROUP BY, lists become rows of their own, and lookups of one row become joins.
EDITS = {
    "views/process_groups": [
        (""",
       coalesce(nullif(g.description, ''), nullif(g.name, ''), 'group') || ' of ' || g.size || ' '
       || CASE WHEN length(g.ranks) <= 24 THEN g.ranks
               ELSE rtrim(substr(g.ranks, 1, 18), '0123456789') || '...]' END AS short_name""", ""),
    ],
    "views/stream_uses": [("u.rowid AS stream_id, ", "")],
    "views/clock_residuals": [("rowid AS pair_id", "row_id AS pair_id")],
    "info_issues": [
        ("ON f.trace_id = i.trace_id OR f.source_id = i.source_id", "ON f.trace_id = i.trace_id"),
        ("NULL AS source_id", "NO_INT() AS source_id"),
    ],
    "views/issues": [("NULL AS source_id", "NO_INT() AS source_id")],
    "info_runs": [("strftime('%Y-%m-%d %H:%M:%S', r.start_ns / 1000000000, 'unixepoch')",
                   "UTC_TEXT(r.start_ns / 1000000000)")],
    "info_streams": [
        ("row_number() OVER one AS place",
         "row_number() OVER (PARTITION BY s.trace_id, s.device ORDER BY s.stream) AS place"),
    ],
    "metrics": [
        ("SELECT r.run, d.* FROM",
         "SELECT r.run, d.rank, d.device, d.start_ns, d.end_ns, d.compute_ns, "
         "d.exposed_communication_ns, d.exposed_memory_ns, d.idle_ns FROM"),
        ("kinds(kind) AS (\n"
         "  VALUES ('compute'), ('exposed_communication'), ('exposed_memory'), ('idle')",
         "kinds AS (SELECT 'compute' AS kind UNION ALL SELECT 'exposed_communication' "
         "UNION ALL SELECT 'exposed_memory' UNION ALL SELECT 'idle'"),
        ("GROUP BY trace_id\n", "GROUP BY trace_id, run, rank\n"),
        ("unixepoch(ingested_at)", "EPOCH(ingested_at)"),
        # A column of several branches is of one type.
        ("NULL, NULL, NULL, count(*)\n", "NULL, NULL, NULL, 1e0 * count(*)\n"),
        ("end_ns / 1000000000\n", "1e0 * (end_ns / 1000000000)\n"),
        ("NULL, NULL, NULL, captures\n", "NULL, NULL, NULL, 1e0 * captures\n"),
        ("NULL, NULL, NULL, files\n", "NULL, NULL, NULL, 1e0 * files\n"),
        ("NULL, NULL, NULL, file_bytes\n", "NULL, NULL, NULL, 1e0 * file_bytes\n"),
        ("NULL, NULL, NULL, events\n", "NULL, NULL, NULL, 1e0 * events\n"),
        ("NULL, NULL, NULL, ingested_s\n", "NULL, NULL, NULL, 1e0 * ingested_s\n"),
    ],
    "nccl_stall_roots": [
        ("SELECT *, count(*)",
         "SELECT run_id, run, root_rank, root_cause, root_name, root_short, count(*)"),
        ("GROUP BY run_id, root_rank, root_cause, root_name",
         "GROUP BY run_id, run, root_rank, root_cause, root_name, root_short"),
    ],
    "straggler_steps": [
        ("GROUP BY capture_id, step, root_rank, root_cause, root_name",
         "GROUP BY capture_id, step, root_rank, root_cause, root_name, root_short"),
    ],
    "nccl_bandwidth": [
        ("row_number() OVER () AS kind",
         "row_number() OVER (ORDER BY collective, dtype, bytes, group_id, is_estimate) AS kind"),
    ],
    "nccl_unmatched": [
        ("FROM process_groups g CROSS JOIN json_each(g.ranks) j\n"
         "  CROSS JOIN traces t ON t.run_id = g.run_id AND t.rank = j.value",
         "FROM (SELECT group_id, run_id, EACH_INT(ranks) AS rank FROM process_groups) g\n"
         "  JOIN traces t ON t.run_id = g.run_id AND t.rank = g.rank"),
        ("p.peer IS NOT NULL AND (p.capture_id, p.peer) NOT IN (SELECT * FROM there)",
         "p.peer IS NOT NULL AND w.rank IS NULL"),
        ("SELECT capture_id, rank FROM traces", "SELECT DISTINCT capture_id, rank FROM traces"),
        ("LEFT JOIN present h",
         "LEFT JOIN there w ON w.capture_id = p.capture_id AND w.rank = p.peer\n"
         "  LEFT JOIN present h"),
        ("SELECT t.*, coalesce(t.collective, (SELECT k.name FROM kernels k\n"
         "                                      WHERE k.slice_id = t.slice_id)) AS name\n"
         "  FROM told t",
         "SELECT t.*, coalesce(t.collective, k.name) AS name\n"
         "  FROM told t LEFT JOIN kernels k ON k.slice_id = t.slice_id"),
        ("GROUP BY n.trace_id, n.name, n.group_id, n.reason",
         "GROUP BY r.run_id, r.run, r.capture, r.rank, g.description, g.ranks, n.trace_id, "
         "n.name, n.group_id, n.reason"),
    ],
    "expert_imbalance": [
        ("collectives c JOIN activity_times a ON a.slice_id = c.slice_id\n"
         "  JOIN tracks t ON t.track_id = a.track_id",
         "collectives c JOIN _collective_part q ON q.id = c.slice_id\n"
         "  JOIN _track t ON t.id = q.track"),
        ("sum(p.in_bytes = p.out_bytes) = count(*)",
         "sum(CASE WHEN p.in_bytes = p.out_bytes THEN 1 ELSE 0 END) = count(*)"),
        ("FROM load GROUP BY number)", "FROM load GROUP BY capture_id, group_id, step, number) w"),
        # Segments that end before it add nothing.
        (Between("ifnull((SELECT sum(max(0, min(b.end_ns", "),\nlead AS"),
         "ifnull(sum(max(0, min(b.ts_ns + b.dur_ns, l.ts_ns) - max(b.ts_ns, l.before_ns))), 0)\n"
         "           AS compute_ns\n"
         "  FROM load l LEFT JOIN _busy_segment b ON b.trace_id = l.trace_id\n"
         "    AND b.device = l.device AND b.kinds IN (1, 3, 5, 7) AND b.ts_ns < l.ts_ns\n"
         "    AND b.ts_ns + b.dur_ns > l.before_ns\n"
         "  WHERE l.way = 2 AND l.before_ns IS NOT NULL\n"
         "  GROUP BY l.number, l.capture_id, l.group_id, l.step, l.way, l.trace_id, l.rank,\n"
         "    l.device, l.ts_ns, l.before_ns, l.start_ns, l.bytes\n"),
        ("SELECT l.*,\n", "SELECT l.number, l.capture_id, l.group_id, l.step, l.way, l.trace_id, "
         "l.rank,\n    l.device, l.ts_ns, l.before_ns, l.start_ns, l.bytes,\n"),
        ("lead AS", "leader AS"), ("FROM lead l", "FROM leader l"),
        ("GROUP BY l.number, l.of_step", "GROUP BY l.number, l.of_step, l.rank"),
        ("min(f.start_ns - w.start_ns, f.compute_ns - w.compute_ns,",
         "min(f.start_ns - w.start_ns, min(f.compute_ns - w.compute_ns,"),
        ("CAST(round(1.0 * (f.bytes - w.bytes) * s.compute_ns / s.bytes)\n"
         "                                   AS INTEGER)",
         "ROUND_INT(1.0 * (f.bytes - w.bytes) * s.compute_ns / s.bytes))"),
        ("g.most_bytes / nullif(g.mean_bytes, 0)", "1.0 * g.most_bytes / nullif(g.mean_bytes, 0)"),
    ],
    "overlap_by_group": [
        ("collectives p CROSS JOIN activities g ON g.slice_id = p.slice_id\n"
         "  CROSS JOIN tracks t ON t.track_id = g.track_id",
         "_collective_part p JOIN _track t ON t.id = p.track"),
        ("FROM busy_segments WHERE kinds & 3 = 3", "FROM _busy_segment WHERE kinds IN (3, 7)"),
        # Spark takes "so_far - at_ns" for one name.
        ("sum(both_ns) OVER so_far", "(sum(both_ns) OVER so_far)"),
        ("max(iif(sign IS NULL, at_ns + both_ns, NULL)) OVER so_far",
         "(max(iif(sign IS NULL, at_ns + both_ns, NULL)) OVER so_far)"),
        ("GROUP BY r.run_id, r.rank, u.device, u.group_id",
         "GROUP BY r.run_id, r.run, r.rank, u.device, u.group_id"),
    ],
    "overlap_by_step": [
        (Between("other AS MATERIALIZED", "used AS ("),
         "cuts AS (SELECT DISTINCT trace_id, rank FROM device_uses\n"
         "  WHERE trace_id IN (SELECT trace_id FROM trace)),\n"),
        (Between("SELECT trace_id, device, step, from_ns, to_ns, ifnull(sums",
                 "SELECT trace_id, device, step, start_ns, end_ns, compute_ns"), ""),
        # Of thousands of streams: only that rank's own database can cut its time. Numbers in
        # place of NULL keep the row until that is said.
        ("SELECT trace_id, device, step, start_ns, end_ns, compute_ns, communication_ns, "
         "overlap_ns,\n         exposed_memory_ns\n"
         "  FROM step_uses WHERE trace_id IN (SELECT trace_id FROM trace)",
         "SELECT d.trace_id, s.device, s.step, coalesce(s.start_ns, 0) AS from_ns,\n"
         "         coalesce(s.end_ns, 1) AS to_ns,\n"
         "         s.compute_ns, s.communication_ns, s.overlap_ns, s.exposed_memory_ns\n"
         "  FROM cuts d LEFT JOIN step_uses s ON s.trace_id = d.trace_id\n"
         "  WHERE IS_CUT(s.trace_id, d.rank)"),
    ],
    "pipeline_bubbles": [
        ("CROSS JOIN activities g ON g.slice_id = p.slice_id\n"
         "  CROSS JOIN tracks t ON t.track_id = g.track_id",
         "JOIN _collective_part q ON q.id = p.slice_id JOIN _track t ON t.id = q.track"),
        ("r.value AS rank\n  FROM process_groups g, json_each(g.ranks) r",
         "EACH_INT(g.ranks) AS rank\n  FROM process_groups g"),
        ("\n    AND EXISTS (SELECT 1 FROM message)", ""),
        ("EXISTS (SELECT 1 FROM across a WHERE a.group_id = p.group_id AND a.rank = p.rank)",
         "a.rank IS NOT NULL"),
        ("\n  WHERE p.dur_ns > 0",
         "\n  LEFT JOIN across a ON a.group_id = p.group_id AND a.rank = p.rank\n"
         "  WHERE p.dur_ns > 0"),
        ("min(first_ns) AS from_ns, max(last_ns) AS to_ns\n  FROM step_activities\n  WHERE",
         "min(start_ns) AS from_ns, max(end_ns) AS to_ns\n  FROM _step_last\n"
         "  WHERE step IS NOT NULL AND"),
        ("exchanged AS (",
         "below AS (\n"
         "  SELECT a.group_id, a.rank, count(b.rank) AS stage\n"
         "  FROM (SELECT DISTINCT group_id, rank FROM message) a\n"
         "  LEFT JOIN member b ON b.group_id = a.group_id AND b.rank < a.rank\n"
         "  GROUP BY a.group_id, a.rank\n),\nexchanged AS ("),
        ("max((SELECT count(*) FROM json_each(ranks) WHERE value < rank)) AS stage",
         "max(d.stage) AS stage"),
        ("SELECT trace_id, device, step, max(size) AS stages",
         "SELECT e.trace_id, e.device, e.step, max(e.size) AS stages"),
        ("FROM message WHERE step IS NOT NULL\n  GROUP BY trace_id, device, step\n",
         "FROM message e LEFT JOIN below d ON d.group_id = e.group_id AND d.rank = e.rank\n"
         "  WHERE e.step IS NOT NULL\n  GROUP BY e.trace_id, e.device, e.step\n"),
        ("SELECT s.*, e.stages",
         "SELECT s.trace_id, s.device, s.step, s.from_ns, s.to_ns, e.stages"),
        ("SELECT s.*, u.idle_ns",
         "SELECT s.trace_id, s.device, s.step, s.from_ns, s.to_ns, s.stages, s.stage,\n"
         "         s.microbatches, u.idle_ns"),
        # Each GPU's waits are looked through for each of its phases.
        (Between("moment AS (", "part AS"), ""),
        (Between("FROM batched b CROSS JOIN", ",\nbegun AS"),
         "FROM wait w JOIN phase f ON f.trace_id = w.trace_id AND f.device = w.device\n"
         "    AND w.start_ns < f.to_ns AND w.end_ns > f.from_ns\n)"),
        (Between("begun AS", "measured AS"), ""),
        (Between("(SELECT sum(max(0, min(b.end_ns, p.to_ns)", ",\nused AS"),
         "sum(max(0, min(b.ts_ns + b.dur_ns, p.to_ns) - max(b.ts_ns, p.from_ns))) AS busy_ns\n"
         "  FROM part p LEFT JOIN _busy_segment b ON b.trace_id = p.trace_id\n"
         "    AND b.device = p.device AND b.ts_ns < p.to_ns AND b.ts_ns + b.dur_ns > p.from_ns\n"
         "    AND (p.waits IS NULL OR b.kinds = 2)\n"
         "  GROUP BY p.number, p.phase, p.waits, p.from_ns, p.to_ns\n)"),
        ("WITH RECURSIVE", "WITH"),
    ],
    "step_times": [
        ("FROM step_activities",
         "FROM (SELECT trace_id, device, step, activities, start_ns AS first_ns,\n"
         "    end_ns AS last_ns, busy_ns FROM _step_last WHERE step IS NOT NULL) l"),
        ("\n         max(is_summed) AS is_summed,", ""),
        (Between("iif(g.is_summed, g.busy_ns,", "/ 1e6\n    AS idle_before_ms"), "g.busy_ns) "),
    ],
    "ops_top": [
        ("use AS (", "called AS ("), ("FROM use)", "FROM called)"),
        ("FROM use u LEFT", "FROM called u LEFT"),
        # Their patterns of names are others.
        (Between("own_kernel AS", "placed AS"), ""),
        (Between(",\n  CASE WHEN m.any_could", "\nFROM placed"), ""),
        (Between("LEFT JOIN multiplies", "WHERE u.place"), ""),
    ],
}
