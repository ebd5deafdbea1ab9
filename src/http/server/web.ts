// The dashboard's files. They are public: they hold no secret, and users must log in to see any data. Served from a list that is built
// once, exact path by exact path; a path outside the list leads to no file.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import type { App } from "./app-env.ts";

export type WebFile = { readonly body: Uint8Array<ArrayBuffer>; readonly headers: Record<string, string> };
export type Web = { find(path: string): WebFile | undefined };

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".woff2": "font/woff2",
};

/** Pages that the dashboard draws itself; they share one document. */
const PAGES =
  /^\/(|welcome|board|runs|tickets|flows|agents|workers|insights|settings|trust|projects|runs\/[^/]{1,60}|g\/[^/]{1,60}|tickets\/[^/]{1,600}|flows\/[^/]{1,60})$/;

/** The addresses of source 003, and the pages that show the same here. */
function movedTo(path: string): string | undefined {
  if (path === "/run") return "/runs";
  const story = /^\/stories\/([^/]{1,600})$/.exec(path)?.[1];
  return story === undefined ? undefined : `/tickets/${story}`;
}

/** Undefined if the dashboard was not built. */
export function loadWeb(dir: string): Web | undefined {
  const files = new Map<string, WebFile>();
  for (const path of filesIn(dir)) {
    const type = TYPES[extname(path)];
    if (type === undefined) continue;
    const body = new Uint8Array(readFileSync(join(dir, path)));
    const address = `/${path.split(sep).join("/")}`;
    // File names below assets contain a hash of the content.
    const cache = address.startsWith("/assets/") ? "public, max-age=31536000, immutable" : "no-cache";
    const etag = `"${createHash("sha256").update(body).digest("hex").slice(0, 24)}"`;
    files.set(address, { body, headers: { "content-type": type, "cache-control": cache, etag } });
  }
  const document = files.get("/index.html");
  if (document === undefined) return undefined;
  return { find: (path) => files.get(path) ?? (PAGES.test(path) ? document : undefined) };
}

/** Runs before the token check. Paths that are no files of the dashboard pass on to that check. */
export function mountWeb(app: App, web: Web): void {
  app.use("*", async (context, next) => {
    const { method, path } = context.req;
    // The path as it was sent: encoded, so that it may stand in a header.
    const moved = movedTo(new URL(context.req.raw.url).pathname);
    if (moved !== undefined && (method === "GET" || method === "HEAD"))
      return new Response(null, { status: 302, headers: { location: moved } });
    const file = method === "GET" || method === "HEAD" ? web.find(path) : undefined;
    if (file === undefined) return next();
    if (context.req.header("if-none-match") === file.headers["etag"])
      return new Response(null, { status: 304, headers: file.headers });
    return new Response(method === "HEAD" ? null : file.body, { headers: file.headers });
  });
}

function filesIn(dir: string): readonly string[] {
  try {
    return readdirSync(dir, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(dir, join(entry.parentPath, entry.name)));
  } catch {
    return [];
  }
}
