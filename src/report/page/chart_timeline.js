// The streams, one below the other, with what ran on them; zoomed and moved by pointer and keys.

const kTimelineRanksAtFirst = 8;
const kLaneHeight = 20;
const kStepNamesHeight = 16; // above the lanes
const kStepNameWidth = 48;
const kFillLevels = 4;
const kTimelineKinds = ["compute", "communication", "memory"];

// Lanes in the order of the rows, which are in the order of their start.
function timelineLanes(result) {
  const nameOf = deviceNamer(result);
  const lanes = new Map();
  for (const row of rowNumbers(result)) {
    const name = `${nameOf(row)}, stream ${result.at(row, "stream")}`;
    if (!lanes.has(name)) lanes.set(name, { name, rank: result.at(row, "rank"), rows: [] });
    lanes.get(name).rows.push(row);
  }
  return [...lanes.values()];
}

// Starts of the steps of the lowest rank that has any: the ranks' own differ little.
function stepStarts() {
  const steps = results.get("step_times");
  if (!steps || steps.rows === 0) return [];
  const rank = steps.at(0, "rank");
  return rowNumbers(steps).filter((row) => steps.at(row, "rank") === rank)
    .map((row) => ({ step: steps.at(row, "step"), start: steps.at(row, "start_ms") }));
}

class Timeline {
  constructor(section, result) {
    this.section = section;
    this.result = result;
    this.lanes = timelineLanes(result);
    this.ranks = [...new Set(this.lanes.map((lane) => lane.rank))].sort((a, b) => a - b);
    const rows = rowNumbers(result);
    this.begin = d3.min(rows, (row) => result.at(row, "start_ms"));
    this.end = d3.max(rows, (row) => result.at(row, "start_ms") + result.at(row, "dur_ms"));
    if (!(this.end > this.begin)) this.end = this.begin + 0.001;
    this.steps = stepStarts();
    this.shown = new Set(this.ranks.slice(0, kTimelineRanksAtFirst));
    this.chosen = null; // {lane, place}
    this.makeFigure();
  }

  makeFigure() {
    const { id, title } = this.section;
    this.holder = element("div", { class: "chart" });
    this.svg = d3.create("svg").attr("class", "plot timeline").attr("tabindex", 0)
      .attr("role", "application").attr("aria-describedby", `${id}-caption`)
      .attr("aria-label", `${title}: plus and minus zoom, left and right move, up and down choose `
        + "a stream, comma and full stop go from activity to activity, 0 shows all");
    this.holder.append(this.svg.node());
    this.tip = new Tip(this.holder);
    this.range = element("output", { class: "range" });
    this.figure = element("figure", { "data-chart": id }, makeLegend(Object.values(kKindSeries)),
      this.makeControls(), this.holder,
      element("figcaption", { id: `${id}-caption` },
        "Milliseconds since the first event. With the keyboard: + and − zoom, ← and → move, ↑ and ↓ "
        + "choose a stream, comma and full stop go from activity to activity, 0 shows all. The "
        + "wheel zooms once the timeline is clicked, or with Ctrl."));
    this.figure.redraw = () => this.redraw();
    this.zoom = d3.zoom().on("zoom", () => this.draw());
    this.zoom.filter(() => {
      const { type, ctrlKey, button } = d3.event;
      if (type !== "wheel") return !button;
      return ctrlKey || document.activeElement === this.svg.node();
    });
    this.svg.on("keydown.keys", () => this.onKey());
    this.svg.on("pointermove.tip", () => this.onPointer());
    this.svg.on("pointerleave.tip blur.tip", () => this.choose(null, false));
    new ResizeObserver(() => {
      if (this.holder.clientWidth > 0 && Math.abs(this.holder.clientWidth - this.width) > 1) {
        this.redraw();
      }
    }).observe(this.holder);
  }

  makeControls() {
    const button = (text, label, act) => {
      const made = element("button", { type: "button", "aria-label": label, title: label }, text);
      made.addEventListener("click", act);
      return made;
    };
    const controls = element("div", { class: "controls" },
      button("+", "zoom in", () => this.scaleBy(2)), button("−", "zoom out", () => this.scaleBy(0.5)),
      button("←", "earlier", () => this.moveBy(0.25)), button("→", "later", () => this.moveBy(-0.25)),
      button("all", "show all", () => this.reset()));
    if (this.ranks.length > 1) {
      const select = element("select");
      const first = this.ranks.slice(0, kTimelineRanksAtFirst);
      const choices = [[`first ${first.length}`, first], ["all", this.ranks],
        ...this.ranks.map((rank) => [`rank ${rank}`, [rank]])];
      if (first.length === this.ranks.length) choices.shift();
      choices.forEach(([name], i) => select.append(element("option", { value: i }, name)));
      select.addEventListener("change", () => {
        this.shown = new Set(choices[select.value][1]);
        this.redraw();
      });
      controls.append(element("label", {}, "Ranks ", select));
    }
    controls.append(this.range);
    return controls;
  }

  topOf(lane) {
    return kStepNamesHeight + lane * kLaneHeight;
  }

  // --- Drawing. --------------------------------------------------------------------------------

  redraw() {
    this.width = Math.max(this.holder.clientWidth, 320);
    this.visible = this.lanes.filter((lane) => this.shown.has(lane.rank));
    this.left = widthOfNames(this.visible.map((lane) => lane.name), 190);
    this.right = this.width - 12;
    this.height = kStepNamesHeight + this.visible.length * kLaneHeight;
    this.svg.selectAll("*").remove();
    this.svg.attr("width", this.width).attr("height", this.height + 44)
      .attr("viewBox", `0 0 ${this.width} ${this.height + 44}`);
    this.x = d3.scaleLinear().domain([this.begin, this.end]).range([this.left, this.right]);
    const clip = `${this.section.id}-clip`;
    this.svg.append("clipPath").attr("id", clip).append("rect").attr("x", this.left)
      .attr("width", this.right - this.left).attr("height", this.height);
    this.axis = this.svg.append("g");
    this.inner = this.svg.append("g").attr("clip-path", `url(#${clip})`);
    drawRowNames(this.svg, this.visible.map((lane) => shortened(lane.name, 27)), this.left - 6,
      (i) => this.topOf(i), kLaneHeight);
    // To 1 us a pixel, so that the shortest kernel can be seen.
    const deepest = Math.max(2, ((this.end - this.begin) * 1000) / (this.right - this.left));
    this.zoom.scaleExtent([1, deepest]).extent([[this.left, 0], [this.right, this.height]])
      .translateExtent([[this.left, 0], [this.right, this.height]]);
    this.svg.call(this.zoom).on("dblclick.zoom", null);
    this.chosen = null;
    this.tip.hide();
    this.draw();
  }

  draw() {
    const transform = d3.zoomTransform(this.svg.node());
    this.scale = transform.rescaleX(this.x);
    this.axis.selectAll("*").remove();
    drawAxisBelow(this.axis, this.scale, this.height, 0, "ms since the first event",
      Math.max(3, Math.round((this.right - this.left) / 120)));
    this.inner.selectAll("*").remove();
    this.drawSteps();
    let marks = 0;
    for (const [key, pieces] of this.collect()) {
      const [kind, level] = key.split(" ");
      marks += pieces.length;
      this.inner.append("path").attr("class", kKindSeries[kind].className)
        .attr("fill-opacity", Number(level) / kFillLevels).attr("d", pieces.join(""));
    }
    this.figure.dataset.marks = marks;
    const [from, to] = this.scale.domain();
    this.range.textContent = `${shownTime(from)} to ${shownTime(to)}`;
    this.drawChosen();
  }

  drawSteps() {
    let named = -Infinity; // where the last name stands
    for (const { step, start } of this.steps) {
      const x = this.scale(start);
      const isNamed = x > named + kStepNameWidth;
      if (x < this.left || x > this.right) continue;
      this.inner.append("line").attr("class", "step").attr("x1", x).attr("x2", x)
        .attr("y2", this.height);
      if (!isNamed) continue;
      named = x;
      this.inner.append("text").attr("class", "step-name").attr("x", x + 3).attr("y", 10)
        .text(`step ${step}`);
    }
  }

  // Rectangles of what is in sight, by kind and by how much of it is filled; those that would be
  // in one pixel are one. Kinds differ in height as well.
  collect() {
    const heights = { compute: 16, communication: 12, memory: 7 };
    const pieces = new Map();
    const [from, to] = this.scale.domain();
    this.visible.forEach((lane, i) => {
      const last = {};
      for (const row of lane.rows) {
        const start = this.result.at(row, "start_ms");
        const end = start + this.result.at(row, "dur_ms");
        if (end < from || start > to) continue;
        const kind = this.result.at(row, "kind");
        const x = Math.max(this.scale(start), this.left);
        const right = Math.min(Math.max(this.scale(end), x + 0.7), this.right + 1);
        if (right - x < 1 && x < last[kind]) continue;
        last[kind] = x + 0.7;
        const filled = end > start ? this.result.at(row, "sum_ms") / (end - start) : 1;
        const level = Math.min(Math.max(Math.ceil(filled * kFillLevels), 1), kFillLevels);
        const key = `${kind} ${level}`;
        if (!pieces.has(key)) pieces.set(key, []);
        const height = heights[kind];
        const y = this.topOf(i + 1) - 2 - height;
        pieces.get(key).push(
          `M${x.toFixed(1)},${y}H${right.toFixed(1)}v${height}H${x.toFixed(1)}z`);
      }
    });
    return pieces;
  }

  // --- Pointer and keys. -----------------------------------------------------------------------

  scaleBy(factor) {
    this.svg.call(this.zoom.scaleBy, factor);
  }

  moveBy(share) {
    const { k } = d3.zoomTransform(this.svg.node());
    this.svg.call(this.zoom.translateBy, (share * (this.right - this.left)) / k, 0);
  }

  reset() {
    this.svg.call(this.zoom.transform, d3.zoomIdentity);
  }

  // The place in a lane's rows of the activity nearest to a time.
  nearest(lane, time) {
    let best = 0;
    let bestDistance = Infinity;
    lane.rows.forEach((row, place) => {
      const start = this.result.at(row, "start_ms");
      const end = start + this.result.at(row, "dur_ms");
      const distance = Math.max(start - time, time - end, 0);
      if (distance < bestDistance) {
        best = place;
        bestDistance = distance;
      }
    });
    return { place: best, distance: bestDistance };
  }

  onPointer() {
    const [x, y] = d3.mouse(this.svg.node());
    const i = Math.floor((y - kStepNamesHeight) / kLaneHeight);
    if (x < this.left || i < 0 || i >= this.visible.length) {
      this.choose(null, false);
      return;
    }
    const { place, distance } = this.nearest(this.visible[i], this.scale.invert(x));
    const reach = this.scale.invert(x + 5) - this.scale.invert(x);
    this.choose(distance <= reach ? { lane: i, place } : null, false);
  }

  onKey() {
    const { key } = d3.event;
    const middle = () => {
      const [from, to] = this.scale.domain();
      return (from + to) / 2;
    };
    const acts = {
      "+": () => this.scaleBy(2), "=": () => this.scaleBy(2), "-": () => this.scaleBy(0.5),
      ArrowLeft: () => this.moveBy(0.2), ArrowRight: () => this.moveBy(-0.2),
      0: () => this.reset(), Escape: () => this.choose(null, false),
      ArrowUp: () => this.chooseLane(-1, middle()), ArrowDown: () => this.chooseLane(1, middle()),
      ",": () => this.chooseNext(-1, middle()), ".": () => this.chooseNext(1, middle()),
    };
    if (!acts[key] || this.visible.length === 0) return;
    d3.event.preventDefault();
    acts[key]();
  }

  chooseLane(step, time) {
    const lane = this.chosen ? this.chosen.lane + step : 0;
    if (lane < 0 || lane >= this.visible.length) return;
    this.choose({ lane, place: this.nearest(this.visible[lane], time).place }, true);
  }

  chooseNext(step, time) {
    if (!this.chosen) {
      this.chooseLane(1, time);
      return;
    }
    const { lane } = this.chosen;
    const place = this.chosen.place + step;
    if (place < 0 || place >= this.visible[lane].rows.length) return;
    const row = this.visible[lane].rows[place];
    const [from, to] = this.scale.domain();
    const start = this.result.at(row, "start_ms");
    if (start < from || start > to) {
      const { k } = d3.zoomTransform(this.svg.node());
      const shift = (this.scale((from + to) / 2) - this.scale(start)) / k;
      this.svg.call(this.zoom.translateBy, shift, 0);
    }
    this.choose({ lane, place }, true);
  }

  choose(chosen, aloud) {
    this.chosen = chosen;
    this.drawChosen(aloud);
  }

  drawChosen(aloud) {
    this.inner.selectAll(".chosen").remove();
    if (!this.chosen) {
      this.tip.hide();
      return;
    }
    const { lane, place } = this.chosen;
    const row = this.visible[lane].rows[place];
    const start = this.result.at(row, "start_ms");
    const dur = this.result.at(row, "dur_ms");
    const x = this.scale(start);
    const width = Math.max(this.scale(start + dur) - x, 2);
    this.inner.append("rect").attr("class", "chosen").attr("x", x - 1)
      .attr("y", this.topOf(lane) + 1).attr("width", width + 2).attr("height", kLaneHeight - 2);
    const count = this.result.at(row, "activities");
    const name = this.result.at(row, "name") || "(no name)";
    const lines = [
      shortened(name, 120),
      `${this.visible[lane].name}, ${this.result.at(row, "kind")}`,
      `from ${inThree.format(start)} ms, ${shownTime(dur)}`,
    ];
    if (count > 1) {
      lines.push(`${whole.format(count)} activities, ${shownTime(this.result.at(row, "sum_ms"))} `
        + "together; the name is that of the longest");
    }
    const at = Math.min(Math.max(x, this.left), this.right);
    this.tip.show(lines, at, this.topOf(lane + 1), aloud);
  }
}

function timelineChart(section, result) {
  return new Timeline(section, result).figure;
}
