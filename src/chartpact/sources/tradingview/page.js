// Reads the active TradingView chart: one expression, evaluated in the page. It changes nothing.
//
// The answer is a JSON text. {missing: STEP} names the first step of the path to the chart that is
// not there. What is missing in one study is named in that study, and spoils no other.
//
// It is written so that V8 can prove that it has no side effects: no spread of objects, no classes,
// and no assignment to a variable that a closure holds. A test has it evaluated that way.
((options) => {
  "use strict";
  const FAMILIES = {
    dwglabels: "labels",
    dwglines: "lines",
    dwgboxes: "boxes",
    dwgtables: "tables",
    dwgtablecells: "tableCells",
    dwglinefills: "linefills",
    dwgpolylines: "polylines",
  };
  const STORED = "_primitivesDataById";
  const OUTSIDE = -1000000; // at or below: the bar lies outside the loaded history
  const HIDDEN = ["text", "pineId", "pineVersion", "pineFeatures"]; // the script itself, not its inputs

  const miss = (step) => ({ missing: step });
  const reason = (error) => (error && error.missing) || String((error && error.message) || error).slice(0, 300);

  // Follows a path such as "model().mainSeries()" from a value, and says which step is missing.
  const walk = (value, path, from) => {
    let place = from;
    for (const step of path.split(".")) {
      const call = step.endsWith("()");
      const name = call ? step.slice(0, -2) : step;
      place = place ? `${place}.${step}` : step;
      if (call && typeof value[name] !== "function") throw miss(place);
      value = call ? value[name]() : value[name];
      if (value === undefined || value === null) throw miss(place);
    }
    return value;
  };
  const attempt = (read, otherwise) => {
    try {
      const value = read();
      return value === undefined ? otherwise : value;
    } catch (error) {
      return otherwise;
    }
  };
  const plain = (value) => {
    if (typeof value === "number") return Number.isNaN(value) ? null : Number.isFinite(value) ? value : String(value);
    return value === null || typeof value === "string" || typeof value === "boolean" ? value : undefined;
  };
  const record = (raw) => {
    const copy = {};
    for (const key of Object.keys(raw)) {
      const value = plain(raw[key]);
      if (value !== undefined) copy[key] = value;
    }
    return copy;
  };

  // The records of one store. Objects that were drawn without their records cannot be told.
  const stored = (store, place) => {
    const byId = walk(store, STORED, place);
    if (typeof byId.forEach !== "function") throw miss(`${place}.${STORED}.forEach`);
    const drawn = store._primitiveById;
    if (byId.size === 0 && drawn && drawn.size > 0) throw miss(`${place}.${STORED} (${drawn.size} objects)`);
    const records = [];
    byId.forEach((raw, id) => {
      const copy = record(raw);
      if (copy.id === undefined) copy.id = plain(id);
      records.push(copy);
    });
    return records;
  };
  // One family of drawings: records by the flag force_overlay; `false` where it has no such groups.
  const family = (collection, name, place) => {
    const styles = walk(collection, name, place);
    const key = FAMILIES[name];
    const at = `${place}.${name}.get('${key}')`;
    if (typeof styles.get !== "function") throw miss(at);
    const inner = styles.get(key);
    if (inner === undefined || inner === null) {
      if (styles.size > 0) throw miss(at);
      return { false: [] };
    }
    if (inner[STORED] !== undefined) return { false: stored(inner, at) };
    if (typeof inner.forEach !== "function") throw miss(`${at}.${STORED}`);
    const groups = {};
    inner.forEach((store, flag) => {
      groups[String(flag)] = stored(store, `${at}.get(${String(flag)})`);
    });
    return groups;
  };
  const colors = (meta) => {
    const listed = (palettes) => {
      const palette = palettes && palettes.palette_common;
      if (!palette || !palette.colors) return null;
      const found = {};
      for (const index of Object.keys(palette.colors)) {
        const color = palette.colors[index] && palette.colors[index].color;
        if (typeof color === "string") found[index] = color;
      }
      return Object.keys(found).length ? { colors: found, index: palette.valToIndex ? record(palette.valToIndex) : null } : null;
    };
    return listed(meta.palettes) || listed(meta.defaults && meta.defaults.palettes);
  };
  const inputs = (widget, id, meta) => {
    const values = walk(walk(widget, "getStudyById", "") && widget.getStudyById(id), "getInputValues()", "getStudyById(id)");
    const declared = walk(meta, "inputs", "metaInfo()");
    const known = new Map();
    for (const input of declared) known.set(input.id, input);
    const found = [];
    for (const item of values) {
      const input = known.get(item.id);
      const value = plain(item.value);
      if (!input || HIDDEN.includes(item.id) || value === undefined) continue;
      if (input.isHidden && !options.raw) continue;
      found.push({ id: item.id, title: plain(input.name), type: plain(input.type), value });
    }
    return found;
  };
  const version = (widget, id, meta) => {
    const declared = meta.pine && plain(meta.pine.version);
    if (declared !== undefined && declared !== null) return declared;
    const values = widget.getStudyById(id).getInputValues();
    return plain(values.find((item) => item.id === "pineVersion").value);
  };
  const limits = (meta) => {
    const found = {};
    for (const [channel, name] of [["labels", "Labels"], ["lines", "Lines"], ["boxes", "Boxes"], ["polylines", "Polylines"]]) {
      const most = meta[`max${name}Count`] ?? meta[`max_${channel}_count`];
      if (typeof most === "number") found[channel] = most;
    }
    return found;
  };
  const shape = (source, meta) => ({
    meta: Object.keys(meta),
    inputs: attempt(() => meta.inputs.map((input) => Object.keys(input)), null),
    palettes: attempt(() => JSON.parse(JSON.stringify(meta.palettes)), null),
    default_palettes: attempt(() => JSON.parse(JSON.stringify(meta.defaults.palettes)), null),
    graphics: attempt(() => Object.keys(source._graphics), null),
    families: attempt(() => Object.entries(source._graphics._primitivesCollection).map(([name, styles]) => [name, [...styles.keys()].map(String)]), null),
    objects: attempt(() => Object.entries(source._graphics._primitivesCollection).map(([name, styles]) => {
      let store = styles.get(FAMILIES[name]);
      if (store && store._primitiveById === undefined && store.values) store = [...store.values()].find((group) => group._primitiveById && group._primitiveById.size);
      const [one] = store && store._primitiveById ? store._primitiveById.values() : [];
      return [name, one ? Object.keys(one) : []];
    }), null),
  });

  const study = (source, widget, timeOf) => {
    const found = { id: plain(attempt(() => source.id(), null)), missing: {}, families: {} };
    const meta = attempt(() => source.metaInfo(), null);
    found.name = meta && (plain(meta.description) || plain(meta.shortDescription));
    if (typeof found.name !== "string" || !found.name) {
      found.missing.study = meta ? "metaInfo().description" : "metaInfo()";
      return found;
    }
    found.short = plain(meta.shortDescription);
    found.status = attempt(() => plain(source.status().type), null);
    const optional = { version: () => version(widget, found.id, meta), inputs: () => inputs(widget, found.id, meta), palette: () => colors(meta), limits: () => limits(meta) };
    for (const [key, read] of Object.entries(optional)) {
      const value = attempt(read);
      if (value !== undefined) found[key] = value;
    }
    if (options.raw) found.shape = shape(source, meta);
    const graphics = attempt(() => source._graphics, null) ?? attempt(() => source.graphics(), null);
    const collection = graphics && graphics._primitivesCollection;
    if (!collection) {
      found.missing.graphics = graphics ? "_graphics._primitivesCollection" : "_graphics";
      return found;
    }
    let drawn = 0;
    for (const name of Object.keys(FAMILIES)) {
      try {
        const groups = family(collection, name, "_graphics._primitivesCollection");
        found.families[name] = groups;
        for (const records of Object.values(groups)) drawn += records.length;
      } catch (error) {
        found.missing[name] = reason(error);
      }
    }
    const table = graphics._indexes;
    if (table && typeof table.length === "number") {
      found.indexes = [...table].map((index) => (typeof index !== "number" || index <= OUTSIDE ? null : [index, timeOf(index)]));
    } else if (drawn) {
      found.missing.indexes = "_graphics._indexes";
    }
    return found;
  };

  try {
    const root = "TradingViewApi";
    const widget = walk(window, `${root}._activeChartWidgetWV.value()`, "");
    const top = `${root}._activeChartWidgetWV.value()`;
    const model = walk(widget, "_chartWidget.model()", top);
    const inside = `${top}._chartWidget.model()`;
    const sources = walk(model, "model().dataSources()", inside);
    const series = walk(model, "mainSeries()", inside);
    const bars = walk(series, "bars()", `${inside}.mainSeries()`);
    const first = attempt(() => bars.firstIndex(), null);
    const last = attempt(() => bars.lastIndex(), null);
    if (typeof last !== "number") return JSON.stringify({ loading: "the bars of the chart" });
    const timeOf = (index) => {
      const bar = attempt(() => bars.valueAt(index), null);
      return bar && typeof bar[0] === "number" ? bar[0] * 1000 : null;
    };
    const info = attempt(() => series.symbolInfo(), null) || {};
    const facts = {};
    for (const key of ["minmov", "pricescale", "timezone", "delay", "variable_tick_size"]) facts[key] = plain(info[key]);
    const studies = [];
    for (const source of sources) if (typeof source.metaInfo === "function") studies.push(study(source, widget, timeOf));
    const answer = {
      reader: 1,
      now: Date.now(),
      symbol: plain(walk(widget, "symbol()", top)),
      resolution: plain(walk(widget, "resolution()", top)),
      info: facts,
      first: plain(first),
      first_time: typeof first === "number" ? timeOf(first) : null,
      last,
      last_time: timeOf(last),
      last_price: attempt(() => plain(bars.valueAt(last)[4]), null),
      studies,
    };
    const text = JSON.stringify(answer);
    return text.length > options.most ? JSON.stringify({ large: text.length }) : text;
  } catch (error) {
    return JSON.stringify(error && error.missing ? error : { failed: reason(error) });
  }
})
