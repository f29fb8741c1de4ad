-- title: What held GPU memory when a snapshot was dumped, by stack
--
-- From memory snapshots (torch.cuda.memory._dump_snapshot): blocks in use, summed by the stack that
-- asked for them, the most first. Stacks are there where the job recorded them
-- (torch.cuda.memory._record_memory_history). Of several dumps of a rank each is by itself.
--
-- param:  limit  int(rows)  = 20    Stacks of each run at most.
-- param:  run    text       = null  This run only; all of them when null.
-- param:  rank   ints(id)   = null  These ranks only; all of them when null.
--
-- column: run              text         The run.
-- column: rank             int(id)      The rank, where the file's name tells it.
-- column: device           int(id)      The GPU.
-- column: file             text         The dump.
-- column: blocks           int(count)   Blocks in use with that stack.
-- column: held_bytes       int(bytes)   Their length.
-- column: requested_bytes  int(bytes)   What was asked for.
-- column: share_pct        real(pct)    Of all blocks in use on the device.
-- column: call             text         The innermost frame outside of PyTorch; NULL: no stack.
-- column: frames           text         The whole stack, the innermost frame first.
--
-- about:  memory
-- lead:   rank, blocks, held_bytes, share_pct, call
-- plot:   bar held_bytes by run, rank, device, call
-- empty:  No memory snapshot is in the database: ingest what torch.cuda.memory._dump_snapshot
--         wrote.

WITH RECURSIVE held AS (
  SELECT b.run, b.rank, b.device, b.source_id, b.stack_id, max(b.frames) AS frames,
         count(*) AS blocks, sum(b.bytes) AS bytes, sum(b.requested_bytes) AS requested_bytes
  FROM memory_blocks b
  WHERE b.state <> 'inactive' AND (:run IS NULL OR b.run = :run)
    AND (:rank IS NULL OR b.rank IN (SELECT value FROM json_each(:rank)))
  GROUP BY b.run, b.rank, b.device, b.source_id, b.stack_id
),
placed AS MATERIALIZED (
  SELECT *, sum(bytes) OVER (PARTITION BY source_id, device) AS all_bytes,
         row_number() OVER (PARTITION BY run
                            ORDER BY bytes DESC, source_id, device, stack_id) AS place
  FROM held
),
line (source_id, stack_id, number, frame, rest) AS (
  SELECT DISTINCT source_id, stack_id, 0, '', frames || char(10) FROM placed
  WHERE place <= coalesce(:limit, 20) AND frames IS NOT NULL
  UNION ALL
  SELECT source_id, stack_id, number + 1, substr(rest, 1, instr(rest, char(10)) - 1),
         substr(rest, instr(rest, char(10)) + 1)
  FROM line WHERE rest <> ''
),
own AS (
  SELECT source_id, stack_id, min(number) AS number FROM line
  WHERE number > 0 AND frame LIKE '%.py:%' AND frame NOT LIKE '%/torch/%'
  GROUP BY source_id, stack_id
)
SELECT
  p.run,
  p.rank,
  p.device,
  s.path AS file,
  p.blocks,
  p.bytes AS held_bytes,
  p.requested_bytes,
  100.0 * p.bytes / p.all_bytes AS share_pct,
  coalesce(l.frame, (SELECT f.frame FROM line f WHERE f.source_id = p.source_id
                       AND f.stack_id = p.stack_id AND f.number = 1)) AS call,
  p.frames
FROM placed p JOIN sources s ON s.source_id = p.source_id
LEFT JOIN own o ON o.source_id = p.source_id AND o.stack_id IS p.stack_id
LEFT JOIN line l ON l.source_id = o.source_id AND l.stack_id = o.stack_id
  AND l.number = o.number
WHERE p.place <= coalesce(:limit, 20)
ORDER BY p.run, p.place;
