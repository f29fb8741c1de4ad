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
