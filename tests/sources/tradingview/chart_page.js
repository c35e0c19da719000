// A page with the objects that a TradingView chart page has, made from a model in JSON.
function makeChart(model) {
  const GROUPED = { dwglabels: "labels", dwglines: "lines", dwgboxes: "boxes", dwgtables: "tables", dwgpolylines: "polylines" };
  const PLAIN = { dwgtablecells: "tableCells", dwglinefills: "linefills" };
  const store = (records) => ({
    _primitivesDataById: new Map(records.map((raw) => [raw.id, raw])),
    _primitiveById: new Map(records.map((raw) => [raw.id, { id: raw.id, text: raw.t }])),
  });
  const collection = (graphics) => {
    const families = {};
    for (const [name, style] of Object.entries(GROUPED)) {
      families[name] = new Map();
      if (!graphics[name]) continue;
      const groups = Array.isArray(graphics[name]) ? { false: graphics[name] } : graphics[name];
      const inner = new Map();
      for (const [flag, records] of Object.entries(groups)) inner.set(flag === "true", store(records));
      families[name].set(style, inner);
    }
    for (const [name, style] of Object.entries(PLAIN)) {
      families[name] = new Map();
      if (graphics[name]) families[name].set(style, store(graphics[name]));
    }
    return families;
  };
  const source = (entry) => {
    const made = { id: () => entry.id };
    if (entry.throws) made.metaInfo = () => { throw new Error(entry.throws); };
    if (!entry.meta) return made;
    made.metaInfo = () => entry.meta;
    made.status = () => ({ type: 2 });
    if (entry.graphics) made._graphics = { _primitivesCollection: collection(entry.graphics), _indexes: entry.graphics.indexes };
    return made;
  };
  const sources = model.sources.map(source);
  const inputs = new Map(model.sources.map((entry) => [entry.id, entry.inputs]));
  const bars = {
    firstIndex: () => (model.bars.length ? 0 : null),
    lastIndex: () => (model.bars.length ? model.bars.length - 1 : null),
    valueAt: (index) => model.bars[index] ?? null,
  };
  const series = { bars: () => bars, symbolInfo: () => model.info ?? null };
  const inner = { dataSources: () => sources };
  const outer = { model: () => inner, mainSeries: () => series };
  const widget = {
    _chartWidget: { model: () => outer },
    symbol: () => model.symbol,
    resolution: () => model.resolution,
    getStudyById: (id) => ({ getInputValues: () => inputs.get(id) }),
  };
  return { _activeChartWidgetWV: { value: () => widget } };
}
