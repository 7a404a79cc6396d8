// Theme at once, the live strip, spoken changes, relative times, and a word when something was not done.
// Everything here adds to pages that work without it.
"use strict";

const byId = (id) => document.getElementById(id);
const fill = (text, values) => text.replace(/\{(\w+)\}/g, (all, name) => values[name] ?? all);

/* ── Theme ────────────────────────────────────────────────────────────────── */
document.addEventListener("submit", (event) => {
  const button = event.submitter;
  if (event.target.dataset.choice !== "theme" || !button) return;
  event.preventDefault();
  const theme = button.value;
  if (theme === "auto") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.setAttribute("data-theme", theme);
  for (const each of event.target.querySelectorAll("button")) each.setAttribute("aria-pressed", String(each === button));
  fetch(event.target.action, { method: "POST", body: new URLSearchParams(new FormData(event.target, button)), redirect: "manual" });
});

/* ── Spoken changes: at most one in two seconds, the latest wins ─────────────── */
const said = new Map();
let toSay = "";
let spokeAt = 0;

function say(text) {
  toSay = text;
  setTimeout(speak, Math.max(0, spokeAt + 2000 - Date.now()));
}

function speak() {
  if (!toSay || Date.now() - spokeAt < 2000) return;
  byId("say").textContent = toSay;
  spokeAt = Date.now();
  toSay = "";
}

function noteSpoken(announce) {
  for (const part of document.querySelectorAll("[data-say]")) {
    const text = part.dataset.say;
    if (announce && said.has(part.id) && said.get(part.id) !== text) say(text);
    said.set(part.id, text);
  }
}

/* ── The live strip ──────────────────────────────────────────────────────────── */
const STALE_AFTER = 40_000;
const GONE_AFTER = 10_000;
const SIGNED_OUT = 4401;
const RECONNECTS_BY_ITSELF = [1006, 1011, 1012, 1013];

const link = { state: "connecting", heardAt: 0, lostAt: 0, tries: 0, seen: "", socket: null };

function show(state, word, more) {
  const strip = byId("live");
  const [mark, small] = strip.children;
  mark.className = `state ${state}`;
  if (mark.textContent !== word) mark.textContent = word;
  small.textContent = more;
}

function drawStrip() {
  const strip = byId("live");
  if (!strip) return;
  const text = strip.dataset;
  const now = Date.now();
  if (link.state === "open") {
    show("ok", text.live, fill(text.updated, { n: Math.round((now - link.heardAt) / 1000) }));
  } else if (link.lostAt && now - link.lostAt > GONE_AFTER) {
    const gone = fill(text.gone, { n: Math.round((now - link.lostAt) / 1000) });
    show("warn", gone, link.seen && fill(text.seen, { time: link.seen }));
  } else if (link.lostAt) {
    show("run", text.again, fill(text.attempt, { n: Math.max(link.tries, 1) }));
  } else {
    show("run", text.connecting, "");
  }
}

function lost(words) {
  if (link.lostAt) return;
  link.lostAt = Date.now();
  say(words);
}

if (window.htmx) {
  htmx.config.wsReconnectDelay = (tries) => Math.min(400 * 2 ** tries, 8000) * (0.75 + Math.random() / 2);

  document.addEventListener("htmx:wsConnecting", () => {
    if (link.lostAt) link.tries += 1;
    drawStrip();
  });
  document.addEventListener("htmx:wsOpen", (event) => {
    link.socket = event.detail.socketWrapper;
    link.heardAt = Date.now();
  });
  document.addEventListener("htmx:wsAfterMessage", () => {
    // The empty page has nothing to keep: it is drawn anew with whoever was found.
    if (byId("arrivals")?.hasAttribute("data-anew")) location.reload();
    if (link.lostAt) say(byId("live").dataset.back);
    Object.assign(link, { state: "open", heardAt: Date.now(), lostAt: 0, tries: 0, seen: byId("tick").textContent });
    noteSpoken(true);
    drawStrip();
  });
  document.addEventListener("htmx:wsClose", (event) => {
    const source = event.target;
    if (!document.contains(source) || source.id !== "socket") return;
    if (event.detail.event.code === SIGNED_OUT) {
      location.reload();
      return;
    }
    link.state = "closed";
    lost(byId("live").dataset.again);
    if (!RECONNECTS_BY_ITSELF.includes(event.detail.event.code)) setTimeout(() => event.detail.socketWrapper.reconnect(), 1000);
    drawStrip();
  });
  // A connection that says nothing for so long is none, whatever the browser thinks of it.
  setInterval(() => {
    if (link.state === "open" && Date.now() - link.heardAt > STALE_AFTER) {
      link.state = "closed";
      lost(byId("live").dataset.again);
      link.socket?.reconnect();
    }
    drawStrip();
  }, 1000);
}

/* ── Times that grow old on the page ─────────────────────────────────────────── */
const units = [["day", 86400], ["hour", 3600], ["minute", 60]];
const relative = new Intl.RelativeTimeFormat(document.documentElement.lang, { numeric: "always" });

function growOld() {
  for (const time of document.querySelectorAll("time[data-ago]")) {
    const seconds = (Date.now() - Date.parse(time.dateTime)) / 1000;
    const fitting = units.find(([name, length]) => seconds >= length * (name === "day" ? 2 : 1));
    if (fitting) time.textContent = relative.format(-Math.floor(seconds / fitting[1]), fitting[0]);
  }
}

setInterval(growOld, 20_000);

/* ── What was not done ───────────────────────────────────────────────────────── */
function toast(words) {
  const box = document.createElement("div");
  box.className = "toast";
  const text = document.createElement("span");
  text.className = "state fail";
  text.textContent = words;
  const close = document.createElement("button");
  close.className = "button small";
  close.type = "button";
  close.textContent = byId("toasts").dataset.close;
  close.addEventListener("click", () => box.remove());
  box.append(text, close);
  byId("toasts").replaceChildren(box);
}

document.addEventListener("htmx:sendError", () => toast(byId("toasts").dataset.failed));
document.addEventListener("htmx:responseError", (event) => {
  if (event.detail.xhr.status !== 401) toast(byId("toasts").dataset.refused);
});

/* ── Copying a line, counting what is written ────────────────────────────────── */
document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("[data-copies]");
  if (!button || !navigator.clipboard) return;
  await navigator.clipboard.writeText(byId(button.dataset.copies).textContent);
  say(button.dataset.copied);
  button.classList.add("copied");
  setTimeout(() => button.classList.remove("copied"), 1200);
});

document.addEventListener("input", (event) => {
  const count = document.querySelector(`[data-counts="${CSS.escape(event.target.id)}"]`);
  // By characters as the console counts them, not by UTF-16 units.
  if (count) count.textContent = [...event.target.value].length.toLocaleString("en");
});

document.addEventListener("keydown", (event) => {
  const open = event.key === "Escape" && document.querySelector("details.own[open]");
  if (!open) return;
  open.open = false;
  open.querySelector("summary").focus();
});

noteSpoken(false);
