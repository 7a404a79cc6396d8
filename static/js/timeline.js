// A timeline of any length in a page of bounded size: what is near is fetched, what is far is dropped again, and the
// place that is being read stays where it is. Without this file the links between the pages do the same by hand.
"use strict";

(() => {
  const pages = document.getElementById("pages");
  if (!pages || !window.htmx) return;
  const card = document.getElementById("timeline");
  const fresh = document.getElementById("fresh");
  const words = pages.dataset;
  // As many pages stay; so many pixels ahead the next one is fetched.
  const MOST_PAGES = 6;
  const MOST_ENTRIES = 160;
  const AHEAD = 2000;
  // A reader this near to the end is at the end.
  const AT_END = 160;

  const lists = () => [...pages.querySelectorAll(":scope > ol.time")];
  const end = () => pages.querySelector(":scope > .end");
  const headIsGone = () => card.getBoundingClientRect().top < 0;
  const isAtEnd = () => end() !== null && end().getBoundingClientRect().top < window.innerHeight + AT_END;

  /* ── The place that is being read ───────────────────────────────────────── */
  let held = null;

  const inSight = () => [...pages.querySelectorAll(":scope > ol.time > li[data-seq]")].find((each) => each.getBoundingClientRect().bottom > 0);

  function hold() {
    const mark = inSight();
    if (mark) held = { mark, top: mark.getBoundingClientRect().top };
    document.documentElement.style.overflowAnchor = "none";
  }

  function release() {
    if (held?.mark.isConnected) {
      const moved = held.mark.getBoundingClientRect().top - held.top;
      if (Math.abs(moved) >= 1) window.scrollBy({ top: moved, behavior: "instant" });
    }
    held = null;
    requestAnimationFrame(() => document.documentElement.style.removeProperty("overflow-anchor"));
  }

  /* ── Fetching what is near ──────────────────────────────────────────────── */
  let asked = false;

  function look() {
    asked = false;
    for (const link of pages.querySelectorAll(":scope > .more > a")) {
      const box = link.getBoundingClientRect();
      const isNear = box.bottom > -AHEAD && box.top < window.innerHeight + AHEAD;
      const isUp = link.parentElement.dataset.way === "up";
      if (!isNear || (isUp && !headIsGone()) || link.classList.contains("htmx-request")) continue;
      // Asked for by scrolling, so that the place is kept even if the head of the page was reached meanwhile.
      link.dataset.scrolled = "";
      htmx.trigger(link, "near");
    }
    if (isAtEnd() && waiting.length) append();
  }

  function lookSoon() {
    if (asked) return;
    asked = true;
    requestAnimationFrame(look);
  }

  let way = "down";
  pages.addEventListener("htmx:beforeSwap", (event) => {
    const more = event.detail.target?.closest?.("#pages > .more");
    if (!more || !event.detail.shouldSwap) return;
    way = more.dataset.way;
    if (headIsGone() || "scrolled" in more.firstElementChild.dataset) hold();
  });

  /* ── Dropping what is far ───────────────────────────────────────────────── */
  function more(direction, seq) {
    const piece = document.getElementById(`more-${direction}`).content.cloneNode(true);
    const link = piece.querySelector("a");
    const base = words.base;
    const url = `${base}${base.length > 1 ? "&" : ""}${direction === "up" ? "until" : "since"}=${seq}`;
    link.setAttribute("href", url);
    link.setAttribute("hx-get", url);
    return piece;
  }

  function dropFirst() {
    const [gone, next] = lists();
    while (pages.firstChild !== gone) pages.firstChild.remove();
    gone.remove();
    pages.prepend(more("up", next.dataset.first));
    htmx.process(pages.firstElementChild);
  }

  function dropLast() {
    const all = lists();
    const gone = all.at(-1);
    while (pages.lastChild !== gone) pages.lastChild.remove();
    gone.remove();
    pages.append(more("down", all.at(-2).dataset.last));
    htmx.process(pages.lastElementChild);
  }

  function trim() {
    while (lists().length > MOST_PAGES) {
      const far = way === "up" ? lists().at(-1) : lists()[0];
      if (far.contains(document.activeElement)) inSight()?.focus({ preventScroll: true });
      if (way === "up") dropLast();
      else dropFirst();
    }
  }

  // A day is named once: not again where the page before ended on it.
  function seams() {
    let before = "";
    for (const list of lists()) {
      const day = list.querySelector(":scope > li.day");
      if (day && day === list.firstElementChild) day.hidden = day.dataset.day === before;
      before = list.dataset.day || before;
    }
  }

  const watcher = new MutationObserver(() => {
    trim();
    seams();
    release();
    watcher.takeRecords();
    lookSoon();
  });
  watcher.observe(pages, { childList: true });

  /* ── What arrives while the page is open ────────────────────────────────── */
  let newest = Number(words.newest);
  let dialogue = Number(words.dialogue);
  let waiting = [];
  let isFetching = false;

  function offer(text) {
    fresh.firstElementChild.textContent = text;
    fresh.hidden = false;
    if (typeof say === "function") say(text);
  }

  // The entry to begin with: the last one, or an earlier one whose tools have not answered yet.
  function unfinished() {
    const last = lists().at(-1);
    const all = last ? [...last.querySelectorAll(":scope > li[data-seq]")].slice(-20) : [];
    return all.find((each) => "waits" in each.dataset) ?? all.at(-1) ?? null;
  }

  async function fetchNew() {
    if (isFetching) return;
    isFetching = true;
    const known = newest;
    try {
      const from = unfinished();
      const since = from ? Number(from.dataset.seq) - 1 : -1;
      const base = words.base;
      const answer = await fetch(`${location.pathname}${base}${base.length > 1 ? "&" : ""}since=${since}`, { headers: { "HX-Request": "true" } });
      if (answer.ok) received(await answer.text());
    } catch {
      // The next sign of life asks again.
    } finally {
      isFetching = false;
    }
    if (newest !== known && end()) void fetchNew();
  }

  function received(html) {
    const page = new DOMParser().parseFromString(html, "text/html");
    waiting = [...page.body.children];
    const count = strangers(waiting).length;
    if (isAtEnd()) append();
    else if (count) offer(count === 1 ? words.one : words.many.replace("{n}", String(count)));
  }

  const strangers = (parts) => parts.flatMap((part) => [...part.querySelectorAll(":scope > li[data-entry]")]).filter((each) => !document.getElementById(each.id));

  function append() {
    const list = waiting.find((part) => part.matches("ol.time"));
    const tail = waiting.find((part) => part.matches(".more, .end"));
    const last = lists().at(-1);
    waiting = [];
    fresh.hidden = true;
    if (!list || !last || !end()) return;
    const wasAtEnd = isAtEnd();
    const into = roomFor(list, last);
    for (const entry of [...list.children]) put(entry, into);
    into.dataset.last = list.dataset.last;
    into.dataset.day = list.dataset.day || last.dataset.day;
    pages.querySelector(":scope > .pad")?.remove();
    if (tail?.matches(".more")) {
      end().replaceWith(tail);
      htmx.process(tail);
    }
    if (wasAtEnd) toEnd();
  }

  // A page that grew for long enough is followed by another, so that the first ones can be dropped.
  function roomFor(list, last) {
    const first = [...list.querySelectorAll(":scope > li[data-entry]")].find((each) => !document.getElementById(each.id));
    if (!first || last.childElementCount < MOST_ENTRIES) return last;
    const next = document.createElement("ol");
    next.className = "time";
    next.dataset.first = first.dataset.seq;
    way = "down";
    hold();
    last.after(next);
    return next;
  }

  // A new entry goes to the end; one that grew takes its own place; one that did not change stays as it is, open or shut.
  function put(entry, last) {
    if (entry.matches(".day")) {
      const days = [...pages.querySelectorAll(":scope > ol.time > li.day")];
      if (days.some((day) => day.dataset.day === entry.dataset.day)) return;
    }
    const own = entry.id && document.getElementById(entry.id);
    if (own && own.dataset.last === entry.dataset.last) return;
    if (own) own.replaceWith(entry);
    else last.append(entry);
    htmx.process(entry);
  }

  function toEnd() {
    end()?.scrollIntoView({ block: "end", behavior: "instant" });
  }

  fresh.firstElementChild.addEventListener("click", (event) => {
    const first = strangers(waiting)[0]?.id;
    if (!waiting.length || !end()) return;
    event.preventDefault();
    append();
    const target = first && document.getElementById(first);
    target?.scrollIntoView({ block: "start", behavior: "instant" });
    target?.focus({ preventScroll: true });
  });

  document.addEventListener("htmx:wsAfterMessage", () => {
    const now = document.querySelector("[id^='newest-']")?.dataset;
    if (!now) return;
    if (Number(now.dialogue) < dialogue) {
      dialogue = Number(now.dialogue);
      newest = Number(now.seq);
      waiting = [];
      offer(words.anew);
      return;
    }
    dialogue = Number(now.dialogue);
    if (Number(now.seq) === newest) return;
    newest = Number(now.seq);
    if (end()) void fetchNew();
    else offer(words.later);
  });

  /* ── Where the page opens ───────────────────────────────────────────────── */
  function place() {
    const chosen = pages.querySelector(".chosen");
    const [visit] = performance.getEntriesByType("navigation");
    if (visit && visit.type !== "navigate") return;
    if (chosen) {
      chosen.scrollIntoView({ block: "center", behavior: "instant" });
      chosen.focus({ preventScroll: true });
    } else if (words.place) {
      const near = [...pages.querySelectorAll("li[data-seq]")].find((each) => Number(each.dataset.last) >= Number(words.place));
      near?.scrollIntoView({ block: "center", behavior: "instant" });
    } else if (!location.hash && words.opens === "end" && !location.search.includes("until=")) toEnd();
  }

  place();
  window.addEventListener("scroll", lookSoon, { passive: true });
  window.addEventListener("resize", lookSoon, { passive: true });
  // Where one was, before the page lets go of a restored place.
  window.addEventListener("load", () => setTimeout(look, 50));
})();
