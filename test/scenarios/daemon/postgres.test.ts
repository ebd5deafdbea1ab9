// The real program on a real Postgres: every kind of command, two daemons on one database, and the death of the one that performs.

import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openForReading } from "../../../src/store/open-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { approveFiles } from "../../harness/approve-files.ts";
import { createDatabase, type TestDatabase } from "../../harness/postgres.ts";
import { until } from "../../harness/until.ts";
import { type Bench, happyFeature, openBench, type Started } from "../cli/bench.ts";

const AGENT = join(import.meta.dirname, "../../fixtures/agents/coding-agent.mjs");

let bench: Bench;
let database: TestDatabase;

beforeEach(async () => {
  bench = openBench();
  database = await createDatabase();
});

afterEach(async () => {
  bench.remove();
  await database.drop();
});

/** The state folder of one of several machines. */
function machine(name: string) {
  const home = join(bench.dir, name);
  approveFiles(home, bench.project);
  const env = { PASSRAIL_DATABASE_URL: database.url, PASSRAIL_HOME: home };
  return {
    home,
    passrail: (...args: readonly string[]) => bench.passrail(args, { env }),
    async up(): Promise<{ readonly url: string; readonly started: Started }> {
      const started = bench.start(["up", "--port", "0"], { env });
      let out = "";
      started.child.stdout?.on("data", (text: string) => (out += text));
      const url = await until(
        "the daemon listens",
        () => {
          if (started.child.exitCode !== null) throw new Error(started.err());
          return /^Passrail is up: (\S+)$/m.exec(out)?.[1];
        },
        60_000,
      );
      return { url, started };
    },
    async get(url: string, path: string): Promise<Record<string, unknown>> {
      const token = readFileSync(join(home, "operator.token"), "utf8").trim();
      // The other daemon answers at the same address: a connection that was kept open is the old one's.
      const headers = { authorization: `Bearer ${token}`, connection: "close" };
      const response = await fetch(`${url}${path}`, { headers });
      return (await response.json()) as Record<string, unknown>;
    },
  };
}

async function stored<T>(home: string, read: (store: Store) => Promise<T>): Promise<T> {
  const store = await openForReading({ home, environment: { PASSRAIL_DATABASE_URL: database.url } });
  if (store === undefined) throw new Error("there is no store");
  try {
    return await read(store);
  } finally {
    store.close();
  }
}

test("R-000-34: a feature goes from its request to its last gate, each command a process of its own", async () => {
  const { home, passrail } = machine("home");
  expect(await passrail("runs", "list")).toMatchObject({ code: 0 });
  const agent = bench.player(happyFeature);
  expect(await passrail("run", "feature", "Add login", "--agent", `*=${agent}`)).toMatchObject({ code: 3 });
  expect(await passrail("gate", "approve", "1")).toMatchObject({ code: 3 });
  const words = await stored(home, async (store) =>
    (await store.events({ after: 0, limit: 1000 })).flatMap(({ event }) =>
      event.type === "status.changed" ? [event.to] : [],
    ),
  );
  expect(words).toEqual(["approved", "speccing", "designing", "building", "qa", "review"]);
  expect(existsSync(join(home, "passrail.db"))).toBe(false);
  expect((await passrail("verify")).out).toMatch(/^ok\t/);
  expect((await passrail("database", "show")).out).toContain("postgres://postgres@");
  const doctor = await passrail("doctor", "--json");
  const { checks } = JSON.parse(doctor.out) as { checks: { name: string; state: string }[] };
  expect(checks.find(({ name }) => name === "database")).toMatchObject({ state: "ok" });
  // A backup, and the whole store as a file: each is the same history.
  const copy = join(bench.dir, "copy.db");
  expect(await passrail("backup", copy)).toMatchObject({ code: 0 });
  const elsewhere = { PASSRAIL_HOME: join(bench.dir, "elsewhere"), PASSRAIL_DATABASE_URL: "" };
  expect(await bench.passrail(["restore", copy], { env: elsewhere })).toMatchObject({ code: 0 });
  expect((await bench.passrail(["verify"], { env: elsewhere })).out).toBe((await passrail("verify")).out);
  expect(await passrail("migrate", "--to", "sqlite")).toMatchObject({ code: 0 });
  const onFile = await bench.passrail(["runs", "list"], { env: { PASSRAIL_HOME: home, PASSRAIL_DATABASE_URL: "" } });
  expect(onFile.out).toBe((await passrail("runs", "list")).out);
  rmSync(join(home, "passrail.db"));
  // An address that cannot be used is an error and never means the file.
  for (const url of ["mysql://u:secret@localhost/x", "postgres://u:secret@127.0.0.1:1/x"]) {
    const env = { PASSRAIL_DATABASE_URL: url, PASSRAIL_HOME: home };
    const ended = await bench.passrail(["inbox"], { env });
    expect(ended).toMatchObject({ code: 1, out: "" });
    expect(ended.err).not.toContain("secret");
    expect(ended.err).toMatch(/PASSRAIL_DATABASE_URL|cannot be reached/u);
  }
  expect(existsSync(join(home, "passrail.db"))).toBe(false);
});

test("R-X-05, R-X-16: of two daemons on one database one performs; when it is killed the other one goes on", async () => {
  const [first, second] = [machine("first"), machine("second")];
  const [performer, standby] = [await first.up(), await second.up()];
  expect((await second.passrail("status")).out).toMatch(/standby +process \d+ on /u);
  const [starts, go] = [join(bench.dir, "starts"), join(bench.dir, "go")];
  const agent = bench.player({
    ...happyFeature,
    build: [{ ...happyFeature.build[0], trace: starts, hold: go }],
  });
  // Asked for and answered on the machine that does not perform. Its own clone: the dead one's worktree still has the branch.
  const work = ["run", "feature", "Add login", "--agent", `*=${agent}`, "--workspace", "clone", "--detach"];
  expect(await second.passrail(...work)).toMatchObject({ code: 0 });
  await until("it waits", async () =>
    (await stored(second.home, (store) => store.inbox())).length > 0 ? true : undefined,
  );
  const approving = second.passrail("gate", "approve", "1");
  const begins = (): number => (existsSync(starts) ? readFileSync(starts, "utf8").split('"begin"').length - 1 : 0);
  await until("the agent builds", () => (begins() === 1 ? true : undefined));
  expect(await second.get(standby.url, "/api/runs")).toMatchObject({ runs: [{ number: 1 }] });
  performer.started.child.kill("SIGKILL");
  await until("the other one builds", () => (begins() === 2 ? true : undefined));
  writeFileSync(go, "");
  await until("the run is at its last gate", async () => {
    const [item] = await stored(second.home, (store) => store.inbox());
    return item?.item.stage === "ship" ? true : undefined;
  });
  expect(await approving).toMatchObject({ code: 3 });
  // At the same address, which it opens again when it performs.
  const listed = () => second.get(standby.url, "/api/runs").catch(() => undefined);
  expect(await until("it answers again", listed)).toMatchObject({ runs: [{ number: 1 }] });
  expect((await second.passrail("status")).out).not.toContain("standby");
  const events = await stored(second.home, (store) => store.events({ after: 0, limit: 1000 }));
  const builds = events
    .filter(({ event }) => "stage" in event && event.stage === "build")
    .map(({ event }) => event.type);
  expect(builds.filter((type) => type !== "stage.ready")).toEqual([
    "stage.started",
    "stage.interrupted",
    "stage.started",
    "stage.finished",
  ]);
  expect((await second.passrail("verify")).out).toMatch(/^ok\t/);
  expect(await second.passrail("down", "--stop-agents")).toMatchObject({ code: 0 });
});

test("R-X-14, R-X-16: of four daemons that start at once on an empty database, one makes the schema and performs", async () => {
  const machines = ["a", "b", "c", "d"].map(machine);
  const started = await Promise.all(machines.map((each) => each.up()));
  const said = started.map(({ started: { err } }) => (err().includes("standing by") ? "stands by" : "performs"));
  expect(said.toSorted()).toEqual(["performs", "stands by", "stands by", "stands by"]);
  const versions = await database.query(
    "SELECT count(*)::integer AS all, max(version) AS last FROM passrail.schema_versions",
  );
  expect(versions[0]?.["all"]).toBe(versions[0]?.["last"]);
  for (const { started: each } of started) each.child.kill("SIGKILL");
});

test("R-X-05: on Postgres an answer reaches the agent at work, also after the daemon was killed while it waited", async () => {
  const script = join(bench.dir, "script.json");
  const agent = { runner: "claude", command: [process.execPath, AGENT, script] };
  const settings = { agents: { "*": agent }, limits: { "*": { question: "5m" } } };
  writeFileSync(join(bench.project, "passrail.yaml"), JSON.stringify(settings));
  const done = { submit: { verdict: "APPROVE", summary: "Built." } };
  writeFileSync(script, JSON.stringify({ "*": [[{ ask: { question: "Which database?" } }, done]] }));
  const node = machine("home");
  const { started } = await node.up();
  const work = ["run", "routed", "Build it", "--input", "input.agent=builder", "--detach"];
  expect(await node.passrail(...work)).toMatchObject({ code: 0 });
  await until("a person is asked", async () => (await stored(node.home, (store) => store.inbox()))[0], 60_000);
  started.child.kill("SIGKILL");
  await started.ended;
  const again = await node.up();
  expect((await node.passrail("ask", "answer", "1.1", "Postgres", "--json")).out).toContain("while it worked");
  const ended = async () => {
    const all = await stored(node.home, (store) => store.events({ after: 0, limit: 1000 }));
    return all.some(({ event }) => event.type === "stage.finished") ? all.map(({ event }) => event) : undefined;
  };
  const events = await until("the stage ends", ended, 60_000);
  // Other stages may have begun since.
  const first = events.find((event) => event.type === "stage.started");
  const ofFirst = events.filter((event) => "stage" in event && event.stage === first?.stage).map(({ type }) => type);
  expect(ofFirst.filter((type) => type === "stage.started" || type === "stage.interrupted")).toEqual(["stage.started"]);
  expect(events.find(({ type }) => type === "question.answered")).toMatchObject({ inPlace: true, answer: "Postgres" });
  again.started.child.kill("SIGTERM");
  await again.started.ended;
});
