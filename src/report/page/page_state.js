// What is looked at, in the page's address, so that it can be sent to somebody else:
// #t=12.5,13.5&rank=5&host=5&find=sleep. And the way from any figure to its place in the timeline.

const kStateDelayMs = 150;

const pageState = {
  values: new URLSearchParams(),
  timer: null,
  // Only what is of this form is state; other fragments are anchors.
  read() {
    const text = window.location.hash.slice(1);
    this.values = new URLSearchParams(text.includes("=") ? text : "");
  },
  get(name) {
    return this.values.get(name);
  },
  // null: the value that the page has by itself.
  set(name, value) {
    if (value === null || value === "") this.values.delete(name);
    else this.values.set(name, value);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.write(), kStateDelayMs);
  },
  write() {
    const text = this.values.toString().replaceAll("%2C", ",");
    const { hash } = window.location;
    if (`#${text}` === hash || (text === "" && !hash.includes("="))) return;
    window.history.replaceState(null, "", text === "" ? "#main" : `#${text}`);
  },
};

// Set by the timeline, where there is one: shows milliseconds from, to, of a rank.
let showInTimeline = null;

function goTo(place) {
  if (showInTimeline) showInTimeline(place);
}

function goButton(place, label) {
  const button = element("button", { type: "button", class: "go" }, label);
  button.addEventListener("click", () => goTo(place));
  return button;
}

// --- Into Perfetto. ----------------------------------------------------------------------------

const kPerfettoNote = "Then open it at ui.perfetto.dev (Open trace file), or drop it there.";

// The cut of milliseconds from, to: the server has it as a file.
function cutAddress({ from, to }) {
  const given = new URLSearchParams({
    from: Math.max(from, 0).toFixed(6), to: Math.max(to, from + 0.000001, 0.000001).toFixed(6), incoming: 1,
  });
  for (const [name, value] of Object.entries(shownPart())) given.set(name, value);
  const token = new URLSearchParams(window.location.search).get("token");
  if (token !== null) given.set("token", token);
  return `cut.json.gz?${given}`;
}

// Which run and capture the page is of, where the database has several.
function shownPart() {
  const { params } = page.results["report/slices"] || page.results["info_traces"] || { params: "" };
  const run = params.match(/(?:^| )run=(.*?)(?: capture=\d+)?$/);
  const capture = params.match(/(?:^| )capture=(\d+)$/);
  return { ...(run ? { run: run[1] } : {}), ...(capture ? { capture: capture[1] } : {}) };
}

// Nothing on a page that is a file: there the command is shown.
function cutLink(place, label) {
  if (!page.served) return null;
  return element("a", { class: "cut", href: cutAddress(place), download: "cut.json.gz", title: kPerfettoNote }, label);
}
