// The documentation as a static site: docs/*.md, CHANGELOG.md and SECURITY.md as pages with a navigation and a search, for `passrail docs` and
// for the daemon (/guide). No inline script and no inline style: it works under the dashboard's content security policy, and from a folder.

import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { createElement, type ReactNode } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { headingsOf, sectionsOf, slugOf, textOf } from "./guide-sections.ts";

const ROOT = join(import.meta.dirname, "..");

/** The order of the navigation; a page that no group names comes last, so that none is lost. */
const GROUPS: readonly (readonly [title: string, pages: readonly string[]])[] = [
  ["Start", ["tutorial", "dashboard", "status", "comparison", "github-action"]],
  [
    "Coming from",
    [
      "coming-from",
      "coming-from-hand-routing",
      "coming-from-agent-teams",
      "coming-from-build-plans",
      "coming-from-handoffs",
      "coming-from-ticket-files",
      "coming-from-vibe-kanban",
      "coming-from-claude-squad",
    ],
  ],
  [
    "Work",
    [
      "tickets",
      "intake",
      "trackers",
      "build-plan",
      "checks",
      "merging",
      "workspaces",
      "sandboxes",
      "gateway",
      "take-over",
      "triggers",
    ],
  ],
  ["Flows", ["flows", "cookbook", "flow-reference", "handoffs"]],
  ["Agents", ["agents", "outside-agents", "mcp"]],
  ["Operate", ["daemon", "scaling", "databases", "webhooks", "reliability", "benchmarks"]],
  ["Trust", ["trust", "threat-model", "SECURITY"]],
  ["Reference", ["cli", "settings", "api", "events", "errors", "CONTEXT", "ARCHITECTURE", "CHANGELOG"]],
];

export type GuidePage = { readonly name: string; readonly title: string; readonly text: string };

export function readGuide(): readonly GuidePage[] {
  const paths = [...globSync("docs/*.md", { cwd: ROOT }), "CHANGELOG.md", "SECURITY.md"];
  return paths.toSorted().map((path) => {
    const text = readFileSync(join(ROOT, path), "utf8");
    const name = basename(path, ".md");
    return { name, title: headingsOf(text)[0]?.title ?? name, text };
  });
}

/** File name -> content. */
export function guideFiles(pages: readonly GuidePage[]): ReadonlyMap<string, string> {
  const groups = groupsOf(pages);
  const known = new Set(pages.map(({ name }) => name));
  const files = new Map(pages.map((page): [string, string] => [`${page.name}.html`, pageText(page, groups, known)]));
  const first = pages.find(({ name }) => name === "tutorial") ?? pages[0];
  if (first !== undefined) files.set("index.html", pageText(first, groups, known));
  files.set("search-index.js", `window.PASSRAIL_GUIDE = ${JSON.stringify(pages.flatMap(sectionsOf))};\n`);
  for (const name of ["guide.css", "search.js"])
    files.set(name, readFileSync(join(import.meta.dirname, "guide", name), "utf8"));
  return files;
}

type Group = { readonly title: string; readonly pages: readonly GuidePage[] };

function groupsOf(pages: readonly GuidePage[]): readonly Group[] {
  const named = new Set(GROUPS.flatMap(([, names]) => names));
  const groups = GROUPS.map(([title, names]) => ({
    title,
    pages: names.flatMap((name) => pages.find((page) => page.name === name) ?? []),
  }));
  return [...groups, { title: "More", pages: pages.filter(({ name }) => !named.has(name)) }].filter(
    ({ pages: own }) => own.length > 0,
  );
}

function pageText(page: GuidePage, groups: readonly Group[], known: ReadonlySet<string>): string {
  const link = (other: GuidePage): ReactNode =>
    createElement(
      "a",
      { key: other.name, href: `${other.name}.html`, ...(other.name === page.name ? { "aria-current": "page" } : {}) },
      other.title,
    );
  const nav = groups.map(({ title, pages }) =>
    createElement("section", { key: title }, createElement("h2", null, title), ...pages.map(link)),
  );
  const body = createElement(
    "body",
    null,
    createElement("a", { href: "#content", className: "skip" }, "Skip to the text"),
    createElement(
      "aside",
      null,
      createElement("a", { href: "index.html", className: "name" }, "Passrail"),
      createElement("input", {
        id: "search",
        type: "search",
        placeholder: "Search",
        "aria-label": "Search the documentation",
      }),
      createElement("div", { id: "found", role: "status" }),
      createElement("nav", { "aria-label": "Pages" }, ...nav),
    ),
    createElement("main", { id: "content" }, markdown(page.text, known)),
    createElement("script", { src: "search-index.js", defer: true }),
    createElement("script", { src: "search.js", defer: true }),
  );
  const head = createElement(
    "head",
    null,
    createElement("meta", { charSet: "utf-8" }),
    createElement("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    createElement("title", null, `${page.title} · Passrail`),
    createElement("link", { rel: "stylesheet", href: "guide.css" }),
  );
  return `<!doctype html>\n${renderToStaticMarkup(createElement("html", { lang: "en" }, head, body))}\n`;
}

function markdown(text: string, known: ReadonlySet<string>): ReactNode {
  const seen = new Map<string, number>();
  const heading =
    (tag: "h1" | "h2" | "h3" | "h4") =>
    ({ children }: { readonly children?: ReactNode }): ReactNode =>
      createElement(tag, { id: slugOf(textOf(children), seen) }, children);
  const components: Components = {
    h1: heading("h1"),
    h2: heading("h2"),
    h3: heading("h3"),
    h4: heading("h4"),
    a: ({ href = "", children }) => {
      const address = addressOf(href, known);
      return address === null ? createElement("span", null, children) : createElement("a", { href: address }, children);
    },
    // Wide tables scroll by themselves.
    table: ({ children }) =>
      createElement("div", { className: "wide", tabIndex: 0 }, createElement("table", null, children)),
    // The pictures of the pages are not part of the package.
    img: ({ alt }) => createElement("em", null, alt),
    // A column's alignment would be an inline style.
    td: ({ children }) => createElement("td", null, children),
    th: ({ children }) => createElement("th", null, children),
  };
  return createElement(ReactMarkdown, { remarkPlugins: [remarkGfm], components }, text);
}

/** Links between pages lead to their HTML; null for other files of the repository, which are not here. */
export function addressOf(href: string, known: ReadonlySet<string>): string | null {
  const [, path = "", name = "", anchor = ""] = /^((?:\.\.\/|docs\/|\.\/)*([\w-]+)\.md)(#.*)?$/u.exec(href) ?? [];
  if (path !== "" && known.has(name)) return `${name}.html${anchor}`;
  return /^(https?:|mailto:|#)/u.test(href) ? href : null;
}

/** Replaces the folder. */
export function writeGuide(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of guideFiles(readGuide())) writeFileSync(join(folder, name), text);
}
