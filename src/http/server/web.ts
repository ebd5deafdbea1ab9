// The dashboard's files. They are public: they hold no secret, and users must log in to see any data. Served from a list that is built
// once, exact path by exact path; a path outside the list leads to no file.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { extname, join, relative, sep } from "node:path";
import { gzipSync } from "node:zlib";
import type { App } from "./app-env.ts";

type Bytes = Uint8Array<ArrayBuffer>;
export type WebFile = {
  readonly body: Bytes;
  readonly headers: Record<string, string>;
  /** Compressed when it is first asked for; null if that makes it no smaller. */
  readonly gzip: () => Bytes | null;
};
export type Web = {
  find(path: string): WebFile | undefined;
  /** For a person who follows a link that leads nowhere: the dashboard says so. */
  readonly document: WebFile;
};

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
  /^\/(|welcome|work|compare|board|runs|tickets|flows|agents|workers|insights|report|settings|trust|projects|runs\/[^/]{1,60}|g\/[^/]{1,60}|tickets\/[^/]{1,600}|flows\/[^/]{1,60})$/;

/** The addresses of source 003, and the pages that show the same here; and the first page of the documentation. */
function movedTo(path: string): string | undefined {
  if (path === "/run") return "/runs";
  if (path === "/guide" || path === "/guide/") return "/guide/index.html";
  const story = /^\/stories\/([^/]{1,600})$/.exec(path)?.[1];
  return story === undefined ? undefined : `/tickets/${story}`;
}

/** `guide`: the folder of the documentation, served at /guide. Undefined if the dashboard was not built. */
export function loadWeb(dir: string, guide?: string): Web | undefined {
  const files = new Map([...readFolder(dir, ""), ...(guide === undefined ? [] : readFolder(guide, "/guide"))]);
  const document = files.get("/index.html");
  if (document === undefined) return undefined;
  return { document, find: (path) => files.get(path) ?? (PAGES.test(path) ? document : undefined) };
}

function readFolder(dir: string, below: string): ReadonlyMap<string, WebFile> {
  const files = new Map<string, WebFile>();
  for (const path of filesIn(dir)) {
    const type = TYPES[extname(path)];
    if (type === undefined) continue;
    const body = new Uint8Array(readFileSync(join(dir, path)));
    const address = `${below}/${path.split(sep).join("/")}`;
    // File names below assets contain a hash of the content.
    const cache = address.startsWith("/assets/") ? "public, max-age=31536000, immutable" : "no-cache";
    const etag = `"${createHash("sha256").update(body).digest("hex").slice(0, 24)}"`;
    const headers = { "content-type": type, "cache-control": cache, vary: "accept-encoding", etag };
    files.set(address, { body, headers, gzip: packed(body) });
  }
  return files;
}

/** The files are public and hold no secret, so that their compressed size reveals nothing. */
function packed(body: Bytes): () => Bytes | null {
  let made: Bytes | null | undefined;
  return () => {
    if (made === undefined) {
      const smaller = new Uint8Array(gzipSync(body));
      made = smaller.length < body.length ? smaller : null;
    }
    return made;
  };
}

/** Paths of the API and of files; for every other path a browser may get a page. */
const NO_PAGES = /^\/(api|assets|docs|guide|hooks|mcp)(\/|$)/;

/** A browser that opens an address, and no program that calls one. */
function isVisit(path: string, accept: string | undefined, token: string | undefined): boolean {
  return token === undefined && !NO_PAGES.test(path) && accept?.includes("text/html") === true;
}

/** Runs before the token check. Paths that are no files of the dashboard pass on to that check. */
export function mountWeb(app: App, web: Web): void {
  app.use("*", async (context, next) => {
    const { method, path } = context.req;
    // The path as it was sent: encoded, so that a header may contain it.
    const moved = movedTo(new URL(context.req.raw.url).pathname);
    if (moved !== undefined && (method === "GET" || method === "HEAD"))
      return new Response(null, { status: 302, headers: { location: moved } });
    if (method !== "GET" && method !== "HEAD") return next();
    const found = web.find(path);
    if (found === undefined && !isVisit(path, context.req.header("accept"), context.req.header("authorization")))
      return next();
    const file = found ?? web.document;
    if (context.req.header("if-none-match") === file.headers["etag"])
      return new Response(null, { status: 304, headers: file.headers });
    const small = /\bgzip\b/u.test(context.req.header("accept-encoding") ?? "") ? file.gzip() : null;
    const headers = small === null ? file.headers : { ...file.headers, "content-encoding": "gzip" };
    const status = found === undefined ? 404 : 200;
    return new Response(method === "HEAD" ? null : (small ?? file.body), { status, headers });
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
