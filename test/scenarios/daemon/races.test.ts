// Fifty who want different things of one handoff or one gate at the same moment, over real sockets; also when the daemon is killed while
// they ask, and all of them ask again with the keys they had.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { approveFiles } from "../../harness/approve-files.ts";
import { findDaemon } from "../../../src/daemon/note.ts";
import { until } from "../../harness/until.ts";
import { type Reply, type Running, startDaemon } from "./running.ts";

const RACERS = 50;
const SEEDS = [110_311, 23_117, 370_193, 580_901, 7_103];
const SLOW = 180_000;

let daemon: Running;
/** How long fifty take who are not disturbed: a kill shall fall into that time. */
let raceMs = 0;
beforeAll(async () => {
  daemon = await startDaemon();
  // Passrail starts no agent: all work is done by those who ask for it over the API.
  writeFileSync(join(daemon.project, "passrail.yaml"), 'agents: { "*": { runner: outside } }\n');
  approveFiles(daemon.home, daemon.project);
}, SLOW);
afterAll(() => daemon.close());

type Wish = { readonly path: string; readonly body: object; readonly headers: Readonly<Record<string, string>> };
type Race = {
  readonly wishes: readonly Wish[];
  /** Whether the final answers fit each other and the history. */
  judge(replies: readonly Reply[]): Promise<void>;
};

test("of fifty approvals and revisions of one gate one wins; the others hear what was decided, and the same key hears the same", async () => {
  const race = await gateRace();
  const started = performance.now();
  const replies = await all(race);
  raceMs = performance.now() - started;
  await race.judge(replies);
  await expectSame(race, replies);
});

test("R-003-27: of fifty accepts of one handoff exactly one wins; the others see it accepted, and the same key hears the same", async () => {
  const race = await handoffRace(["accept"]);
  const replies = await all(race);
  await race.judge(replies);
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
  await expectSame(race, replies);
});

test("of fifty accepts and rejects of one handoff one ends it; the others see it ended, and the same key hears the same", async () => {
  const race = await handoffRace(["accept", "reject"]);
  const replies = await all(race);
  await race.judge(replies);
  await expectSame(race, replies);
});

test.each(SEEDS)(
  "the daemon is killed while a hundred ask, at random moment %i; all ask again: one winner each, who hears so",
  async (seed) => {
    const random = randomOf(seed);
    const races = [await gateRace(), await handoffRace(["accept", "reject"])];
    const { child, ended } = daemon.process;
    const kill = () => child.kill("SIGKILL");
    let answersLeft = Math.floor(random() * 2 * RACERS);
    const asked = races.map(({ wishes }) =>
      wishes.map(async (wish) => {
        const reply = await send(wish).catch(() => undefined);
        answersLeft -= 1;
        if (answersLeft <= 0) kill();
        return reply;
      }),
    );
    const timer = setTimeout(kill, random() * 4 * raceMs);
    const heard = await Promise.all(asked.map((replies) => Promise.all(replies)));
    clearTimeout(timer);
    kill();
    await ended;
    await daemon.up();
    await judgeRetries(races, heard);
  },
  SLOW,
);

test(
  "an answer that was lost with the daemon is given to whoever asks again, and to nobody else",
  async () => {
    const lost = [
      { failpoint: "answer-committed", race: await gateRace() },
      { failpoint: "finish-committed", race: await handoffRace(["reject"]) },
    ];
    daemon.process.child.kill("SIGKILL");
    await daemon.process.ended;
    const heard: (Reply | undefined)[][] = [];
    for (const { failpoint, race } of lost) {
      // It stores the first decision and is gone before it can tell.
      const dying = daemon.passrail(["up", "--port", "0"], { env: { PASSRAIL_FAILPOINT: failpoint } });
      const { url } = await until("it listens", () => findDaemon(daemon.home), 40_000);
      heard.push(await Promise.all(race.wishes.map((wish) => send(wish, url).catch(() => undefined))));
      expect((await dying).code).toBe(null);
      expect(heard.at(-1)?.filter((reply) => reply?.status === 200)).toEqual([]);
    }
    await daemon.up();
    await judgeRetries(
      lost.map(({ race }) => race),
      heard,
    );
  },
  SLOW,
);

test("the history is whole after all of this", async () => {
  expect(await daemon.passrail(["verify"])).toMatchObject({ code: 0, out: expect.stringMatching(/^ok\t/) });
});

async function judgeRetries(races: readonly Race[], heard: readonly (readonly (Reply | undefined)[])[]): Promise<void> {
  for (const [index, race] of races.entries()) {
    const replies = await all(race);
    await race.judge(replies);
    // Whoever had an answer before the kill was told the truth.
    for (const [racer, reply] of (heard[index] ?? []).entries())
      if (reply !== undefined) expect([racer, reply.status]).toEqual([racer, replies[racer]?.status]);
  }
}

async function expectSame(race: Race, replies: readonly Reply[]): Promise<void> {
  const before = await lastSeq();
  const again = await all(race);
  const told = ({ status, body }: Reply) => ({ status, ...body, requestId: undefined, instance: undefined });
  expect(again.map(told)).toEqual(replies.map(told));
  expect(await lastSeq()).toBe(before);
}

const all = ({ wishes }: Race) => Promise.all(wishes.map((wish) => send(wish)));

async function send({ path, body, headers }: Wish, url = daemon.url): Promise<Reply> {
  const response = await fetch(`${url}${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${daemon.token}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: JSON.parse(text) as Reply["body"] };
}

let races = 0;

/** The gate at the end of a feature, which its owner passes or sends back. */
async function gateRace(): Promise<Race> {
  const name = `gate-${++races}`;
  const { run } = await done<{ run: { id: string } }>("POST", "/api/runs", { flow: "feature", title: name });
  await answer(`${run.id}.1`, { answer: "approve" });
  for (const [stage, agent, verdict] of [
    ["spec", "IN1", "APPROVED"],
    ["design", "IN5", "APPROVED"],
    ["build", "IN2", "COMPLETE"],
    ["qa", "IN6", "SHIP"],
  ])
    await done("POST", `/api/runs/${run.id}/verdict`, { stage, agent, verdict });
  const item = `${run.id}.2`;
  const { version } = await done<{ version: string }>("GET", `/api/inbox/${item}`);
  return {
    wishes: racers(name, `/api/inbox/${item}/answer`, (index) => [
      index % 2 === 0 ? { answer: "approve" } : { answer: "revise", text: `wish ${index}` },
      { "if-match": `"${version}"` },
    ]),
    async judge(replies) {
      // An equal answer succeeds, too, and says whose counts.
      const won = replies.filter(({ status, body }) => status === 200 && body["decided"] === undefined);
      expect(won).toHaveLength(1);
      const answered = (await eventsOf(run.id)).filter(({ type, number }) => type === "gate.answered" && number === 2);
      expect(answered).toHaveLength(1);
      const [event] = answered;
      const [winner] = won;
      expect(winner?.body).toMatchObject({ id: item, answer: event?.answer });
      const index = winner === undefined ? -1 : replies.indexOf(winner);
      expect(event?.comment).toBe(event?.answer === "revise" ? `wish ${index}` : "");
      const losers = replies.filter((reply) => reply !== winner);
      const equal = losers.filter(({ status }) => status === 200);
      expect(equal).toHaveLength(event?.answer === "approve" ? Math.ceil(replies.length / 2) - 1 : 0);
      for (const { body } of equal)
        expect(body).toMatchObject({ answer: "approve", decided: { answer: "approve", at: event?.at } });
      for (const { status, body } of losers.filter((reply) => !equal.includes(reply)))
        expect({ status, ...body }).toMatchObject({
          status: 409,
          code: "gate_not_waiting",
          detail: expect.stringContaining(`answered ${event?.answer} at ${event?.at}`),
        });
    },
  };
}

/** A handoff to the reviewer. Whoever has accepted may still be sent back: that is one more move, not a second winner. */
async function handoffRace(actions: readonly ("accept" | "reject")[]): Promise<Race> {
  const storyId = `v0.1:${++races}.1.1`;
  await done("POST", "/api/run", { action: "start", storyId, title: `Story ${races}` });
  for (const [fromAgent, toAgent, payload] of [
    ["analyst", "implementer", { plan: "p", files_to_modify: [], approach: "a", risks: [], questions_resolved: [] }],
    [
      "implementer",
      "reviewer",
      { files_changed: [], summary: "s", tests_added: [], build_passes: true, discoveries: {} },
    ],
  ])
    await done("POST", "/api/handoffs", { action: "create", storyId, fromAgent, toAgent, payload });
  const rows = async () => (await done<{ handoffs: Row[] }>("GET", `/api/handoffs?storyId=${storyId}`)).handoffs;
  const row = (await rows()).at(-1);
  const { runs } = await done<{ runs: { id: string }[] }>("GET", `/api/runs?limit=1`);
  const runId = runs[0]?.id ?? "";
  const sent = (index: number) => actions[index % actions.length] ?? "accept";
  return {
    wishes: racers(storyId, "/api/handoffs", (index) => [
      sent(index) === "accept"
        ? { action: "accept", handoffId: row?.id, payload: { taken_by: index } }
        : { action: "reject", handoffId: row?.id, reason: `wish ${index}` },
      {},
    ]),
    async judge(replies) {
      const winners = replies.flatMap(({ status }, index) => (status === 200 ? [index] : []));
      const accepted = winners.filter((index) => sent(index) === "accept");
      const rejected = winners.filter((index) => sent(index) === "reject");
      expect([0, 1]).toContain(accepted.length);
      expect(rejected).toHaveLength(actions.includes("reject") ? 1 : 0);
      expect(winners.length).toBeGreaterThan(0);
      const now = await rows();
      const ended = now.find(({ id }) => id === row?.id);
      const isRejected = rejected.length === 1;
      expect(ended).toMatchObject({
        status: isRejected ? "rejected" : "accepted",
        rejection_reason: isRejected ? `wish ${rejected[0]}` : null,
        ...(accepted.length === 0 ? {} : { payload: { taken_by: accepted[0] } }),
      });
      // One way back at most, and each move once in the history.
      expect(now.filter(({ id }) => id > (row?.id ?? 0))).toHaveLength(rejected.length);
      const moves = (await eventsOf(runId)).filter(({ number }) => number === 3).map(({ type }) => type);
      expect(moves.filter((type) => type === "handoff.rejected")).toHaveLength(rejected.length);
      expect(moves.filter((type) => type === "handoff.accepted").length).toBeLessThanOrEqual(1);
      for (const { status, body } of replies.filter(({ status: each }) => each !== 200))
        expect({ status, ...body }).toMatchObject({
          status: 409,
          code: "handoff_not_open",
          handoff: { id: row?.id, status: expect.stringMatching(/^(accepted|rejected)$/) },
        });
    },
  };
}

type Row = { readonly id: number; readonly status: string };
type Told = Readonly<Record<"type" | "answer" | "comment" | "at", string>> & { readonly number?: number };

function racers(
  name: string,
  path: string,
  wish: (index: number) => readonly [object, Record<string, string>],
): Wish[] {
  return Array.from({ length: RACERS }, (_, index) => {
    const [body, headers] = wish(index);
    return { path, body, headers: { ...headers, "idempotency-key": `${name}-${index}` } };
  });
}

async function answer(item: string, body: object): Promise<void> {
  const reply = await daemon.call("POST", `/api/inbox/${item}/answer`, { body, headers: { "if-match": "*" } });
  expect(reply).toMatchObject({ status: 200 });
}

async function done<T>(method: string, path: string, body?: object): Promise<T> {
  const reply = await daemon.call(method, path, body === undefined ? {} : { body });
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.text}`);
  return reply.body as T;
}

async function eventsOf(run: string): Promise<readonly Told[]> {
  const { events } = await done<{ events: { event: Told }[] }>("GET", `/api/runs/${run}/events?limit=200`);
  return events.map(({ event }) => event);
}

async function lastSeq(): Promise<number> {
  return (await done<{ lastSeq: number }>("GET", "/api/health")).lastSeq;
}

/** The same numbers for the same seed. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
