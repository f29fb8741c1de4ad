// What the first chart is of: the states of all GPUs in pieces of time, steps, and words for them.

const kStateGroups = [
  { key: "compute", label: "computing", className: "fill-compute", is: (s) => s.kind === "compute" },
  ...[["tensor", "fill-comm"], ["pipeline", "fill-comm-2"], ["data", "fill-comm-3"],
    ["expert", "fill-comm-4"], ["context", "fill-comm-6"], ["other", "fill-comm-5"]]
    .map(([name, className]) => ({
      key: `comm-${name}`, className,
      label: name === "other" ? "communication: other groups" : `communication: ${name} parallel`,
      is: (s) => s.kind === "comm" && s.parallelism === name,
    })),
  { key: "schedule", label: "waits as the pipeline's schedule has it", className: "fill-schedule",
    is: (s) => s.kind === "schedule" },
  { key: "memory", label: "copies and fills", className: "fill-memory", is: (s) => s.kind === "memory" },
  { key: "idle-host", label: "idle: the host has launched nothing", className: "fill-idle-host",
    is: (s) => s.kind === "idle_host" },
  { key: "idle-sync", label: "idle: the host waits for the GPU", className: "fill-idle-2",
    is: (s) => s.kind === "idle_sync" },
  { key: "idle-dependency", label: "idle: waits for another stream", className: "fill-idle",
    is: (s) => s.kind === "idle_dependency" },
  { key: "idle", label: "idle: short gaps", className: "fill-idle-3", is: (s) => s.kind === "idle" },
  { key: "before", label: "nothing yet, or nothing more", className: "fill-none",
    is: (s) => s.kind === "before" },
];

// The rank for which most is waited has a colour of its own.
function stateGroups(lanes) {
  const sums = new Map();
  for (const lane of lanes.lanes) {
    forEachCell(lane, (state, share, _, repeat) => {
      const { kind, rank } = lanes.states[state];
      if (kind === "wait" && rank !== undefined) {
        sums.set(rank, (sums.get(rank) || 0) + share * repeat);
      }
    });
  }
  const ranks = [...sums.keys()].sort((a, b) => sums.get(b) - sums.get(a));
  const first = page.verdict.rank !== undefined && sums.has(page.verdict.rank)
    ? page.verdict.rank : ranks[0];
  const isFirst = (s) => s.kind === "wait" && s.rank !== undefined && s.rank === first;
  const groups = [kStateGroups[0],
    { key: "wait-first", label: `waits for rank ${first}`, className: "fill-wait", is: isFirst },
    { key: "wait", label: first === undefined ? "waits for other ranks" : "waits for others",
      className: "fill-wait-2", is: (s) => s.kind === "wait" && !isFirst(s) },
    ...kStateGroups.slice(1)];
  return { groups, ofState: lanes.states.map((s) => groups.findIndex((group) => group.is(s))) };
}

function forEachCell(lane, visit) {
  const { cells } = lane;
  let bin = 0;
  for (let i = 0; i < cells.length;) {
    const [repeat, parts] = [cells[i], cells[i + 1]];
    for (let part = 0; part < parts; part += 1) {
      visit(cells[i + 2 + 2 * part], cells[i + 3 + 2 * part], bin, repeat);
    }
    i += 2 + 2 * parts;
    bin += repeat;
  }
}

// From, to of each step over all ranks: by the critical path, which knows all of them, else by the
// steps of the host.
function stepBounds() {
  const path = results.get("report/path_line");
  const bounds = new Map();
  const add = (step, from, to) => {
    if (step === null) return;
    const known = bounds.get(step) || { step, from: Infinity, to: -Infinity };
    known.from = Math.min(known.from, from);
    known.to = Math.max(known.to, to);
    bounds.set(step, known);
  };
  if (path && path.rows === path.found && path.rows > 0) {
    for (const row of rowNumbers(path)) {
      const start = path.at(row, "start_ms");
      add(path.at(row, "step"), start, start + path.at(row, "dur_ms"));
    }
  }
  const steps = results.get("step_times");
  if (bounds.size === 0 && steps) {
    for (const row of rowNumbers(steps)) {
      const start = steps.at(row, "start_ms");
      add(steps.at(row, "step"), start, start + steps.at(row, "step_ms"));
    }
  }
  return [...bounds.values()].sort((a, b) => a.from - b.from);
}

// A part of a lane: equal pieces one after another, by state.
function laneParts(lanes, lane) {
  const parts = [];
  const open = new Map(); // where the last part of a state ends
  let base = null;
  let below = 0;
  forEachCell(lane, (state, share, bin, repeat) => {
    if (bin !== base) below = 0;
    base = bin;
    const last = open.get(state);
    const part = { state, share, below, from: bin, to: bin + repeat };
    if (last && last.to === bin && last.share === share && last.below === below) last.to = bin + repeat;
    else {
      parts.push(part);
      open.set(state, part);
    }
    below += share;
  });
  return parts;
}

// Of each piece the state that took most of it, over the whole height.
function largestParts(lane) {
  const bins = [];
  forEachCell(lane, (state, share, bin, repeat) => {
    if (bins.length > 0 && bins[bins.length - 1].from === bin) {
      const known = bins[bins.length - 1];
      if (share > known.most) Object.assign(known, { state, most: share });
    } else {
      bins.push({ state, most: share, from: bin, to: bin + repeat });
    }
  });
  const parts = [];
  for (const { state, most, from, to } of bins) {
    const last = parts[parts.length - 1];
    if (last && last.state === state && last.to === from) {
      last.most = (last.most * (last.to - last.from) + most * (to - from)) / (to - last.from);
      last.to = to;
    } else parts.push({ state, most, share: 1000, below: 0, from, to });
  }
  return parts;
}

function stateText(state) {
  const words = {
    compute: "computing", comm: `communication, ${state.parallelism} parallel`,
    wait: state.rank === undefined ? "waits for others" : `waits for rank ${state.rank}`,
    schedule: "waits as the pipeline's schedule has it", memory: "copies and fills",
    idle_host: "idle: the host has launched nothing", idle_sync: "idle: the host waits for the GPU",
    idle_dependency: "idle: waits for another stream", idle: "idle: a short gap",
    before: "nothing runs yet, or any more",
  };
  const where = state.kind === "wait" || state.kind === "schedule" ? ` (${state.parallelism} parallel)` : "";
  const why = state.name ? `, which was in ${shortened(state.name, 80)}` : "";
  return `${words[state.kind]}${where}${state.kind === "idle_host" && state.name
    ? `, which is in ${shortened(state.name, 80)}` : why}`;
}
