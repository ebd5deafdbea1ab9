import { expect, test } from "vitest";
import { addressOf, guideFiles, readGuide } from "./guide.ts";
import { sectionsOf, slugOf } from "./guide-sections.ts";

test("every page of docs is in the guide and its navigation; links and anchors between pages lead somewhere; nothing is inline", () => {
  const pages = readGuide();
  const files = guideFiles(pages);
  const ids = new Map(
    [...files].map(([name, text]) => [name, new Set([...text.matchAll(/ id="([^"]+)"/gu)].map(([, id]) => id))]),
  );
  expect(pages.length).toBeGreaterThan(30);
  const broken: string[] = [];
  for (const [name, text] of files) {
    if (!name.endsWith(".html")) continue;
    for (const page of pages) expect(text).toContain(`href="${page.name}.html"`);
    // The dashboard's policy refuses them.
    expect(text).not.toMatch(/<script(?![^>]* src=)|<style| style="| on[a-z]+="|javascript:/u);
    for (const [, to = "", anchor = ""] of text.matchAll(/href="([\w-]+\.html)(?:#([^"]*))?"/gu))
      if (!files.has(to) || (anchor !== "" && ids.get(to)?.has(anchor) !== true))
        broken.push(`${name}: ${to}#${anchor}`);
  }
  expect(broken).toEqual([]);
});

test("the search knows every section by an anchor that the page has", () => {
  const page = readGuide().find(({ name }) => name === "errors");
  if (page === undefined) throw new Error("there is no page of errors");
  const text = guideFiles([page]).get("errors.html") ?? "";
  const sections = sectionsOf(page);
  expect(sections.length).toBeGreaterThan(400);
  expect(sections.filter(({ anchor }) => !text.includes(` id="${anchor}"`))).toEqual([]);
  expect(sections.find(({ heading }) => heading === "sqlite_too_old")?.text).toContain("SQLite");
});

test("links become those of the site only where the page is a part of it", () => {
  const known = new Set(["flows", "SECURITY"]);
  expect(addressOf("flows.md#words", known)).toBe("flows.html#words");
  expect(addressOf("../SECURITY.md", known)).toBe("SECURITY.html");
  expect(addressOf("spec/README.md", known)).toBeNull();
  expect(addressOf("https://example.com/flows.md", known)).toBe("https://example.com/flows.md");
  const seen = new Map<string, number>();
  expect([slugOf("What is kept, and how long", seen), slugOf("What is kept, and how long", seen)]).toEqual([
    "what-is-kept-and-how-long",
    "what-is-kept-and-how-long-1",
  ]);
});
