// The first chart: all ranks on one axis of time, what each did, who came late, and the critical
// path over it.

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

const kLateShare = 0.04; // of the longest waits: what caused less is not drawn

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
  const path = results.get("critical_path");
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

class Overview {
  constructor(section) {
    this.section = section;
    this.lanes = page.lanes;
    const { groups, ofState } = stateGroups(this.lanes);
    this.groups = groups;
    this.ofState = ofState;
    this.steps = stepBounds();
    this.names = this.laneNames();
    this.rowOf = new Map();
    this.lanes.lanes.forEach((lane, i) => {
      if (!this.rowOf.has(lane.rank)) this.rowOf.set(lane.rank, i);
    });
    const end = this.lanes.start_ms + this.lanes.bins * this.lanes.bin_ms;
    this.whole = { from: this.lanes.start_ms, to: end };
    this.view = this.viewOf(this.firstStep());
    this.isPathShown = true;
  }

  laneNames() {
    const devices = new Map();
    for (const { rank } of this.lanes.lanes) devices.set(rank, (devices.get(rank) || 0) + 1);
    return this.lanes.lanes.map(({ rank, device }) =>
      (devices.get(rank) > 1 ? `rank ${rank}, GPU ${device}` : `rank ${rank}`));
  }

  // Few steps are shown together, of many the one that the page is about.
  firstStep() {
    if (page.shown.step !== null) return page.shown.step;
    return this.steps.length <= 3 ? undefined : page.verdict.step;
  }

  viewOf(step) {
    const bounds = this.steps.find((one) => one.step === step);
    if (!bounds) return this.whole;
    const room = (bounds.to - bounds.from) * 0.01;
    return { from: Math.max(bounds.from - room, this.whole.from),
      to: Math.min(bounds.to + room, this.whole.to) };
  }

  controls() {
    const controls = element("div", { class: "controls" });
    const buttons = [];
    const button = (text, step) => {
      const made = element("button", { type: "button" }, text);
      made.addEventListener("click", () => {
        this.view = this.viewOf(step);
        for (const one of buttons) one.setAttribute("aria-pressed", one === made);
        this.figure.redraw();
      });
      made.setAttribute("aria-pressed", this.firstStep() === step);
      buttons.push(made);
      return made;
    };
    controls.append(button("all steps", undefined),
      ...this.steps.slice(0, 12).map(({ step }) => button(`step ${step}`, step)));
    if (results.get("critical_path")) {
      const box = element("input", { type: "checkbox" });
      box.checked = true;
      box.addEventListener("change", () => {
        this.isPathShown = box.checked;
        this.figure.redraw();
      });
      controls.append(element("label", {}, box, " critical path"));
    }
    return controls;
  }

  draw(svg, width) {
    const count = this.lanes.lanes.length;
    const row = Math.max(Math.min(Math.floor(330 / count), count > 4 ? 30 : 46), count > 300 ? 1 : 3);
    const [left, right, top] = [count > 100 ? 60 : 74, width - 14, 18];
    const height = top + count * row;
    this.x = d3.scaleLinear().domain([this.view.from, this.view.to]).range([left, right]);
    this.row = row;
    this.top = top;
    drawAxisBelow(svg, this.x, height, top, "ms since the first event, by the aligned clocks",
      Math.max(3, Math.round((right - left) / 120)));
    const id = `${this.section.id}-clip`;
    svg.append("clipPath").attr("id", id).append("rect").attr("x", left).attr("y", 0)
      .attr("width", right - left).attr("height", height);
    const inner = svg.append("g").attr("clip-path", `url(#${id})`);
    drawRowNames(svg, this.names.map((name) => shortened(name, 14)), left - 6, (i) => top + i * row, row);
    const marks = this.drawStates(inner, row > 8 ? 3 : row > 3 ? 1 : 0);
    this.drawSteps(inner, height);
    if (this.isPathShown) this.drawPath(inner);
    marks.push(...this.drawLate(inner));
    return { height: height + 44, marks };
  }

  drawStates(inner, gap) {
    const paths = this.groups.map(() => []);
    const marks = [];
    const { start_ms: start, bin_ms: bin } = this.lanes;
    this.lanes.lanes.forEach((lane, i) => {
      const y = this.top + i * this.row;
      const tall = this.row - gap;
      for (const part of laneParts(this.lanes, lane)) {
        const [from, to] = [start + part.from * bin, start + part.to * bin];
        if (to <= this.view.from || from >= this.view.to) continue;
        const [x, right] = [this.x(from), this.x(to)];
        const bottom = y + tall - (part.below / 1000) * tall;
        const high = (part.share / 1000) * tall;
        paths[this.ofState[part.state]].push(
          `M${x.toFixed(2)},${bottom.toFixed(2)}H${right.toFixed(2)}v${(-high).toFixed(2)}H${x.toFixed(2)}z`);
        if (part.share < 120) continue;
        const seen = Math.max(x, this.x.range()[0]);
        marks.push({
          x: seen, y: bottom - high, width: Math.min(right, this.x.range()[1]) - seen, height: high,
          lines: [this.names[i], stateText(this.lanes.states[part.state]),
            `${shownTime(from)} to ${shownTime(to)}${part.share < 995
              ? `, ${inOne.format(part.share / 10)} % of it` : ""}`],
          go: { from, to, rank: lane.rank },
        });
      }
    });
    paths.forEach((pieces, i) => {
      if (pieces.length === 0) return;
      inner.append("path").attr("class", this.groups[i].className).attr("data-state", this.groups[i].key)
        .attr("d", pieces.join(""));
    });
    return marks;
  }

  drawSteps(inner, height) {
    let named = -Infinity;
    for (const { step, from } of this.steps) {
      const x = this.x(from);
      inner.append("line").attr("class", "step").attr("x1", x).attr("x2", x).attr("y1", 2)
        .attr("y2", height);
      if (x < named + 48) continue;
      named = x;
      inner.append("text").attr("class", "step-name").attr("x", x + 3).attr("y", 11).text(`step ${step}`);
    }
  }

  // One line over all ranks, with a light edge so that it is seen on every colour.
  drawPath(inner) {
    const path = results.get("critical_path");
    if (!path || path.rows === 0) return;
    const pieces = [];
    let last = null;
    for (const row of rowNumbers(path)) {
      const rank = path.at(row, "rank");
      const lane = this.rowOf.get(rank);
      const start = path.at(row, "start_ms");
      const end = start + path.at(row, "dur_ms");
      if (lane === undefined) continue;
      const y = (this.top + (lane + 0.76) * this.row).toFixed(1); // names stand above it
      const x = this.x(start).toFixed(2);
      pieces.push(last !== null && Math.abs(start - last) < 0.01 ? `L${x},${y}` : `M${x},${y}`,
        `H${this.x(end).toFixed(2)}`);
      last = end;
    }
    for (const name of ["path-edge", "path-line"]) {
      inner.append("path").attr("class", name).attr("d", pieces.join(""));
    }
  }

  // What held up ranks that others waited for, where it is long enough to be seen.
  drawLate(inner) {
    const late = results.get("report/late_ranks");
    const marks = [];
    if (!late || late.rows === 0 || this.row < 8) return marks;
    const least = late.at(0, "total_wait_ms") * kLateShare;
    for (const row of rowNumbers(late)) {
      const at = (name) => late.at(row, name);
      const lane = this.rowOf.get(at("rank"));
      const from = at("start_ms");
      const to = from + at("dur_ms");
      const [x, right] = [this.x(from), this.x(to)];
      if (lane === undefined || at("total_wait_ms") < least || right - x < 14 || right < this.x.range()[0]
        || x > this.x.range()[1]) continue;
      const y = this.top + lane * this.row;
      inner.append("rect").attr("class", "late").attr("x", x).attr("y", y - 1)
        .attr("width", right - x).attr("height", this.row - 1);
      const fit = Math.floor((right - x - 10) / 6);
      if (fit >= 12) {
        const name = `${at("name")} ${shownTime(at("dur_ms"))}`;
        inner.append("text").attr("class", "late-name").attr("x", x + 5).attr("y", y + this.row * 0.4)
          .attr("dy", "0.35em").text(shortenedInside(name, fit));
      }
      marks.push({
        x, y, width: right - x, height: this.row - 2,
        lines: [`rank ${at("rank")} came late: ${shortened(at("name") || at("cause"), 120)}`,
          `${shownTime(at("dur_ms"))} from ${inThree.format(from)} ms`,
          `${whole.format(at("collectives"))} collectives waited, ${shownTime(at("total_wait_ms"))} `
            + "summed over ranks"],
        go: { from, to, rank: at("rank") },
      });
    }
    return marks;
  }
}

function overviewChart(section) {
  if (!page.lanes) return "No GPU activity was recorded.";
  const overview = new Overview(section);
  const used = new Set(overview.lanes.lanes.flatMap((lane) => {
    const seen = new Set();
    forEachCell(lane, (state) => seen.add(overview.ofState[state]));
    return [...seen];
  }));
  const legend = overview.groups.filter((_, i) => used.has(i));
  const late = results.get("report/late_ranks");
  if (late && late.rows > 0) legend.push({ label: "came late", className: "late" });
  if (results.get("critical_path")) {
    legend.push({ label: "critical path", className: "path-line", line: true });
  }
  overview.figure = makeFigure({
    id: section.id,
    label: `What each of ${overview.lanes.lanes.length} GPUs did, on one axis of time`,
    caption: "Each line is a GPU. A column's height is shared out: what fills it took all of that "
      + "moment. Click anything to see it in the timeline.",
    legend,
    before: overview.controls(),
    draw: (svg, width) => overview.draw(svg, width),
  });
  return overview.figure;
}
