// The dashboard's files: an exact list, for everybody; nothing beside it can be reached through them.

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createApp } from "../../../src/http/server/app.ts";
import { loadWeb } from "../../../src/http/server/web.ts";
import { type Served, serve } from "./served.ts";

let served: Served;
let dir: string;
beforeAll(async () => {
  served = await serve();
  dir = mkdtempSync(join(tmpdir(), "passrail-web-"));
  mkdirSync(join(dir, "web", "assets"), { recursive: true });
  writeFileSync(join(dir, "secret.txt"), "secret");
  writeFileSync(join(dir, "web", "index.html"), "<!doctype html><title>door</title>");
  writeFileSync(join(dir, "web", "assets", "index-abc.js"), "export {};");
  writeFileSync(join(dir, "web", "assets", "index-abc.js.map"), "{}");
  symlinkSync(join(dir, "secret.txt"), join(dir, "web", "assets", "linked.js"));
  mkdirSync(join(dir, "guide"));
  writeFileSync(join(dir, "guide", "index.html"), "<!doctype html><title>guide</title>");
  const web = loadWeb(join(dir, "web"), join(dir, "guide"));
  if (web === undefined) throw new Error("the files were not found");
  served.app = createApp(served.deps, { port: 4321, web });
});
afterAll(async () => {
  await served.close();
  rmSync(dir, { recursive: true, force: true });
});

test("S19: pages are one document, assets are themselves, and both need no token", async () => {
  for (const path of ["/", "/runs", "/runs/12", "/g/r0a1b2c3d4e.1", "/tickets/v0.1:1.1.1", "/board?flow=story"]) {
    const page = await served.call("GET", path, { token: null });
    expect([path, page.status, page.body["text"]]).toEqual([path, 200, "<!doctype html><title>door</title>"]);
    expect(page.headers.get("cache-control")).toBe("no-cache");
  }
  const asset = await served.call("GET", "/assets/index-abc.js", { token: null });
  expect(asset.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  expect(asset.headers.get("cache-control")).toContain("immutable");
  const again = await served.call("GET", "/", {
    token: null,
    headers: { "if-none-match": (await served.call("GET", "/", { token: null })).headers.get("etag") ?? "" },
  });
  expect(again.status).toBe(304);
});

test("the documentation is at /guide, under the same policy, and a page that is not there is no dashboard", async () => {
  const page = await served.call("GET", "/guide/index.html", { token: null });
  expect([page.status, page.body["text"]]).toEqual([200, "<!doctype html><title>guide</title>"]);
  expect(page.headers.get("content-security-policy")).toContain("script-src 'self'");
  const first = await served.call("GET", "/guide", { token: null });
  expect([first.status, first.headers.get("location")]).toEqual([302, "/guide/index.html"]);
  expect((await served.call("GET", "/guide/nothing.html", { token: null })).status).toBe(401);
});

test("S19: nothing else is found through them, whatever the path is dressed as", async () => {
  for (const path of [
    "/assets/../../secret.txt",
    "/assets/%2e%2e/%2e%2e/secret.txt",
    "/assets/..%2f..%2fsecret.txt",
    "/assets/linked.js",
    "/assets/index-abc.js.map",
    "/assets/",
    "/assets",
    "/index.html/x",
    "//secret.txt",
    "/runs/1/2",
    "/api/runs",
    "/constructor",
    "/__proto__",
  ]) {
    const reply = await served.call("GET", path, { token: null });
    expect([path, reply.status]).toEqual([path, 401]);
    expect(reply.body["text"] ?? "").not.toContain("secret");
  }
  expect((await served.call("POST", "/", { token: null, body: {} })).status).toBe(401);
});

test("a browser that follows a link to nowhere gets the dashboard, which says so; a program gets the API's answer", async () => {
  const visit = (path: string, more: object = {}) =>
    served.call("GET", path, { token: null, headers: { accept: "text/html,*/*" }, ...more });
  expect(await visit("/no/such/page")).toMatchObject({ status: 404, body: { text: expect.stringContaining("door") } });
  for (const path of ["/api/nothing", "/docs", "/assets/x.js", "/hooks/x", "/mcp"])
    expect([path, (await visit(path)).status]).toEqual([path, 401]);
  expect((await visit("/no/such/page", { token: served.operator })).body["code"]).toBe("route_not_found");
});

test("files are sent compressed to browsers that ask for it, and as they are to others", async () => {
  writeFileSync(join(dir, "web", "assets", "big-abc.js"), "export const a = 1;\n".repeat(1000));
  const app = createApp(served.deps, { port: 4321, web: loadWeb(join(dir, "web")) ?? expect.fail("no files") });
  const get = (encoding?: string) =>
    app.request("/assets/big-abc.js", {
      headers: { host: "127.0.0.1:4321", ...(encoding === undefined ? {} : { "accept-encoding": encoding }) },
    });
  const plain = await get();
  const small = await get("br, gzip");
  expect([plain.headers.get("content-encoding"), small.headers.get("content-encoding")]).toEqual([null, "gzip"]);
  expect(small.headers.get("vary")).toBe("accept-encoding");
  const packed = new Uint8Array(await small.arrayBuffer());
  expect(packed.length).toBeLessThan(1000);
  expect(gunzipSync(packed).toString()).toBe(await plain.text());
});

test("without a build there is no dashboard, and nothing breaks", () => {
  expect(loadWeb(join(dir, "nowhere"))).toBeUndefined();
});

test("the addresses of source 003 lead to the pages that show the same", async () => {
  for (const [path, to] of [
    ["/stories/v0.1:1.1.1", "/tickets/v0.1:1.1.1"],
    ["/stories/a%2Fb%0d%0aX-Y:%201?x=1", "/tickets/a%2Fb%0d%0aX-Y:%201"],
    ["/run", "/runs"],
  ]) {
    const moved = await served.call("GET", path ?? "", { token: null });
    expect([path, moved.status, moved.headers.get("location")]).toEqual([path, 302, to]);
  }
  // Only whole addresses, and nothing that leaves this server.
  for (const path of ["/stories/", "/stories/a/b", "/run/1"])
    expect((await served.call("GET", path, { token: null })).headers.get("location")).toBeNull();
  expect((await served.call("POST", "/run", { token: null })).status).toBe(401);
});
