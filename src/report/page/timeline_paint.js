// Draws the timeline's view on its canvas. Time is proportional to what is drawn, not to what there
// is: within a pixel the next slice is found by halving.

const kKindColours = {
  compute: "--compute", communication: "--comm", memory: "--memory", waiting: "--idle",
  cpu_op: "--c2", user_annotation: "--c4", gpu_user_annotation: "--c4", cuda_runtime: "--c6",
  cuda_driver: "--c6", python_function: "--c7", overhead: "--bad",
};
const kOtherColour = "--idle-2";
const kTextWidthMin = 26;

class TimelinePainter {
  constructor(timeline) {
    this.timeline = timeline;
    this.colours = new Map();
  }

  readColours() {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(name).trim();
    const names = ["--ink", "--soft", "--line", "--card", "--sheet", "--back", "--c5", kOtherColour,
      ...Object.values(kKindColours)];
    this.colours = new Map(names.map((name) => [name, of(name)]));
    this.kindColours = this.timeline.store.kinds.map((kind) =>
      this.colours.get(kKindColours[kind] || kOtherColour));
  }

  // How many marks are drawn.
  paint() {
    const { canvas, width, height, visible, scroller } = this.timeline;
    const ratio = canvas.width / width;
    this.context = canvas.getContext("2d", { alpha: false });
    const { context } = this;
    if (this.kindColours.length !== this.timeline.store.kinds.length) this.readColours();
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = this.colours.get("--card");
    context.fillRect(0, 0, width, height);
    context.font = "11px system-ui, sans-serif";
    context.textBaseline = "middle";
    this.marks = 0;
    this.drawn = [];
    const first = scroller.scrollTop;
    const seen = visible.filter((lane) => lane.top + lane.height >= first && lane.top <= first + height);
    context.fillStyle = this.colours.get("--sheet");
    for (const lane of seen) {
      context.fillRect(this.timeline.left, this.timeline.yOf(lane, 0), width, lane.height);
    }
    const ticks = this.paintGrid();
    for (const lane of seen) this.paintLane(lane);
    this.paintLinks();
    this.paintAxis(ticks);
    return this.marks;
  }

  paintLane(lane) {
    const slices = this.timeline.store.lanes.get(lane.id);
    if (lane.thinned.length > 0) this.paintThinned(lane);
    if (!slices) return;
    slices.rows.forEach((places, depth) => {
      if (depth < lane.depths) this.paintRow(lane, slices, places, depth);
    });
  }

  // Slices of one depth: those that share a pixel are one mark, of the colour of the first.
  paintRow(lane, slices, places, depth) {
    const { timeline, context } = this;
    const { from, to } = timeline.view;
    const { left, width, found } = timeline;
    const scale = (width - left) / ((to - from) * 1e6);
    const y = timeline.yOf(lane, depth);
    const h = kRowHeight - 1;
    const fromNs = from * 1e6;
    const toNs = to * 1e6;
    let i = Math.max(firstAfter(slices.start, places, fromNs) - 1, 0);
    while (i < places.length) {
      const place = places[i];
      const start = slices.start[place];
      if (start > toNs) break;
      const end = start + slices.dur[place];
      i += 1;
      if (end < fromNs) continue;
      const x = Math.max(left + (start - fromNs) * scale, left);
      const right = Math.min(left + (end - fromNs) * scale, width);
      const isFaint = found !== null && !found[slices.name[place]];
      context.globalAlpha = isFaint ? 0.2 : 1;
      context.fillStyle = this.kindColours[slices.kind[place]];
      if (right - x < 1) {
        // What else starts in this pixel has no place of its own; a match is still seen.
        const edge = fromNs + (Math.floor(x - left) + 1) / scale;
        const next = this.skip(slices, places, i, edge);
        if (isFaint && this.anyFound(slices, places, i, next)) context.globalAlpha = 1;
        i = next;
        context.fillRect(x, y, 1, h);
      } else {
        const wide = right - x > 3 ? right - x - 0.6 : right - x;
        context.fillRect(x, y, wide, h);
        this.drawn.push({ lane, place });
        if (wide >= kTextWidthMin) this.paintName(timeline.store.names[slices.name[place]], x, y, wide, h);
      }
      this.marks += 1;
    }
    context.globalAlpha = 1;
  }

  skip(slices, places, from, edge) {
    let i = from;
    let step = 1;
    while (i + step < places.length && slices.start[places[i + step]] < edge
      && slices.dur[places[i + step]] < edge) {
      i += step;
      step *= 2;
    }
    while (i < places.length && slices.start[places[i]] < edge) {
      const place = places[i];
      if (slices.start[place] + slices.dur[place] > edge) break; // it has pixels of its own
      i += 1;
    }
    return i;
  }

  anyFound(slices, places, from, to) {
    for (let i = from; i < to; i += 1) {
      if (this.timeline.found[slices.name[places[i]]]) return true;
    }
    return false;
  }

  paintName(name, x, y, wide, h) {
    const { context } = this;
    const most = Math.floor((wide - 6) / 5.6);
    if (most < 3) return;
    context.fillStyle = this.colours.get("--card");
    context.save();
    context.beginPath();
    context.rect(x, y, wide, h);
    context.clip();
    context.fillText(shortenedInside(name, most), x + 3, y + h / 2 + 0.5);
    context.restore();
  }

  // Outside of what is there exactly: pieces of time, paler. Where only long slices are there, these
  // are drawn over them.
  paintThinned(lane) {
    const { timeline, context } = this;
    const { thinned, view, left, width } = timeline;
    const exact = timeline.exactWindow(lane);
    context.globalAlpha = 0.55;
    for (const row of lane.thinned) {
      const start = thinned.at(row, "start_ms");
      const end = start + thinned.at(row, "dur_ms");
      if (end < view.from || start > view.to) continue;
      if (exact && start >= exact.from && end <= exact.to) continue;
      if (timeline.loader && timeline.loader.has(lane.rank, start, end)) continue;
      const x = Math.max(timeline.xOf(start), left);
      const right = Math.min(timeline.xOf(end), width);
      const colour = kKindColours[thinned.at(row, "kind")] || kOtherColour;
      context.fillStyle = this.colours.get(colour);
      context.fillRect(x, timeline.yOf(lane, 0) + 2, Math.max(right - x, 0.7), kRowHeight - 5);
      this.marks += 1;
    }
    context.globalAlpha = 1;
  }

  // Lines of the axis, below what is drawn; returns where they are.
  paintGrid() {
    const { context, timeline } = this;
    const { left, width, height, view } = timeline;
    const scale = d3.scaleLinear().domain([view.from, view.to]).range([left, width]);
    const ticks = scale.ticks(Math.max(3, Math.round((width - left) / 130)));
    const step = ticks.length > 1 ? ticks[1] - ticks[0] : 1;
    const digits = Math.min(Math.max(0, -Math.floor(Math.log10(step) + 1e-9)), 6);
    context.fillStyle = this.colours.get("--line");
    for (const tick of ticks) context.fillRect(Math.round(scale(tick)), 16, 1, height);
    return { scale, ticks, digits };
  }

  paintAxis({ scale, ticks, digits }) {
    const { context, timeline } = this;
    const { left, width, height } = timeline;
    context.fillStyle = this.colours.get("--card");
    context.fillRect(0, 0, width, kAxisHeight - 4);
    context.fillRect(0, 0, left, height);
    context.fillStyle = this.colours.get("--soft");
    context.strokeStyle = this.colours.get("--line");
    context.lineWidth = 1;
    for (const tick of ticks) {
      const x = Math.round(scale(tick));
      context.fillRect(x, 16, 1, kAxisHeight - 20);
      context.fillText(`${tick.toFixed(digits)} ms`, x + 3, 23);
    }
    this.paintSteps(scale);
  }

  paintSteps(scale) {
    const { context, timeline } = this;
    let named = -Infinity;
    context.setLineDash([3, 3]);
    context.strokeStyle = this.colours.get("--soft");
    for (const { step, from } of timeline.steps) {
      const x = Math.round(scale(from)) + 0.5;
      if (x < timeline.left || x > timeline.width) continue;
      context.beginPath();
      context.moveTo(x, 0);
      context.lineTo(x, timeline.height);
      context.stroke();
      if (x < named + 52) continue;
      named = x;
      context.fillText(`step ${step}`, x + 3, 7);
    }
    context.setLineDash([]);
  }

  paintLinks() {
    const { context, timeline } = this;
    const { chosen, visible } = timeline;
    if (!chosen) return;
    const lane = visible[chosen.lane];
    const slices = timeline.store.lanes.get(lane.id);
    const box = this.boxOf(lane, chosen.place);
    context.strokeStyle = this.colours.get("--ink");
    context.lineWidth = 2;
    context.strokeRect(box.x - 1, box.y - 1, box.width + 2, kRowHeight + 1);
    context.lineWidth = 1.4;
    for (const link of timeline.links.of(slices.id[chosen.place])) {
      const other = visible.find((one) => one.id === link.lane);
      if (!other) continue;
      const end = this.boxOf(other, link.place);
      context.strokeStyle = this.colours.get(link.kind === "collective" ? "--c5" : "--ink");
      const [one, two] = link.kind === "launched by" ? [end, box] : [box, end];
      this.paintArrow(one.x, one.y + kRowHeight / 2, two.x, two.y + kRowHeight / 2,
        link.kind !== "collective");
    }
  }

  boxOf(lane, place) {
    const { timeline } = this;
    const slices = timeline.store.lanes.get(lane.id);
    const x = timeline.xOf(slices.start[place] / 1e6);
    const right = timeline.xOf((slices.start[place] + slices.dur[place]) / 1e6);
    return { x, y: timeline.yOf(lane, slices.depth[place]), width: Math.max(right - x, 1) };
  }

  paintArrow(x1, y1, x2, y2, hasHead) {
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(this.timeline.left, 0, this.timeline.width, this.timeline.height);
    context.clip();
    context.beginPath();
    context.moveTo(x1, y1);
    const bend = Math.max(Math.abs(x2 - x1) / 2, 12);
    context.bezierCurveTo(x1 + bend, y1, x2 - bend, y2, x2, y2);
    context.stroke();
    if (hasHead) {
      context.beginPath();
      context.moveTo(x2, y2);
      context.lineTo(x2 - 7, y2 - 4);
      context.lineTo(x2 - 7, y2 + 4);
      context.closePath();
      context.fillStyle = context.strokeStyle;
      context.fill();
    }
    context.restore();
  }
}
