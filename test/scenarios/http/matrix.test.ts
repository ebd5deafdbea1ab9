// Every route with every kind of caller. Who may is written down here once more, by hand: a wrong line in the table of routes shows.

import { afterAll, beforeAll, expect, test } from "vitest";
import { pathOf, type ApiRoute } from "../../../src/http/contract/route.ts";
import { ROUTES, type RouteName } from "../../../src/http/contract/routes.ts";
import { TOKEN_PREFIX } from "../../../src/http/contract/scopes.ts";
import { until } from "../../harness/until.ts";
import { type Served, serve } from "./served.ts";

const READERS = ["operator", "session", "viewer"];
const OPERATORS = ["operator", "session"];

const MAY: Readonly<Record<RouteName, readonly string[]>> = {
  listRuns: READERS,
  startRun: OPERATORS,
  previewRun: OPERATORS,
  showRun: [...READERS, "agent", "attempt"],
  runEvents: READERS,
  showFeature: READERS,
  listActs: READERS,
  listActsOfRuns: READERS,
  attemptFile: READERS,
  exportRun: OPERATORS,
  cancelRun: OPERATORS,
  undoLanding: OPERATORS,
  mergeRun: OPERATORS,
  discardRun: OPERATORS,
  confirmMerge: OPERATORS,
  pauseRun: OPERATORS,
  resumeRun: OPERATORS,
  retryStage: OPERATORS,
  skipStage: OPERATORS,
  steerRun: OPERATORS,
  takeoverRun: OPERATORS,
  handbackRun: OPERATORS,
  rerunFrom: OPERATORS,
  searchFile: READERS,
  attemptActivity: READERS,
  searchActivity: READERS,
  runDiff: READERS,
  markViewed: OPERATORS,
  listTickets: READERS,
  showTicket: READERS,
  ticketProblems: READERS,
  createTicket: OPERATORS,
  editTicket: OPERATORS,
  startTicket: OPERATORS,
  chooseTicket: OPERATORS,
  whoami: READERS,
  listKeys: OPERATORS,
  createKey: OPERATORS,
  revokeKey: OPERATORS,
  endSession: OPERATORS,
  listAudit: OPERATORS,
  listWorkers: READERS,
  steerWorker: OPERATORS,
  pollWork: ["worker"],
  deliverWork: ["worker"],
  fetchCommits: ["worker"],
  listHolds: READERS,
  showStatusMirror: READERS,
  metrics: READERS,
  liftHold: OPERATORS,
  listRunners: READERS,
  showProject: READERS,
  listProjects: READERS,
  addProject: OPERATORS,
  removeProject: OPERATORS,
  showQueue: READERS,
  startDemo: OPERATORS,
  showTrust: OPERATORS,
  approveTrust: OPERATORS,
  revokeTrust: OPERATORS,
  events: READERS,
  listHandoffs: [...READERS, "agent", "attempt"],
  actOnHandoff: [...OPERATORS, "agent", "attempt"],
  deleteStory: OPERATORS,
  storyStatus: READERS,
  runStory: OPERATORS,
  signalStory: [...OPERATORS, "agent", "attempt"],
  submitVerdict: [...OPERATORS, "agent", "attempt"],
  listWork: [...READERS, "agent"],
  startWork: [...OPERATORS, "agent"],
  listInbox: READERS,
  stopRun: OPERATORS,
  changeBudget: OPERATORS,
  editSetting: OPERATORS,
  pauseAll: OPERATORS,
  resumeAll: OPERATORS,
  showNow: READERS,
  snoozeEntry: OPERATORS,
  listDecisions: READERS,
  report: READERS,
  showItem: READERS,
  answerItem: OPERATORS,
  listFlows: READERS,
  showFlow: READERS,
  flowSource: READERS,
  flowStats: READERS,
  insights: READERS,
  listAgents: READERS,
  cost: READERS,
  health: READERS,
  settings: READERS,
  createLoginCode: OPERATORS,
  createSession: ["login"],
  listDeliveries: READERS,
  redeliver: OPERATORS,
  listEndpoints: READERS,
  testEndpoint: OPERATORS,
  enableEndpoint: OPERATORS,
  openapi: READERS,
  docs: READERS,
  mcp: READERS,
};
const REFUSED = {
  none: "auth_required",
  wrong: "auth_invalid",
  longer: "auth_invalid",
  shorter: "auth_invalid",
  null: "auth_invalid",
};

let served: Served;
let runId: string;
let tokens: Record<string, string | null>;
beforeAll(async () => {
  served = await serve();
  served.play({});
  // The run that the routes name has an agent outside.
  runId = (await served.bench.run("feature", {}, { facts: { runners: { IN1: { runner: "outside" } } } })).id;
  const viewer = await served.keys.create({ name: "wall", kind: "viewer" });
  const agent = await served.keys.create({ name: "speccer", kind: "agent", agent: "IN1" });
  const worker = await served.keys.create({ name: "box", kind: "worker" });
  const webhook = await served.keys.create({ name: "tracker", kind: "webhook" });
  const attempt = `${TOKEN_PREFIX.attempt}${"a".repeat(43)}`;
  served.attempts.set(attempt, { runId, stage: "spec", attempt: 1 });
  tokens = {
    operator: served.operator,
    viewer: viewer.token,
    agent: agent.token,
    worker: worker.token,
    webhook: webhook.token,
    attempt,
    none: null,
    wrong: `${TOKEN_PREFIX.operator}${"b".repeat(43)}`,
    longer: `${served.operator}x`,
    shorter: served.operator.slice(0, -1),
    null: "null",
  };
});
afterAll(() => served.close());

const names = Object.keys(ROUTES) as RouteName[];
const kinds = [
  "operator",
  "session",
  "viewer",
  "agent",
  "attempt",
  "worker",
  "webhook",
  "login",
  ...Object.keys(REFUSED),
];
/** These are used up by a route. */
const fresh: Readonly<Record<string, () => Promise<string>>> = {
  login: async () => served.keys.newLoginCode().token,
  session: async () => {
    const token = served.keys.newLoginCode().token;
    return String((await served.call("POST", "/api/sessions", { body: {}, token })).body["token"]);
  },
};
const ids = {
  key: "k00000000",
  ticket: "F-1",
  story: "v0.1:1.1.1",
  delivery: "msg_0000000000",
  endpoint: "team",
  worker: "box",
  claim: "0".repeat(24),
};
const params = () => ({
  name: "shop",
  ...ids,
  run: runId,
  item: `${runId}.1`,
  stage: "spec",
  attempt: 1,
  file: "prompt",
  flow: "feature",
});

/** What whoever is let in gets to hear about a body that fits nothing. */
const wrongForm = (name: RouteName, { plain }: ApiRoute) =>
  name === "submitVerdict"
    ? { status: 422, code: "verdict_invalid" }
    : plain === true
      ? { status: 400, code: "invalid_request" }
      : { status: 422, code: "unknown_field" };

test.each(names)("S01, S05: %s is open to those who may, and to nobody else", async (name) => {
  const route: ApiRoute = ROUTES[name];
  for (const kind of kinds) {
    const token = (await fresh[kind]?.()) ?? tokens[kind] ?? null;
    const before = await served.seq();
    // A body that every schema refuses: whoever is let in gets to hear that, and nothing happens.
    const reply = await served.call(route.method.toUpperCase(), pathOf(route.path, params()), {
      token,
      ...(route.body === undefined ? {} : { body: { nonsense: kind } }),
      headers: { "x-forwarded-user": "operator", "x-passrail-scopes": "operate", "x-relayed": "1" },
    });
    const cell = { name, kind, status: reply.status, code: reply.body["code"] };
    const denial = REFUSED[kind as keyof typeof REFUSED];
    if (denial !== undefined) expect(cell).toEqual({ name, kind, status: 401, code: denial });
    else if (!MAY[name].includes(kind)) expect(cell).toEqual({ name, kind, status: 403, code: "scope_missing" });
    else if (route.body !== undefined) expect(cell).toEqual({ name, kind, ...wrongForm(name, route) });
    // Some queries cannot be left out.
    else expect(route.query === undefined ? [200, 404] : [200, 400, 404]).toContain(cell.status);
    if (denial !== undefined) expect(reply.headers.get("www-authenticate")).toContain("Bearer");
    expect(await served.seq()).toBe(before);
  }
});

test("S06: an attempt sees its own run, no other, and loses even that when it ends", async () => {
  const { id } = await served.bench.run("feature", {});
  const token = tokens["attempt"] ?? "";
  expect((await served.call("GET", `/api/runs/${runId}`, { token })).status).toBe(200);
  expect((await served.call("GET", `/api/runs/${id}`, { token })).status).toBe(403);
  expect((await served.call("GET", "/api/runs/r0000000000", { token })).status).toBe(403);
  served.attempts.delete(token);
  expect((await served.call("GET", `/api/runs/${runId}`, { token })).status).toBe(401);
  served.attempts.set(token, { runId, stage: "spec", attempt: 1 });
});

test("an agent's key sees the runs that it works on, and no other", async () => {
  const { id } = await served.bench.run("feature", {});
  const token = tokens["agent"] ?? "";
  expect((await served.call("GET", `/api/runs/${runId}`, { token })).status).toBe(200);
  for (const run of [id, "r0000000000"])
    expect(await served.call("GET", `/api/runs/${run}`, { token })).toMatchObject({
      status: 404,
      body: { code: "run_not_found", detail: `There is no run ${run}.` },
    });
});

test("what a caller says of itself raises nothing and is no field", async () => {
  for (const field of ["actor", "fromAgent", "role", "scopes"]) {
    const reply = await served.call("POST", "/api/runs", {
      body: { flow: "feature", title: "x", [field]: "operator" },
    });
    expect(reply).toMatchObject({ status: 422, body: { code: "unknown_field", pointer: `/${field}` } });
  }
});

test("who is not known does not learn which paths there are", async () => {
  // The dashboard's own files are public; they hold no data.
  for (const path of ["/api", "/api/nothing", "/api/runs/x/y/z"])
    expect((await served.call("GET", path, { token: null })).body["code"]).toBe("auth_required");
  expect(await served.call("GET", "/api/nothing")).toMatchObject({ status: 404, body: { code: "route_not_found" } });
});

test("a key that was revoked by another process is refused at once", async () => {
  const { createKeys } = await import("../../../src/http/server/keys.ts");
  const other = await createKeys(served.bench.home, { person: "human:other", now: () => new Date().toISOString() });
  const { id, token } = await other.create({ name: "short", kind: "viewer" });
  expect((await served.call("GET", "/api/health", { token })).status).toBe(200);
  expect(other.list().map((key) => key.name)).toContain("short");
  await other.revoke(id);
  expect((await served.call("GET", "/api/health", { token })).status).toBe(401);
});

test("S04: a login code is good once, and guessing ends after sixty tries", async () => {
  const code = String((await served.call("POST", "/api/login-codes", { body: {} })).body["code"]);
  const tries = await Promise.all(
    Array.from({ length: 8 }, () => served.call("POST", "/api/sessions", { body: {}, token: code })),
  );
  expect(tries.map(({ status }) => status).filter((status) => status === 201)).toHaveLength(1);
  const guess = () => served.call("POST", "/api/sessions", { body: {}, token: `${TOKEN_PREFIX.login}guess` });
  const limited = await until("the limit", async () => {
    const reply = await guess();
    return reply.status === 429 ? reply : undefined;
  });
  expect(limited.body["code"]).toBe("too_many_logins");
  // Who holds a token, or a code of one who does, is not locked out by that.
  const good = String((await served.call("POST", "/api/login-codes", { body: {} })).body["code"]);
  expect((await served.call("POST", "/api/sessions", { body: {}, token: good })).status).toBe(201);
  expect((await served.call("GET", "/api/health")).status).toBe(200);
});
