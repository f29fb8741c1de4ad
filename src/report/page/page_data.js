// What the program wrote into the page: results of queries, column by column.

const page = JSON.parse(document.getElementById("data").textContent);

// Values of a column that is written as differences.
function undelta(column) {
  if (!column.delta) return column.values;
  let last = 0;
  return column.values.map((value) => {
    last += value;
    return last;
  });
}

function textsOf(column) {
  return column.values.map((place) => {
    if (place === null) return null;
    return place < 0 ? "(one of many other names)" : column.texts[place];
  });
}

// A result with its texts in their places; column(name) is null where there is none.
function resultOf(written) {
  const columns = written.columns.map((column) => ({
    name: column.name,
    type: column.type,
    unit: column.unit,
    about: column.about,
    values: column.texts ? textsOf(column) : undelta(column),
  }));
  const byName = new Map(columns.map((column) => [column.name, column]));
  // The page is of one run: the same in each row tells nothing.
  const isSame = (column) => ["run", "capture"].includes(column.name)
    && new Set(column.values).size < 2;
  return {
    columns,
    tableColumns: columns.filter((column) => !isSame(column)),
    rows: written.rows,
    found: written.rows_found,
    has: (name) => byName.has(name),
    // A value; null where there is no such column.
    at: (row, name) => (byName.has(name) ? byName.get(name).values[row] : null),
    shown: (row, name) => shownValue(byName.get(name).values[row], byName.get(name)),
  };
}

// By query; made when it is asked for. undefined: not on this page.
const results = {
  made: new Map(),
  get(query) {
    if (!page.results[query]) return undefined;
    if (!this.made.has(query)) this.made.set(query, resultOf(page.results[query].result));
    return this.made.get(query);
  },
};

function rowNumbers(result) {
  return d3.range(result.rows);
}

// "rank 3"; with the device where a rank has several.
function deviceNamer(result) {
  const devices = new Map();
  for (const row of rowNumbers(result)) {
    const rank = result.at(row, "rank");
    if (!devices.has(rank)) devices.set(rank, new Set());
    devices.get(rank).add(result.at(row, "device"));
  }
  return (row) => {
    const rank = result.at(row, "rank");
    if (devices.get(rank).size < 2) return `rank ${rank}`;
    return `rank ${rank}, device ${result.at(row, "device")}`;
  };
}
