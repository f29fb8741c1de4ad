-- title: In which collective a job hung, and which rank is missing
--
-- From the dumps of PyTorch's flight recorder (nccl_trace_rank_*). In each process group the ranks
-- are followed through its collectives, by their number, to the first that is not done everywhere:
-- called by some and not by others, called as another operation or of other sizes, or called by all
-- and not done. One row for each rank of such a group; the groups in the order in which their
-- trouble began. The recorder keeps the last calls only: from where all ranks have them on they are
-- compared. Sizes are compared where they must be equal. Sends and receives are not compared, but
-- count in rank_in. Of several dumps of a rank the last one read counts. A dump that breaks off
-- says nothing of the calls after that, but how many there were, where its status came before.
--
-- param:  run  text  = null  This run only; all of them when null.
--
-- column: run             text        The run.
-- column: number          int(count)  The group's number, by when its trouble began.
-- column: group_name      text        The process group.
-- column: group_description  text     What it is for.
-- column: group_ranks     text        Its ranks, a JSON list; NULL: not told, and any rank without
--                                     a call of the group may be missing.
-- column: collective_seq  int(count)  Which of its collectives.
-- column: verdict         text        What is wrong with it, of the whole group.
-- column: rank            int(id)     A rank of the group.
-- column: is_culprit      int(count)  1: it is the one that is missing or differs; NULL: not known.
-- column: name            text        What it called there; NULL: not called, or no dump of it.
-- column: state           text        scheduled, started, completed, not called, no longer kept,
--                                     cut off (the dump ends before it), or no dump.
-- column: input_sizes     text        Of what it called there.
-- column: output_sizes    text        Likewise.
-- column: last_seq        int(count)  Its last collective of the group, of one cut off the last
--                                     that is known.
-- column: called_ms       real(ms)    When it called, since the first rank did.
-- column: rank_in         text        The first call of the rank, of any group, that is not done.
-- column: call            text        The innermost frame of the call, where it was recorded.
--
-- about:  communication
-- empty:  Every collective that the dumps tell of is done on all ranks (`tracedb doctor` names
--         those that break off), or no dump of the flight recorder (nccl_trace_rank_N, of
--         TORCH_NCCL_DUMP_ON_TIMEOUT=1) is in the database.
-- lead:   group_description, collective_seq, verdict, rank, is_culprit, name, state

WITH dump AS MATERIALIZED (  -- is_cut: its last calls are lost
  SELECT *, EXISTS (SELECT 1 FROM issues i WHERE i.source_id = s.source_id
                      AND i.kind IN ('cut_short', 'damaged_compression')) AS is_cut
  FROM (SELECT run, rank, max(source_id) AS source_id FROM sources
        WHERE kind = 'flight recorder' AND rank IS NOT NULL AND (:run IS NULL OR run = :run)
        GROUP BY run, rank) s
),
known AS MATERIALIZED (  -- a group as a dump has it
  SELECT d.run, d.rank, d.source_id, g.group_name, coalesce(g.description, '') AS description,
         CASE WHEN json_valid(g.ranks) AND json_type(g.ranks) = 'array'
                AND json_array_length(g.ranks) > 0 THEN json(g.ranks) END AS ranks,
         g.last_enqueued
  FROM dump d JOIN flight_groups g ON g.source_id = d.source_id
),
called AS MATERIALIZED (
  SELECT d.run, d.rank, f.source_id, f.group_name, coalesce(f.description, '') AS description,
         coalesce((SELECT max(k.ranks) FROM known k WHERE k.source_id = f.source_id
                     AND k.group_name = f.group_name),
                  (SELECT max(k.ranks) FROM known k  -- where its own are lost, as others have them
                   WHERE d.is_cut AND k.run = d.run
                     AND k.group_name = f.group_name
                     AND k.description = coalesce(f.description, '')
                     AND d.rank IN (SELECT value FROM json_each(k.ranks))
                   HAVING count(DISTINCT k.ranks) = 1)) AS ranks,
         f.collective_seq AS seq, group_concat(f.name, ' + ') AS name,
         group_concat(f.input_sizes, ' + ') AS input_sizes,
         group_concat(f.output_sizes, ' + ') AS output_sizes,
         group_concat(f.input_dtypes, ' + ') AS dtypes,
         CASE WHEN min(f.state = 'completed') THEN 'completed'
           WHEN max(f.state <> 'scheduled') THEN 'started' ELSE 'scheduled' END AS state,
         min(f.created_ns) AS created_ns, max(f.frames) AS frames
  FROM (SELECT * FROM flight_records ORDER BY source_id, record_id, op_id) f
  JOIN dump d ON d.source_id = f.source_id
  WHERE coalesce(f.is_p2p, 0) = 0 AND f.collective_seq IS NOT NULL AND f.name IS NOT NULL
    AND (f.state IS NOT NULL OR NOT d.is_cut)
  GROUP BY f.source_id, f.group_name, f.description, f.collective_seq
),
team AS MATERIALIZED (
  SELECT run, group_name, description, ranks FROM called
  GROUP BY run, group_name, description, ranks
),
member AS MATERIALIZED (  -- ranks of a group, with a dump or without
  SELECT t.run, t.group_name, t.description, t.ranks, j.value AS rank
  FROM team t CROSS JOIN json_each(t.ranks) j WHERE t.ranks IS NOT NULL
  UNION
  SELECT run, group_name, description, ranks, rank FROM called WHERE ranks IS NULL
),
reach AS MATERIALIZED (  -- how far each came; a rank that never called has no first_seq
  SELECT m.run, m.group_name, m.description, m.ranks, m.rank, d.source_id,
         d.is_cut, min(c.seq) AS first_seq, max(c.seq) AS kept_seq,
         CASE WHEN d.is_cut THEN max(max(k.last_enqueued, coalesce(c.seq, 0)))  -- NULL: not known
           ELSE coalesce(max(c.seq), max(max(k.last_enqueued, 0)),
                         CASE WHEN d.rank IS NOT NULL THEN 0 END) END AS last_seq
  FROM member m LEFT JOIN dump d ON d.run = m.run AND d.rank = m.rank
  LEFT JOIN called c ON c.source_id = d.source_id AND c.group_name = m.group_name
    AND c.description = m.description AND c.ranks IS m.ranks
  LEFT JOIN known k ON k.source_id = d.source_id AND k.group_name = m.group_name
  GROUP BY m.run, m.group_name, m.description, m.ranks, m.rank
),
bound AS MATERIALIZED (
  SELECT run, group_name, description, ranks, max(first_seq) AS floor_seq,
         min(last_seq) AS least_seq
  FROM reach GROUP BY run, group_name, description, ranks
),
seen AS MATERIALIZED (  -- a collective as all dumps have it
  SELECT b.run, b.group_name, b.description, b.ranks, c.seq, count(*) AS parts,
         b.least_seq < c.seq AS is_missing, min(c.created_ns) AS created_ns,
         sum(c.state = 'completed') AS completed, sum(c.state = 'scheduled') AS scheduled,
         count(DISTINCT c.name) AS names,
         count(DISTINCT CASE WHEN c.name LIKE '%all_reduce%' OR c.name LIKE '%allreduce%'
                               OR c.name LIKE '%broadcast%' OR c.name LIKE '%_all_gather_base%'
                               OR c.name LIKE '%_reduce_scatter_base%'
                             THEN coalesce(c.input_sizes, '') || ' -> '
                                  || coalesce(c.output_sizes, '') END) AS sizes,
         count(DISTINCT CASE WHEN c.name LIKE '%all_reduce%' OR c.name LIKE '%allreduce%'
                             THEN c.dtypes END) AS dtypes
  FROM bound b JOIN called c ON c.run = b.run AND c.group_name = b.group_name
    AND c.description = b.description AND c.ranks IS b.ranks
  WHERE c.seq >= b.floor_seq
  GROUP BY b.run, b.group_name, b.description, b.ranks, c.seq
),
trouble AS MATERIALIZED (
  SELECT run, group_name, description, ranks, min(seq) AS seq FROM seen
  WHERE names > 1 OR sizes > 1 OR dtypes > 1 OR is_missing OR completed < parts
  GROUP BY run, group_name, description, ranks
),
part AS MATERIALIZED (  -- each rank at that collective
  SELECT t.*, r.rank, r.source_id,
         coalesce(r.last_seq, r.kept_seq) AS last_seq, c.name, c.input_sizes, c.output_sizes,
         c.dtypes,
         CASE WHEN r.source_id IS NULL THEN 'no dump' WHEN c.state IS NOT NULL THEN c.state
           WHEN r.is_cut AND t.seq > coalesce(r.kept_seq, 0)
             THEN iif(t.seq > r.last_seq, 'not called', 'cut off')
           WHEN r.last_seq >= t.seq THEN 'no longer kept' ELSE 'not called' END AS state,
         c.created_ns, c.frames,
         count(*) OVER (PARTITION BY t.run, t.group_name, t.description, t.ranks, c.name) AS alike,
         count(*) OVER (PARTITION BY t.run, t.group_name, t.description, t.ranks, c.name,
                                     c.input_sizes, c.output_sizes, c.dtypes) AS alike_sizes
  FROM trouble t JOIN reach r ON r.run = t.run AND r.group_name = t.group_name
    AND r.description = t.description AND r.ranks IS t.ranks
  LEFT JOIN called c ON c.source_id = r.source_id AND c.group_name = t.group_name
    AND c.description = t.description AND c.ranks IS t.ranks AND c.seq = t.seq
),
kind AS MATERIALIZED (
  SELECT p.*, s.created_ns AS first_ns, s.parts,
         CASE WHEN s.names > 1 THEN 'operation' WHEN s.is_missing THEN 'missing'
           WHEN s.sizes > 1 OR s.dtypes > 1 THEN 'sizes'
           WHEN max(p.state IN ('no dump', 'cut off')) OVER of_team OR p.ranks IS NULL
             THEN 'unknown'
           WHEN s.scheduled > 0 AND s.scheduled + s.completed < s.parts THEN 'scheduled'
           WHEN s.completed > 0 THEN 'some' WHEN s.scheduled > 0 THEN 'untimed'
           ELSE 'started' END AS kind,
         max(p.alike) OVER of_team AS most_alike, max(p.alike_sizes) OVER of_team AS most_sizes
  FROM part p JOIN seen s ON s.run = p.run AND s.group_name = p.group_name
    AND s.description = p.description AND s.ranks IS p.ranks AND s.seq = p.seq
  WINDOW of_team AS (PARTITION BY p.run, p.group_name, p.description, p.ranks)
),
judged AS MATERIALIZED (
  SELECT *,
         CASE WHEN state IN ('no dump', 'no longer kept', 'cut off') THEN NULL
           WHEN kind = 'missing' THEN state = 'not called'
           WHEN kind = 'operation' THEN
             CASE WHEN 2 * most_alike > parts THEN name IS NOT NULL AND alike < most_alike END
           WHEN kind = 'sizes' THEN
             CASE WHEN 2 * most_sizes > parts THEN alike_sizes < most_sizes END
           WHEN kind = 'scheduled' THEN state = 'scheduled'
           WHEN kind = 'some' THEN state <> 'completed' END AS is_culprit
  FROM kind
),
said AS MATERIALIZED (
  SELECT run, group_name, description, ranks, max(kind) AS kind, min(first_ns) AS first_ns,
         group_concat(CASE WHEN is_culprit THEN rank END, ', ') AS culprits,
         group_concat(CASE WHEN state = 'no dump' THEN rank END, ', ') AS without_dump,
         group_concat(CASE WHEN state = 'cut off' THEN rank END, ', ') AS cut_off
  FROM (SELECT * FROM judged ORDER BY rank) GROUP BY run, group_name, description, ranks
),
numbered AS MATERIALIZED (
  SELECT *, row_number() OVER (PARTITION BY run ORDER BY first_ns, group_name, description, ranks)
              AS number
  FROM said
),
inside AS MATERIALIZED (  -- by rank
  SELECT source_id, text FROM (
    SELECT f.source_id, f.name || ' ' || coalesce(CASE WHEN f.is_p2p THEN f.p2p_seq END,
             f.collective_seq, '') || ' of ' || coalesce(f.description, f.group_name, '?') AS text,
           row_number() OVER (PARTITION BY f.source_id ORDER BY f.record_id, f.op_id) AS place
    FROM flight_records f JOIN dump d ON d.source_id = f.source_id WHERE f.state <> 'completed')
  WHERE place = 1
)
SELECT
  j.run,
  n.number,
  j.group_name,
  nullif(j.description, '') AS group_description,
  j.ranks AS group_ranks,
  j.seq AS collective_seq,
  CASE n.kind
    WHEN 'missing' THEN 'not called by rank ' || n.culprits
    WHEN 'operation' THEN 'different operations'
      || coalesce(': another one by rank ' || n.culprits, ', nobody tells which is right')
    WHEN 'sizes' THEN 'different sizes or types'
      || coalesce(': others by rank ' || n.culprits, ', nobody tells which is right')
    WHEN 'unknown' THEN 'cannot tell: called by all whose dump is there'
    WHEN 'scheduled' THEN 'called by all; not begun by the GPU of rank ' || n.culprits
      || ', which is busy with something before it'
    WHEN 'some' THEN 'called by all; not done on rank ' || n.culprits || ' alone'
    WHEN 'untimed' THEN 'called by all, and done by none: cannot tell whose GPU has begun it '
      || '(TORCH_NCCL_ENABLE_TIMING was off)'
    ELSE 'called and begun by all, and done by none: cannot tell which of them is stuck' END
    || coalesce('; no dump of rank ' || n.without_dump, '')
    || coalesce('; the dump of rank ' || n.cut_off || ' breaks off before it', '')
    || CASE WHEN j.ranks IS NULL THEN '; which ranks the group has is not told' ELSE '' END
    AS verdict,
  j.rank,
  j.is_culprit,
  j.name,
  j.state,
  j.input_sizes,
  j.output_sizes,
  j.last_seq,
  (j.created_ns - n.first_ns) / 1e6 AS called_ms,
  i.text AS rank_in,
  substr(j.frames, 1, instr(j.frames || char(10), char(10)) - 1) AS call
FROM judged j JOIN numbered n ON n.run = j.run AND n.group_name = j.group_name
  AND n.description = j.description AND n.ranks IS j.ranks
LEFT JOIN inside i ON i.source_id = j.source_id
ORDER BY j.run, n.number, j.rank;
