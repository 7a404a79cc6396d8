// Charts: the figure comes as data from the console itself, its colours are names of design tokens. Drawn anew when the
// light changes, when the room changes, and when the window's reading does.
"use strict";

(() => {
  const box = document.querySelector("[data-figure]");
  if (!box || !window.Plotly) return;
  // Pixels: a tick needs as much room; names of marks stand so far apart.
  const TICK_ROOM = 76;
  const NAME_ROOM = 15;
  // A live window is asked for again at most so often.
  const PATIENCE = 5000;
  const settings = { displayModeBar: false, displaylogo: false, showTips: false, scrollZoom: false, doubleClick: false, responsive: false };
  let figure = null;

  /* ── Colours and type of the page ───────────────────────────────────────── */
  const probe = document.createElement("span");
  probe.hidden = true;
  box.after(probe);

  function colour(name) {
    const [token, opacity] = name.split("/");
    probe.style.color = `var(${token})`;
    const rgb = getComputedStyle(probe).color;
    return opacity ? rgb.replace(/^rgb\((.*)\)$/, `rgba($1, ${opacity})`) : rgb;
  }

  function dressed(value) {
    if (Array.isArray(value)) return value.map(dressed);
    if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, dressed(each)]));
    if (value === "--sans") return getComputedStyle(document.body).fontFamily;
    return typeof value === "string" && value.startsWith("--") ? colour(value) : value;
  }

  /* ── What fits ──────────────────────────────────────────────────────────── */
  function ticksFor(width) {
    const [first, last] = figure.layout.xaxis.range;
    let taken = -Infinity;
    const shown = figure.ticks.filter(([at]) => {
      const place = ((at - first) / (last - first)) * width;
      if (place < taken + TICK_ROOM || place > width - TICK_ROOM / 4) return false;
      taken = place;
      return true;
    });
    return { tickvals: shown.map(([at]) => at), ticktext: shown.map(([, text]) => text) };
  }

  // Names that would lie upon each other are moved apart, upwards.
  function apart(names, range, height) {
    let taken = -Infinity;
    return names.map((name) => {
      const place = (name.y / range) * height;
      const moved = Math.max(place, taken + NAME_ROOM);
      taken = moved;
      return { ...name, yshift: moved - place };
    });
  }

  function draw() {
    if (!figure) return;
    const look = dressed(figure);
    const { margin, yaxis } = look.layout;
    const width = box.clientWidth;
    const height = box.clientHeight;
    const isNarrow = width < 480;
    const right = isNarrow ? 30 : margin.r;
    const names = look.layout.annotations.map((name) => (isNarrow ? { ...name, text: name.text.split(" ")[0] } : name));
    const layout = {
      ...look.layout,
      width,
      height,
      margin: { ...margin, r: right },
      xaxis: { ...look.layout.xaxis, ...ticksFor(width - margin.l - right) },
      annotations: apart(names, yaxis.range[1], height - margin.t - margin.b),
    };
    box.querySelector(":scope > .quiet")?.remove();
    Plotly.react(box, look.data, layout, settings).then(() => {
      box.dataset.drawn = "true";
    });
  }

  /* ── Fetching ───────────────────────────────────────────────────────────── */
  async function load() {
    try {
      const answer = await fetch(box.dataset.figure, { headers: { Accept: "application/json" } });
      if (!answer.ok) throw new Error(String(answer.status));
      figure = await answer.json();
      const isFirst = !box.dataset.drawn;
      draw();
      if (isFirst) box.on("plotly_click", open);
    } catch {
      if (box.dataset.drawn) return;
      const words = box.querySelector(":scope > .quiet");
      if (words) words.textContent = box.dataset.failed;
    }
  }

  // A reply in the chart leads to its place in the talk.
  function open(event) {
    const line = event.points?.[0]?.customdata?.[0];
    if (Number.isInteger(line)) location.assign(`${box.dataset.opens}?line=${line}#e${line}`);
  }

  /* ── When to draw again ─────────────────────────────────────────────────── */
  new MutationObserver(draw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  for (const query of ["(prefers-color-scheme: dark)", "(prefers-contrast: more)", "print"]) window.matchMedia(query).addEventListener("change", draw);
  let width = box.clientWidth;
  new ResizeObserver(() => {
    if (box.clientWidth === width) return;
    width = box.clientWidth;
    draw();
  }).observe(box);

  let waits = false;
  document.addEventListener("htmx:oobAfterSwap", (event) => {
    if (event.detail.target?.id !== box.dataset.window || waits) return;
    waits = true;
    setTimeout(() => {
      waits = false;
      void load();
    }, PATIENCE);
  });

  void load();
})();
