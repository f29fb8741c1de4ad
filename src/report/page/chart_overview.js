// The first chart: all ranks on one axis of time, what each did, who came late, and the critical
// path over it.

const kLateShare = 0.04; // of the longest waits: what caused less is not drawn
const kStepsNamed = 12;
const kBandsFrom = 24; // more lanes than that are thin bands, below those of interest
const kInterestHeight = 32; // of which the first part has words
const kInterestWords = 13;

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
    this.isMany = this.lanes.lanes.length > kBandsFrom;
    this.interest = this.isMany ? ranksOfInterest().filter(({ rank }) => this.rowOf.has(rank)) : [];
    this.parts = new Map();
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

  // Of many the longest, and the one that the page is about.
  stepsNamed() {
    if (this.steps.length <= kStepsNamed) return this.steps;
    const longest = [...this.steps].sort((a, b) => (b.to - b.from) - (a.to - a.from));
    const named = new Set(longest.slice(0, kStepsNamed).map(({ step }) => step));
    named.add(this.firstStep());
    return this.steps.filter(({ step }) => named.has(step));
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
        if (this.cut) this.cut.setAttribute("href", cutAddress(this.view));
        for (const one of buttons) one.setAttribute("aria-pressed", one === made);
        this.figure.redraw();
      });
      made.setAttribute("aria-pressed", this.firstStep() === step);
      buttons.push(made);
      return made;
    };
    controls.append(button("all steps", undefined),
      ...this.stepsNamed().map(({ step }) => button(`step ${step}`, step)));
    this.cut = cutLink(this.view, "download for Perfetto");
    if (results.get("report/path_line")) {
      const box = element("input", { type: "checkbox" });
      box.checked = true;
      box.addEventListener("change", () => {
        this.isPathShown = box.checked;
        this.figure.redraw();
      });
      controls.append(element("label", {}, box, " critical path"));
    }
    if (this.cut) controls.append(this.cut);
    return controls;
  }

  // Where each lane is drawn: of many first those of interest, then all as bands.
  layOut() {
    const { lanes } = this.lanes;
    const top = 18;
    if (!this.isMany) {
      const row = Math.max(Math.min(Math.floor(330 / lanes.length), lanes.length > 4 ? 30 : 46), 3);
      this.rows = lanes.map((_, i) => ({
        lane: i, y: top + i * row, step: row, tall: row - (row > 8 ? 3 : row > 3 ? 1 : 0),
      }));
      this.bands = { y: top, step: row };
      return top + lanes.length * row;
    }
    const interest = this.interest.map(({ rank, reason }, i) => ({
      lane: this.rowOf.get(rank), y: top + i * kInterestHeight + kInterestWords,
      step: kInterestHeight - kInterestWords, tall: kInterestHeight - kInterestWords - 3, reason,
    }));
    const begin = top + interest.length * kInterestHeight + (interest.length > 0 ? 18 : 0);
    const row = Math.max(1, Math.min(6, Math.floor(260 / lanes.length)));
    this.bands = { y: begin, step: row };
    this.rows = [...interest,
      ...lanes.map((_, i) => ({ lane: i, y: begin + i * row, step: row, tall: row, isBand: true }))];
    return begin + lanes.length * row;
  }

  draw(svg, width) {
    const [left, right] = [this.lanes.lanes.length > 100 ? 66 : 74, width - 14];
    const height = this.layOut();
    this.x = d3.scaleLinear().domain([this.view.from, this.view.to]).range([left, right]);
    drawAxisBelow(svg, this.x, height, 18, "ms since the first event, by the aligned clocks",
      Math.max(3, Math.round((right - left) / 120)));
    const id = `${this.section.id}-clip`;
    svg.append("clipPath").attr("id", id).append("rect").attr("x", left).attr("y", 0)
      .attr("width", right - left).attr("height", height);
    const inner = svg.append("g").attr("clip-path", `url(#${id})`);
    drawRowNames(svg, this.names.map((name) => shortened(name, 14)), left - 6,
      (i) => this.bands.y + i * this.bands.step, this.bands.step);
    const marks = this.drawStates(inner);
    this.drawInterest(svg, left, right);
    this.drawSteps(inner, height);
    if (this.isPathShown) this.drawPath(inner);
    marks.push(...this.drawLate(inner));
    return { height: height + 44, marks };
  }

  drawInterest(svg, left, right) {
    const fit = Math.floor((right - left) / 5.6);
    for (const { lane, y, step, reason } of this.rows) {
      if (!reason) continue;
      svg.append("text").attr("class", "row-name").attr("x", left - 6).attr("y", y + step / 2 - 1)
        .attr("dy", "0.35em").attr("text-anchor", "end").text(shortened(this.names[lane], 14));
      svg.append("text").attr("class", "interest").attr("x", left).attr("y", y - 3)
        .text(shortened(reason, fit));
    }
    if (this.interest.length === 0) return;
    svg.append("text").attr("class", "label").attr("x", left).attr("y", this.bands.y - 4)
      .text(shortened(`all ${this.lanes.lanes.length}: a thin line each, of what took most of the moment`, fit));
  }

  // Of a band what took most of each moment, as there is no room for more.
  partsOf({ lane, isBand }) {
    const key = isBand ? -1 - lane : lane;
    if (!this.parts.has(key)) {
      const made = isBand ? largestParts(this.lanes.lanes[lane]) : laneParts(this.lanes, this.lanes.lanes[lane]);
      this.parts.set(key, made);
    }
    return this.parts.get(key);
  }

  drawStates(inner) {
    const paths = this.groups.map(() => []);
    const marks = [];
    const { start_ms: start, bin_ms: bin } = this.lanes;
    for (const row of this.rows) {
      const { y, tall } = row;
      const { rank } = this.lanes.lanes[row.lane];
      for (const part of this.partsOf(row)) {
        const [from, to] = [start + part.from * bin, start + part.to * bin];
        if (to <= this.view.from || from >= this.view.to) continue;
        const [x, right] = [this.x(from), this.x(to)];
        const bottom = y + tall - (part.below / 1000) * tall;
        const high = (part.share / 1000) * tall;
        paths[this.ofState[part.state]].push(
          `M${x.toFixed(2)},${bottom.toFixed(2)}H${right.toFixed(2)}v${(-high).toFixed(2)}H${x.toFixed(2)}z`);
        if (part.share < 120) continue;
        const seen = Math.max(x, this.x.range()[0]);
        const share = part.most === undefined ? part.share : part.most;
        marks.push({
          x: seen, y: bottom - high, width: Math.min(right, this.x.range()[1]) - seen, height: high,
          lines: [this.names[row.lane], stateText(this.lanes.states[part.state]),
            `${shownTime(from)} to ${shownTime(to)}${share < 995
              ? `, ${inOne.format(share / 10)} % of it` : ""}`],
          go: { from, to, rank },
        });
      }
    }
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

  // One line over all ranks, with a light edge so that it is seen on every colour; over bands without
  // the way from one to the next, which would cover them.
  drawPath(inner) {
    const path = results.get("report/path_line");
    if (!path || path.rows === 0) return;
    const rowsOf = new Map();
    for (const one of this.rows) rowsOf.set(one.lane, [...(rowsOf.get(one.lane) || []), one]);
    const pieces = [];
    let last = null;
    for (const row of rowNumbers(path)) {
      const lane = this.rowOf.get(path.at(row, "rank"));
      const start = path.at(row, "start_ms");
      const end = start + path.at(row, "dur_ms");
      if (lane === undefined) continue;
      for (const { y, step, isBand } of rowsOf.get(lane) || []) {
        const at = (y + (isBand ? 0.5 : 0.76) * step).toFixed(1); // names stand above it
        const isJoined = !this.isMany && last !== null && Math.abs(start - last) < 0.01;
        pieces.push(`${isJoined ? "L" : "M"}${this.x(start).toFixed(2)},${at}`,
          `H${this.x(end).toFixed(2)}`);
      }
      last = end;
    }
    for (const name of this.isMany ? ["path-line path-thin"] : ["path-edge", "path-line"]) {
      inner.append("path").attr("class", name).attr("d", pieces.join(""));
    }
  }

  // What held up ranks that others waited for, where it is long enough to be seen.
  drawLate(inner) {
    const late = results.get("report/late_ranks");
    const marks = [];
    if (!late || late.rows === 0) return marks;
    const least = late.at(0, "total_wait_ms") * kLateShare;
    for (const row of rowNumbers(late)) {
      const at = (name) => late.at(row, name);
      if (at("start_ms") === null) continue;  // many short pieces: nothing to draw
      const drawn = this.rows.find((one) => one.step >= 8 && one.lane === this.rowOf.get(at("rank")));
      const from = at("start_ms");
      const to = from + at("dur_ms");
      const [x, right] = [this.x(from), this.x(to)];
      if (drawn === undefined || at("total_wait_ms") < least || right - x < 14 || right < this.x.range()[0]
        || x > this.x.range()[1]) continue;
      const { y, step: tall } = drawn;
      inner.append("rect").attr("class", "late").attr("x", x).attr("y", y - 1)
        .attr("width", right - x).attr("height", tall - 1);
      const fit = Math.floor((right - x - 10) / 6);
      if (fit >= 12) {
        const name = `${at("name")} ${shownTime(at("dur_ms"))}`;
        inner.append("text").attr("class", "late-name").attr("x", x + 5).attr("y", y + tall * 0.4)
          .attr("dy", "0.35em").text(shortenedInside(name, fit));
      }
      marks.push({
        x, y, width: right - x, height: tall - 2,
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
  if (!page.lanes) return "What each GPU did when could not be worked out; the table has the sums.";
  const overview = new Overview(section);
  const used = new Set(overview.lanes.lanes.flatMap((lane) => {
    const seen = new Set();
    forEachCell(lane, (state) => seen.add(overview.ofState[state]));
    return [...seen];
  }));
  const legend = overview.groups.filter((_, i) => used.has(i));
  const late = results.get("report/late_ranks");
  if (late && rowNumbers(late).some((row) => late.at(row, "start_ms") !== null)) {
    legend.push({ label: "came late", className: "late" });
  }
  if (results.get("report/path_line")) {
    legend.push({ label: "critical path", className: "path-line", line: true });
  }
  overview.figure = makeFigure({
    id: section.id,
    label: `What each of ${overview.lanes.lanes.length} GPUs did, on one axis of time`,
    caption: overview.isMany
      ? "The ranks that stand out first, then every GPU as a thin line. Click anything to see it in the "
        + "timeline."
      : "Each line is a GPU. A column's height is shared out: what fills it took all of that moment. "
        + "Click anything to see it in the timeline.",
    legend,
    before: overview.controls(),
    draw: (svg, width) => overview.draw(svg, width),
  });
  return overview.figure;
}
