"use strict";
(() => {
  const pages = [...document.querySelectorAll(".page")];
  const help = document.getElementById("help");
  const say = document.getElementById("said");
  let now = 0;
  // Text grows a little where there is room, and shrinks where the estimate was too small.
  const fit = (page) => {
    const body = page.querySelector(".body");
    const section = page.querySelector("section");
    const tooLarge = () =>
      body.scrollHeight > body.clientHeight + 1 || body.scrollWidth > body.clientWidth + 1 ||
      section.scrollHeight > section.clientHeight + 1;
    let size = section.matches(".pictured, .title") ? 1 : 1.18;
    body.style.setProperty("--fit", size);
    while (tooLarge() && size > 0.7) {
      size -= 0.03;
      body.style.setProperty("--fit", size.toFixed(2));
    }
    page.dataset.fit = size.toFixed(2);
  };
  const scale = () => {
    const notes = document.body.classList.contains("say") ? 260 : 0;
    const factor = Math.min(innerWidth / 1280, innerHeight / (720 + notes));
    const page = pages[now];
    page.style.transform = `scale(${factor}) translateX(-50%)`;
  };
  const show = (place) => {
    pages[now].classList.remove("now");
    now = Math.max(0, Math.min(pages.length - 1, place));
    pages[now].classList.add("now");
    history.replaceState(null, "", `#${now + 1}`);
    scale();
    say.textContent = `${pages[now].getAttribute("aria-label")}: ${pages[now].querySelector("h1, h2").textContent}`;
  };
  const keys = {
    ArrowRight: () => show(now + 1), ArrowDown: () => show(now + 1), PageDown: () => show(now + 1),
    " ": () => show(now + 1), ArrowLeft: () => show(now - 1), ArrowUp: () => show(now - 1),
    PageUp: () => show(now - 1), Home: () => show(0), End: () => show(pages.length - 1),
    n: () => { document.body.classList.toggle("say"); scale(); },
    a: () => { document.body.classList.toggle("one"); pages.forEach((p) => p.style.removeProperty("transform")); if (document.body.classList.contains("one")) show(now); else pages[now].scrollIntoView(); },
    "?": () => { help.hidden = !help.hidden; }, Escape: () => { help.hidden = true; },
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (act) { event.preventDefault(); act(); }
  });
  addEventListener("click", (event) => {
    if (!document.body.classList.contains("one") || event.target.closest(".notes, a, #help")) return;
    show(now + (event.clientX < innerWidth / 3 ? -1 : 1));
  });
  addEventListener("resize", scale);
  addEventListener("hashchange", () => show((parseInt(location.hash.slice(1), 10) || 1) - 1));
  Promise.all([...document.images].map((image) => image.decode().catch(() => null))).then(() => {
    pages.forEach(fit);
    document.body.classList.add("one");
    show((parseInt(location.hash.slice(1), 10) || 1) - 1);
    document.body.dataset.ready = "yes";
  });
})();
