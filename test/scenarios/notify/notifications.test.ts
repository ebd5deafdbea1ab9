// Notices from the run to the receiver: a real engine, real sockets, real programs. What goes wrong outside stays outside.

import { runIdOf } from "../../../src/app/run-id.ts";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Webhook } from "standardwebhooks";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Performer } from "../../../src/compose.ts";
import { openIdle } from "../../harness/open-performer.ts";
import { readSettings } from "../../../src/settings/settings.ts";
import { openItems, type Run } from "../../../src/core/run/run.ts";
import { type Receiver, SECRET, startReceiver } from "../../../src/notify/receiver.testsuite.ts";
import { openSqliteStore } from "../../../src/store/sqlite/open.ts";
import { type NotificationOptions, type Notifications, openNotifications } from "../../../src/notify/open.ts";
import type { EndpointSettings } from "../../../src/settings/webhooks.ts";
import { newRepository } from "../../harness/new-repository.ts";
import { resolveShipped } from "../../harness/workbench.ts";
import { until } from "../../harness/until.ts";

const PLAYER = join(import.meta.dirname, "../../fixtures/player/play.mjs");

let dir: string;
let receiver: Receiver;
const closing: (() => Promise<void>)[] = [];
beforeEach(async () => {
  dir = mkdtempSync(join(tmpdir(), "passrail-notify-"));
  receiver = await startReceiver();
});
afterEach(async () => {
  await receiver.close();
  for (const close of closing.splice(0).toReversed()) await close();
  rmSync(dir, { recursive: true, force: true });
});

function secretFile(name: string, text: string, mode = 0o600): string {
  const path = join(dir, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

type StandardSettings = Extract<EndpointSettings, { format: "standard" }>;

function endpointTo(path: string, changes: Partial<StandardSettings> = {}): StandardSettings {
  return {
    name: "team",
    format: "standard",
    url: `http://127.0.0.1:${receiver.port}${path}`,
    secret_file: secretFile("whsec", SECRET),
    allow_http: true,
    allow_private: true,
    ...changes,
  };
}

type Opened = { readonly passrail: Performer; readonly told: Notifications; readonly problems: string[] };

async function open(
  config: Partial<NotificationOptions["config"]>,
  given: NotificationOptions["with"] = {},
): Promise<Opened> {
  const home = join(dir, "home");
  const problems: string[] = [];
  let told: Notifications | null = null;
  const passrail = await openIdle({
    home,
    project: newRepository(dir),
    environment: process.env,
    flags: { slots: "3" },
    onError: (_, error) => problems.push(String(error)),
    notifier: { notify: async (notice) => (await told?.notifier.notify(notice)) ?? false },
  });
  told = openNotifications({
    config: { notifyCommand: null, notifyEndpoints: [], ...config },
    environment: { URL_OF_SLACK: `http://127.0.0.1:${receiver.port}/slack` },
    home,
    store: passrail.store,
    url: () => "http://127.0.0.1:7377",
    onProblem: (text) => problems.push(text),
    with: { graceMs: 100, ...given },
  });
  if (told === null) throw new Error("nobody is told");
  const notifications = told;
  passrail.listen(notifications);
  await passrail.perform();
  closing.push(
    () => passrail.close(),
    () => notifications.close(),
  );
  return { passrail, told, problems };
}

const SHIPPED = {
  spec: [{ verdict: "APPROVED" }],
  design: [{ verdict: "APPROVED" }],
  build: [{ verdict: "COMPLETE" }],
  qa: [{ verdict: "SHIP" }],
};

async function start(passrail: Performer, script: object, subject = "F-1"): Promise<Run> {
  const file = join(dir, `${subject}.json`);
  writeFileSync(file, JSON.stringify(script));
  const { run } = await passrail.engine.startRun({
    runId: runIdOf(),
    resolved: resolveShipped("feature"),
    subject: { id: subject, title: `Do ${subject}`, body: "All of it." },
    facts: {
      config: { project: join(dir, "project"), workspace: "worktree" },
      runners: { "*": [process.execPath, PLAYER, file] },
    },
    actor: "human:tester",
  });
  await passrail.engine.idle();
  return run;
}

async function answer({ engine, store }: Performer, runId: string, word: string): Promise<Run> {
  const item = openItems((await store.loadRun(runId))?.run as Run)[0];
  if (item === undefined) throw new Error("nothing is open");
  const { number, kind } = item;
  await engine.deliver(runId, { type: "item.answered", number, kind, answer: word, text: "" }, "human:tester");
  await engine.idle();
  return (await store.loadRun(runId))?.run as Run;
}

const byText = (a = "", b = ""): number => a.localeCompare(b);
const bodies = () => receiver.got.map(({ body }) => JSON.parse(body) as Record<string, never>);

describe("what is told", () => {
  test("R-000-13: what waits for a person, with the link to answer it at, signed", async () => {
    const { passrail } = await open({ notifyEndpoints: [endpointTo("/hook")] });
    const { id } = await start(passrail, SHIPPED);
    await until("the first notice", () => receiver.got[0]);
    const [got] = receiver.got;
    expect(new Webhook(SECRET).verify(got?.body ?? "", got?.headers ?? {})).toMatchObject({
      data: { item: `${id}.1`, link: `http://127.0.0.1:7377/g/${id}.1`, to: "owner" },
    });
    await answer(passrail, id, "approve");
    await until("the notice of the ship gate", () => receiver.got[1]);
    expect(bodies()[1]).toMatchObject({ type: "run.notice.ready_for_review", data: { item: `${id}.2` } });
    expect((await answer(passrail, id, "approve")).status).toBe("completed");
    await until("the end", () => receiver.got[2]);
    expect(bodies()[2]).toMatchObject({ type: "run.completed", data: { link: `http://127.0.0.1:7377/runs/${id}` } });
    expect(receiver.got).toHaveLength(3);
  });

  test("R-000-21: an escalation names feature, stage, loops, the last issues and the link", async () => {
    const { passrail } = await open({ notifyEndpoints: [endpointTo("/hook", { events: ["escalation"] })] });
    const revise = { verdict: "REVISE", issues: ["the button is red", { severity: "high", description: "no test" }] };
    const { id } = await start(passrail, { ...SHIPPED, qa: [revise] });
    await answer(passrail, id, "approve");
    await until("the escalation", () => receiver.got[0]);
    const { data } = bodies()[0] as unknown as { data: { text: string; link: string; item: string } };
    expect(data.text).toMatch(/^F-1: qa was escalated: .*2.*/);
    expect(data.text).toContain("the button is red");
    expect(data.text).toContain("no test");
    expect(data.link).toBe(`http://127.0.0.1:7377/g/${data.item}`);
  });

  test("each format and a command at once, each in its own words", async () => {
    const out = join(dir, "out.json");
    const { passrail } = await open({
      notifyCommand: [
        process.execPath,
        "-e",
        `process.stdin.pipe(require("fs").createWriteStream(${JSON.stringify(out)}))`,
      ],
      notifyEndpoints: [
        endpointTo("/hook"),
        { name: "slack", format: "slack", url_env: "URL_OF_SLACK", allow_http: true, allow_private: true },
        {
          name: "phone",
          format: "ntfy",
          url: `http://127.0.0.1:${receiver.port}/topic`,
          token_file: secretFile("ntfy", "tk_1\n"),
          allow_http: true,
          allow_private: true,
        },
      ],
    });
    const { id } = await start(passrail, SHIPPED);
    await until("three requests", () => (receiver.got.length === 3 ? true : undefined));
    expect(receiver.got.map(({ url }) => url).toSorted(byText)).toEqual(["/", "/hook", "/slack"]);
    const read = () => {
      try {
        return JSON.parse(readFileSync(out, "utf8")) as Record<string, unknown>;
      } catch {
        return undefined;
      }
    };
    expect(await until("the command", read)).toMatchObject({
      item: `${id}.1`,
      link: `http://127.0.0.1:7377/g/${id}.1`,
      event: "gate",
    });
  });
});

describe("R-000-26: what fails outside", () => {
  test("an endpoint that hangs and a command that hangs hold up no run", async () => {
    const hanging: ServerResponse[] = [];
    receiver.answer = (response) => void hanging.push(response);
    const { passrail, told } = await open({
      notifyCommand: [process.execPath, "-e", "setInterval(() => {}, 1000)"],
      notifyEndpoints: [endpointTo("/hook")],
    });
    const { id } = await start(passrail, SHIPPED);
    await answer(passrail, id, "approve");
    // Through six stages and two gates, while nothing that was told has arrived.
    expect((await answer(passrail, id, "approve")).status).toBe("completed");
    expect(hanging.length).toBeGreaterThan(0);
    expect(told.deliveries.deliveries().some(({ status }) => status === "delivered")).toBe(false);
  });

  test("is tried again after 5 seconds, then later and later, and shows in the log and at the endpoint", async () => {
    let time = Date.now();
    let wake = (): void => {};
    receiver.answer = (response) => void response.writeHead(500).end();
    const flag = join(dir, "flag");
    const fails = `process.exit(require("fs").existsSync(${JSON.stringify(flag)}) ? 0 : 3)`;
    const { passrail, told } = await open(
      { notifyCommand: [process.execPath, "-e", fails], notifyEndpoints: [endpointTo("/hook")] },
      {
        now: () => time,
        chance: () => 0,
        wait: (_, then) => {
          wake = then;
          return () => {};
        },
      },
    );
    await start(passrail, SHIPPED);
    const tried = (count: number) =>
      until(`${count} tries`, () => {
        const found = told.deliveries.deliveries();
        return found.length === 2 && found.every(({ tries }) => tries === count) ? found : undefined;
      });
    const first = await tried(1);
    expect(first.map(({ history }) => history[0]?.result).toSorted(byText)).toEqual(["answered 500", "exit code 3"]);
    expect(first.map(({ dueAt }) => Date.parse(dueAt ?? "") - time)).toEqual([5000, 5000]);
    expect(told.deliveries.endpoints()).toMatchObject([
      { name: "command", failing: "exit code 3", pending: 1 },
      { name: "team", failing: "answered 500", pending: 1 },
    ]);
    time += 5000;
    wake();
    expect((await tried(2)).map(({ dueAt }) => Date.parse(dueAt ?? "") - time)).toEqual([300_000, 300_000]);
    writeFileSync(flag, "");
    receiver.answer = (response) => void response.writeHead(204).end();
    time += 300_000;
    wake();
    expect((await tried(3)).map(({ status }) => status)).toEqual(["delivered", "delivered"]);
    expect(told.deliveries.endpoints().map(({ failing }) => failing)).toEqual([null, null]);
  });

  test("what was answered elsewhere meanwhile is withdrawn and not sent again, also when another process did it", async () => {
    let time = Date.now();
    let wake = (): void => {};
    receiver.answer = (response) => void response.writeHead(503).end();
    const { passrail, told } = await open(
      { notifyEndpoints: [endpointTo("/hook", { events: ["gate"] })] },
      {
        now: () => time,
        wait: (_, then) => {
          wake = then;
          return () => {};
        },
      },
    );
    const run = await start(passrail, { spec: [{ verdict: "REJECT" }] });
    const pending = () => told.deliveries.deliveries().find(({ tries }) => tries === 1);
    await until("the first try", pending);
    // Not through this engine, so nobody tells the notifier.
    const other = openSqliteStore({ file: join(dir, "home", "passrail.db") });
    const { transition } = await import("../../../src/core/run/transition.ts");
    const { run: before, version } = (await other.loadRun(run.id)) ?? { run, version: 0 };
    const signal = { type: "item.answered", number: 1, kind: "gate", answer: "decline", text: "no" } as const;
    const at = new Date().toISOString();
    const step = transition(resolveShipped("feature").flow, before, { ...signal, id: "s", at, actor: "human:other" });
    await other.commit({
      runId: run.id,
      expectedVersion: version,
      signalIds: ["s"],
      events: step.events,
      run: step.run,
      enqueue: [],
    });
    other.close();
    const sent = receiver.got.length;
    time += 60_000;
    wake();
    await until("the withdrawal", () => told.deliveries.deliveries().find(({ status }) => status === "withdrawn"));
    expect(receiver.got).toHaveLength(sent);
  });

  test("an answer given here withdraws at once what has not been sent", async () => {
    receiver.answer = (response) => void response.writeHead(503).end();
    const { passrail, told } = await open({ notifyEndpoints: [endpointTo("/hook", { events: ["gate"] })] });
    const { id } = await start(passrail, { spec: [{ verdict: "REJECT" }] });
    await until("the first try", () => told.deliveries.deliveries().find(({ tries }) => tries === 1));
    await answer(passrail, id, "decline");
    expect(told.deliveries.deliveries().map(({ status }) => status)).toEqual(["withdrawn"]);
  });
});

describe("S18: settings", () => {
  const targets = [
    "https://127.0.0.1/x",
    "https://2130706433/x",
    "https://0x7f.1/x",
    "https://[::ffff:127.0.0.1]/x",
    "https://localhost./x",
    "https://169.254.169.254/latest/meta-data",
    "https://10.0.0.1/x",
  ];

  test("a secret is rotated and revoked without a restart: the next message has the new signatures, or does not leave", async () => {
    const other = `whsec_${Buffer.alloc(32, 4).toString("base64")}`;
    const { told } = await open({ notifyEndpoints: [endpointTo("/hook")] });
    const signatures = async (): Promise<readonly boolean[]> => {
      const before = receiver.got.length;
      await told.deliveries.sendTest("team");
      const { body, headers } = await until("the message", () => receiver.got[before]);
      return [SECRET, other].map((secret) => {
        try {
          return new Webhook(secret).verify(body, headers) !== undefined;
        } catch {
          return false;
        }
      });
    };
    expect(await signatures()).toEqual([true, false]);
    secretFile("whsec", `${other}\n${SECRET}\n`);
    expect(await signatures()).toEqual([true, true]);
    secretFile("whsec", other);
    expect(await signatures()).toEqual([false, true]);
    secretFile("whsec", "");
    await told.deliveries.sendTest("team");
    await until("the try fails", () => (told.deliveries.endpoints()[0]?.failing === null ? undefined : true));
    expect(receiver.got).toHaveLength(3);
  });

  test("targets that are not of the public Internet are refused, each with a reason, and nothing is sent", async () => {
    const { told } = await open(
      {
        notifyEndpoints: targets.map((url, index) => endpointTo("", { name: `t${index}`, url, allow_private: false })),
      },
      { resolve: async () => [{ address: "127.0.0.1", family: 4 }] },
    );
    for (const { name } of told.deliveries.endpoints()) await told.deliveries.sendTest(name);
    const ended = await until("all are refused", () => {
      const found = told.deliveries.deliveries();
      return found.every(({ status }) => status === "failed") ? found : undefined;
    });
    expect(ended).toHaveLength(targets.length);
    expect(new Set(ended.map(({ history }) => history.at(-1)?.result))).toEqual(
      new Set(["the host has an address that is not of the public Internet"]),
    );
  });

  test("an endpoint that cannot be used is left out with a reason; its URL and secret are not told", async () => {
    const { told, problems } = await open({
      notifyEndpoints: [
        endpointTo("/good", { name: "good" }),
        endpointTo("/plain", { name: "plain", url: "http://example.com/T0KEN", allow_http: false }),
        endpointTo("/open", {
          name: "open",
          secret_file: secretFile("open", SECRET, 0o640),
        }),
        endpointTo("/none", { name: "none", secret_file: join(dir, "nothing") }),
        { name: "slack", format: "slack", url_env: "NO_SUCH_URL" },
      ],
    });
    expect(told.deliveries.endpoints().map(({ name }) => name)).toEqual(["good"]);
    expect(problems).toHaveLength(4);
    expect(problems.join("\n")).not.toMatch(/T0KEN|whsec_/);
  });

  test("a project's file may name neither sources nor endpoints; the user's may", () => {
    const webhooks = { tracker: { kind: "standard", secret_file: "~/.config/passrail/tracker" } };
    const notify = { endpoints: [{ name: "team", format: "slack", url: "https://hooks.slack.com/x" }] };
    const read = (project: unknown, user: unknown) => readSettings({ environment: {}, flags: {}, project, user });
    for (const [key, file] of [
      ["webhooks", { webhooks }],
      ["notify.endpoints", { notify }],
    ] as const) {
      expect(read(file, undefined)).toMatchObject({
        ok: false,
        error: { code: "invalid_setting", message: expect.stringContaining(`${key} is not taken from a project`) },
      });
    }
    expect(read({ notify: { command: ["bell"] } }, { webhooks, notify })).toMatchObject({
      ok: true,
      value: { notifyCommand: ["bell"], notifyEndpoints: notify.endpoints, webhooks },
    });
  });

  test.each([
    ["a source without a secret", { webhooks: { a: { kind: "github" } } }],
    ["two secrets", { webhooks: { a: { kind: "github", secret_file: "/a", secret_env: "A" } } }],
    ["a secret itself", { webhooks: { a: { kind: "github", secret: "It's a Secret" } } }],
    ["a relative file", { webhooks: { a: { kind: "github", secret_file: "secret" } } }],
    ["a label on a source that knows none", { webhooks: { a: { kind: "standard", secret_env: "A", label: "x" } } }],
    [
      "a rule without gates",
      {
        webhooks: {
          a: {
            kind: "standard",
            secret_env: "A",
            rules: [{ on: "x", do: "answer", answer: "approve", subject: "id" }],
          },
        },
      },
    ],
    ["an endpoint without a URL", { notify: { endpoints: [{ name: "a", format: "slack" }] } }],
    [
      "two endpoints of one name",
      { notify: { endpoints: [1, 2].map(() => ({ name: "a", format: "slack", url: "https://x.y" })) } },
    ],
    [
      "an endpoint named command",
      { notify: { endpoints: [{ name: "command", format: "slack", url: "https://x.y" }] } },
    ],
  ])("%s is an error", (_, user) => {
    expect(readSettings({ environment: {}, flags: {}, project: undefined, user })).toMatchObject({
      ok: false,
      error: { code: "invalid_setting" },
    });
  });
});
