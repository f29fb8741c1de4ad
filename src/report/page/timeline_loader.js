// On the server's page: slices of what is looked at come when they are looked at.

const kLoadDelayMs = 200;
const kLoadRanksMax = 16;
const kLoadedRowsMax = 400000; // of more the oldest windows go

class TimelineLoader {
  constructor(timeline) {
    this.timeline = timeline;
    this.windows = []; // {rank, from, to, ids}
    this.timer = null;
    this.asked = null; // what is on its way, as text
    this.note = element("output", { class: "range", role: "status" });
  }

  // Whether all that lies between is there, of a rank.
  has(rank, from, to) {
    return this.windows.some((one) => one.rank === rank && one.from <= from && one.to >= to);
  }

  want() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.load(), kLoadDelayMs);
  }

  async load() {
    const { view, visible } = this.timeline;
    const missing = [...new Set(visible.filter((lane) => {
      const exact = this.timeline.exactWindow(lane);
      return !(exact && exact.from <= view.from && exact.to >= view.to)
        && !this.has(lane.rank, view.from, view.to);
    }).map((lane) => lane.rank))].slice(0, kLoadRanksMax);
    const share = (view.to - view.from) / (this.timeline.end - this.timeline.begin);
    // Zoomed out the thinned rows tell as much as there are pixels.
    if (missing.length === 0 || share * missing.length > 0.5) return;
    const room = (view.to - view.from) / 2;
    const [from, to] = [view.from - room, view.to + room];
    const query = this.queryOf(missing, from, to);
    if (query === this.asked) return;
    this.asked = query;
    this.note.textContent = "loading …";
    try {
      const answer = await fetch(query);
      if (!answer.ok) throw new Error(`the server answers ${answer.status}`);
      this.take(await answer.json(), missing, from, to);
      this.note.textContent = "";
    } catch (error) {
      this.note.textContent = `Not loaded: ${error.message}`;
    }
    this.asked = null;
  }

  queryOf(ranks, from, to) {
    const given = new URLSearchParams({ rank: ranks.join(), from_ms: from.toFixed(6), to_ms: to.toFixed(6) });
    const recorded = results.get("report/recorded");
    if (recorded && recorded.rows > 0) given.set("run", recorded.at(0, "run"));
    const capture = page.results["report/slices"].params.match(/(?:^| )capture=(\d+)$/);
    if (capture) given.set("capture", capture[1]);
    const token = new URLSearchParams(window.location.search).get("token");
    if (token !== null) given.set("token", token);
    return `report/slices.json?${given}`;
  }

  take(rows, ranks, from, to) {
    const { store } = this.timeline;
    const byLane = new Map();
    for (const row of rows) {
      if (store.byId.has(row.slice_id)) continue;
      if (!byLane.has(row.lane)) byLane.set(row.lane, []);
      byLane.get(row.lane).push(row);
    }
    for (const [lane, more] of byLane) store.merge(lane, more);
    for (const rank of ranks) this.windows.push({ rank, from, to, count: rows.length / ranks.length });
    let held = this.windows.reduce((sum, one) => sum + one.count, 0);
    // What is forgotten is loaded again; its slices stay drawn until then.
    while (held > kLoadedRowsMax && this.windows.length > ranks.length) held -= this.windows.shift().count;
    this.timeline.layOut();
    makeLaneNames(this.timeline);
    this.timeline.redraw();
  }
}
