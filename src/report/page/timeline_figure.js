// The timeline's elements: what stands around its canvas, and what pointer and keys do.

const kTimelineHelp = "Milliseconds since the first event, by the aligned clocks. W and S or the "
  + "wheel (once it is clicked, or with Ctrl) zoom, A and D or dragging move, ↑ and ↓ choose a line, "
  + "comma and full stop go from slice to slice, F fits what is chosen, 0 shows all. Slices that "
  + "share a pixel are drawn as one; zoomed in, each is there with its own name.";

const kTimelineLegend = [
  { label: "computing", className: "fill-compute" }, { label: "communication", className: "fill-comm" },
  { label: "copies and fills", className: "fill-memory" }, { label: "operators", className: "fill-2" },
  { label: "annotations", className: "fill-4" }, { label: "calls of the runtime", className: "fill-6" },
  { label: "Python", className: "fill-7" }, { label: "other", className: "fill-idle-2" },
];

function makeTimelineFigure(timeline) {
  const { id, title } = timeline.section;
  timeline.canvas = element("canvas", {
    tabindex: 0, role: "application", "aria-describedby": `${id}-caption`,
    "aria-label": `${title}: w and s zoom, a and d move, up and down choose a line, comma and full `
      + "stop go from slice to slice, f fits what is chosen, 0 shows all",
  });
  timeline.names = element("div", { class: "lane-names", "aria-hidden": "true" });
  timeline.space = element("div", { class: "lane-space" }, timeline.names);
  timeline.scroller = element("div", { class: "lane-scroll" }, timeline.canvas, timeline.space);
  timeline.holder = element("div", { class: "chart timeline" }, timeline.scroller);
  timeline.tip = new Tip(timeline.holder);
  timeline.range = element("output", { class: "range" });
  timeline.details = element("div", { class: "slice-details", hidden: "" });
  timeline.figure = element("figure", { "data-chart": id }, timelineControls(timeline),
    makeLegend(kTimelineLegend), timeline.holder, timeline.details, cutLine(timeline),
    element("figcaption", { id: `${id}-caption` }, kTimelineHelp));
  timeline.figure.timeline = timeline;
  timeline.figure.redraw = () => timeline.changeLanes();
  timeline.exactWindow = exactWindowOf(timeline);
  listenToTimeline(timeline);
}

// What of a lane the page has exactly: null where none.
function exactWindowOf(timeline) {
  const { params } = page.results["report/slices"] || { params: "" };
  const given = new Map(params.split(" ").map((one) => one.split("=")));
  const ranks = given.has("rank") ? new Set(given.get("rank").split(",").map(Number)) : null;
  const bounds = given.has("from_ms")
    ? { from: Number(given.get("from_ms")), to: Number(given.get("to_ms")) }
    : { from: -Infinity, to: Infinity };
  return (lane) => (timeline.store.lanes.has(lane.id) && (!ranks || ranks.has(lane.rank))
    ? bounds : null);
}

// --- Controls. ---------------------------------------------------------------------------------

function timelineControls(timeline) {
  const button = (text, label, act) => {
    const made = element("button", { type: "button", "aria-label": label, title: label }, text);
    made.addEventListener("click", act);
    return made;
  };
  timeline.search = element("input", {
    type: "search", placeholder: "name of a slice", "aria-label": "Find slices by name",
  });
  timeline.matchCount = element("output", { class: "range" });
  timeline.search.addEventListener("input", () => timeline.find());
  timeline.search.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    timeline.nextMatch(event.shiftKey ? -1 : 1);
  });
  return element("div", { class: "controls" },
    button("+", "zoom in", () => timeline.scaleBy(2)),
    button("−", "zoom out", () => timeline.scaleBy(0.5)),
    button("←", "earlier", () => timeline.moveBy(-0.25)),
    button("→", "later", () => timeline.moveBy(0.25)),
    button("all", "show all", () => timeline.reset()),
    ...rankControls(timeline), ...stepControls(timeline), timeline.search,
    button("find next", "next slice of that name", () => timeline.nextMatch(1)), timeline.matchCount,
    ...(timeline.loader ? [timeline.loader.note] : []), timeline.range);
}

// The cut of what is in sight, for Perfetto: on the server's page a file, else the command.
function cutLine(timeline) {
  const code = element("code", {}, "");
  const line = commandLine("Into Perfetto", "");
  line.querySelector("code").replaceWith(code);
  const button = line.querySelector("button");
  const fresh = button.cloneNode(true);
  fresh.addEventListener("click", () => {
    window.getSelection().selectAllChildren(code);
    fresh.textContent = document.execCommand("copy") ? "Copied" : "Selected";
  });
  button.replaceWith(fresh);
  const link = cutLink(timeline.view, "Download what is shown");
  const { run, capture } = shownPart();
  const part = `${run ? ` --run ${shellWord(run)}` : ""}${capture ? ` --capture ${capture}` : ""}`;
  timeline.sayCut = () => {
    const { from, to } = timeline.view;
    code.textContent = `tracedb cut -o cut.json.gz --start ${Math.max(from, 0).toFixed(6)}ms `
      + `--end ${Math.max(to, from + 0.000001, 0.000001).toFixed(6)}ms --incoming${part}`;
    if (link) link.setAttribute("href", cutAddress(timeline.view));
  };
  if (!link) return line;
  return element("div", {}, element("p", { class: "command" }, element("span", {}, "Into Perfetto: "), link, ". ",
    kPerfettoNote), line);
}

function stepControls(timeline) {
  if (timeline.steps.length < 2) return [];
  const select = element("select", { "aria-label": "Show a step" }, element("option", { value: "" }, "step …"));
  timeline.steps.forEach(({ step }, i) => select.append(element("option", { value: i }, `step ${step}`)));
  select.addEventListener("change", () => {
    const bounds = timeline.steps[select.value];
    if (bounds) timeline.setView(bounds.from, bounds.to);
  });
  return [select];
}

function rankControls(timeline) {
  const { ranks } = timeline;
  if (ranks.length < 2) return [];
  const select = element("select");
  const first = [...timeline.shown].sort((a, b) => a - b);
  const choices = [...(first.length < ranks.length ? [[`${first.length} of them`, first]] : []),
    ["all", ranks], ...ranks.map((rank) => [`rank ${rank}`, [rank]])];
  choices.forEach(([name], i) => select.append(element("option", { value: i }, name)));
  const hosts = element("select");
  const hostChoices = [["none", []], ["those shown", null],
    ...ranks.map((rank) => [`rank ${rank}`, [rank]])];
  hostChoices.forEach(([name], i) => hosts.append(element("option", { value: i }, name)));
  timeline.showChoices = () => {
    const shown = [...timeline.shown].sort((a, b) => a - b).join();
    const place = choices.findIndex(([, of]) => of.join() === shown);
    select.value = place < 0 ? "" : String(place);
    hosts.value = timeline.hosts.size === 1
      ? String(2 + ranks.indexOf([...timeline.hosts][0])) : "";
  };
  const change = (isRank) => {
    const [, chosen] = choices[select.value];
    timeline.shown = new Set(chosen);
    if (isRank && chosen.length === 1) hosts.value = String(2 + ranks.indexOf(chosen[0]));
    timeline.hosts = new Set(hostChoices[hosts.value][1] || chosen);
    pageState.set("rank", chosen.length === 1 ? String(chosen[0]) : null);
    timeline.changeLanes();
  };
  select.addEventListener("change", () => change(true));
  hosts.addEventListener("change", () => change(false));
  return [element("label", {}, "GPUs of ", select), element("label", {}, "Host of ", hosts)];
}

function makeLaneNames(timeline) {
  if (timeline.showChoices) timeline.showChoices();
  timeline.names.replaceChildren(...timeline.visible.map((lane) => {
    // Narrow: the number of the stream is what tells lines apart.
    const text = window.innerWidth < 600 ? lane.label.replace("rank ", "") : lane.label;
    const name = element("div", { class: "row-name", title: lane.label }, text);
    name.style.top = `${lane.top + kAxisHeight}px`;
    return name;
  }));
}

// --- What is said of a slice. ------------------------------------------------------------------

function sliceLines(timeline, { lane, place }) {
  const { id, label } = timeline.visible[lane];
  const slices = timeline.store.lanes.get(id);
  return [shortened(timeline.store.nameAt(id, place), 160),
    `${label}, ${timeline.store.kindAt(id, place)}`,
    `from ${inThree.format(slices.start[place] / 1e6)} ms, ${shownTime(slices.dur[place] / 1e6)}`];
}

function showChosen(timeline, aloud) {
  const { chosen, details, tip } = timeline;
  details.hidden = !chosen;
  tip.hide();
  if (!chosen) return;
  const lines = sliceLines(timeline, chosen);
  if (aloud) tip.said.textContent = lines.join("; ");
  const slices = timeline.store.lanes.get(timeline.visible[chosen.lane].id);
  const id = slices.id[chosen.place];
  const links = timeline.links.of(id).map((link) => linkLine(timeline, link));
  details.replaceChildren(
    element("strong", {}, timeline.store.nameAt(timeline.visible[chosen.lane].id, chosen.place)),
    element("p", {}, `${lines[1]}, ${lines[2]}, slice_id ${id}`),
    links.length > 0 ? element("ul", {}, ...links.slice(0, 9)) : "");
}

function linkLine(timeline, link) {
  const slices = timeline.store.lanes.get(link.lane);
  const lane = timeline.lanes.find((one) => one.id === link.lane);
  const words = { "launched by": "launched by", launches: "launches", collective: "same collective" };
  const name = shortened(timeline.store.nameAt(link.lane, link.place), 80);
  const from = slices.start[link.place] / 1e6;
  const to = from + slices.dur[link.place] / 1e6;
  return element("li", {}, `${words[link.kind]}: `, goButton(
    { from, to: Math.max(to, from + 0.005), rank: lane.rank, sliceId: link.id },
    `${name}, ${lane.label}, at ${inThree.format(from)} ms`));
}

// --- Pointer and keys. -------------------------------------------------------------------------

function listenToTimeline(timeline) {
  const { canvas, scroller } = timeline;
  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  canvas.addEventListener("wheel", (event) => {
    const isHere = event.ctrlKey || event.metaKey || document.activeElement === canvas;
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      timeline.moveBy(event.deltaX / (timeline.width - timeline.left));
    } else if (isHere && !event.shiftKey) {
      event.preventDefault();
      timeline.scaleBy(2 ** (-event.deltaY / 240), timeline.timeAt(Math.max(at(event)[0], timeline.left)));
    }
  }, { passive: false });
  listenToDragging(timeline, at);
  canvas.addEventListener("pointermove", (event) => {
    if (timeline.drag && timeline.drag.moved) return;
    const [x, y] = at(event);
    timeline.pointerTime = x > timeline.left ? timeline.timeAt(x) : undefined;
    const under = timeline.sliceAt(x, y);
    if (under) timeline.tip.show(sliceLines(timeline, under), x, y, false);
    else timeline.tip.hide();
  });
  canvas.addEventListener("pointerleave", () => {
    timeline.pointerTime = undefined;
    timeline.tip.hide();
  });
  canvas.addEventListener("keydown", (event) => onTimelineKey(timeline, event));
  scroller.addEventListener("scroll", () => timeline.draw());
  new ResizeObserver(() => {
    if (scroller.clientWidth > 0 && Math.abs(scroller.clientWidth - timeline.width) > 1) {
      timeline.redraw();
    }
  }).observe(scroller);
  for (const [type, isPrinted] of [["beforeprint", true], ["afterprint", false]]) {
    window.addEventListener(type, () => {
      timeline.isPrinted = isPrinted;
      timeline.redraw();
    });
  }
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => timeline.redraw());
}

function listenToDragging(timeline, at) {
  const { canvas } = timeline;
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const [x, y] = at(event);
    timeline.drag = { x, y, view: timeline.view, scroll: timeline.scroller.scrollTop, moved: false };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const { drag } = timeline;
    if (!drag) return;
    const [x, y] = at(event);
    if (!drag.moved && Math.hypot(x - drag.x, y - drag.y) < 4) return;
    drag.moved = true;
    timeline.tip.hide();
    const shift = ((drag.x - x) / (timeline.width - timeline.left)) * (drag.view.to - drag.view.from);
    timeline.setView(drag.view.from + shift, drag.view.to + shift);
    timeline.scroller.scrollTop = drag.scroll + drag.y - y;
  });
  canvas.addEventListener("pointerup", (event) => {
    const { drag } = timeline;
    timeline.drag = null;
    if (!drag || drag.moved) return;
    timeline.choose(timeline.sliceAt(...at(event)), true);
  });
  canvas.addEventListener("pointercancel", () => {
    timeline.drag = null;
  });
}

function onTimelineKey(timeline, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const middle = () => (timeline.view.from + timeline.view.to) / 2;
  const zoomAt = () => timeline.pointerTime;
  const acts = {
    "+": () => timeline.scaleBy(2), "=": () => timeline.scaleBy(2), "-": () => timeline.scaleBy(0.5),
    w: () => timeline.scaleBy(1.5, zoomAt()), s: () => timeline.scaleBy(1 / 1.5, zoomAt()),
    a: () => timeline.moveBy(-0.2), d: () => timeline.moveBy(0.2),
    ArrowLeft: () => timeline.moveBy(-0.2), ArrowRight: () => timeline.moveBy(0.2),
    0: () => timeline.reset(), Escape: () => timeline.choose(null, false),
    ArrowUp: () => timeline.chooseLane(-1, middle()), ArrowDown: () => timeline.chooseLane(1, middle()),
    ",": () => timeline.chooseNext(-1, middle()), ".": () => timeline.chooseNext(1, middle()),
    f: () => fitChosen(timeline), "/": () => timeline.search.focus(),
  };
  const act = acts[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!act || timeline.visible.length === 0) return;
  event.preventDefault();
  act();
}

function fitChosen(timeline) {
  const { chosen } = timeline;
  if (!chosen) return;
  const slices = timeline.store.lanes.get(timeline.visible[chosen.lane].id);
  const from = slices.start[chosen.place] / 1e6;
  const room = Math.max(slices.dur[chosen.place] / 1e6, kSpanMinMs) * 0.2;
  timeline.setView(from - room, from + slices.dur[chosen.place] / 1e6 + room);
}
