-- title: Grids of kernels that are named, as compare takes them
--
-- One row for each of the activities that are asked for which has a grid.
--
-- param:  run     text = null  This run only; all of them when null.
-- param:  slices  text = '[]'  The activities: a JSON list of slice_id.
--
-- column: run       text     The run: one training job that was recorded.
-- column: slice_id  int(id)  The activity, in slices.
-- column: grid      text     Blocks, as [x,y,z].
-- column: block     text     Threads of a block, as [x,y,z].
--
-- empty:  None of these activities has a grid.

SELECT t.run, k.slice_id, k.grid, k.block
FROM json_each(:slices) j CROSS JOIN kernels k ON k.slice_id = j.value
     JOIN traces t ON t.trace_id = k.trace_id
WHERE k.grid IS NOT NULL AND (:run IS NULL OR t.run = :run)
ORDER BY k.slice_id;
