// What the timeline draws: lanes with their slices, nested ones below each other, in typed arrays.

const kLaneDepthMax = 24;
const kStreamDepthMax = 3; // activities of one stream seldom overlap

// Rows of report/slices, column by column; names and kinds are places in lists of texts.
class SliceStore {
  constructor() {
    this.names = [];
    this.kinds = [];
    this.nameOf = new Map();
    this.kindOf = new Map();
    this.byId = new Map(); // slice_id -> {lane, place}
    this.lanes = new Map(); // lane -> {start, dur, id, name, kind, depth, rows}
  }

  place(list, map, text) {
    const known = map.get(text);
    if (known !== undefined) return known;
    list.push(text);
    map.set(text, list.length - 1);
    return list.length - 1;
  }

  // `written` is a result as the program writes it, in the order of lanes and starts. A lane's rows
  // replace those that are there.
  add(written) {
    const column = (name) => written.columns.find((one) => one.name === name);
    const lanes = undelta(column("lane"));
    const ids = undelta(column("slice_id"));
    const starts = undelta(column("start_ns"));
    const durs = column("dur_ns").values;
    const texts = (name, list, map) => {
      const one = column(name);
      const places = one.texts.map((text) => this.place(list, map, text));
      const none = this.place(list, map, name === "name" ? "(one of many other names)" : "slice");
      return one.values.map((value) => (value === null || value < 0 ? none : places[value]));
    };
    const names = texts("name", this.names, this.nameOf);
    const kinds = texts("kind", this.kinds, this.kindOf);
    for (let from = 0; from < written.rows;) {
      let to = from;
      while (to < written.rows && lanes[to] === lanes[from]) to += 1;
      this.addLane(lanes[from], {
        start: Float64Array.from(starts.slice(from, to)), dur: Float64Array.from(durs.slice(from, to)),
        id: Float64Array.from(ids.slice(from, to)), name: Int32Array.from(names.slice(from, to)),
        kind: Uint8Array.from(kinds.slice(from, to)),
      });
      from = to;
    }
  }

  // Rows as the server has them, in the order of their starts, into a lane.
  merge(lane, rows) {
    const known = this.lanes.get(lane);
    const all = known ? Array.from(known.start, (start, i) => ({
      start, dur: known.dur[i], id: known.id[i], name: known.name[i], kind: known.kind[i],
    })) : [];
    for (const row of rows) {
      all.push({
        start: row.start_ns, dur: row.dur_ns, id: row.slice_id,
        name: this.place(this.names, this.nameOf, row.name === null ? "(no name)" : String(row.name)),
        kind: this.place(this.kinds, this.kindOf, row.kind || "slice"),
      });
    }
    all.sort((a, b) => a.start - b.start || b.dur - a.dur || a.id - b.id);
    const column = (Kind, name) => Kind.from(all, (one) => one[name]);
    this.addLane(lane, {
      start: column(Float64Array, "start"), dur: column(Float64Array, "dur"),
      id: column(Float64Array, "id"), name: column(Int32Array, "name"), kind: column(Uint8Array, "kind"),
    });
  }

  addLane(lane, slices) {
    slices.lane = lane;
    slices.depth = new Uint8Array(slices.start.length);
    const open = []; // ends of what is open, the outermost first
    slices.start.forEach((start, place) => {
      while (open.length > 0 && open[open.length - 1] <= start) open.pop();
      slices.depth[place] = Math.min(open.length, kLaneDepthMax - 1);
      open.push(start + slices.dur[place]);
      this.byId.set(slices.id[place], { lane, place });
    });
    this.lanes.set(lane, slices);
    this.orderRows(slices);
  }

  // Places of each depth, which do not overlap but for odd traces.
  orderRows(slices) {
    const rows = [];
    slices.depth.forEach((depth, place) => {
      while (rows.length <= depth) rows.push([]);
      rows[depth].push(place);
    });
    slices.rows = rows.map((places) => Int32Array.from(places));
  }

  nameAt(lane, place) {
    return this.names[this.lanes.get(lane).name[place]];
  }

  kindAt(lane, place) {
    return this.kinds[this.lanes.get(lane).kind[place]];
  }
}

// The first place in `places` whose slice starts after `time`.
function firstAfter(starts, places, time) {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (starts[places[middle]] <= time) low = middle + 1; else high = middle;
  }
  return low;
}

// As GPUs and threads are called.
function laneLabel(result, row) {
  const at = (name) => result.at(row, name);
  const rank = `rank ${at("rank")}`;
  const several = new Set(rowNumbers(result).filter((one) => result.at(one, "rank") === at("rank")
    && result.at(one, "device") !== null).map((one) => result.at(one, "device"))).size > 1;
  if (at("where_is") === "stream") {
    return `${rank}, ${several ? `GPU ${at("device")}, ` : ""}stream ${at("stream")}`;
  }
  const name = (at("name") || "").trim();
  if (at("where_is") === "annotation") return `${rank}, annotations of ${name || at("tid")}`;
  return `${rank}, ${name || `thread ${at("tid")}`}`;
}

// Lanes that have slices, streams first; those of a rank stand together.
function timelineLanes(result, store, thinned) {
  if (!result) return [];
  const streams = new Set(thinned ? rowNumbers(thinned).map((row) =>
    `${thinned.at(row, "rank")} ${thinned.at(row, "device")} ${thinned.at(row, "stream")}`) : []);
  const lanes = [];
  for (const row of rowNumbers(result)) {
    const id = result.at(row, "lane");
    const key = `${result.at(row, "rank")} ${result.at(row, "device")} ${result.at(row, "stream")}`;
    const slices = store.lanes.get(id);
    // The server's page may load any lane.
    if (!slices && !streams.has(key) && !page.served) continue;
    lanes.push({
      id, key, rank: result.at(row, "rank"), where: result.at(row, "where_is"),
      label: laneLabel(result, row), thinned: [],
      count: slices ? slices.start.length : 0,
    });
  }
  const byKey = new Map(lanes.map((lane) => [lane.key, lane]));
  if (thinned) {
    for (const row of rowNumbers(thinned)) {
      const lane = byKey.get(`${thinned.at(row, "rank")} ${thinned.at(row, "device")} `
        + `${thinned.at(row, "stream")}`);
      if (lane) lane.thinned.push(row);
    }
  }
  const order = { stream: 0, annotation: 1, thread: 2 };
  return lanes.map((lane, i) => ({ lane, i })).sort((a, b) => a.lane.rank - b.lane.rank
    || order[a.lane.where] - order[b.lane.where]
    || (a.lane.where === "thread" ? b.lane.count - a.lane.count : 0) || a.i - b.i)
    .map(({ lane }) => lane);
}
