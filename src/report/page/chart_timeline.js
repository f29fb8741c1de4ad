// The timeline: streams of GPUs and threads of hosts on one axis of time, drawn on a canvas. What is
// in sight is exact: slices that share a pixel are one mark, none is left out. Zoomed by the wheel,
// by w and s, + and -; moved by dragging, a and d, arrows.

const kTimelineRanksAtFirst = 8;
const kAxisHeight = 34;
const kRowHeight = 15; // of each depth
const kLaneGap = 5;
const kSpanMinMs = 0.00002;

class Timeline {
  constructor(section) {
    this.section = section;
    this.store = new SliceStore();
    const written = page.results["report/slices"];
    if (written) this.store.add(written.result);
    this.thinned = results.get("report/timeline") || null;
    this.lanes = timelineLanes(results.get("report/lanes"), this.store, this.thinned);
    this.ranks = [...new Set(this.lanes.map((lane) => lane.rank))].sort((a, b) => a - b);
    this.links = new TimelineLinks(this.store);
    this.findBounds();
    this.view = { from: this.begin, to: this.end };
    this.steps = stepBounds();
    this.chosen = null; // {lane: of visible, place}
    this.found = null; // numbers of names that the search is for
    this.painter = new TimelinePainter(this);
    this.loader = page.served ? new TimelineLoader(this) : null;
    this.chooseRanks();
    makeTimelineFigure(this);
    this.layOut();
    this.readState();
  }

  findBounds() {
    this.begin = Infinity;
    this.end = -Infinity;
    for (const { start, dur } of this.store.lanes.values()) {
      start.forEach((ns, place) => {
        this.begin = Math.min(this.begin, ns / 1e6);
        this.end = Math.max(this.end, (ns + dur[place]) / 1e6);
      });
    }
    for (const row of this.thinned ? rowNumbers(this.thinned) : []) {
      const start = this.thinned.at(row, "start_ms");
      this.begin = Math.min(this.begin, start);
      this.end = Math.max(this.end, start + this.thinned.at(row, "dur_ms"));
    }
    if (!(this.end > this.begin)) this.end = this.begin + 0.001;
  }

  // The rank at fault and its host at first, then others.
  chooseRanks() {
    const wanted = [page.shown.rank, page.verdict.rank].find((rank) => this.ranks.includes(rank));
    this.focus = wanted === undefined ? this.ranks[0] : wanted;
    const first = this.ranks.slice(0, kTimelineRanksAtFirst);
    if (!first.includes(this.focus)) first[first.length - 1] = this.focus;
    this.shown = new Set(first);
    this.hosts = new Set([this.focus]);
  }

  visibleLanes() {
    return this.lanes.filter((lane) => this.shown.has(lane.rank)
      && (lane.where === "stream" || this.hosts.has(lane.rank)));
  }

  // Where each visible lane is, from the top of all.
  layOut() {
    this.visible = this.visibleLanes();
    let top = 4;
    for (const lane of this.visible) {
      const slices = this.store.lanes.get(lane.id);
      let depths = slices ? slices.rows.length : 1;
      if (lane.where === "stream") depths = Math.min(depths, kStreamDepthMax);
      lane.top = top;
      lane.depths = Math.max(depths, 1);
      lane.height = lane.depths * kRowHeight;
      top += lane.height + kLaneGap;
    }
    this.contentHeight = top;
  }

  // --- View. -----------------------------------------------------------------------------------

  setView(from, to, isByHand = true) {
    const whole = this.end - this.begin;
    const span = Math.min(Math.max(to - from, kSpanMinMs), whole * 1.1);
    let start = from + (to - from - span) / 2;
    start = Math.max(Math.min(start, this.end + whole * 0.05 - span), this.begin - whole * 0.05);
    this.view = { from: start, to: start + span };
    if (isByHand) {
      const text = `${start.toFixed(6)},${(start + span).toFixed(6)}`;
      pageState.set("t", this.isWhole() ? null : text);
    }
    this.draw();
  }

  isWhole() {
    return this.view.from === this.begin && this.view.to === this.end;
  }

  reset() {
    this.view = { from: this.begin, to: this.end };
    pageState.set("t", null);
    this.draw();
  }

  // `at`: the time that stays where it is; the middle where none is given.
  scaleBy(factor, at) {
    const { from, to } = this.view;
    const fixed = at === undefined ? (from + to) / 2 : at;
    this.setView(fixed - (fixed - from) / factor, fixed + (to - fixed) / factor);
  }

  moveBy(share) {
    const shift = share * (this.view.to - this.view.from);
    this.setView(this.view.from + shift, this.view.to + shift);
  }

  // Shows a stretch with some room around it, of a rank with its host.
  show({ from, to, rank, sliceId }) {
    if (rank !== undefined && rank !== null && this.ranks.includes(rank)) {
      this.shown.add(rank);
      this.hosts.add(rank);
      this.focus = rank;
      this.changeLanes();
    }
    const room = Math.max((to - from) * 0.15, 0.0005);
    this.setView(from - room, to + room);
    const lane = this.visible.find((one) => one.rank === rank);
    if (lane) this.scroller.scrollTop = Math.max(lane.top - 8, 0);
    if (sliceId !== undefined) this.chooseSlice(sliceId);
    const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.figure.scrollIntoView({ behavior: calm ? "auto" : "smooth", block: "start" });
    this.canvas.focus({ preventScroll: true });
  }

  readState() {
    const [from, to] = (pageState.get("t") || "").split(",").map(Number);
    const rank = Number(pageState.get("rank"));
    if (pageState.get("rank") !== null && this.ranks.includes(rank)) {
      this.shown = new Set([rank]);
      this.hosts = new Set([rank]);
      this.focus = rank;
    }
    if (to > from) this.view = { from, to };
    if (pageState.get("find")) {
      this.search.value = pageState.get("find");
      this.find();
    }
  }

  // --- Drawing. --------------------------------------------------------------------------------

  draw() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = null;
      this.drawNow();
    });
  }

  drawNow() {
    if (!this.visible || !(this.width > 0)) return;
    const { from, to } = this.view;
    this.figure.dataset.marks = this.painter.paint();
    this.range.textContent = `${shownTime(from)} to ${shownTime(to)}, ${shownTime(to - from)} in sight`;
    this.sayCut();
    if (this.loader) this.loader.want();
  }

  changeLanes() {
    this.layOut();
    this.chosen = null;
    if (this.found) this.find();
    makeLaneNames(this);
    this.redraw();
  }

  redraw() {
    this.width = Math.max(this.scroller.clientWidth, 320);
    this.left = Math.min(190, Math.round(this.width * 0.3));
    this.names.style.width = `${this.left - 6}px`;
    const most = Math.max(260, Math.round(window.innerHeight * 0.72));
    const height = Math.min(this.contentHeight + kAxisHeight, this.isPrinted ? 6000 : most);
    this.scroller.style.height = `${height}px`;
    this.space.style.height = `${this.contentHeight + kAxisHeight}px`;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(this.width * ratio);
    this.canvas.height = Math.round(height * ratio);
    this.canvas.style.width = `${this.width}px`;
    this.canvas.style.height = `${height}px`;
    this.height = height;
    this.painter.readColours();
    this.drawNow();
  }

  xOf(ms) {
    const { from, to } = this.view;
    return this.left + ((ms - from) / (to - from)) * (this.width - this.left);
  }

  timeAt(x) {
    const { from, to } = this.view;
    return from + ((x - this.left) / (this.width - this.left)) * (to - from);
  }

  yOf(lane, depth) {
    return kAxisHeight + lane.top + depth * kRowHeight - this.scroller.scrollTop;
  }

  // --- What is chosen. -------------------------------------------------------------------------

  laneAt(y) {
    const top = y - kAxisHeight + this.scroller.scrollTop;
    return this.visible.findIndex((lane) => lane.top <= top && top < lane.top + lane.height + kLaneGap);
  }

  // The slice at a point, or the nearest within four pixels; null.
  sliceAt(x, y) {
    const number = y < kAxisHeight || x < this.left ? -1 : this.laneAt(y);
    if (number < 0) return null;
    const lane = this.visible[number];
    const slices = this.store.lanes.get(lane.id);
    if (!slices) return null;
    const depth = Math.floor((y - this.yOf(lane, 0)) / kRowHeight);
    const places = slices.rows[depth];
    if (!places) return null;
    const time = this.timeAt(x) * 1e6;
    const reach = (this.timeAt(x + 4) - this.timeAt(x)) * 1e6;
    const next = firstAfter(slices.start, places, time);
    let best = null;
    let least = reach;
    for (const place of [places[next - 1], places[next]]) {
      if (place === undefined) continue;
      const start = slices.start[place];
      const distance = Math.max(start - time, time - start - slices.dur[place], 0);
      if (distance <= least) {
        best = { lane: number, place };
        least = distance;
      }
    }
    return best;
  }

  nearest(number, ms) {
    const slices = this.store.lanes.get(this.visible[number].id);
    if (!slices) return null;
    let best = 0;
    let least = Infinity;
    slices.start.forEach((start, place) => {
      const distance = Math.max(start - ms * 1e6, ms * 1e6 - start - slices.dur[place], 0);
      if (distance < least) {
        best = place;
        least = distance;
      }
    });
    return { lane: number, place: best };
  }

  chooseSlice(sliceId) {
    const known = this.store.byId.get(sliceId);
    if (!known) return;
    const lane = this.visible.findIndex((one) => one.id === known.lane);
    if (lane >= 0) this.choose({ lane, place: known.place }, true);
  }

  chooseLane(step, ms) {
    let lane = this.chosen ? this.chosen.lane + step : 0;
    while (lane >= 0 && lane < this.visible.length) {
      const near = this.nearest(lane, ms);
      if (near) {
        this.choose(near, true);
        return;
      }
      lane += step;
    }
  }

  chooseNext(step, ms) {
    if (!this.chosen) {
      this.chooseLane(1, ms);
      return;
    }
    const slices = this.store.lanes.get(this.visible[this.chosen.lane].id);
    const place = this.chosen.place + step;
    if (place < 0 || place >= slices.start.length) return;
    const start = slices.start[place] / 1e6;
    if (start < this.view.from || start > this.view.to) {
      this.moveBy((start - this.view.from) / (this.view.to - this.view.from) - 0.5);
    }
    this.choose({ lane: this.chosen.lane, place }, true);
  }

  choose(chosen, aloud) {
    this.chosen = chosen;
    if (chosen) this.scrollTo(this.visible[chosen.lane]);
    this.drawNow();
    showChosen(this, aloud);
  }

  scrollTo(lane) {
    const { scrollTop, clientHeight } = this.scroller;
    if (lane.top < scrollTop) this.scroller.scrollTop = lane.top;
    const bottom = lane.top + Math.min(lane.height, clientHeight - kAxisHeight) + kAxisHeight;
    if (bottom > scrollTop + clientHeight) this.scroller.scrollTop = bottom - clientHeight;
  }

  // --- Search. ---------------------------------------------------------------------------------

  find() {
    const text = this.search.value.trim().toLowerCase();
    pageState.set("find", this.search.value.trim());
    this.found = null;
    this.matches = [];
    if (text !== "") {
      this.found = new Uint8Array(this.store.names.length);
      this.store.names.forEach((name, i) => {
        if (name.toLowerCase().includes(text)) this.found[i] = 1;
      });
      this.visible.forEach((lane, number) => {
        const slices = this.store.lanes.get(lane.id);
        if (!slices) return;
        slices.name.forEach((name, place) => {
          if (this.found[name]) this.matches.push({ lane: number, place, start: slices.start[place] });
        });
      });
      this.matches.sort((a, b) => a.start - b.start);
    }
    this.matchCount.textContent = text === "" ? ""
      : `${whole.format(this.matches.length)} on the lines shown`;
    this.draw();
  }

  nextMatch(step) {
    if (!this.matches || this.matches.length === 0) return;
    const at = this.chosen
      ? this.store.lanes.get(this.visible[this.chosen.lane].id).start[this.chosen.place] : -Infinity;
    const ahead = step > 0 ? this.matches.find((match) => match.start > at)
      : [...this.matches].reverse().find((match) => match.start < at);
    const match = ahead || this.matches[step > 0 ? 0 : this.matches.length - 1];
    const slices = this.store.lanes.get(this.visible[match.lane].id);
    const start = match.start / 1e6;
    const span = Math.max((slices.dur[match.place] / 1e6) * 4, 0.01);
    if (start < this.view.from || start > this.view.to || span * 20 < this.view.to - this.view.from) {
      this.setView(start - span * 0.3, start + span * 0.7);
    }
    this.choose({ lane: match.lane, place: match.place }, true);
  }
}

function timelineChart(section) {
  const timeline = new Timeline(section);
  if (timeline.lanes.length === 0) return "Nothing with a duration is in this run.";
  showInTimeline = (place) => timeline.show(place);
  return timeline.figure;
}
