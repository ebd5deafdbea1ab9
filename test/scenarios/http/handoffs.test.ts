// Source 003 over HTTP: the life of a story that nobody but agents outside works on.

import { DatabaseSync } from "node:sqlite";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openItems } from "../../../src/core/run/run.ts";
import type { Reply } from "./served.ts";
import { CODE, openWorld, PLAN, rowOf, type World, WAY } from "./stories.ts";
import { optional } from "../../../src/core/optional.ts";

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const AGENTS = ["orchestrator", "analyst", "implementer", "reviewer", "refactorer", "documenter"];
const UTC = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/u;
const seq = () => world.served.seq();
const runOf = async (storyId: string) => world.served.bench.load(await world.runOf(storyId));
const edges = async (storyId: string) =>
  (await world.state(storyId)).handoffs.map((row) => `${row.from_agent}→${row.to_agent} ${row.status}`);
const accept = (handoffId: unknown, payload?: object) =>
  world.post({ action: "accept", handoffId, ...optional({ payload }) });
const reject = (handoffId: unknown, reason?: string) =>
  world.post({ action: "reject", handoffId, ...optional({ reason }) });
/** Refused with this status and code, with a text for clients of the source, and nothing has happened. */
const refused = async (call: () => Promise<Reply>, status: number, code: string) => {
  const before = await seq();
  const { body, ...rest } = await call();
  expect({ status: rest.status, code: body["code"] }).toEqual({ status, code });
  expect(body["error"]).toEqual(expect.stringMatching(/\S/u));
  expect(rest.headers.get("content-type")).toBe("application/problem+json");
  expect(await seq()).toBe(before);
  return body;
};

test("R-003-01, R-003-12, R-003-14, R-003-15, R-003-19, R-003-20: a story passes through all agents by create and accept alone", async () => {
  const story = await world.newStory();
  const phases: unknown[] = [];
  for (const [index, [from, to, payload]] of WAY.entries()) {
    const { currentAgent, phase, handoffs } = await world.state(story);
    const incoming = handoffs.at(-1);
    expect([currentAgent, incoming?.status]).toEqual([from, "pending"]);
    phases.push(phase);
    // Every second agent accepts first; for the others creating accepts.
    if (index % 2 === 1) {
      const accepted = await accept(incoming?.id);
      expect(accepted).toMatchObject({ status: 200, body: { success: true, handoff: { status: "accepted" } } });
      expect(rowOf(accepted).processed_at).toMatch(UTC);
      expect(await world.state(story)).toMatchObject({ currentAgent: from, phase });
    }
    const made = await world.create(story, from, to, payload);
    expect(made).toMatchObject({ status: 200, body: { success: true, warnings: [], inbox: null } });
    const isLast = to === "orchestrator";
    expect(rowOf(made)).toMatchObject({
      story_id: story,
      from_agent: from,
      to_agent: to,
      status: isLast ? "accepted" : "pending",
      payload,
      rejection_reason: null,
    });
    expect((await world.state(story)).handoffs.at(-2)).toMatchObject({ id: incoming?.id, status: "accepted" });
  }
  expect(phases).toEqual(["analyzing", "implementing", "reviewing", "refactoring", "documenting"]);
  expect(await world.state(story)).toMatchObject({ currentAgent: null, phase: "complete" });
  expect(await edges(story)).toEqual([
    "orchestrator→analyst accepted",
    "analyst→implementer accepted",
    "implementer→reviewer accepted",
    "reviewer→refactorer accepted",
    "refactorer→documenter accepted",
    "documenter→orchestrator accepted",
  ]);
  expect(await runOf(story)).toMatchObject({ status: "completed", word: "complete" });
});

test("R-003-02, R-003-05: the first handoff is pending and carries the story; ids grow, times are UTC", async () => {
  const story = await world.newStory();
  const other = await world.newStory();
  const [first] = (await world.state(story)).handoffs;
  expect(first).toEqual({
    id: expect.any(Number),
    story_id: story,
    from_agent: "orchestrator",
    to_agent: "analyst",
    status: "pending",
    payload: { story: { id: story, title: expect.any(String), body: "As a user …" } },
    rejection_reason: null,
    created_at: expect.stringMatching(UTC),
    processed_at: null,
  });
  const [second] = (await world.state(other)).handoffs;
  expect(second?.id).toBeGreaterThan(first?.id ?? 0);
  const made = rowOf(await world.create(story, "analyst", "implementer"));
  expect(made.id).toBeGreaterThan(second?.id ?? 0);
  expect(made.payload).toBeNull();
});

test("R-003-07: the same rows by SQL, under the source's names and with its three words", async () => {
  const story = await world.newStory();
  const reviewed = await world.leadTo(story, "reviewer");
  await reject(reviewed.id, "Tests failing");
  const { handoffs } = await world.state(story);
  const db = new DatabaseSync(join(world.served.bench.home, "passrail.db"), { readOnly: true });
  const rows = db.prepare("SELECT * FROM agent_handoffs WHERE story_id = ? ORDER BY id").all(story);
  db.close();
  const read = rows.map((row) => ({ ...row, payload: JSON.parse(String(row["payload"])) as unknown }));
  expect(read).toEqual(handoffs);
  expect(new Set(handoffs.map(({ status }) => status))).toEqual(new Set(["accepted", "rejected", "pending"]));
});

test("R-003-08, R-003-09: a story by its id, raw or encoded, and the pending handoff of one agent", async () => {
  const story = await world.newStory();
  const ask = (query: string) => world.served.call("GET", `/api/handoffs?${query}`);
  expect(await ask(`storyId=${story}`)).toEqual(
    await ask(`storyId=${story.replaceAll(":", "%3A")}`).then((reply) => ({ ...reply, headers: expect.anything() })),
  );
  expect(Object.keys((await ask(`storyId=${story}`)).body).sort()).toEqual(["currentAgent", "handoffs", "phase"]);
  expect(await ask(`storyId=${story}&agent=analyst`)).toMatchObject({
    status: 200,
    body: { handoff: { to_agent: "analyst", status: "pending" } },
  });
  expect((await ask(`storyId=${story}&agent=implementer`)).body).toEqual({ handoff: null });
});

test("R-003-11: what cannot be asked is refused, and a story without handoffs is with nobody", async () => {
  const ask = (query: string) => world.served.call("GET", `/api/handoffs${query}`);
  const story = await world.newStory();
  for (const query of ["", "?agent=analyst", "?stale=false", "?storyId=", "?storyId=%20", "?minutes=5", "?storyid=x"])
    await refused(() => ask(query), 400, "invalid_query");
  await refused(() => ask(`?storyId=${story}&agent=nobody`), 400, "unknown_agent");
  await refused(() => ask("?storyId=v9:9.9.9"), 404, "story_not_found");
  await world.served.bench.run("feature", {}, { subject: "F-77", wait: false });
  expect((await ask("?storyId=F-77")).body).toEqual({ currentAgent: null, phase: null, handoffs: [] });
});

test("R-003-10, R-003-33: stale handoffs of all stories; at exactly the limit they are not stale yet", async () => {
  const story = await world.newStory();
  const other = await world.newStory();
  const [row] = (await world.state(story)).handoffs;
  const created = Date.parse(row?.created_at ?? "");
  const stale = async (query: string) => {
    const reply = await world.served.call("GET", `/api/handoffs?stale=true${query}`);
    const rows = (reply.body["stale"] ?? []) as { id: number; story_id: string; status: string }[];
    return { minutes: reply.body["thresholdMinutes"], ids: rows.map(({ id }) => id), rows };
  };
  world.nowMs = () => created + 30 * 60_000;
  expect((await stale("&minutes=30")).ids).not.toContain(row?.id);
  world.nowMs = () => created + 30 * 60_000 + 1;
  expect(await stale("")).toMatchObject({ minutes: 30, ids: expect.arrayContaining([row?.id]) });
  expect((await stale("&minutes=31")).ids).not.toContain(row?.id);
  world.nowMs = () => Date.now();
  const all = await stale("&minutes=0");
  expect(all.minutes).toBe(0);
  expect(all.rows.map(({ story_id }) => story_id)).toEqual(expect.arrayContaining([story, other]));
  expect(all.rows.every(({ status }) => status === "pending")).toBe(true);
  for (const minutes of ["-1", "x", "", "NaN", "Infinity", "1e400", "30m"])
    await refused(() => world.served.call("GET", `/api/handoffs?stale=true&minutes=${minutes}`), 400, "invalid_query");
});

test("R-003-16: seven edges are known, all other 29 pairs are an invalid transition and store nothing", async () => {
  const story = await world.newStory();
  const valid = new Set([
    "orchestrator analyst",
    "analyst implementer",
    "implementer reviewer",
    "reviewer refactorer",
    "reviewer implementer",
    "refactorer documenter",
    "documenter orchestrator",
  ]);
  let invalid = 0;
  for (const from of AGENTS)
    for (const to of AGENTS) {
      if (valid.has(`${from} ${to}`)) continue;
      invalid += 1;
      const body = await refused(() => world.create(story, from, to, PLAN), 400, "invalid_transition");
      expect(body["error"]).toContain("Invalid transition");
    }
  expect(invalid).toBe(29);
});

test("R-003-17: a story and agents that are missing or unknown", async () => {
  const story = await world.newStory();
  for (const storyId of [undefined, "", " ", 7, null])
    await refused(
      () => world.post({ action: "create", storyId, fromAgent: "analyst", toAgent: "implementer" }),
      400,
      "invalid_request",
    );
  for (const agents of [{ fromAgent: "analyst" }, { fromAgent: "", toAgent: "implementer" }, { toAgent: "reviewer" }])
    await refused(() => world.post({ action: "create", storyId: story, ...agents }), 400, "invalid_request");
  await refused(() => world.create(story, "nobody", "implementer"), 400, "unknown_agent");
  await refused(() => world.create(story, "analyst", "Implementer"), 400, "unknown_agent");
  await refused(() => world.create("v9:9.9.9", "analyst", "implementer"), 404, "story_not_found");
});

test("R-003-18: a second handoff to the same agent is refused with the one that is pending", async () => {
  const story = await world.newStory();
  await refused(() => world.create(story, "orchestrator", "analyst"), 409, "handoff_exists");
  const made = rowOf(await world.create(story, "analyst", "implementer", PLAN));
  const body = await refused(
    () => world.create(story, "analyst", "implementer", { plan: "other" }),
    409,
    "handoff_exists",
  );
  expect(body["handoff"]).toEqual(made);
});

test("R-003-19: whose turn it is not cannot hand over", async () => {
  const story = await world.newStory();
  await refused(() => world.create(story, "implementer", "reviewer", CODE), 409, "out_of_turn");
  await world.leadTo(story, "reviewer");
  await refused(() => world.create(story, "analyst", "implementer", PLAN), 409, "out_of_turn");
  await refused(() => world.create(story, "orchestrator", "analyst"), 409, "out_of_turn");
  await refused(() => world.create(story, "documenter", "orchestrator"), 409, "out_of_turn");
});

test("R-003-20: a payload that comes with accept is merged", async () => {
  const story = await world.newStory();
  const row = await world.leadTo(story, "implementer");
  const accepted = rowOf(await accept(row.id, { approach: "mine", started_by: "me" }));
  expect(accepted.payload).toEqual({ ...PLAN, approach: "mine", started_by: "me" });
  expect((await world.state(story)).handoffs.at(-1)).toEqual(accepted);
});

test("R-003-25: a reject closes the handoff and returns the work with what was sent, from pending and from accepted", async () => {
  for (const isAccepted of [false, true]) {
    const story = await world.newStory();
    const row = await world.leadTo(story, "reviewer");
    if (isAccepted) await accept(row.id);
    const reply = await reject(row.id, "Tests failing");
    expect(reply).toMatchObject({ status: 200, body: { success: true, inbox: null } });
    expect(rowOf(reply)).toMatchObject({ id: row.id, status: "rejected", rejection_reason: "Tests failing" });
    expect(rowOf(reply).processed_at).toMatch(UTC);
    expect(rowOf(reply, "returned")).toMatchObject({
      from_agent: "reviewer",
      to_agent: "implementer",
      status: "pending",
      payload: { ...CODE, rejection_reason: "Tests failing", rejected_by: "reviewer" },
    });
    expect(await world.state(story)).toMatchObject({ currentAgent: "implementer", phase: "implementing" });
  }
});

test("R-003-22: a reject without a reason changes nothing", async () => {
  const story = await world.newStory();
  const row = await world.leadTo(story, "implementer");
  for (const reason of [undefined, "", "  \n\t"]) await refused(() => reject(row.id, reason), 400, "invalid_request");
  expect((await world.state(story)).handoffs.at(-1)).toEqual(row);
});

test("R-003-23: a timeout closes a handoff, returns it to nobody, and the flow asks a person; the edge can be made again", async () => {
  const story = await world.newStory();
  const row = await world.leadTo(story, "implementer");
  const timedOut = await world.post({ action: "timeout", handoffId: row.id });
  expect(timedOut).toMatchObject({ status: 200, body: { success: true } });
  expect(rowOf(timedOut)).toMatchObject({ status: "rejected", rejection_reason: "Agent timed out" });
  expect(rowOf(timedOut).processed_at).toMatch(UTC);
  expect(await edges(story)).toEqual(["orchestrator→analyst accepted", "analyst→implementer rejected"]);
  expect(openItems(await runOf(story))).toMatchObject([{ kind: "escalation", stage: "implementer" }]);
  const again = await world.create(story, "analyst", "implementer", PLAN);
  expect(again).toMatchObject({ status: 200, body: { inbox: null, warnings: [] } });
  expect(rowOf(again)).toMatchObject({
    from_agent: "analyst",
    to_agent: "implementer",
    status: "pending",
    payload: PLAN,
  });
  expect(openItems(await runOf(story))).toEqual([]);
  const own = await world.post({ action: "timeout", handoffId: rowOf(again).id, reason: "On holiday" });
  expect(rowOf(own)).toMatchObject({ status: "rejected", rejection_reason: "On holiday" });
});

test("R-003-24, R-003-25: what is closed stays as it is", async () => {
  const story = await world.newStory();
  const [first] = (await world.state(story)).handoffs;
  const row = await world.leadTo(story, "reviewer");
  await accept(row.id);
  const closed = async (id: number | undefined) => (await world.state(story)).handoffs.find((each) => each.id === id);
  const taken = await closed(row.id);
  for (const action of ["accept", "timeout"]) {
    const body = await refused(() => world.post({ action, handoffId: row.id }), 409, "handoff_not_open");
    expect(body["handoff"]).toEqual(taken);
  }
  await reject(row.id, "no");
  const rejected = await closed(row.id);
  const count = (await world.state(story)).handoffs.length;
  for (const handoffId of [row.id, first?.id])
    for (const action of ["accept", "timeout", "reject"])
      await refused(
        () => world.post({ action, handoffId, ...(action === "reject" ? { reason: "late" } : {}) }),
        409,
        "handoff_not_open",
      );
  expect(await closed(row.id)).toEqual(rejected);
  expect((await world.state(story)).handoffs).toHaveLength(count);
});

test("R-003-26: ids that are unknown, and those that are no positive whole number; the text 1 is refused", async () => {
  for (const action of ["accept", "timeout", "reject"]) {
    const reason = action === "reject" ? { reason: "x" } : {};
    await refused(() => world.post({ action, handoffId: 999_999, ...reason }), 404, "handoff_not_found");
    for (const handoffId of [undefined, null, 0, -1, 1.5, "1", "", true, [1], 2 ** 53])
      await refused(() => world.post({ action, handoffId, ...reason }), 400, "invalid_request");
  }
});

test("R-003-28: a clean-up closes what is pending and keeps the rest; then the edge can be made again", async () => {
  const story = await world.newStory();
  await world.leadTo(story, "implementer");
  const clean = () => world.post({ action: "cleanup", storyId: story });
  expect((await clean()).body).toEqual({ success: true, deleted: 1 });
  expect(await edges(story)).toEqual(["orchestrator→analyst accepted", "analyst→implementer rejected"]);
  expect(await runOf(story)).toMatchObject({ status: "stopped" });
  expect((await clean()).body).toEqual({ success: true, deleted: 0 });
  const again = await world.create(story, "analyst", "implementer", { plan: "another" });
  expect(rowOf(again)).toMatchObject({ status: "pending", payload: PLAN });
  expect(again.body["warnings"]).toEqual([expect.stringContaining("payload_kept")]);
  await refused(() => world.post({ action: "cleanup" }), 400, "invalid_request");
  await refused(() => world.post({ action: "cleanup", storyId: "v9:9.9.9" }), 404, "story_not_found");
});

test("R-003-29: a missing or unknown action names those that there are", async () => {
  for (const body of [{}, { action: "delete" }, { action: 1 }, { action: null }, { storyId: "v0.1:1.1.1" }]) {
    const { error } = await refused(() => world.post(body), 400, "invalid_request");
    for (const action of ["create", "accept", "reject", "timeout", "cleanup"]) expect(error).toContain(action);
  }
  await refused(() => world.post({ action: "accept", handoffId: 1, role: "operator" }), 400, "invalid_request");
});

test("R-003-31: any receiver may reject; what the analyst rejects waits for a person", async () => {
  const story = await world.newStory();
  const row = await world.leadTo(story, "implementer");
  const reply = await reject(row.id, "The plan is wrong");
  expect(rowOf(reply, "returned")).toMatchObject({ from_agent: "implementer", to_agent: "analyst", status: "pending" });
  const other = await world.newStory();
  const [first] = (await world.state(other)).handoffs;
  const refusal = await reject(first?.id, "Not a story");
  expect(rowOf(refusal)).toMatchObject({ status: "rejected", rejection_reason: "Not a story" });
  expect(refusal.body).toMatchObject({ returned: null, inbox: `${await world.runOf(other)}.1` });
  expect(openItems(await runOf(other))).toMatchObject([{ kind: "escalation", stage: "analyst" }]);
  const again = await world.served.call("POST", `/api/inbox/${String(refusal.body["inbox"])}/answer`, {
    body: { answer: "again", text: "It is one" },
  });
  expect(again.status).toBe(200);
  expect(await world.state(other)).toMatchObject({ currentAgent: "analyst" });
  expect(rowOf(await world.create(other, "analyst", "implementer", PLAN)).status).toBe("pending");
});

test("the reject loop goes on until its limit, then a person is asked", async () => {
  const story = await world.newStory();
  await world.leadTo(story, "implementer");
  for (let round = 1; round <= 3; round++) {
    const row = rowOf(await world.create(story, "implementer", "reviewer", CODE));
    const findings = round === 1 ? [] : [{ id: `F${round - 1}`, state: "fixed" }];
    const unsaid = () => reject(row.id, `no, ${round}`);
    if (round === 2) await refused(unsaid, 422, "findings_unanswered");
    const reply = await world.post({ action: "reject", handoffId: row.id, reason: `no, ${round}`, findings });
    expect(rowOf(reply)).toMatchObject({ id: row.id, status: "rejected" });
    expect(reply.body["returned"] === null).toBe(round === 3);
  }
  expect(openItems(await runOf(story))).toMatchObject([{ kind: "escalation", stage: "reviewer" }]);
});

test("the reviewer may also send back by create", async () => {
  const story = await world.newStory();
  await world.leadTo(story, "reviewer");
  const made = await world.create(story, "reviewer", "implementer", { review_notes: "Name it better" });
  expect(rowOf(made)).toMatchObject({
    from_agent: "reviewer",
    to_agent: "implementer",
    status: "pending",
    payload: { ...CODE, rejection_reason: "Name it better", rejected_by: "reviewer" },
  });
  expect((await edges(story)).slice(-2)).toEqual(["implementer→reviewer rejected", "reviewer→implementer pending"]);
});

test("R-003-40: missing keys are warned of, work whose build fails is not taken", async () => {
  const story = await world.newStory();
  const made = await world.create(story, "analyst", "implementer", { plan: "p" });
  expect(made.body["warnings"]).toEqual([expect.stringContaining("files_to_modify")]);
  await refused(
    () => world.create(story, "implementer", "reviewer", { ...CODE, build_passes: false }),
    422,
    "payload_refused",
  );
  expect((await world.create(story, "implementer", "reviewer", CODE)).status).toBe(200);
});

test("a story that has ended is begun again by the orchestrator, and its rows stay", async () => {
  const story = await world.newStory();
  await world.leadTo(story, "orchestrator");
  const first = await world.runOf(story);
  const made = await world.create(story, "orchestrator", "analyst");
  expect(rowOf(made)).toMatchObject({ from_agent: "orchestrator", to_agent: "analyst", status: "pending" });
  expect(await world.runOf(story)).not.toBe(first);
  expect(await world.state(story)).toMatchObject({ currentAgent: "analyst", phase: "analyzing" });
  expect((await world.state(story)).handoffs).toHaveLength(7);
});
