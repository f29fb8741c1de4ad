// On the server's page: slices of what is looked at come when they are looked at.

const kLoadDelayMs = 200;
const kLoadRanksMax = 16;
const kLoadedRowsMax = 400000; // of more the oldest windows go
const kExactPixelMs = 0.05; // of longer pixels only slices are asked for that fill half of one

class TimelineLoader {
  constructor(timeline) {
    this.timeline = timeline;
    this.windows = []; // {rank, from, to, shortest, count}; shorter slices may be missing
    this.timer = null;
    this.asked = null; // what is on its way, as text
    this.note = element("output", { class: "range", role: "status" });
  }

  // Whether all that lies between is there, of a rank: all slices of so many ms and more.
  has(rank, from, to, shortest = 0) {
    return this.windows.some((one) => one.rank === rank && one.from <= from && one.to >= to
      && one.shortest <= shortest);
  }

  // Which slices have a place of their own in what is seen. A power of two: zooming in by less than
  // that has nothing to load.
  shortestSeen() {
    const { view, width, left } = this.timeline;
    const pixel = (view.to - view.from) / (width - left);
    return pixel <= kExactPixelMs ? 0 : 2 ** Math.floor(Math.log2(pixel / 2));
  }

  want() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.load(), kLoadDelayMs);
  }

  async load() {
    const { view, visible } = this.timeline;
    const shortest = this.shortestSeen();
    const missing = [...new Set(visible.filter((lane) => {
      const exact = this.timeline.exactWindow(lane);
      return !(exact && exact.from <= view.from && exact.to >= view.to)
        && !this.has(lane.rank, view.from, view.to, shortest);
    }).map((lane) => lane.rank))].slice(0, kLoadRanksMax);
    const share = (view.to - view.from) / (this.timeline.end - this.timeline.begin);
    // Zoomed out the thinned rows of streams are as fine as pixels, and a view is not to take long.
    if (missing.length === 0 || share * missing.length > 0.25) return;
    const room = (view.to - view.from) / (shortest > 0 ? 8 : 2);
    const [from, to] = [view.from - room, view.to + room];
    const query = this.queryOf(missing, from, to, shortest);
    if (query === this.asked) return;
    this.asked = query;
    this.note.textContent = "loading …";
    try {
      const answer = await fetch(query);
      if (!answer.ok) throw new Error(`the server answers ${answer.status}`);
      this.take(await answer.json(), { ranks: missing, from, to, shortest });
      this.note.textContent = "";
    } catch (error) {
      this.note.textContent = `Not loaded: ${error.message}`;
    }
    this.asked = null;
  }

  queryOf(ranks, from, to, shortest) {
    const given = new URLSearchParams({ rank: ranks.join(), from_ms: from.toFixed(6), to_ms: to.toFixed(6) });
    if (shortest > 0) given.set("min_us", shortest * 1000);
    const recorded = results.get("report/recorded");
    if (recorded && recorded.rows > 0) given.set("run", recorded.at(0, "run"));
    const capture = page.results["report/slices"].params.match(/(?:^| )capture=(\d+)$/);
    if (capture) given.set("capture", capture[1]);
    const token = new URLSearchParams(window.location.search).get("token");
    if (token !== null) given.set("token", token);
    return `report/slices.json?${given}`;
  }

  take(rows, { ranks, from, to, shortest }) {
    const { store } = this.timeline;
    const byLane = new Map();
    for (const row of rows) {
      if (store.byId.has(row.slice_id)) continue;
      if (!byLane.has(row.lane)) byLane.set(row.lane, []);
      byLane.get(row.lane).push(row);
    }
    for (const [lane, more] of byLane) store.merge(lane, more);
    for (const rank of ranks) {
      this.windows.push({ rank, from, to, shortest, count: rows.length / ranks.length });
    }
    let held = this.windows.reduce((sum, one) => sum + one.count, 0);
    // What is forgotten is loaded again; its slices stay drawn until then.
    while (held > kLoadedRowsMax && this.windows.length > ranks.length) held -= this.windows.shift().count;
    this.timeline.layOut();
    makeLaneNames(this.timeline);
    this.timeline.redraw();
  }
}
