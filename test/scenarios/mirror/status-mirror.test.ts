// The status of features in a database elsewhere, with real runs, a real Postgres that has Supabase's roles, and a server that speaks
// PostgREST's upserts on that Postgres.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { lookAtMirror } from "../../../src/app/status-mirror.ts";
import { tablesSql } from "../../../src/mirror/tables-sql.ts";
import { newRepository } from "../../harness/new-repository.ts";
import { createDatabase, type TestDatabase } from "../../harness/postgres.ts";
import { until } from "../../harness/until.ts";
import { openWorkbench, type Workbench } from "../../harness/workbench.ts";

const NAMES = { schema: "public", features: "features", handoffs: "agent_handoffs" };
/** Roles belong to the server, so only the first test makes them. Each status is noted as it is written. */
const SUPABASE = `
DO $$ BEGIN
  PERFORM pg_advisory_xact_lock(735001);
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'authenticated') THEN CREATE ROLE authenticated NOLOGIN; END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'service_role') THEN CREATE ROLE service_role NOLOGIN BYPASSRLS; END IF;
END $$;
CREATE PUBLICATION supabase_realtime;
${tablesSql(NAMES)}
CREATE TABLE seen (n serial, id text, line text);
CREATE FUNCTION note_status() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN
  INSERT INTO seen (id, line) VALUES (NEW.id, NEW.status || ' ' || coalesce(NEW.current_agent, '-') || ' ' || NEW.revision_count);
  RETURN NEW;
END $$;
CREATE TRIGGER noted AFTER INSERT OR UPDATE ON features FOR EACH ROW EXECUTE FUNCTION note_status();`;

const say = (verdict: string, issues: readonly string[] = []) => ({ via: "json-tail", verdict, issues });
const SCRIPT = {
  spec: [say("APPROVED")],
  design: [say("APPROVED")],
  build: [say("COMPLETE")],
  qa: [say("REVISE", ["too slow"]), say("SHIP")],
};
const HISTORY = [
  "pending - 0",
  "speccing IN1 0",
  "designing IN5 0",
  "building IN2 0",
  "qa IN6 0",
  "building IN2 1",
  "qa IN6 1",
  "review - 1",
  "shipped - 1",
];

let database: TestDatabase;
let dir: string;
let bench: Workbench | undefined;
let server: Server | undefined;
beforeEach(async () => {
  database = await createDatabase();
  await database.query(SUPABASE);
  dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-mirror-")));
});
afterEach(async () => {
  await bench?.close();
  server?.closeAllConnections();
  server?.close();
  [bench, server] = [undefined, undefined];
  await database.drop();
  rmSync(dir, { recursive: true, force: true });
});

async function openWith(mirror: string, environment: Record<string, string>): Promise<Workbench> {
  const config = join(dir, "config", "passrail");
  mkdirSync(config, { recursive: true });
  writeFileSync(join(config, "passrail.yaml"), `status_mirror:\n${mirror}`);
  const project = newRepository(join(dir, "project"));
  bench = await openWorkbench({
    place: { dir, project, environment: { ...process.env, XDG_CONFIG_HOME: join(dir, "config"), ...environment } },
  });
  return bench;
}

async function ship(on: Workbench, subject = "F-1"): Promise<string> {
  let run = await on.run("feature", SCRIPT, { subject, title: "Add login" });
  await on.answer(run, "gate", "approve");
  run = await on.load(run.id);
  await on.answer(run, "gate", "approve");
  return (await on.load(run.id)).subject.id;
}

const stateOf = ({ passrail: { home, config, store } }: Workbench) => lookAtMirror(home, config, store);

async function inStep(on: Workbench): Promise<void> {
  await until("the mirror is in step", async () => (await stateOf(on))?.state === "in-step" || undefined);
}

/** Without repeats: a change may concern other columns. */
async function history(id: string): Promise<readonly string[]> {
  const rows = await database.query("SELECT id, line FROM seen ORDER BY n");
  const lines = rows.filter((row) => row["id"] === id).map((row) => String(row["line"]));
  return lines.filter((line, index) => line !== lines[index - 1]);
}

test("R-000-35: each handoff writes status, revision_count, current_agent and pipeline_log to the user's Postgres, in order", async () => {
  const on = await openWith("  url_env: MIRROR\n", { MIRROR: database.url });
  const id = await ship(on);
  await inStep(on);
  expect(await history(id)).toEqual(HISTORY);
  const [row] = await database.query("SELECT * FROM features");
  expect(row).toMatchObject({ id, title: "Add login", status: "shipped", revision_count: 1, current_agent: null });
  const log = row?.["pipeline_log"] as readonly { verdict: string; issues?: readonly unknown[] }[];
  expect(log.map(({ verdict }) => verdict)).toContain("REVISE");
  expect(log.find(({ verdict }) => verdict === "REVISE")?.issues).toEqual(["too slow"]);
});

test("R-000-35: while the database refuses to answer runs go on, and afterwards every write is made in order, also by the next process", async () => {
  const rest = await startRest();
  rest.answer = 503;
  const on = await openWith(`  url: ${rest.url}\n  key_env: KEY\n`, { KEY: "service-key" });
  const id = await ship(on);
  expect(await history(id)).toEqual([]);
  await until("the mirror is behind", async () => (await stateOf(on))?.state === "behind" || undefined);
  expect(await stateOf(on)).toMatchObject({ to: new URL(rest.url).origin, reason: "HTTP 503: it is down" });
  await on.restart();
  rest.answer = 201;
  await inStep(on);
  expect((await history(id)).at(-1)).toBe("shipped - 1");
  expect(rest.keys).toEqual(new Set(["service-key Bearer service-key"]));
  const other = await ship(on, "F-2");
  await inStep(on);
  expect(await history(other)).toEqual(HISTORY);
  expect(await stateOf(on)).toMatchObject({ behindSince: null, reason: null, events: 0, refused: [] });
});

test("a row that the table cannot hold is named and skipped; the rows behind it are written", async () => {
  await database.query(`ALTER TABLE features ADD CONSTRAINT small CHECK (title <> 'Add login')`);
  const on = await openWith("  url_env: MIRROR\n", { MIRROR: database.url });
  const refused = await ship(on);
  const run = await on.run("feature", SCRIPT, { subject: "F-2", title: "Add logout" });
  await inStep(on);
  const rows = await database.query("SELECT title, status FROM features");
  expect(rows).toEqual([{ title: "Add logout", status: "pending" }]);
  const state = await stateOf(on);
  expect(state?.refused[0]).toMatchObject({ id: refused, reason: expect.stringContaining("small") });
  expect(run.status).toBe("waiting");
});

test("a story's handoffs are rows of agent_handoffs; signed-in users read both tables and write neither", async () => {
  const on = await openWith("  url_env: MIRROR\n", { MIRROR: database.url });
  const run = await on.run("story", { analyst: [say("pass")] }, { subject: "US-7", wait: false });
  await until("a handoff is mirrored", async () => (await database.query("SELECT * FROM agent_handoffs"))[0]);
  const [row] = await database.query("SELECT * FROM agent_handoffs ORDER BY id");
  expect(row).toMatchObject({ story_id: run.subject.id, status: expect.stringMatching(/pending|accepted/u) });
  await database.query(`SET ROLE authenticated; DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM features) OR NOT EXISTS (SELECT FROM agent_handoffs) THEN RAISE 'nothing to read'; END IF;
  END $$`);
  await expect(database.query("SET ROLE authenticated; UPDATE features SET status = 'x'")).rejects.toThrow(/denied/u);
  await expect(database.query("SET ROLE authenticated; DELETE FROM agent_handoffs")).rejects.toThrow(/denied/u);
  const published = await database.query("SELECT tablename FROM pg_publication_tables ORDER BY 1");
  expect(published.map((each) => each["tablename"])).toEqual(["agent_handoffs", "features"]);
  // A migration may be applied twice.
  await database.query(tablesSql(NAMES));
});

type Rest = { readonly url: string; answer: number; readonly keys: Set<string> };

/** POST /rest/v1/<table>?on_conflict=id with a row, as the service role. */
async function startRest(): Promise<Rest> {
  const keys = new Set<string>();
  const own = createServer((request, response) => {
    void (async () => {
      const row = JSON.parse(await text(request)) as Record<string, unknown>;
      keys.add([request.headers["apikey"], request.headers.authorization].join(" "));
      const table = /^\/rest\/v1\/(features|agent_handoffs)\?on_conflict=id$/u.exec(request.url ?? "")?.[1];
      const merges = request.headers["prefer"] === "resolution=merge-duplicates,return=minimal";
      if (rest.answer !== 201 || table === undefined || !merges) {
        response.writeHead(rest.answer === 201 ? 404 : rest.answer).end('{"code":"XX000","message":"it is down"}');
        return;
      }
      const columns = Object.keys(row);
      const set = columns.map((column) => `${column} = excluded.${column}`).join(", ");
      const body = JSON.stringify(row).replaceAll("'", "''");
      await database.query(
        `SET ROLE service_role; INSERT INTO ${table} (${columns.join(", ")})
         SELECT ${columns.join(", ")} FROM jsonb_populate_record(null::${table}, '${body}') ON CONFLICT (id) DO UPDATE SET ${set}`,
      );
      response.writeHead(201).end();
    })().catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  server = own;
  await new Promise<void>((resolve) => own.listen(0, "127.0.0.1", resolve));
  const rest: Rest = { url: `http://127.0.0.1:${(own.address() as AddressInfo).port}`, answer: 201, keys };
  return rest;
}
