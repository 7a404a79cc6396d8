// Keys for moving and opening. They rest in fields, during IME composition, with a modifier, and where there is no
// keyboard at hand (a coarse pointer). Whatever they do can be done without them.
"use strict";

(() => {
  const help = document.getElementById("keys");
  const opener = document.getElementById("keys-open");
  const coarse = window.matchMedia("(pointer: coarse)");
  // How long the second key of a pair is waited for.
  const PATIENCE = 1500;
  let pair = 0;

  const isWriting = (target) =>
    target instanceof Element && target.closest("input, textarea, select, [contenteditable]:not([contenteditable='false'])") !== null;
  const isComposing = (event) => event.isComposing || event.keyCode === 229;
  const isOff = (event) =>
    coarse.matches || isComposing(event) || event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target) || event.defaultPrevented;

  const entries = () => [...document.querySelectorAll("[data-entry]")];
  const current = () => document.activeElement?.closest?.("[data-entry]") ?? null;

  // The entry that j and k count from where none has the focus: the first one in sight.
  function inSight(all) {
    const top = 120;
    return all.findIndex((entry) => entry.getBoundingClientRect().bottom > top);
  }

  function move(step) {
    const all = entries();
    if (!all.length) return false;
    const at = all.indexOf(current());
    const wanted = at < 0 ? Math.max(0, inSight(all)) : Math.min(Math.max(at + step, 0), all.length - 1);
    all[wanted].focus({ preventScroll: true });
    all[wanted].scrollIntoView({ block: "nearest" });
    return true;
  }

  function open() {
    const entry = current();
    if (!entry || document.activeElement !== entry) return false;
    const folded = [...entry.querySelectorAll("details")].filter((each) => !each.parentElement.closest("details"));
    if (folded.length) {
      const isOpen = folded.every((each) => each.open);
      for (const each of folded) each.open = !isOpen;
    } else {
      entry.querySelector("a.permalink, a")?.click();
    }
    return true;
  }

  async function copy() {
    const link = current()?.querySelector("a.permalink");
    if (!link || !navigator.clipboard) return;
    await navigator.clipboard.writeText(link.href);
    const words = document.getElementById("pages")?.dataset.copied;
    if (words && typeof say === "function") say(words);
    link.classList.add("copied");
    setTimeout(() => link.classList.remove("copied"), 1200);
  }

  function find() {
    const opens = document.querySelector("[data-find]");
    const field = [...document.querySelectorAll("main input[type=search], input[type=search]")].find((each) => each.offsetParent !== null);
    if (opens) opens.click();
    else if (field) {
      field.focus();
      field.select();
    } else return false;
    return true;
  }

  function showHelp() {
    if (help && !help.open) help.showModal();
    return Boolean(help);
  }

  function second(key) {
    pair = 0;
    const to = { s: help?.dataset.sessions, n: help?.dataset.now }[key];
    if (to) location.assign(to);
    return Boolean(to);
  }

  const actions = {
    j: () => move(1),
    k: () => move(-1),
    Enter: open,
    c: () => {
      void copy();
      return current() !== null;
    },
    "/": find,
    "?": showHelp,
    g: () => {
      pair = Date.now();
      return true;
    },
  };

  document.addEventListener("keydown", (event) => {
    if (isOff(event) || document.querySelector("dialog[open]")) return;
    const isSecond = pair && Date.now() - pair < PATIENCE;
    const done = isSecond && event.key !== "g" ? second(event.key) : actions[event.key]?.();
    if (done) event.preventDefault();
  });

  if (help && opener) {
    opener.hidden = false;
    opener.addEventListener("click", showHelp);
    help.addEventListener("click", (event) => {
      if (event.target === help) help.close();
    });
  }
})();
