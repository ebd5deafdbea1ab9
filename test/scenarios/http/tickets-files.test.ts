// Tickets that are files: listed without any run, shown with their place among the others, made and changed over the API.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { approveFiles } from "../../harness/approve-files.ts";
import { ROUTES } from "../../../src/http/contract/routes.ts";
import { shippedDir } from "../../../src/settings/site.ts";
import { until } from "../../harness/until.ts";
import { type Served, serve } from "./served.ts";

let served: Served;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.close());

function write(path: string, head: string, body = "Do it."): string {
  const file = join(served.bench.project, "feature_requests", path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `---\n${head}\n---\n\n${body}\n`);
  served.deps.tickets?.known.wrote();
  return file;
}
async function list(query = "") {
  const { status, body } = await served.call("GET", `/api/tickets${query}`);
  expect(status).toBe(200);
  return ROUTES.listTickets.answer.schema.parse(body);
}
async function show(id: string) {
  const { status, body } = await served.call("GET", `/api/tickets/${id}`);
  expect(status).toBe(200);
  return ROUTES.showTicket.answer.schema.parse(body);
}
const ids = ({ tickets }: Awaited<ReturnType<typeof list>>) => tickets.map(({ id }) => id);

test("a ticket without any run is listed with what its file says, how it stands and why", async () => {
  write("FR-1/AGI-1.md", "id: AGI-1\ntitle: First\nrepo: .\nstatus: Backlog\npriority: 2");
  write("FR-1/AGI-2.md", "id: AGI-2\ntitle: Second\nrepo: .\nstatus: Needs Plan\ndependsOn: [AGI-1, AGI-99]");
  const { tickets, next } = await list();
  expect(next).toBeNull();
  expect(tickets).toMatchObject([
    {
      id: "AGI-2",
      title: "Second",
      runs: 0,
      newest: null,
      status: null,
      word: "Needs Plan",
      flow: "ticket",
      file: {
        path: "feature_requests/FR-1/AGI-2.md",
        request: "FR-1",
        state: "waits",
        dependsOn: ["AGI-1", "AGI-99"],
        blockedBy: [
          { id: "AGI-1", why: "Backlog" },
          { id: "AGI-99", why: "unknown dependency" },
        ],
        problems: [{ code: "unknown_dependency" }],
      },
    },
    { id: "AGI-1", file: { state: "eligible", priority: 2, dependents: ["AGI-2"], branch: "feat/AGI-1" } },
  ]);
});

test("tickets are filtered by word, state, request, group, text, and by whether they are open", async () => {
  write("FR-2/AGI-3.md", "id: AGI-3\ntitle: Blue button\nrepo: .\nstatus: Done\ngroup: button");
  write("FR-2/AGI-4.md", "id: AGI-4\ntitle: Red button\nrepo: .\nstatus: Backlog\ngroup: button\nvariantHint: red");
  expect(ids(await list("?status=Done"))).toEqual(["AGI-3"]);
  expect(ids(await list("?state=eligible"))).toEqual(["AGI-4", "AGI-1"]);
  expect(ids(await list("?request=FR-2"))).toEqual(["AGI-4", "AGI-3"]);
  expect(ids(await list("?group=button&open=true"))).toEqual(["AGI-4"]);
  expect(ids(await list("?q=BUTTON"))).toEqual(["AGI-4", "AGI-3"]);
  expect(ids(await list("?open=false"))).toEqual(["AGI-3"]);
  expect(ids(await list("?flow=feature"))).toEqual([]);
  expect(await served.call("GET", "/api/tickets?state=lost")).toMatchObject({ body: { code: "invalid_query" } });
  expect(await served.call("GET", "/api/tickets?before=g1")).toMatchObject({ body: { code: "invalid_cursor" } });
});

test("pages go through files, then through tickets that only have runs; each is told once", async () => {
  for (const subject of ["A-1", "AGI-1", "A-2"]) await served.bench.run("feature", {}, { subject });
  const all: string[] = [];
  for (let next: string | null = "", pages = 0; next !== null && pages < 20; pages++) {
    const page = await list(`?limit=2${next === "" ? "" : `&before=${next}`}`);
    all.push(...ids(page));
    next = page.next;
  }
  expect(all).toEqual(["AGI-4", "AGI-3", "AGI-2", "AGI-1", "A-2", "A-1"]);
  expect(ids(await list("?q=a-2"))).toEqual(["A-2"]);
  expect((await list("?q=AGI-1")).tickets[0]).toMatchObject({
    runs: 1,
    title: "First",
    status: "waiting",
    file: { state: "eligible" },
  });
});

test("one ticket shows its file's head, body, neighbours, variants and why it does not run", async () => {
  write("FR-3/AGI-5.md", "id: AGI-5\ntitle: Later # why\nrepo: .\nstatus: Backlog\ndependsOn: AGI-2", "# All of it");
  const ticket = await show("AGI-2");
  expect(ticket.frontMatter).toContain("status: Needs Plan");
  expect(ticket.body.trim()).toBe("Do it.");
  expect(ticket.file?.version).toMatch(/^[0-9a-f]{64}$/u);
  expect(ticket.explain[0]).toMatch(/^AGI-2 \(Needs Plan\): waits for AGI-1/u);
  expect(ticket.graph.nodes.map(({ id, depth, title }) => [id, depth, title])).toEqual([
    ["AGI-1", -1, "First"],
    ["AGI-99", -1, null],
    ["AGI-2", 0, "Second"],
    ["AGI-5", 1, "Later"],
  ]);
  expect(ticket.graph.edges).toContainEqual({ from: "AGI-2", to: "AGI-5" });
  expect(ticket).toMatchObject({ feature: null, history: [], landed: null, pullRequest: null, variants: [] });
  expect((await show("AGI-3")).variants.map(({ id, hint }) => [id, hint])).toEqual([
    ["AGI-3", null],
    ["AGI-4", "red"],
  ]);
});

test("a circle and ten thousand neighbours end", async () => {
  write("FR-4/AGI-6.md", "id: AGI-6\ntitle: a\nrepo: .\nstatus: Backlog\ndependsOn: [AGI-7]");
  write("FR-4/AGI-7.md", "id: AGI-7\ntitle: b\nrepo: .\nstatus: Backlog\ndependsOn: [AGI-6]");
  expect(await show("AGI-6")).toMatchObject({
    file: { state: "refused", problems: [{ code: "dependency_cycle" }] },
    graph: { isCut: false, nodes: [{ id: "AGI-7" }, { id: "AGI-6" }] },
  });
});

test("only an address of the web is given out as that of a pull request", async () => {
  const file = write("FR-5/AGI-8.md", 'id: AGI-8\ntitle: a\nrepo: .\nstatus: Done\npr_url: "javascript:alert(1)"');
  expect((await show("AGI-8")).pullRequest).toBeNull();
  writeFileSync(file, readFileSync(file, "utf8").replace("javascript:alert(1)", "https://example.org/pull/3"));
  served.deps.tickets?.known.wrote();
  expect((await show("AGI-8")).pullRequest).toBe("https://example.org/pull/3");
});

test("files that cannot be read are told with line and column, and the others go on", async () => {
  write("FR-6/AGI-9.md", "id: AGI-9\ntitle: x\nrepo: .\nstatus: Need Plan");
  const { body } = await served.call("GET", "/api/tickets/problems");
  const { problems, folder, tickets } = ROUTES.ticketProblems.answer.schema.parse(body);
  expect(folder).toBe("feature_requests");
  expect(tickets).toBe(8);
  expect(problems).toContainEqual(
    expect.objectContaining({
      code: "unknown_status",
      path: "feature_requests/FR-6/AGI-9.md",
      line: 5,
      ticket: "AGI-9",
    }),
  );
  expect(await served.call("GET", "/api/tickets/AGI-9")).toMatchObject({ status: 404 });
  rmSync(join(served.bench.project, "feature_requests/FR-6"), { recursive: true });
  served.deps.tickets?.known.wrote();
});

test("a ticket is created in a request of its own; the same wish twice gives one ticket", async () => {
  const body = { title: "Dark mode", body: "# Dark\n\nAll of it.", dependsOn: ["AGI-1"], priority: 3, group: "look" };
  const headers = { "idempotency-key": "new-1" };
  const made = await served.call("POST", "/api/tickets", { body, headers });
  expect(made).toMatchObject({ status: 201 });
  const { id, path } = made.body as { id: string; path: string };
  expect(path).toMatch(/^feature_requests\/FR-\d+\/AGI-\d+\.md$/u);
  const text = readFileSync(join(served.bench.project, path), "utf8");
  expect(text).toContain("All of it.");
  expect(text).toContain("dependsOn: [AGI-1]");
  expect(await show(id)).toMatchObject({
    title: "Dark mode",
    word: "Backlog",
    file: { state: "waits", priority: 3, group: "look", dependsOn: ["AGI-1"] },
  });
  expect((await served.call("POST", "/api/tickets", { body, headers })).body).toMatchObject({ id });
  // Remembered by the file too, for a daemon that was started anew.
  expect((await list("?q=dark mode")).tickets).toHaveLength(1);
});

test.each<[string, Record<string, unknown>, string, string]>([
  ["no title", {}, "invalid_title", "/title"],
  ["a title of two lines", { title: "a\nstatus: Done" }, "invalid_title", "/title"],
  ["an unknown dependency", { title: "x", dependsOn: ["AGI-1000"] }, "ticket_refused", "/dependsOn"],
  ["a group that leads out of a branch's name", { title: "x", group: "../x" }, "invalid_field", "/group"],
  ["a status that is none", { title: "x", status: "Doing" }, "invalid_field", "/status"],
  ["a field that is none", { title: "x", run: 1 }, "unknown_field", "/run"],
])("a new ticket with %s is refused and nothing is written", async (_, body, code, pointer) => {
  const before = (await list("?limit=200")).tickets.length;
  expect(await served.call("POST", "/api/tickets", { body })).toMatchObject({ status: 422, body: { code, pointer } });
  expect((await list("?limit=200")).tickets).toHaveLength(before);
});

test("only the keys that are named change in a file; comments, other keys and the body stay byte for byte", async () => {
  const head = "id: AGI-20 # mine\ntitle: Old\nrepo: .\nstatus: Backlog\nowner: me # kept";
  const file = write("FR-9/AGI-20.md", head, "text  \n\n* x");
  const version = (await show("AGI-20")).file?.version;
  const edited = await served.call("PATCH", "/api/tickets/AGI-20", {
    body: { title: "New: it", dependsOn: ["AGI-1"], status: "Needs Plan", priority: 1 },
    headers: { "if-match": `"${version}"` },
  });
  expect(edited).toMatchObject({ status: 200, body: { id: "AGI-20" } });
  const text = readFileSync(file, "utf8");
  expect(text).toContain("id: AGI-20 # mine\n");
  expect(text).toContain("owner: me # kept\n");
  expect(text.endsWith("---\n\ntext  \n\n* x\n")).toBe(true);
  const after = await show("AGI-20");
  expect(after).toMatchObject({ title: "New: it", word: "Needs Plan", file: { version: edited.body["version"] } });
  expect(after.file).toMatchObject({ priority: 1, dependsOn: ["AGI-1"] });
});

test("whoever looked at an older file changes nothing, and is told what it says now", async () => {
  const file = join(served.bench.project, "feature_requests/FR-9/AGI-20.md");
  const version = (await show("AGI-20")).file?.version;
  writeFileSync(file, readFileSync(file, "utf8").replace("Needs Plan", "Blocked"));
  served.deps.tickets?.known.wrote();
  const refused = await served.call("PATCH", "/api/tickets/AGI-20", {
    body: { status: "Needs Implement" },
    headers: { "if-match": `"${version}"` },
  });
  expect(refused).toMatchObject({ status: 409, body: { code: "ticket_conflict" } });
  expect(String(refused.body["detail"])).toContain("Blocked");
  expect(readFileSync(file, "utf8")).toContain("status: Blocked");
});

test.each([
  ["Done", "passrail done AGI-20"],
  ["Plan In Progress", "only a run"],
  ["Awaiting Merge", "only a run"],
])("nobody moves a ticket to %s by hand", async (status, why) => {
  const refused = await served.call("PATCH", "/api/tickets/AGI-20", { body: { status } });
  expect(refused).toMatchObject({ status: 422, body: { code: "ticket_refused", pointer: "/status" } });
  expect(String(refused.body["detail"])).toContain(why);
});

test("a dependency that would make a circle is refused by its path", async () => {
  const refused = await served.call("PATCH", "/api/tickets/AGI-1", { body: { dependsOn: ["AGI-20"] } });
  expect(refused).toMatchObject({ status: 422, body: { code: "ticket_refused", pointer: "/dependsOn" } });
  expect(String(refused.body["detail"])).toMatch(/AGI-\d+ → AGI-\d+ → AGI-\d+/u);
});

test("an edit by hand reaches the stream within a second", async () => {
  const server = await served.listen();
  const response = await fetch(`${server.url}/api/events`, { headers: { authorization: `Bearer ${served.operator}` } });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (reader === undefined) throw new Error("no stream");
  let text = "";
  const reading = (async () => {
    while (!text.includes("ticket.changed")) text += (await reader.read()).value ?? "";
    return performance.now();
  })();
  await until("the stream is open", () => (text.includes("retry:") ? true : undefined));
  await list();
  const from = performance.now();
  const file = join(served.bench.project, "feature_requests/FR-9/AGI-20.md");
  writeFileSync(file, readFileSync(file, "utf8").replace("Blocked", "Needs Spec"));
  expect((await reading) - from).toBeLessThan(1000);
  expect(text).toContain('"subjectId":"AGI-20"');
  await reader.cancel();
  expect((await show("AGI-20")).word).toBe("Needs Spec");
});

test("what may not start is not started, and says why; what may is started once", async () => {
  expect(await served.call("POST", "/api/tickets/AGI-2/start", { body: {} })).toMatchObject({
    status: 422,
    body: { code: "ticket_refused", detail: expect.stringContaining("waits for AGI-1") as string },
  });
  expect(await served.call("POST", "/api/tickets/AGI-404/start", { body: {} })).toMatchObject({ status: 404 });
  // Without a program that plays the agents a run could not work, so none is made.
  writeFileSync(join(served.bench.project, "passrail.yaml"), "slots: 3\n");
  approveFiles(served.bench.home, served.bench.project);
  expect(await served.call("POST", "/api/tickets/AGI-4/start", { body: {} })).toMatchObject({
    status: 422,
    body: { code: "run_refused", detail: expect.stringContaining("AGI-4 cannot start") as string },
  });
  expect((await show("AGI-4")).runs).toBe(0);
});

test("runs of another project's ticket with the same id are not this one's", async () => {
  const facts = { config: { project: "/elsewhere", workspace: "in-place" } };
  await served.bench.run("feature", {}, { subject: "AGI-20", facts });
  expect(await show("AGI-20")).toMatchObject({ newest: null, runs: 0, history: [], word: "Needs Spec" });
});

test("R-004-39: lists and pages follow the rules of the project's flow as soon as its file has changed", async () => {
  write("FR-9/AGI-90.md", "id: AGI-90\ntitle: New\nrepo: .\nstatus: Backlog");
  expect((await show("AGI-90")).file?.state).toBe("eligible");
  const folder = join(served.bench.project, ".passrail", "flows");
  mkdirSync(folder, { recursive: true });
  const shipped = readFileSync(join(shippedDir, "flows", "ticket.yaml"), "utf8");
  writeFileSync(join(folder, "ticket.yaml"), shipped.replace(/^ {2}skip: .*$/mu, "  skip: [Backlog]"));
  approveFiles(served.bench.home, served.bench.project);
  try {
    expect(ids(await list("?state=intervention"))).toContain("AGI-90");
    expect((await show("AGI-90")).explain[0]).toContain("a person has to act");
  } finally {
    rmSync(join(folder, "ticket.yaml"));
    approveFiles(served.bench.home, served.bench.project);
  }
  expect((await show("AGI-90")).file?.state).toBe("eligible");
});
