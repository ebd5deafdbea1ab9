// Three trackers behind one port, against stand-ins of their published forms, and what follows for tickets: with the real folder of files.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { trackersSchema } from "../../../src/settings/trackers.ts";
import { ticketSettings } from "../../../src/settings/tickets.ts";
import { openTicketFolder } from "../../../src/ticket/file/open-folder.ts";
import { syncTrackers } from "../../../src/ticket/track/sync.ts";
import { openTrackers } from "../../../src/tracker/open.ts";
import { REFUSALS, type Tracker } from "../../../src/tracker/tracker.ts";
import { type Bench, openBench } from "../cli/bench.ts";
import type { FakeIssue, FakeTracker } from "./fakes.ts";
import { openGitHub } from "./github-fake.ts";
import { openJira } from "./jira-fake.ts";
import { openLinear } from "./linear-fake.ts";

const KINDS = [
  {
    kind: "github",
    open: openGitHub,
    id: (n: number) => String(n),
    first: "open",
    working: "in progress",
    done: "closed",
    settings: () => ({ github: "acme/shop", states: { working: "in progress" } }),
    env: (url: string) => ({ GITHUB_API_URL: url, GITHUB_TOKEN: "key-of-ann" }),
  },
  {
    kind: "linear",
    open: openLinear,
    id: (n: number) => `ENG-${n}`,
    first: "Todo",
    working: "In Progress",
    done: "Done",
    settings: (site: string) => ({ linear: "ENG", site, key_env: "TRACKER_KEY" }),
    env: () => ({ TRACKER_KEY: "key-of-ann" }),
  },
  {
    kind: "jira",
    open: openJira,
    id: (n: number) => `SHOP-${n}`,
    first: "To Do",
    working: "In Progress",
    done: "Done",
    settings: (site: string) => ({ jira: "SHOP", site, user: "ann@acme.example", key_env: "TRACKER_KEY" }),
    env: () => ({ TRACKER_KEY: "key-of-ann" }),
  },
] as const;

describe.each(KINDS)("$kind", ({ open, id, first, working, done, settings, env }) => {
  let fake: FakeTracker;
  let tracker: Tracker;
  beforeEach(async () => {
    const issue = (n: number, more: Partial<FakeIssue> = {}): FakeIssue => ({
      id: id(n),
      title: `Issue ${n}`,
      body: "Do it.",
      labels: [],
      state: first,
      ...more,
    });
    fake = await open([issue(1), issue(2, { labels: ["agent"] }), issue(3, { state: done })]);
    const [read] = openTrackers(trackersSchema.parse([settings(fake.url)]), { PATH: "/nowhere", ...env(fake.url) });
    tracker = read ?? expect.fail();
  });
  afterEach(() => fake.close());

  test("lists issues that nobody has started, by label where one is named", async () => {
    const all = await tracker.waiting({ limit: 10 });
    expect(all).toMatchObject({ ok: true, value: [{ id: id(1), title: "Issue 1", body: "Do it." }, { id: id(2) }] });
    expect(await tracker.waiting({ limit: 10, label: "agent" })).toMatchObject({
      value: [{ id: id(2), labels: ["agent"] }],
    });
  });

  test("says the state of the issues that are asked for, and moves one by its name, as often as one likes", async () => {
    const states = await tracker.statesOf([id(1), id(3), id(99), "../x", "a b"]);
    expect(states.ok && states.value).toEqual(
      new Map([
        [id(1), { name: first, kind: "open" }],
        [id(3), { name: done, kind: "done" }],
      ]),
    );
    expect(await tracker.move(id(2), working)).toEqual({ ok: true, value: null });
    expect(await tracker.move(id(2), working)).toMatchObject({ ok: true });
    expect(await tracker.statesOf([id(2)])).toMatchObject({
      value: new Map([[id(2), { name: working, kind: "started" }]]),
    });
    expect(await tracker.move(id(2), done)).toMatchObject({ ok: true });
    expect(fake.issues[1]).toMatchObject({ state: done, labels: ["agent"] });
  });

  test("reads every page, oldest first, and asks about many at once", async () => {
    fake.issues.push(
      ...Array.from({ length: 229 }, (_, at) => ({
        id: id(at + 4),
        title: `Issue ${at + 4}`,
        body: "",
        labels: [],
        state: first,
      })),
    );
    const all = await tracker.waiting({ limit: 200 });
    expect(all.ok && all.value.map((each) => each.id)).toEqual(
      [1, 2, ...Array.from({ length: 198 }, (_, at) => at + 4)].map(id),
    );
    const many = await tracker.statesOf(fake.issues.map((each) => each.id));
    expect(many.ok && many.value.size).toBe(232);
    expect(many.ok && many.value.get(id(3))?.kind).toBe("done");
  });

  test("too many requests are for later, a refused login is a person's, and the issue stays", async () => {
    fake.busy = true;
    expect(await tracker.move(id(1), working)).toMatchObject({ ok: false, error: { code: "tracker_unavailable" } });
    fake.busy = false;
    fake.answer = 401;
    const refused = await tracker.move(id(1), working);
    expect(!refused.ok && REFUSALS.has(refused.error.code)).toBe(false);
    expect(fake.changes).toEqual([]);
  });

  test("a tracker that is away, refuses or answers strangely is an error with a reason, and moves nothing", async () => {
    for (const [status, code] of [
      [503, "tracker_unavailable"],
      [429, "tracker_unavailable"],
      [418, "tracker_refused"],
      [200, expect.stringMatching(/^tracker_/u)],
    ] as const) {
      fake.answer = status;
      expect(await tracker.move(id(1), working)).toMatchObject({ ok: false, error: { code } });
    }
    expect(fake.changes).toEqual([]);
  });
});

test("at GitHub a pull request is no ticket, a duplicate is not done, and a label may be a name alone", async () => {
  const issue = { body: "", labels: ["plain"], state: "open" };
  const fake = await openGitHub([
    { ...issue, id: "1", title: "Pull this" },
    { ...issue, id: "2", title: "Fix it" },
    { ...issue, id: "3", title: "Again", state: "duplicate" },
  ]);
  try {
    const [tracker = expect.fail()] = openTrackers(trackersSchema.parse([{ github: "acme/shop" }]), {
      PATH: "/nowhere",
      GITHUB_API_URL: fake.url,
      GITHUB_TOKEN: "key-of-ann",
    });
    expect(await tracker.waiting({ limit: 10 })).toMatchObject({ value: [{ id: "2", labels: ["plain"], body: "" }] });
    expect(await tracker.statesOf(["3"])).toMatchObject({
      value: new Map([["3", { name: "not planned", kind: "canceled" }]]),
    });
  } finally {
    fake.close();
  }
});

test.each([
  ["http://tracker.example", "another machine without TLS"],
  ["https://ann:x@tracker.example", "a password in the address"],
])("a key is not sent to %s: %s", (site) => {
  expect(trackersSchema.safeParse([{ linear: "ENG", site }]).success).toBe(false);
});

describe("tickets and issues", () => {
  let bench: Bench;
  let fake: FakeTracker;
  let env: Record<string, string>;
  beforeAll(async () => {
    bench = openBench();
    const body = "Please.";
    fake = await openLinear([
      { id: "ENG-1", title: "Store users", body, labels: [], state: "Todo" },
      { id: "ENG-2", title: "Show users", body, labels: [], state: "Todo" },
    ]);
    const config = mkdtempSync(join(tmpdir(), "passrail-trackers-"));
    mkdirSync(join(config, "passrail"));
    const settings = `trackers:\n  - linear: ENG\n    site: ${fake.url}\n    key_env: TRACKER_KEY\n`;
    writeFileSync(join(config, "passrail/passrail.yaml"), settings);
    env = { ...(process.env as Record<string, string>), XDG_CONFIG_HOME: config, TRACKER_KEY: "key-of-ann" };
  });
  afterAll(() => {
    fake.close();
    rmSync(env["XDG_CONFIG_HOME"] ?? "", { recursive: true, force: true });
    bench.remove();
  });

  const files = () =>
    readdirSync(join(bench.project, "feature_requests"), { recursive: true, encoding: "utf8" })
      .filter((name) => /AGI-\d+/u.test(name) && name.endsWith(".md"))
      .toSorted()
      .map((name) => join(bench.project, "feature_requests", name));
  const setStatus = (at: number, status: string): void => {
    const path = files()[at] ?? "";
    writeFileSync(path, readFileSync(path, "utf8").replace(/^status: .*$/mu, `status: ${status}`));
  };
  const statusOf = (at: number): string =>
    /^status: "?(.*?)"?$/mu.exec(readFileSync(files()[at] ?? "", "utf8"))?.[1] ?? "";
  const sync = (...flags: readonly string[]) => bench.passrail(["ticket", "sync", ...flags], { env });

  test("are imported once, follow each other, and start nothing again", async () => {
    const imported = await bench.passrail(["ticket", "import", "--tracker", "linear:ENG"], { env });
    expect(imported).toMatchObject({ code: 0 });
    expect(files()).toHaveLength(2);
    expect(readFileSync(files()[0] ?? "", "utf8")).toContain("linear:ENG#ENG-1");
    expect((await bench.passrail(["ticket", "import", "--tracker", "linear:ENG"], { env })).err).toContain(
      "2 were imported before",
    );
    expect((await sync()).err).toContain("say the same");
    expect(fake.changes).toEqual([]);

    setStatus(0, "Needs Plan");
    expect((await sync("--dry-run")).out).toContain("would: ENG-1 → In Progress");
    expect(fake.changes).toEqual([]);
    fake.answer = 503;
    expect(await sync()).toMatchObject({ code: 1, err: expect.stringContaining("503") });
    // A key that is refused is mended by a person; the move is not given up.
    fake.answer = 401;
    expect(await sync()).toMatchObject({ code: 1, err: expect.stringContaining("does not accept the key") });
    fake.answer = null;
    fake.busy = true;
    expect(await sync()).toMatchObject({ code: 1, err: expect.stringContaining("no more requests") });
    fake.busy = false;
    expect((await sync()).out).toContain("ENG-1 → In Progress");
    expect((await sync()).out).toBe("");
    expect(fake.changes).toEqual(["ENG-1 In Progress"]);

    // Somebody cancels the other one there; then opens it again.
    const [, second = expect.fail()] = fake.issues;
    second.state = "Canceled";
    expect((await sync()).out).toContain("AGI-2 → Canceled");
    expect(statusOf(1)).toBe("Canceled");
    second.state = "Todo";
    await sync();
    expect(statusOf(1)).toBe("Canceled");
    expect(fake.changes).toEqual(["ENG-1 In Progress"]);
  });

  test("a source that nobody imported here moves no issue", async () => {
    const other = mkdtempSync(join(tmpdir(), "passrail-hostile-"));
    try {
      const folder = join(other, "feature_requests/FR-1");
      mkdirSync(folder, { recursive: true });
      const ticket = '---\nid: AGI-1\ntitle: Evil\nstatus: Done\nrepo: x\nsource: "linear:ENG#ENG-1"\n---\nx\n';
      writeFileSync(join(folder, "AGI-1-evil.md"), ticket);
      const before = [...fake.changes];
      const trackers = openTrackers(
        trackersSchema.parse([{ linear: "ENG", site: fake.url, key_env: "TRACKER_KEY" }]),
        env,
      );
      const place = openTicketFolder({ project: other, settings: ticketSettings([]) });
      const synced = await syncTrackers({ home: bench.home, project: other, folder: place, trackers });
      expect(synced).toEqual({ changes: [], problems: [] });
      expect(fake.changes).toEqual(before);
    } finally {
      rmSync(other, { recursive: true, force: true });
    }
  });

  test("a tracker that the settings do not have is named with those that they have", async () => {
    const asked = await bench.passrail(["ticket", "import", "--tracker", "linear:OPS"], { env });
    expect(asked).toMatchObject({ code: 2, err: expect.stringContaining("linear:ENG") });
  });
});
