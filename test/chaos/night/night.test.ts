// A night in fast motion: forty tickets, agents that fail, hang, die and ask, a spent budget, a quota, a crash of the engine, and a person who
// edits files. In the morning every reading says the same about every ticket, and all of them agree with git. Only the clock is not real.

import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type CannotStart, formatCannotStart } from "../../../src/core/ticket/cannot-start.ts";
import type { NightReport } from "../../../src/core/view/night-report.ts";
import { type Receiver, startReceiver } from "../../../src/notify/receiver.testsuite.ts";
import { until } from "../../harness/until.ts";
import { type House, openHouse } from "./house.ts";
import { type ApiTicket, type Inbox, loggedBy, morningOf, type Readings, toldBy } from "./readings.ts";
import { NIGHT, TICKETS } from "./tickets.ts";
import { createWorld, git, noted, setClock, statusOf, ticketFile, type World } from "./world.ts";

vi.setConfig({ testTimeout: 1_800_000, hookTimeout: 120_000 });

const IDS = TICKETS.map((_, index) => `AGI-${index + 1}`);
const REPORT = `/api/report?since=${NIGHT.begins}`;
let receiver: Receiver;
let world: World;
let house: House;
beforeAll(async () => {
  receiver = await startReceiver();
  world = createWorld(receiver.port);
  house = openHouse(world);
});
afterAll(async () => {
  await house.down("SIGKILL");
  await receiver.close();
  // PASSRAIL_CHAOS_KEEP=1 leaves everything to be looked at.
  if (process.env["PASSRAIL_CHAOS_KEEP"] === "1") console.log(world.dir);
  else rmSync(world.dir, { recursive: true, force: true });
});

test("R-004-36, R-004-51: a night with forty tickets ends as every reading says, item by item", async () => {
  await house.up();
  await evening();
  await crash();
  await midnight();
  await quota();
  setClock(world, NIGHT.morning);
  const readings = await morning();
  await house.down("SIGTERM");
  await afterwards(readings);
});

/** Everything works that can; then a person cancels a ticket, mends another, merges a branch and changes a flow. */
async function evening(): Promise<void> {
  await reach("Oneshot In Progress", "AGI-38", "AGI-39");
  await reach("Awaiting Merge", "AGI-35", "AGI-36");
  await reach("Done", "AGI-6", "AGI-18", "AGI-20", "AGI-21", "AGI-22");
  await told("merge", "AGI-36");
  edit("AGI-38", "Canceled");
  edit("AGI-37", "Backlog");
  const flow = join(world.project, ".passrail", "flows", "paid.yaml");
  writeFileSync(
    join(world.project, ".passrail", "flows", "later.yaml"),
    readFileSync(flow, "utf8").replace("flow: paid", "flow: later"),
  );
  mergeByHand("feat/AGI-36");
  await reach("Done", "AGI-36", "AGI-37");
  await reach("Blocked", "AGI-8", "AGI-11", "AGI-15");
}

/** The engine dies while an agent works and two runs wait for the day's budget. */
async function crash(): Promise<void> {
  expect(statusOf(world, "AGI-39")).toBe("Oneshot In Progress");
  await house.down("SIGKILL");
  writeFileSync(join(world.dir, "release", "AGI-39"), "");
  setClock(world, NIGHT.beforeMidnight);
  await house.up();
  await reach("Done", "AGI-39");
  await reach("Blocked", "AGI-10");
  expect(noted(world, "started").filter((line) => line.startsWith("AGI-39 "))).toHaveLength(2);
}

/** One item for all runs that wait for the day's budget; they go on when the day ends. */
async function midnight(): Promise<void> {
  const { items } = await house.api<Inbox>("/api/inbox");
  const budgets = items.filter(({ kind }) => kind === "budget");
  expect(budgets.map(({ asks }) => asks.join(" "))).toEqual([
    expect.stringMatching(
      /day's budget \(2026-03-10 UTC\) of \$1\.20.*1 more run waits for it.*continue at 00:00 UTC/u,
    ),
  ]);
  const question = items.find(({ subject }) => subject.id === "AGI-13")?.id ?? "";
  expect(await house.cli("ask", "answer", question, "BLUE")).toMatchObject({ code: 0 });
  await reach("Done", "AGI-13");
  expect(["AGI-23", "AGI-24"].map((id) => statusOf(world, id))).toEqual(["Backlog", "Backlog"]);
  setClock(world, NIGHT.midnight);
  await reach("Done", "AGI-23", "AGI-24");
}

/** A vendor's limit holds a run until the time that the vendor named. Then the second day's budget is spent, and a person raises it. */
async function quota(): Promise<void> {
  const held = await until(
    "AGI-25 waits for its time",
    async () => {
      const { goingOn } = await house.api<NightReport>(REPORT);
      return goingOn.find(({ subject, text }) => subject === "AGI-25" && text.includes("resumes"));
    },
    120_000,
    200,
  );
  expect(held.text).toContain(`resumes at ${NIGHT.quotaEnds} (quota)`);
  setClock(world, NIGHT.afterQuota);
  await reach("Done", "AGI-25");
  const raise = await until(
    "AGI-26 waits for the budget",
    async () => {
      const { waiting } = await house.api<NightReport>(REPORT);
      return waiting.find(({ subject, text }) => subject === "AGI-26" && text.startsWith("Budget for owner at paid"));
    },
    120_000,
    200,
  );
  // The agent holds: a command that waited for the run would not come back.
  const [, , item = ""] = raise.commands[0]?.match(/^passrail budget (raise) (\S+) --by/u) ?? [];
  expect(await house.cli("budget", "raise", item, "--by", "5")).toMatchObject({ code: 0 });
  await reach("Oneshot In Progress", "AGI-26");
  writeFileSync(join(world.dir, "release", "AGI-26"), "");
  await reach("Done", "AGI-26");
}

/** For every ticket: its file, its run, its work in git, its entry in the inbox with cause and verbs, its notices, its place in the report. */
async function morning(): Promise<Readings> {
  for (const [
    index,
    {
      morning: { notices },
    },
  ] of TICKETS.entries())
    for (const event of notices) await told(event, `AGI-${index + 1}`);
  await until(
    "people are told about the changed flow",
    () => toldBy(receiver.got).find(({ event }) => event === "trust"),
    120_000,
    200,
  );
  // The daemon notices a changed file a moment later, and the report reads what it has noticed.
  const listed = () => house.api<{ tickets: readonly ApiTicket[] }>("/api/tickets?limit=100");
  await until(
    "the daemon knows that the last ticket is done",
    async () => (await listed()).tickets.find(({ id, file }) => id === "AGI-26" && file?.status === "Done"),
    120_000,
    50,
  );
  const [inbox, report, { tickets }] = [
    await house.api<Inbox>("/api/inbox"),
    await house.api<NightReport>(REPORT),
    await listed(),
  ];
  const readings: Readings = { world, inbox, report, tickets, notices: toldBy(receiver.got) };
  const found = Object.fromEntries(IDS.map((id) => [id, morningOf(id, readings)]));
  const expected = IDS.map((id, index) => {
    const { cause, ...rest } = TICKETS[index]?.morning ?? TICKETS[0]!.morning;
    const said = {
      inbox: rest.inbox === null ? null : expect.stringMatching(cause),
      report: expect.stringMatching(cause),
    };
    return [id, { ...rest, notices: ofNight(rest.notices), said }];
  });
  expect(
    Object.fromEntries(
      Object.entries(found).map(([id, { notices, ...rest }]) => [id, { ...rest, notices: ofNight(notices) }]),
    ),
  ).toEqual(Object.fromEntries(expected));
  // Beside the tickets: one change of a flow, and one notice for each day's budget, however many runs waited.
  expect(inbox.looseEnds.filter(({ ticket }) => ticket === null).map(({ kind }) => kind)).toEqual(["trust"]);
  const counted = (wanted: string): number => readings.notices.filter(({ event }) => event === wanted).length;
  expect([counted("trust"), counted("budget")]).toEqual([1, 2]);
  agreesWithGit(report);
  await saysTheSame(readings);
  return readings;
}

/** The budget's notices are about the day, not about the ticket that met it. */
function ofNight(notices: readonly string[]): readonly string[] {
  return notices.filter((event) => !event.startsWith("budget")).toSorted();
}

function agreesWithGit({ landed, cost }: NightReport): void {
  const commits = new Set(git(world.remote, "rev-list", "main").split("\n"));
  expect(landed.filter(({ commit }) => commit === null || !commits.has(commit))).toEqual([]);
  expect(landed).toHaveLength(TICKETS.filter(({ morning: { work } }) => work === "main").length);
  // Six paid runs in seven attempts: the one that met the quota cost nothing. The other agents are not metered, which is not "free".
  expect(cost).toEqual({ attempts: 7, usd: 2.4, unknownUsd: 0, usdPerLanded: 0.4, landedUnknown: landed.length - 6 });
  const reachable = new Set([...commits, ...git(world.project, "rev-list", "--all").split("\n")]);
  expect(noted(world, "commits").filter((line) => !reachable.has(line.split(" ")[0] ?? ""))).toEqual([]);
}

/** The command line beside the daemon, the daemon's log and the API use the same words about the same ticket. */
async function saysTheSame({ inbox, report, tickets }: Readings): Promise<void> {
  const json = async <T>(...words: readonly string[]): Promise<T> =>
    JSON.parse((await house.cli(...words, "--json")).stdout) as T;
  const typed = await json<Inbox>("inbox");
  expect(typed.looseEnds).toEqual(inbox.looseEnds);
  expect(typed.items.map(({ id, kind }) => [id, kind])).toEqual(inbox.items.map(({ id, kind }) => [id, kind]));
  expect({ ...(await json<NightReport>("report", "--since", NIGHT.begins)), until: "" }).toEqual({
    ...report,
    until: "",
  });
  const listed = await json<{ tickets: readonly { id: string; status: string; state: string; why: string }[] }>(
    "ticket",
    "list",
  );
  const ofApi = new Map(tickets.map(({ id, file }) => [id, file]));
  for (const { id, status, state, why } of listed.tickets)
    expect({ id, status, state, why }).toEqual({ id, ...pick(ofApi.get(id)) });
  const { cannotStart } = await house.api<{ cannotStart: readonly CannotStart[] }>("/api/tickets/problems");
  const lines = cannotStart.map(formatCannotStart);
  expect(lines).toHaveLength(TICKETS.filter(({ morning: each }) => each.report === "cannotStart").length);
  const logged = new Set(loggedBy(world));
  expect(lines.filter((line) => !logged.has(line))).toEqual([]);
}

function pick(file: ApiTicket["file"] | undefined) {
  return { status: file?.status, state: file?.state, why: file?.why };
}

/** Without the daemon: `work` names the same tickets in the same words, and the report is as true after a restart. */
async function afterwards({ report }: Readings): Promise<void> {
  const worked = await house.cli("work", "--once");
  expect(worked.code).toBe(1);
  const said = new Set(worked.stderr.split("\n").map((line) => line.trim()));
  const { cannotStart } = report;
  for (const { subject } of cannotStart)
    expect([...said].filter((line) => line.startsWith(`${subject} `))).not.toEqual([]);
  const again = JSON.parse((await house.cli("report", "--since", NIGHT.begins, "--json")).stdout) as NightReport;
  expect({ ...again, until: "" }).toEqual({ ...report, until: "" });
  expect((await house.cli("verify")).code).toBe(0);
}

function edit(id: string, status: string): void {
  const file = ticketFile(world, id);
  writeFileSync(file, readFileSync(file, "utf8").replace(/^status:.*$/mu, `status: ${status}`));
}

function mergeByHand(branch: string): void {
  const clone = join(world.dir, "person");
  git(world.dir, "clone", "-q", world.remote, clone);
  git(clone, "config", "user.name", "owner");
  git(clone, "config", "user.email", "owner@localhost");
  git(clone, "merge", "-q", "--no-ff", "--no-edit", `origin/${branch}`);
  // The engine lands other work meanwhile.
  for (let tries = 0; ; tries++) {
    try {
      git(clone, "push", "-q");
      return;
    } catch (error) {
      if (tries === 20) throw error;
      git(clone, "pull", "-q", "--no-rebase", "--no-edit");
    }
  }
}

async function told(event: string, ticket: string): Promise<void> {
  const find = () => toldBy(receiver.got).find((each) => each.event === event && each.ticket === ticket);
  await until(`a notice ${event} about ${ticket}`, find, 120_000, 100);
}

async function reach(status: string, ...ids: readonly string[]): Promise<void> {
  const left = (): readonly string[] => ids.filter((id) => statusOf(world, id) !== status);
  try {
    await until(`all are ${status}`, () => (left().length === 0 ? true : undefined), 480_000, 50);
  } catch (error) {
    throw new Error(
      `${String(error)}: ${left()
        .map((id) => `${id} is ${statusOf(world, id)}`)
        .join(", ")}`,
      { cause: error },
    );
  }
}
