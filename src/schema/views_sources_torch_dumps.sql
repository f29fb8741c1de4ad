-- What PyTorch itself dumps beside traces.

CREATE VIEW memory_segments AS
-- A stretch of memory that the caching allocator had from the device when a memory snapshot was
-- dumped.
--   run: a name in runs
--   rank: as the file's name tells it
--   device: GPU
--   segment_id: its number in the file
--   address: where it begins
--   total_bytes: its length
--   allocated_bytes: of that, in blocks that are in use
--   active_bytes: these and those that are free once their stream is done
--   requested_bytes: what was asked for, less what is added to blocks
--   stream: for which it was taken
--   segment_type: large or small
--   is_expandable: of expandable_segments
--   frames: the stack that took it, where it was recorded, a frame a line, the innermost first
--   source_id: in sources
--   others: JSON of what else the dump says of it
SELECT s.run, s.rank, m.device, m.segment_id, m.address, m.total_bytes, m.allocated_bytes,
       m.active_bytes, m.requested_bytes, m.stream, m.segment_type, m.is_expandable, k.frames,
       m.source_id, m.others
FROM _memory_segment m JOIN sources s ON s.source_id = m.source_id
     LEFT JOIN _dump_stack k ON k.source_id = m.source_id AND k.stack_id = m.stack_id;

CREATE VIEW memory_blocks AS
-- A block of such a segment.
--   run: a name in runs
--   rank: as the file's name tells it
--   device: GPU
--   segment_id: in memory_segments
--   block_id: its number in the file
--   address: where it begins
--   bytes: its length
--   requested_bytes: what was asked for
--   state: active_allocated, active_pending_free (awaiting its stream) or inactive
--   frames: the stack that asked for it, where it was recorded, a frame a line, the innermost first
--   stack_id: the same as a number in the file
--   source_id: in sources
SELECT s.run, s.rank, g.device, b.segment_id, b.block_id, b.address, b.bytes, b.requested_bytes,
       b.state, k.frames, b.stack_id, b.source_id
FROM _memory_block b JOIN sources s ON s.source_id = b.source_id
     LEFT JOIN _memory_segment g ON g.source_id = b.source_id AND g.segment_id = b.segment_id
     LEFT JOIN _dump_stack k ON k.source_id = b.source_id AND k.stack_id = b.stack_id;

CREATE VIEW memory_trace_entries AS
-- What the caching allocator did before a memory snapshot was dumped, as far as it was recorded.
--   run: a name in runs
--   rank: as the file's name tells it
--   device: GPU
--   entry_id: its number in the file: the order in which it was done on a device
--   at_ns: Unix time, where the dump has it
--   action: alloc, free_requested, free_completed, segment_alloc, segment_free, segment_map,
--     segment_unmap, snapshot, oom ...
--   address: of what; NULL for oom
--   bytes: how many
--   stream: for which
--   device_free_bytes: what the device had left, of oom
--   frames: the stack, where it was recorded, a frame a line, the innermost first
--   source_id: in sources
--   others: JSON of what else the dump says of it
SELECT s.run, s.rank, e.device, e.entry_id, e.at_ns, e.action, e.address, e.bytes, e.stream,
       e.device_free_bytes, k.frames, e.source_id, e.others
FROM _memory_trace_entry e JOIN sources s ON s.source_id = e.source_id
     LEFT JOIN _dump_stack k ON k.source_id = e.source_id AND k.stack_id = e.stack_id;

CREATE VIEW memory_categories AS
-- How much memory tensors of each category held from a moment on: export_memory_timeline of
-- PyTorch's profiler.
--   run: a name in runs
--   rank: as the file's name tells it
--   at_ns: Unix time; NULL: before the profiler began
--   total_bytes: of all categories
--   parameter_bytes: parameters
--   optimizer_state_bytes: states of optimizers
--   input_bytes: inputs
--   temporary_bytes: temporaries
--   activation_bytes: activations
--   gradient_bytes: gradients
--   autograd_detail_bytes: what autograd holds
--   unknown_bytes: of no category
--   moment: its number in the file, from 1
--   source_id: in sources
SELECT s.run, s.rank, c.at_ns,
       c.parameter + c.optimizer_state + c.input + c.temporary + c.activation + c.gradient
         + c.autograd_detail + c.unknown AS total_bytes,
       c.parameter AS parameter_bytes, c.optimizer_state AS optimizer_state_bytes,
       c.input AS input_bytes, c.temporary AS temporary_bytes, c.activation AS activation_bytes,
       c.gradient AS gradient_bytes, c.autograd_detail AS autograd_detail_bytes,
       c.unknown AS unknown_bytes, c.moment, c.source_id
FROM _memory_category c JOIN sources s ON s.source_id = c.source_id;

CREATE VIEW memory_category_events AS
-- A change of memory in a timeline of the raw form (*.raw.json.gz).
--   run: a name in runs
--   rank: as the file's name tells it
--   at_ns: Unix time; NULL: before the profiler began
--   action: preexisting, create, increment version or destroy
--   bytes: below 0 given back
--   category: parameter, optimizer state, input, temporary, activation, gradient, autograd detail
--     or unknown
--   event_id: its number in the file, from 1
--   source_id: in sources
SELECT s.run, s.rank, e.at_ns,
       CASE e.action WHEN 1 THEN 'preexisting' WHEN 2 THEN 'create'
         WHEN 3 THEN 'increment version' WHEN 4 THEN 'destroy' END AS action,
       e.bytes,
       CASE e.category WHEN 0 THEN 'parameter' WHEN 1 THEN 'optimizer state' WHEN 2 THEN 'input'
         WHEN 3 THEN 'temporary' WHEN 4 THEN 'activation' WHEN 5 THEN 'gradient'
         WHEN 6 THEN 'autograd detail' ELSE 'unknown' END AS category,
       e.event_id, e.source_id
FROM _memory_category_event e JOIN sources s ON s.source_id = e.source_id;

CREATE VIEW flight_groups AS
-- A process group as a rank's flight recorder knew it when it was dumped (nccl_trace_rank_*).
--   run: a name in runs
--   rank: of whom the dump is, as the file's name tells it
--   group_name: as PyTorch calls it
--   description: what it is for
--   ranks: of the group, a JSON list; NULL: not told
--   last_enqueued: seq of the last collective that was called
--   last_started: seq of the last that its GPU began
--   last_completed: seq of the last that was done
--   source_id: in sources
SELECT s.run, s.rank, g.group_name, g.description, g.ranks, g.last_enqueued, g.last_started,
       g.last_completed, g.source_id
FROM _flight_group g JOIN sources s ON s.source_id = g.source_id;

CREATE VIEW flight_records AS
-- A collective, a send or a receive in a rank's flight recorder (nccl_trace_rank_*).
--   run: a name in runs
--   rank: of whom the dump is, as the file's name tells it
--   group_name: as PyTorch calls it
--   description: what the group is for
--   record_id: its number in the recorder, over all groups
--   collective_seq: which collective of the group
--   p2p_seq: which send or receive of it
--   op_id: which operation, those within a coalesced one counted
--   name: such as nccl:all_reduce
--   state: scheduled, started or completed
--   is_p2p: a send or a receive
--   input_sizes: of its tensors, a JSON list of lists
--   input_dtypes: a JSON list
--   output_sizes: likewise
--   output_dtypes: a JSON list
--   created_ns: Unix time at which it was called
--   started_ns: at which the watchdog saw that the GPU had begun
--   completed_ns: at which it saw that it was done
--   duration_ms: on the GPU, where that was measured
--   timeout_ms: of the group
--   retired: the watchdog was done with it
--   frames: the stack that called it, where it was recorded, a frame a line, the innermost first
--   source_id: in sources
--   others: JSON of what else the dump says of it
SELECT s.run, s.rank, f.group_name, f.description, f.record_id, f.collective_seq, f.p2p_seq,
       f.op_id, f.name, f.state, f.is_p2p, f.input_sizes, f.input_dtypes, f.output_sizes,
       f.output_dtypes, f.created_ns, f.started_ns, f.completed_ns, f.duration_ms, f.timeout_ms,
       f.retired, k.frames, f.source_id, f.others
FROM _flight_record f JOIN sources s ON s.source_id = f.source_id
     LEFT JOIN _dump_stack k ON k.source_id = f.source_id AND k.stack_id = f.stack_id;
