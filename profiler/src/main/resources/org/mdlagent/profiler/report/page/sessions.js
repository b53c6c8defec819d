"use strict";

/* The list is polled, and keeps the state its reader has chosen. */

const LIST_MILLIS = 2000;
let held = false;
let answered = new Date();

async function refresh() {
  try {
    const answer = await fetch(location.pathname, { signal: AbortSignal.timeout(10 * LIST_MILLIS) });
    if (!answer.ok) {
      throw new Error(await answer.text());
    }
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    answered = new Date();
    held || replace(page);
  } catch {
    document.getElementById("state").textContent = `no answer since ${answered.toLocaleTimeString()}`;
  }
  setTimeout(refresh, LIST_MILLIS);
}

function replace(page) {
  const list = document.getElementById("sessions");
  const { scrollTop } = list;
  const chosen = document.activeElement.getAttribute("href");
  const fresh = page.getElementById("sessions");
  list.replaceWith(fresh);
  fresh.scrollTop = scrollTop;
  if (chosen) {
    [...fresh.querySelectorAll("a")].find((link) => link.getAttribute("href") === chosen)?.focus();
  }
}

// A pressed element must still exist when it is released.
addEventListener("pointerdown", () => (held = true));
addEventListener("pointerup", () => (held = false));
addEventListener("pointercancel", () => (held = false));
setTimeout(refresh, LIST_MILLIS);
