// Numbers as people read them, and elements. A text of the data only ever becomes a text node:
// names of kernels and files are anybody's.

const decimals = (digits) =>
  new Intl.NumberFormat("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
const inThree = decimals(3);
const inTwo = decimals(2);
const inOne = decimals(1);
const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

// A value of a table, by its column's unit; NULL is a dash.
function shownValue(value, column) {
  if (value === null || value === undefined) return "–";
  if (typeof value !== "number") return String(value);
  if (column.unit === "pct") return inTwo.format(value);
  if (column.unit === "id") return String(value);
  if (column.unit === "bytes") return shownBytes(value);
  if (column.type === "real") return inThree.format(value);
  return whole.format(value);
}

const kUnitEnds = { ms: "ms", us: "us", ns: "ns", pct: "%", gbps: "GB/s", bytes: "", tflops: "TFLOP/s" };

// "total_wait_ms" -> "total wait, ms": a heading as people say it.
function columnWords(column) {
  const words = column.name.split("_");
  const unit = kUnitEnds[words[words.length - 1]];
  if (unit === undefined || words.length < 2) return words.join(" ");
  return words.slice(0, -1).join(" ") + (unit === "" ? "" : `, ${unit}`);
}

// A time with the unit that suits its size: "1.234 s", "5.60 ms", "7.1 us".
function shownTime(ms) {
  const size = Math.abs(ms);
  if (size >= 1000) return `${inTwo.format(ms / 1000)} s`;
  if (size >= 1) return `${inTwo.format(ms)} ms`;
  return `${inOne.format(ms * 1000)} us`;
}

function shownShare(pct) {
  return pct === null ? "–" : `${inOne.format(pct)} %`;
}

function shownBytes(bytes) {
  if (bytes === null || bytes === undefined) return "–";
  const units = ["B", "kB", "MB", "GB", "TB"];
  let place = 0;
  let size = bytes;
  while (Math.abs(size) >= 1000 && place < units.length - 1) {
    size /= 1000;
    place += 1;
  }
  return `${place === 0 ? whole.format(size) : inOne.format(size)} ${units[place]}`;
}

function shortened(text, most) {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

function sentence(text) {
  return text === "" ? "" : `${text[0].toUpperCase()}${text.slice(1)}.`;
}

// A name with its middle left out: kernels differ at their ends.
function shortenedInside(text, most) {
  const bare = text.replace(/^void /, "").replaceAll("(anonymous namespace)::", "");
  if (bare.length <= most) return bare;
  const end = Math.floor(most * 0.45);
  return `${bare.slice(0, most - end - 1)}…${bare.slice(bare.length - end)}`;
}

// An element with attributes and children, which are elements or texts; null ones are left out.
function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  for (const child of children) {
    if (child !== null) made.append(child);
  }
  return made;
}

// Text whose `code` stands in back quotes, in paragraphs parted by an empty line.
function paragraphs(text) {
  return text.split("\n\n").map((paragraph) => {
    const made = element("p");
    paragraph.split("`").forEach((piece, i) => {
      made.append(i % 2 === 1 ? element("code", {}, piece) : piece.replaceAll("\n", " "));
    });
    return made;
  });
}
