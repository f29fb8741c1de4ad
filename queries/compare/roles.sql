-- title: What part each rank has, as compare aligns ranks
--
-- One row for each rank that was recorded, with its places as the view rank_places has them.
--
-- param:  run  text  = null  This run only; all of them when null.
--
-- column: run       text        The run: one training job that was recorded.
-- column: rank      int(id)     The rank.
-- column: tensor    int(count)  Its place in its tensor parallel group; NULL: in none that has two
--                               ranks or more. So are the next ones.
-- column: context   int(count)  In its context parallel group.
-- column: pipeline  int(count)  In its pipeline: the stage.
-- column: data      int(count)  In its data parallel group.
-- column: expert    int(count)  In its expert parallel group.
--
-- empty:  No trace is in the database.

SELECT r.run, p.rank, p.tensor, p.context, p.pipeline, p.data, p.expert
FROM rank_places p JOIN runs r ON r.run_id = p.run_id
WHERE :run IS NULL OR r.run = :run
ORDER BY p.run_id, p.rank;
