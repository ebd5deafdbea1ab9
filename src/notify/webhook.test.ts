import { execFileSync, spawnSync } from "node:child_process";
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { WebhookEndpoint } from "./endpoint.ts";
import { endpointTo, GATE, type Receiver, SECRET, startReceiver, until } from "./receiver.testsuite.ts";
import { openWebhookNotifier, type WebhookNotifier, type WebhookNotifierOptions } from "./webhook.ts";

let folder: string;
let logFile: string;
let receiver: Receiver;
const open: WebhookNotifier[] = [];
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "passrail-webhook-"));
  logFile = join(folder, "deliveries.jsonl");
  receiver = await startReceiver();
});
afterEach(async () => {
  // Before the notifiers: closing it ends everything they wait for.
  await receiver.close();
  await Promise.all(open.splice(0).map((notifier) => notifier.close()));
  rmSync(folder, { recursive: true });
});

function start(changes: Partial<WebhookNotifierOptions> = {}, ...endpoints: WebhookEndpoint[]): WebhookNotifier {
  const used = endpoints.length === 0 ? [endpointTo(receiver.port)] : endpoints;
  const notifier = openWebhookNotifier({ endpoints: used, logFile, chance: () => 0, graceMs: 100, ...changes });
  open.push(notifier);
  return notifier;
}

/** A clock that moves only on command and then calls the due timers. */
function fakeTime() {
  let time = Date.parse("2026-05-01T12:00:00Z");
  const waiting = new Map<object, { at: number; call: () => void }>();
  return {
    now: () => time,
    wait: (ms: number, then: () => void) => {
      const key = {};
      waiting.set(key, { at: time + ms, call: then });
      return () => void waiting.delete(key);
    },
    nextIn: () => Math.min(...[...waiting.values()].map(({ at }) => at - time)),
    move(ms: number) {
      time += ms;
      for (const [key, { at, call }] of waiting) {
        if (at > time) continue;
        waiting.delete(key);
        call();
      }
    },
  };
}

const statusOf = (notifier: WebhookNotifier) => notifier.deliveries().map(({ state }) => state.status);

describe("a delivery", () => {
  test("is signed so that a library which is not ours accepts it", async () => {
    const notifier = start({ linkTo: ({ item }) => `http://127.0.0.1:1/inbox/${item}` });
    expect(await notifier.notify(GATE)).toBe(true);
    await until(() => receiver.got.length === 1);
    const [got] = receiver.got;
    const payload = new Webhook(SECRET).verify(got?.body ?? "", got?.headers ?? {});
    expect(payload).toMatchObject({
      type: "run.gate.requested",
      data: { run_id: "r1", item: "r1.2", link: "http://127.0.0.1:1/inbox/r1.2" },
    });
    expect(got).toMatchObject({ url: "/hook?x=1", headers: { "content-type": "application/json" } });
    await until(() => statusOf(notifier)[0] === "delivered");
  });

  test("carries a signature of each secret while one is replaced", async () => {
    const next = `whsec_${Buffer.alloc(32, 4).toString("base64")}`;
    await start({}, endpointTo(receiver.port, { secrets: [next, SECRET] })).notify(GATE);
    await until(() => receiver.got.length === 1);
    const [got] = receiver.got;
    for (const secret of [next, SECRET]) new Webhook(secret).verify(got?.body ?? "", got?.headers ?? {});
  });

  test("goes to every endpoint that wants the event", async () => {
    const gates = endpointTo(receiver.port, { events: ["gate"] });
    const ends = endpointTo(receiver.port, {
      name: "ends",
      events: ["completed"],
      url: `http://127.0.0.1:${receiver.port}/e`,
    });
    const slack = endpointTo(receiver.port, { name: "slack", format: "slack", secrets: [] });
    const ntfy = endpointTo(receiver.port, {
      name: "ntfy",
      format: "ntfy",
      secrets: [],
      token: "tk_1",
      url: `http://127.0.0.1:${receiver.port}/topic`,
    });
    await start({}, gates, ends, slack, ntfy).notify(GATE);
    await until(() => receiver.got.length === 3);
    const urls = receiver.got.map(({ url }) => url).sort();
    expect(urls).toEqual(["/", "/hook?x=1", "/hook?x=1"]);
    expect(receiver.got.find(({ url }) => url === "/")?.headers["authorization"]).toBe("Bearer tk_1");
    expect(receiver.got.filter(({ headers }) => "webhook-signature" in headers)).toHaveLength(1);
  });

  test("is not taken when no endpoint wants it", async () => {
    expect(await start({}, endpointTo(receiver.port, { events: [] })).notify(GATE)).toBe(false);
  });

  test("of the same item, told twice, is one; news without an item are not held to be the same", async () => {
    const notifier = start();
    await notifier.notify(GATE);
    await notifier.notify(GATE);
    const news = { ...GATE, event: "stopped", item: null };
    await notifier.notify(news);
    await notifier.notify(news);
    await until(() => receiver.got.length === 3 && statusOf(notifier).every((status) => status === "delivered"));
    expect(new Set(receiver.got.map(({ headers }) => headers["webhook-id"])).size).toBe(3);
  });
});

const OPENSSL = "openssl";
const hasOpenssl = spawnSync(OPENSSL, ["version"]).status === 0;
test.skipIf(!hasOpenssl)(
  "S18: over TLS the certificate and the server name are those of the host, at the vetted address",
  async () => {
    const name = "hooks.example.test";
    const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    const subject = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`];
    const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"];
    execFileSync(OPENSSL, ["req", "-x509", ...kind, "-keyout", key, "-out", cert, ...subject], { stdio: "ignore" });
    const ca = readFileSync(cert, "utf8");
    const secure = await startReceiver({ key: readFileSync(key, "utf8"), cert: ca });
    const resolve = async () => [{ address: "127.0.0.1", family: 4 } as const];
    const target = (host: string, changes: Partial<WebhookEndpoint>) =>
      endpointTo(secure.port, { url: `https://${host}:${secure.port}/`, allowHttp: false, ...changes });
    try {
      const notifier = start(
        { resolve },
        target(name, { ca }),
        target("other.example.test", { ca, name: "other" }),
        target(name, { name: "unknown-authority" }),
      );
      await notifier.notify(GATE);
      await until(() => notifier.deliveries().every(({ history }) => history.length === 1));
      expect(notifier.deliveries().map(({ history }) => history[0]?.result)).toEqual([
        "delivered",
        "ERR_TLS_CERT_ALTNAME_INVALID",
        "DEPTH_ZERO_SELF_SIGNED_CERT",
      ]);
      expect(secure.got.map(({ servername }) => servername)).toEqual([name]);
    } finally {
      await secure.close();
    }
  },
);

describe("R-000-26: a receiver that fails", () => {
  test("is tried again on the schedule under the same id, signed anew, and then given up", async () => {
    receiver.answer = (response) => void response.writeHead(500).end();
    const time = fakeTime();
    const problems: string[] = [];
    const notifier = start({ ...time, onProblem: (text) => problems.push(text) });
    await notifier.notify(GATE);
    let waited = 0;
    for (let tries = 1; tries <= 9; tries++) {
      await until(() => notifier.deliveries()[0]?.tries === tries && Number.isFinite(time.nextIn()));
      // Long waits come in pieces; the last piece begins the next try.
      for (let due = time.nextIn(); Number.isFinite(due); due = time.nextIn()) {
        waited += due / 1000;
        time.move(due);
      }
    }
    await until(() => statusOf(notifier)[0] === "failed");
    const total = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400].reduce((sum, each) => sum + each);
    expect(waited).toBe(total);
    expect(receiver.got).toHaveLength(10);
    expect(new Set(receiver.got.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
    expect(new Set(receiver.got.map(({ headers }) => headers["webhook-timestamp"])).size).toBe(10);
    expect(problems).toEqual(['A message to "team" was given up: answered 500.']);
  });

  test("gets the message when it is back", async () => {
    receiver.answer = (response) => void response.writeHead(503).end();
    const time = fakeTime();
    const notifier = start(time);
    await notifier.notify(GATE);
    await until(() => Number.isFinite(time.nextIn()));
    receiver.answer = (response) => void response.writeHead(200).end();
    time.move(4999);
    expect(receiver.got).toHaveLength(1);
    time.move(1);
    await until(() => statusOf(notifier)[0] === "delivered");
    expect(notifier.deliveries()[0]?.history.map(({ result }) => result)).toEqual(["answered 503", "delivered"]);
  });

  test("410: the endpoint is disabled for good, also after a restart, until someone enables it", async () => {
    receiver.answer = (response) => void response.writeHead(410).end();
    const notifier = start();
    await notifier.notify(GATE);
    await until(() => notifier.isDisabled("team"));
    expect(await notifier.notify({ ...GATE, item: "r1.3" })).toBe(false);
    await notifier.close();
    const next = start();
    expect(next.isDisabled("team")).toBe(true);
    const id = next.deliveries()[0]?.id ?? "";
    expect(await next.redeliver(id)).toMatchObject({ ok: false, error: { code: "endpoint_disabled" } });
    expect(await next.enable("team")).toMatchObject({ ok: true });
    receiver.answer = (response) => void response.writeHead(200).end();
    expect(await next.redeliver(id)).toMatchObject({ ok: true });
    await until(() => statusOf(next)[0] === "delivered");
  });

  test("and was disabled is used again when its URL is another", async () => {
    receiver.answer = (response) => void response.writeHead(410).end();
    const notifier = start();
    await notifier.notify(GATE);
    await until(() => notifier.isDisabled("team"));
    await notifier.close();
    const moved = endpointTo(receiver.port, { url: `http://127.0.0.1:${receiver.port}/new` });
    expect(start({}, moved).isDisabled("team")).toBe(false);
  });

  test("never holds up whoever tells: the answer comes before the receiver's", async () => {
    receiver.answer = () => {};
    const notifier = start({ timeoutMs: 60_000 });
    const began = performance.now();
    for (let item = 0; item < 20; item++) await notifier.notify({ ...GATE, item: `r1.${item}` });
    expect(performance.now() - began).toBeLessThan(2000);
    await until(() => receiver.got.length === 4);
  });

  test("does not hold up other endpoints", async () => {
    const other = await startReceiver();
    receiver.answer = () => {};
    try {
      const slow = endpointTo(receiver.port);
      const notifier = start({}, slow, endpointTo(other.port, { name: "other" }));
      for (let item = 0; item < 10; item++) await notifier.notify({ ...GATE, item: `r1.${item}` });
      await until(() => other.got.length === 10);
    } finally {
      await other.close();
    }
  });

  test("a target that is not allowed is given up at once and nothing is sent", async () => {
    const notifier = start({}, endpointTo(receiver.port, { allowPrivate: false }));
    await notifier.notify(GATE);
    await until(() => statusOf(notifier)[0] === "failed");
    expect(receiver.got).toEqual([]);
  });
});

describe("the log", () => {
  test("S25: is private, and holds neither URL nor secret nor token", async () => {
    writeFileSync(logFile, "", { mode: 0o644 });
    const notifier = start({}, endpointTo(receiver.port, { url: `http://127.0.0.1:${receiver.port}/T0/B0/hush` }));
    await notifier.notify(GATE);
    await until(() => statusOf(notifier)[0] === "delivered");
    expect(statSync(logFile).mode & 0o777).toBe(0o600);
    const text = readFileSync(logFile, "utf8");
    expect(text).not.toContain("hush");
    expect(text).not.toContain(SECRET);
  });

  test("redelivers by id, with the same id", async () => {
    const notifier = start();
    await notifier.notify(GATE);
    await until(() => statusOf(notifier)[0] === "delivered");
    const id = notifier.deliveries()[0]?.id ?? "";
    expect(await notifier.redeliver(id)).toMatchObject({ ok: true });
    await until(() => receiver.got.length === 2);
    expect(receiver.got.map(({ headers }) => headers["webhook-id"])).toEqual([id, id]);
    expect(await notifier.redeliver("msg_x")).toMatchObject({ ok: false, error: { code: "delivery_not_found" } });
  });

  test("withdraws what was answered elsewhere before it could be sent", async () => {
    receiver.answer = (response) => void response.writeHead(500).end();
    const time = fakeTime();
    const notifier = start(time);
    await notifier.notify(GATE);
    await until(() => Number.isFinite(time.nextIn()));
    expect(await notifier.withdraw("r1.2")).toBe(1);
    expect(statusOf(notifier)).toEqual(["withdrawn"]);
    time.move(100_000);
    expect(receiver.got).toHaveLength(1);
  });

  test("withdraws also what is being sent, if that fails", async () => {
    let fail = (): void => {};
    receiver.answer = (response) => {
      fail = () => void response.writeHead(500).end();
    };
    const notifier = start();
    await notifier.notify(GATE);
    await until(() => receiver.got.length === 1);
    expect(await notifier.withdraw("r1.2")).toBe(0);
    fail();
    await until(() => statusOf(notifier)[0] === "withdrawn");
  });

  test("stays bounded: the oldest make room, first those that have ended", async () => {
    receiver.answer = (response) => void response.writeHead(500).end();
    const time = fakeTime();
    // Nothing is due: the test only reads the log.
    const off = endpointTo(receiver.port, { name: "gone" });
    const writer = start({ ...time, resolve: () => new Promise(() => {}) }, { ...off, url: "http://never.example/" });
    for (let item = 0; item < 900; item++) await writer.notify({ ...GATE, text: "x".repeat(5000), item: `r1.${item}` });
    const kept = writer.deliveries();
    expect(kept.length).toBeLessThanOrEqual(801);
    expect(kept.filter(({ state }) => state.status === "pending")).toHaveLength(500);
    expect(kept.at(-1)?.notice.item).toBe("r1.899");
    expect(statSync(logFile).size).toBeLessThan(16 * 1024 * 1024);
  });
});

describe("crashes", () => {
  test("R-000-26: what was queued by a process that was killed before it could send is sent by the next one, once", async () => {
    const script = `
      import { openWebhookNotifier } from ${JSON.stringify(join(import.meta.dirname, "webhook.ts"))};
      const notifier = openWebhookNotifier(JSON.parse(process.argv[1]));
      await notifier.notify(JSON.parse(process.argv[2]));
      process.kill(process.pid, "SIGKILL");
    `;
    // No process listens there.
    const options = { endpoints: [endpointTo(1)], logFile };
    const args = ["--input-type=module", "-e", script, JSON.stringify(options), JSON.stringify(GATE)];
    const child = spawnSync(process.execPath, args, { encoding: "utf8" });
    expect(child).toMatchObject({ signal: "SIGKILL", stderr: "" });
    const notifier = start();
    await until(() => statusOf(notifier)[0] === "delivered");
    expect(receiver.got).toHaveLength(1);
    // The engine repeats a notice that it could not record as sent.
    expect(await notifier.notify(GATE)).toBe(true);
    expect(notifier.deliveries()).toHaveLength(1);
  });

  test("a line that was cut off costs only itself", async () => {
    const first = start();
    await first.notify(GATE);
    await until(() => statusOf(first)[0] === "delivered");
    await first.close();
    appendFileSync(logFile, '{"delivery":{"id":"msg_');
    const second = start();
    expect(statusOf(second)).toEqual(["delivered"]);
    await second.notify({ ...GATE, item: "r1.3" });
    await until(() => statusOf(second)[1] === "delivered");
    await second.close();
    expect(statusOf(start())).toEqual(["delivered", "delivered"]);
  });

  test("closing leaves what is pending in the log and ends what does not answer", async () => {
    receiver.answer = () => {};
    const first = start();
    await first.notify(GATE);
    await until(() => receiver.got.length === 1);
    const began = performance.now();
    await first.close();
    expect(performance.now() - began).toBeLessThan(4000);
    expect(readFileSync(logFile, "utf8").trim().split("\n")).toHaveLength(1);
    receiver.answer = (response) => void response.writeHead(204).end();
    const second = start();
    await until(() => statusOf(second)[0] === "delivered");
  });

  test("a message for an endpoint that this process does not know waits for one that does", async () => {
    receiver.answer = (response) => void response.writeHead(500).end();
    const time = fakeTime();
    const first = start(time);
    await first.notify(GATE);
    await until(() => first.deliveries()[0]?.tries === 1);
    await first.close();
    const stranger = start(time, endpointTo(receiver.port, { name: "stranger" }));
    expect(statusOf(stranger)).toEqual(["pending"]);
    await stranger.close();
    time.move(6 * 24 * 60 * 60 * 1000);
    expect(statusOf(start(time, endpointTo(receiver.port, { name: "stranger" })))).toEqual(["failed"]);
  });
});
