// Cancel, edit and kill at every step of a landing, on remotes that accept, refuse, and break off after they have accepted. In every row the
// run, the remote, the ticket's file and the events say the same.

import { spawn } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Performer } from "../../../src/compose.ts";
import type { RunEvent } from "../../../src/core/run/event.ts";
import { lateLanding, openActs } from "../../../src/core/run/outward.ts";
import type { Run } from "../../../src/core/run/run.ts";
import { openIdle, openPerformer } from "../../harness/open-performer.ts";
import { LANDING_DRIVER } from "../../harness/program.ts";
import { until } from "../../harness/until.ts";
import { makeBase, makeRow, optionsOf, type Row, type RowPlace, ROWS, startRow } from "./landing-rows.ts";
import { runIdOf } from "../../../src/app/run-id.ts";

/** Alone the file takes a fraction of it. */
const LONG_MS = 90_000;

type Outcome = {
  readonly run: Run;
  readonly events: readonly RunEvent[];
  readonly place: RowPlace;
  readonly text: string;
};

let dir: string;
const outcomes = new Map<string, Outcome>();
const isKilled = ({ by }: Row): boolean => by.startsWith("kill");

beforeAll(async () => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-landing-table-")));
  makeBase(dir);
  const places = new Map(ROWS.map((row) => [row.name, makeRow(dir, row)]));
  await Promise.all([disturbHere(places), killAndOpenAgain(places)]);
}, 3 * LONG_MS);
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const placeOf = (places: ReadonlyMap<string, RowPlace>, { name }: Row): RowPlace => {
  const place = places.get(name);
  if (place === undefined) throw new Error(name);
  return place;
};
const held = (row: Row, place: RowPlace) =>
  until(`${row.name} is held`, () => (place.isHeld() ? true : undefined), LONG_MS, 25);

/** The rows whose process lives on. */
async function disturbHere(places: ReadonlyMap<string, RowPlace>): Promise<void> {
  const passrail = await openPerformer({ ...optionsOf(dir, "home"), onError: () => undefined });
  const rows = ROWS.filter((row) => !isKilled(row));
  await Promise.all(
    rows.map(async (row) => {
      const place = placeOf(places, row);
      const runId = await startRow(passrail, dir, row, place.project);
      await held(row, place);
      if (row.by === "cancel") await cancel(passrail, runId);
      if (row.by === "edit") place.edit("Blocked");
      place.letGo();
      await settle(passrail, row, place);
    }),
  );
  await passrail.close();
}

/** The rows whose process is killed at their step; the next one finds what is left. */
async function killAndOpenAgain(places: ReadonlyMap<string, RowPlace>): Promise<void> {
  const rows = ROWS.filter(isKilled);
  const child = spawn(process.execPath, [LANDING_DRIVER, dir, "killed", ...rows.map(({ name }) => name)], {
    stdio: "inherit",
  });
  const gone = new Promise((resolve) => child.once("exit", resolve));
  try {
    await Promise.all(rows.map((row) => held(row, placeOf(places, row))));
  } finally {
    child.kill("SIGKILL");
    await gone;
  }
  const passrail = await openIdle({ ...optionsOf(dir, "killed"), onError: () => undefined });
  for (const row of rows) if (row.by === "kill, then cancel") await cancel(passrail, runIdOf(row.name));
  await passrail.perform();
  for (const row of rows) placeOf(places, row).letGo();
  await Promise.all(rows.map((row) => settle(passrail, row, placeOf(places, row))));
  await passrail.close();
}

async function cancel({ app }: Performer, runId: string): Promise<void> {
  const canceled = await app.controlRun(runId, { type: "cancel", reason: "stop" }, { actor: "human:ann" });
  if (!canceled.ok) throw new Error(canceled.error.message);
}

/** Waits until nothing more is to come: the run has ended or waits for a person, and the file says so. */
async function settle({ mirror, store }: Performer, row: Row, place: RowPlace): Promise<void> {
  const runId = runIdOf(row.name);
  const run = await until(
    `${row.name} settles`,
    async () => {
      const now = (await store.loadRun(runId))?.run;
      if (now === undefined || now.status === "running") return undefined;
      // What a killed push may still do is looked up for minutes: without a trace at the remote the row is as it will be.
      const isKnown = openActs(now).length === 0 || (isKilled(row) && place.landed() === 0);
      const isActedOn = row.by !== "edit" || now.status !== "waiting";
      return isKnown && isActedOn ? now : undefined;
    },
    LONG_MS,
    25,
  );
  await mirror.settled();
  const said = (text: string): boolean =>
    lateLanding(run) === undefined ? !text.includes("In Progress") : text.includes("landed as");
  const text = await until(
    `${row.name}: its file says it`,
    () => (said(place.file()) ? place.file() : undefined),
    LONG_MS,
    25,
  );
  const events = (await store.events({ after: 0, runId, limit: 1000 })).map(({ event }) => event);
  outcomes.set(row.name, { run, events, place, text });
}

/** Whether the person's word came before the intent was stored. */
const isInTime = ({ by, step }: Row): boolean =>
  step === "checks" && (by === "cancel" || by === "edit" || by === "kill, then cancel");

function expectedStatus(row: Row): Run["status"] {
  if (row.by === "cancel" || row.by === "kill, then cancel") return "canceled";
  if (row.by === "edit") return isInTime(row) || row.remote === "refuses" ? "canceled" : "completed";
  return row.remote === "refuses" ? "waiting" : "completed";
}

test.each(ROWS)("R-X-09, R-004-41, S14: at $step, $by, the remote $remote", (row) => {
  const outcome = outcomes.get(row.name);
  if (outcome === undefined) throw new Error(`${row.name} did not settle`);
  const { events, place, run, text } = outcome;
  const landed = place.landed();
  const late = lateLanding(run);
  const seen = events.flatMap((event) =>
    event.type === "outward.seen" && event.sight.result === "done" ? [event.sight] : [],
  );
  expect(run.status).toBe(expectedStatus(row));
  // The remote has the work once or not at all, and the run says which.
  expect(landed).toBe(run.status === "completed" || late !== undefined ? 1 : 0);
  if (landed === 1) expect(seen.at(-1)?.commit ?? place.main()).toBe(place.main());
  if (late !== undefined) expect(late.act.seen.commit).toBe(place.main());
  expect(events.some(({ type }) => type === "outward.intended")).toBe(!isInTime(row));
  if (isInTime(row) || row.remote === "refuses") expect(landed).toBe(0);
  const isWarned = events.some((event) => event.type === "warning.raised" && event.code === "landed_late");
  expect(isWarned).toBe(late !== undefined);
  // The file: a person's own word stays; what landed all the same is noted.
  const status = /^status: (.*)$/mu.exec(text)?.[1];
  expect(status).toBe(
    row.by === "edit"
      ? "Blocked"
      : { completed: "Done", canceled: "Canceled", waiting: "Needs Human Review" }[run.status as "waiting"],
  );
  if (late !== undefined) expect(text).toContain(`landed as ${place.main()}`);
  if (row.by === "edit" && landed === 1)
    expect(text).toContain('conflict: "the run was Done before Blocked could be acted on"');
});
