// What hostile text could leave in a page: elements and attributes that no page of ours has.

import type { Page } from "playwright-core";

/** What is folded is opened, so that it is drawn. */
export async function openEverything(page: Page): Promise<void> {
  await page.evaluate(`(() => {
    for (const each of document.querySelectorAll("main details")) each.open = true;
    for (const each of document.querySelectorAll("main button[aria-expanded=false]")) each.click();
  })()`);
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
}

/** Elements and attributes that no page of ours has. */
export async function injected(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const strange = "iframe, object, embed, base, video, audio, math, meta[http-equiv], form[action], [srcdoc], [name=token], " +
      "main img, main style, main link, main script";
    const found = [...document.querySelectorAll(strange)].map((each) => each.outerHTML.slice(0, 200));
    for (const each of document.querySelectorAll("*"))
      for (const { name } of each.attributes) if (name.startsWith("on")) found.push(each.outerHTML.slice(0, 200));
    for (const { src = "", href = "", outerHTML } of document.querySelectorAll("script, link"))
      if (new URL(src || href, location).origin !== location.origin) found.push(outerHTML.slice(0, 200));
    for (const link of document.querySelectorAll("a[href]")) {
      const isOurs = link.origin === location.origin;
      const isSafe = /^(https?:|mailto:)/.test(link.getAttribute("href")) && /noopener/.test(link.rel) && /nofollow/.test(link.rel);
      if (!isOurs && !isSafe) found.push(link.outerHTML.slice(0, 200));
    }
    if (window.hit !== undefined) found.push("a script ran");
    return found;
  })()`);
}
