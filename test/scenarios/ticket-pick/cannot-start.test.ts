// Tickets that cannot start are named with their reason by every door, in the same words: `spec`, `work`, the daemon's log and the API.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { until } from "../../harness/until.ts";
import { OK, openShort, type Project } from "./project.ts";

vi.setConfig({ testTimeout: 120_000 });

let project: Project | undefined;
afterEach(() => {
  project?.remove();
  project = undefined;
});

const REASONS = [
  /AGI-2 \(feature_requests\/FR-1\/AGI-2\.md\): repo is "TBD"/u,
  /AGI-3 \(feature_requests\/FR-1\/AGI-3\.md:\d\): unknown dependency: there is no ticket AGI-11; did you mean AGI-1\?/u,
  /AGI-4 \(feature_requests\/FR-1\/AGI-4\.md:\d\): "Backlgo" is not a ticket status; the statuses are Backlog, .*, Canceled/u,
  /AGI-5 \(feature_requests\/FR-1\/AGI-5\.md:\d\): the key "dependson" means nothing; did you mean "dependsOn"\?/u,
  /AGI-6 \(feature_requests\/FR-1\/AGI-6\.md:\d\): the front matter is not closed/u,
];

function stuck(more: Readonly<Record<string, unknown>> = {}): Project {
  const own = openShort({ "*": [OK] }, more);
  project = own;
  own.ticket(1, { status: "Needs Validate", dependsOn: [] });
  own.ticket(2, { repo: "TBD" });
  own.ticket(3, { dependsOn: "AGI-11" });
  own.ticket(4, { status: "Backlgo" });
  own.ticket(5, { dependson: ["AGI-1"] });
  writeFileSync(own.ticket(6), "---\nid: AGI-6\n");
  own.ticket(7, { dependsOn: "AGI-1", status: "Needs Validate" });
  return own;
}

test("R-004-28, R-004-35, R-004-36: work --once names each ticket that cannot start, does the others, and exits with 1", async () => {
  const own = stuck();
  const ended = await own.passrail(["work", "--once"]);
  expect([own.status(1), own.status(7)]).toEqual(["Done", "Done"]);
  expect(ended.code).toBe(1);
  expect(ended.err).toContain("5 tickets cannot start:");
  for (const reason of REASONS) expect(ended.err.split("\n").filter((line) => reason.test(line))).toHaveLength(1);
  expect(ended.err).toMatch(
    /✖ 5 tickets cannot start: AGI-2, AGI-3, AGI-5, AGI-4, AGI-6\n {2}passrail ticket list\n.*ticket_cannot_start/u,
  );
  expect(own.read(4)).toContain('status: "Backlgo"');
});

test("R-004-28, R-004-35, R-004-36: a daemon that works says the same in its log and its API, also about a start that was refused", async () => {
  const own = stuck();
  writeFileSync(join(own.project, "passrail.yaml"), JSON.stringify({ tickets: { flow: "short" } }));
  const daemon = own.start(["up", "--port", "0", "--work", "--trust"]);
  let out = "";
  daemon.child.stdout?.on("data", (text: string) => (out += text));
  const url = await until("it listens", () => /^Passrail is up: (\S+)$/mu.exec(out)?.[1], 60_000);
  const log = (): string => readFileSync(join(own.home, "logs", "daemon.log"), "utf8");
  await until("it has told", () => REASONS.every((reason) => reason.test(log())) || undefined, 60_000);
  const token = readFileSync(join(own.home, "operator.token"), "utf8").trim();
  const call = async (path: string) =>
    (await (await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${token}` } })).json()) as {
      readonly cannotStart: readonly { ticket: string; path: string; line: number | null; why: string }[];
      readonly why: string;
      readonly file: { readonly why: string };
    };
  const { cannotStart } = await call("/api/tickets/problems");
  const lines = cannotStart.map(
    ({ ticket, path, line, why }) => `${ticket} (${path}${line === null ? "" : `:${line}`}): ${why}`,
  );
  for (const reason of REASONS) expect(lines.filter((line) => reason.test(line))).toHaveLength(1);
  const refused = cannotStart.find(({ ticket }) => ticket === "AGI-1");
  expect(refused?.why).toMatch(/^Flow short needs a program/u);
  const shown = await call("/api/tickets/AGI-1");
  expect([shown.why, shown.file.why]).toEqual([
    `it cannot start: ${refused?.why ?? ""}`,
    `it cannot start: ${refused?.why ?? ""}`,
  ]);
  daemon.child.kill("SIGTERM");
  await daemon.ended;
});

test("R-004-35: tickets.unknown_status: Backlog takes an unknown word for Backlog, works on it, and warns", async () => {
  const own = openShort({ "*": [OK] }, { tickets: { unknown_status: "Backlog" } });
  project = own;
  own.ticket(1, { status: "To Do" });
  const ended = await own.passrail(["work", "--once"]);
  expect(ended.code).toBe(0);
  expect(own.status(1)).toBe("Done");
  expect(ended.err).toContain(
    'warning: feature_requests/FR-1/AGI-1.md:5:1: unknown_status: "To Do" is not a ticket status',
  );
  expect(ended.err).toContain("it is taken for Backlog, as settings say");
});

test("R-004-28, R-004-20: spec writes the project's own repository, its tickets start, and one that cannot is told with the reason", async () => {
  const own = openShort({ "*": [OK] });
  project = own;
  const list = [
    'TICKETS:\n- title: "Users"\n  description: |\n    Goal: users.\n    Done when: kept\n',
    '- title: "Elsewhere"\n  description: "b"\n  repo: "else/where"\n',
    '- title: "Nowhere"\n  description: "c"\n  repo: "TBD"\n',
  ].join("");
  const says = own.player({ spec: [{ via: "text", text: list }] });
  const ended = await own.passrail(["spec", "A shop", "--agent", `spec=${says}`]);
  expect(ended).toMatchObject({ code: 0, out: expect.stringContaining("Created 3 ticket(s):") });
  expect(ended.err).toContain("2 tickets cannot start:");
  expect(ended.err).toMatch(/AGI-2 \(.*\): work on the repository "else\/where" is not allowed/u);
  expect(ended.err).toMatch(/AGI-3 \(.*\): repo is "TBD"/u);
  const first = own.read(1);
  expect(first).toContain(`repo: "${basename(own.project)}"\nstatus: Backlog`);
  expect(first.split("Goal: users.")).toHaveLength(2);
  const worked = await own.passrail(["work", "--once"]);
  expect(worked.code).toBe(1);
  expect(own.status(1)).toBe("Done");
  // Where tickets may name several repositories, leaving it open is a choice that nobody made.
  mkdirSync(join(own.dir, "other"));
  own.settings({ "*": [OK] }, { tickets: { flow: "short", repos: { other: join(own.dir, "other") } } });
  const open = await own.passrail(["spec", "More", "--agent", `spec=${says}`, "--json"]);
  const told = JSON.parse(open.out) as { tickets: string[]; cannotStart: { ticket: string; why: string }[] };
  expect(told.cannotStart.map(({ ticket }) => ticket)).toEqual(["AGI-4", "AGI-5", "AGI-6"]);
  const prompt = await own.passrail(["runs", "show", "3", "--attempt", "spec#1", "--prompt"]);
  expect(prompt.out).toContain('`"."` for this project\'s own repository, otherwise one of "other"');
});
