// A real browser as the attacker's tool: pages of others, on this machine and elsewhere, against a daemon that has something to lose.

import { readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { approveFiles } from "../harness/approve-files.ts";
import { ROUTES } from "../../src/http/contract/routes.ts";
import { type Running, startDaemon } from "../scenarios/daemon/running.ts";
import { isBrowserMissing, openBrowser } from "./browser.ts";

const SLOW = 90_000;
const FOREIGN = "foreign.example";

describe.skipIf(isBrowserMissing())("a page of somebody else", () => {
  let daemon: Running;
  let browser: Browser;
  let server: Server;
  let port: number;
  let run: string;

  beforeAll(async () => {
    [daemon, browser] = await Promise.all([startDaemon(), openBrowser([FOREIGN])]);
    writeFileSync(join(daemon.project, "passrail.yaml"), 'agents: { "*": { runner: outside } }\n');
    approveFiles(daemon.home, daemon.project);
    const started = await daemon.call("POST", "/api/runs", { body: { flow: "feature", title: "Mine" } });
    run = (started.body as unknown as { run: { id: string } }).run.id;
    await daemon.call("POST", "/api/run", { body: { action: "start", storyId: "v0.1:1.1.1" } });
    const script = readFileSync(new URL("./foreign-page.js", import.meta.url));
    server = createServer((request, response) => {
      const isScript = request.url === "/foreign-page.js";
      response.setHeader("content-type", isScript ? "text/javascript" : "text/html");
      response.end(isScript ? script : "<!doctype html><title>x</title><body><script src=/foreign-page.js></script>");
    }).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    port = (server.address() as AddressInfo).port;
  }, SLOW);
  afterAll(async () => {
    server.close();
    await browser.close();
    await daemon.close();
  });

  test.each(["127.0.0.1", "localhost", FOREIGN])(
    "S03: from %s it changes nothing and learns nothing, by any way that a browser has",
    async (host) => {
      const before = await everything();
      const page = await browser.newPage();
      const { asked, answers } = trafficOf(page);
      await page.goto(`http://${host}:${port}/`);
      const told = (await page.evaluate(
        `window.attack(${JSON.stringify({ daemon: daemon.url, targets: targets(), token: daemon.token })})`,
      )) as readonly (readonly [how: string, path: string, what: string])[];
      expect(told.length).toBeGreaterThan(250);
      expect(told.filter(([, , what]) => what !== "nothing")).toEqual([]);
      await page.close();
      // They did ask, and were answered without a welcome wherever the browser shows an answer at all.
      expect(asked.length).toBeGreaterThan(250);
      expect(answers.length).toBeGreaterThan(20);
      expect(answers.filter((status) => status < 400)).toEqual([]);
      expect(await everything()).toEqual(before);
    },
    SLOW,
  );

  test("a name that was made to lead here after the fact is refused, also with the token", async () => {
    const before = await everything();
    const page = await browser.newPage();
    const address = `http://${FOREIGN}:${new URL(daemon.url).port}/`;
    expect((await page.goto(address))?.status()).toBe(403);
    const headers = { authorization: `Bearer ${daemon.token}`, "content-type": "application/json" };
    for (const [method, path, body] of [["GET", "/api/runs", undefined], ...targets()] as const) {
      const options = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
      const told: unknown = await page.evaluate(
        `fetch(${JSON.stringify(path)}, ${JSON.stringify(options)}).then(async (a) => [a.status, (await a.json()).code])`,
      );
      expect([path, told]).toEqual([path, [403, "host_not_allowed"]]);
    }
    await page.close();
    expect(await everything()).toEqual(before);
  });

  test("the daemon's own page runs nothing that was put into it, and sends nothing elsewhere", async () => {
    const context = await browser.newContext({ extraHTTPHeaders: { authorization: `Bearer ${daemon.token}` } });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    const answer = await page.goto(`${daemon.url}/docs`);
    expect(answer?.status()).toBe(200);
    expect(complaints).toEqual([]);
    expect(answer?.headers()).toMatchObject({
      "content-security-policy": expect.stringContaining("default-src 'none'"),
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cross-origin-opener-policy": "same-origin",
      "cross-origin-resource-policy": "same-origin",
      "cache-control": "no-store",
    });
    const elsewhere: string[] = [];
    page.on("response", (response) => {
      if (new URL(response.url()).host !== new URL(daemon.url).host) elsewhere.push(response.url());
    });
    const told: unknown = await page.evaluate(`(async () => {
      const violations = [];
      document.addEventListener("securitypolicyviolation", (event) => violations.push(event.effectiveDirective));
      const add = (name, attributes) => document.body.append(Object.assign(document.createElement(name), attributes));
      const isRefused = (act) => { try { act(); return false; } catch { return true; } };
      const refused = [
        isRefused(() => { document.body.innerHTML = "<img src=x onerror='window.hit=1'>"; }),
        isRefused(() => add("script", { text: "window.hit = 1" })),
      ];
      const button = document.createElement("button");
      isRefused(() => button.setAttribute("onclick", "window.hit = 1"));
      document.body.append(button);
      button.click();
      add("img", { src: "http://${FOREIGN}:${port}/pixel" });
      add("link", { rel: "stylesheet", href: "http://${FOREIGN}:${port}/style" });
      add("iframe", { src: "http://${FOREIGN}:${port}/" });
      const form = Object.assign(document.createElement("form"), { method: "post", action: "/api/runs" });
      document.body.append(form);
      form.submit();
      const fetched = await fetch("http://${FOREIGN}:${port}/").then(() => "sent", () => "refused");
      // They are told a moment later.
      for (let turn = 0; turn < 500 && new Set(violations).size < 6; turn++)
        await new Promise((resolve) => setTimeout(resolve, 10));
      return { refused, fetched, hit: window.hit ?? 0, violations: [...new Set(violations)].sort() };
    })()`);
    expect(told).toEqual({
      refused: [true, true],
      fetched: "refused",
      hit: 0,
      violations: expect.arrayContaining([
        "connect-src",
        "form-action",
        "frame-src",
        "img-src",
        "require-trusted-types-for",
        "style-src-elem",
      ]),
    });
    expect(elsewhere).toEqual([]);
    await context.close();
  });

  test("what was defended can be done by whoever may do it", async () => {
    const before = await everything();
    const answer = await daemon.call("POST", `/api/inbox/${run}.1/answer`, {
      body: { answer: "approve" },
      headers: { "if-match": "*" },
    });
    expect(answer.status).toBe(200);
    expect(await everything()).not.toEqual(before);
  });

  /** Every route that changes something, with a body that would do so where there is one. */
  function targets(): [method: string, path: string, body: object][] {
    const bodies: Partial<Record<keyof typeof ROUTES, object>> = {
      startRun: { flow: "feature", title: "Theirs" },
      answerItem: { answer: "approve" },
      cancelRun: { reason: "x" },
      runStory: { action: "reset" },
      actOnHandoff: { action: "cleanup", storyId: "v0.1:1.1.1" },
      signalStory: { action: "blocked", storyId: "v0.1:1.1.1" },
      createKey: { name: "theirs", scope: "operator" },
    };
    const names: Readonly<Record<string, string>> = { run, item: `${run}.1`, story: "v0.1:1.1.1", stage: "spec" };
    const found = Object.entries(ROUTES).flatMap(([name, { method, path }]): [string, string, object][] => {
      if ((method as string) === "get") return [];
      const filled = path.replaceAll(/\{([a-z]+)\}/g, (_, key: string) => names[key] ?? "1");
      return [[method.toUpperCase(), filled, bodies[name as keyof typeof ROUTES] ?? {}]];
    });
    expect(found.length).toBeGreaterThan(15);
    return found;
  }

  /** All that a stranger could have changed. */
  async function everything(): Promise<unknown> {
    const replies = await Promise.all(
      ["/api/runs", "/api/inbox", "/api/keys", "/api/handoffs?storyId=v0.1:1.1.1"].map(async (path) => {
        const { status, body } = await daemon.call("GET", path);
        expect(status).toBe(200);
        return body;
      }),
    );
    return [(await daemon.call("GET", "/api/health")).body["lastSeq"], ...replies];
  }

  /** What a page asked of the daemon, and what came back. */
  function trafficOf(page: Page): { readonly asked: string[]; readonly answers: number[] } {
    const traffic = { asked: [] as string[], answers: [] as number[] };
    page.on("request", (request) => request.url().startsWith(daemon.url) && traffic.asked.push(request.url()));
    page.on("response", (response) => {
      if (response.url().startsWith(daemon.url)) traffic.answers.push(response.status());
    });
    return traffic;
  }
});
