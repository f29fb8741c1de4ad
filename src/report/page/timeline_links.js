// From a slice to those that it belongs with: the call that launched it, what it launched, and the
// parts of its collective on other ranks.

const kLinksMax = 64;

class TimelineLinks {
  constructor(store) {
    this.store = store;
    this.launchOf = new Map();
    this.launchedBy = new Map();
    this.collectiveOf = new Map();
    this.partsOf = new Map();
    const launches = page.results["report/launch_links"];
    const parts = page.results["report/collective_links"];
    if (launches) this.addLaunches(launches.result);
    if (parts) this.addParts(parts.result);
  }

  addLaunches(written) {
    const column = (name) => undelta(written.columns.find((one) => one.name === name));
    const calls = column("launch_slice_id");
    column("slice_id").forEach((id, i) => {
      this.launchOf.set(id, calls[i]);
      if (!this.launchedBy.has(calls[i])) this.launchedBy.set(calls[i], []);
      this.launchedBy.get(calls[i]).push(id);
    });
  }

  addParts(written) {
    const column = (name) => undelta(written.columns.find((one) => one.name === name));
    const collectives = column("collective");
    column("slice_id").forEach((id, i) => {
      this.collectiveOf.set(id, collectives[i]);
      if (!this.partsOf.has(collectives[i])) this.partsOf.set(collectives[i], []);
      this.partsOf.get(collectives[i]).push(id);
    });
  }

  // [{kind, id, lane, place}]: those that are on the page.
  of(id) {
    const found = [];
    const add = (kind, other) => {
      const place = this.store.byId.get(other);
      if (place && found.length < kLinksMax) found.push({ kind, id: other, ...place });
    };
    if (this.launchOf.has(id)) add("launched by", this.launchOf.get(id));
    for (const other of this.launchedBy.get(id) || []) add("launches", other);
    for (const other of this.partsOf.get(this.collectiveOf.get(id)) || []) {
      if (other !== id) add("collective", other);
    }
    return found;
  }
}
