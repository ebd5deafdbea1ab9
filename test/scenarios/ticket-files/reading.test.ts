import { execFileSync } from "node:child_process";
import { chmodSync, linkSync, mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { planTickets } from "../../../src/core/ticket/plan.ts";
import type { TicketScan } from "../../../src/core/ticket/ticket.ts";
import { file, project } from "./folder.ts";

const ids = ({ tickets }: TicketScan) => tickets.map(({ id }) => id);
const told = ({ problems }: TicketScan) =>
  problems.map(({ path, code }) => `${path.replace("feature_requests/", "")} ${code}`);
const nobody = { busy: new Set<string>(), busyBranches: new Set<string>() };

test("R-004-33: every FR-*/AGI-*.md is read whatever its status, with the folder as its request", async () => {
  const { write, open } = project();
  write("FR-2/AGI-10.md", file("AGI-10", { status: "Done" }));
  write("FR-10/AGI-9.md", file("AGI-9", { status: "Needs Human Review" }));
  write("FR-1/AGI-2.md", file("AGI-2"));
  const { tickets, problems } = await open().scan();
  expect(problems).toEqual([]);
  expect(tickets.map(({ id, request, status, path }) => [id, request, status, path])).toEqual([
    ["AGI-2", "FR-1", "Backlog", "feature_requests/FR-1/AGI-2.md"],
    ["AGI-9", "FR-10", "Needs Human Review", "feature_requests/FR-10/AGI-9.md"],
    ["AGI-10", "FR-2", "Done", "feature_requests/FR-2/AGI-10.md"],
  ]);
});

test("R-004-42: request_queue and everything that is not called like a ticket is ignored", async () => {
  const { root, write, open } = project();
  mkdirSync(join(root, "request_queue"));
  writeFileSync(join(root, "request_queue", "AGI-1.md"), file("AGI-1"));
  for (const name of [
    "request_queue/AGI-2.md",
    "FR-1/notes.md",
    "FR-1/.AGI-3.md.new",
    "FR-0/AGI-4.md",
    "FR-x/AGI-5.md",
    "AGI-6.md",
    "FR-1/deep/AGI-7.md",
  ])
    write(name, file("AGI-1"));
  expect(await open().scan()).toEqual({ tickets: [], problems: [] });
});

test("a project without the folder has no tickets and no problems", async () => {
  expect(await project().open().scan()).toEqual({ tickets: [], problems: [] });
});

test("a broken file is named with its place and skipped; the others go on", async () => {
  const { write, open } = project();
  write("FR-1/AGI-1.md", "no front matter");
  write("FR-1/AGI-2.md", file("AGI-2"));
  write("FR-1/AGI-3.md", "---\nid: AGI-3\ntitle: a: b\n---\n");
  const scan = await open().scan();
  expect(ids(scan)).toEqual(["AGI-2"]);
  expect(scan.problems).toMatchObject([
    { path: "feature_requests/FR-1/AGI-1.md", code: "ticket_no_frontmatter", line: 1, ticket: "AGI-1" },
    { path: "feature_requests/FR-1/AGI-3.md", code: "yaml_syntax", line: 3, column: 8, ticket: "AGI-3" },
  ]);
});

test("security 50: a ticket with an unknown status is not dispatched and its file stays as it is", async () => {
  const { write, read, open } = project();
  const text = file("AGI-1", { status: "done" });
  write("FR-1/AGI-1.md", text);
  const scan = await open().scan();
  expect(planTickets(scan, nobody).eligible).toEqual([]);
  expect(told(scan)).toEqual(["FR-1/AGI-1.md unknown_status"]);
  expect(read("FR-1/AGI-1.md")).toBe(text);
});

test("the literal fallback is a setting, and the file still stays as it is", async () => {
  const { write, read, open } = project({ unknown_status: "Backlog" });
  write("FR-1/AGI-1.md", file("AGI-1", { status: "Dnoe" }));
  const scan = await open().scan();
  expect(planTickets(scan, nobody).eligible.map(({ id }) => id)).toEqual(["AGI-1"]);
  expect(scan.problems).toMatchObject([{ code: "unknown_status", severity: "warning" }]);
  expect(read("FR-1/AGI-1.md")).toContain("status: Dnoe");
});

test("security 52: one id in two files names both, and neither is started", async () => {
  const { write, open } = project();
  write("FR-1/AGI-1.md", file("AGI-1"));
  write("FR-2/AGI-1.md", file("AGI-1", { status: "Done" }));
  write("FR-2/AGI-2.md", file("AGI-2", { dependsOn: "AGI-1" }));
  const scan = await open().scan();
  expect(told(scan)).toEqual(["FR-1/AGI-1.md duplicate_id", "FR-2/AGI-1.md duplicate_id"]);
  expect(scan.problems[0]?.message).toContain("FR-1/AGI-1.md and feature_requests/FR-2/AGI-1.md");
  expect(planTickets(scan, nobody).eligible).toEqual([]);
});

test("security 53, 54: unknown dependencies and circles are told with their place", async () => {
  const { write, open } = project();
  write("FR-1/AGI-1.md", file("AGI-1", { dependsOn: "[AGI-2, AGI-999]" }));
  write("FR-1/AGI-2.md", file("AGI-2", { dependsOn: "AGI-1" }));
  const { problems } = await open().scan();
  expect(problems).toMatchObject([
    { code: "unknown_dependency", line: 6, column: 20, message: expect.stringContaining("AGI-999") },
    { code: "dependency_cycle", line: 6, column: 13, message: expect.stringMatching(/AGI-\d → AGI-\d → AGI-\d/u) },
    { code: "dependency_cycle", ticket: "AGI-2" },
  ]);
});

describe("security 61: what is not a readable text has a code of its own", () => {
  test("each, and the others go on", async () => {
    const { write, path, root, open } = project();
    write("FR-1/AGI-1.md", file("AGI-1") + "x".repeat(300 * 1024));
    write("FR-1/AGI-2.md", Buffer.alloc(5 * 1024 * 1024, 65));
    write("FR-1/AGI-3.md", Buffer.from([0xff, 0xd8, 0xff, 0x00]));
    write("FR-1/AGI-4.md", `${file("AGI-4")}\0`);
    mkdirSync(path("FR-1/AGI-5.md"));
    execFileSync("mkfifo", [path("FR-1/AGI-6.md")]);
    writeFileSync(join(root, "secret.md"), file("AGI-7"));
    symlinkSync(join(root, "secret.md"), path("FR-1/AGI-7.md"));
    symlinkSync(dirname(path("FR-1/AGI-7.md")), path("FR-2"));
    write("FR-1/AGI-8.md", file("AGI-8"));
    expect(told(await open().scan())).toEqual([
      "FR-2 ticket_is_link",
      "FR-1/AGI-1.md ticket_too_large",
      "FR-1/AGI-2.md ticket_too_large",
      "FR-1/AGI-3.md ticket_not_text",
      "FR-1/AGI-4.md ticket_not_text",
      "FR-1/AGI-5.md ticket_not_a_file",
      "FR-1/AGI-6.md ticket_not_a_file",
      "FR-1/AGI-7.md ticket_is_link",
    ]);
    expect(ids(await open().scan())).toEqual(["AGI-8"]);
  });

  test.skipIf(process.getuid?.() === 0)("a file that may not be read", async () => {
    const { write, path, open } = project();
    write("FR-1/AGI-1.md", file("AGI-1"));
    chmodSync(path("FR-1/AGI-1.md"), 0);
    expect(told(await open().scan())).toEqual(["FR-1/AGI-1.md ticket_unreadable"]);
  });

  test("a folder of tickets that is a link is not read", async () => {
    const other = project();
    other.write("FR-1/AGI-1.md", file("AGI-1"));
    const { root, open } = project();
    symlinkSync(other.path("."), join(root, "feature_requests"));
    expect(await open().scan()).toMatchObject({ tickets: [], problems: [{ code: "tickets_folder_invalid" }] });
  });
});

describe("reading again", () => {
  test("nothing has changed: the very same answer", async () => {
    const { write, open } = project();
    write("FR-1/AGI-1.md", file("AGI-1"));
    write("FR-1/AGI-2.md", "broken");
    const folder = open();
    expect(await folder.scan()).toBe(await folder.scan());
  });

  test("an edit, a new file, a deleted one, a renamed folder", async () => {
    const { write, path, open } = project();
    write("FR-1/AGI-1.md", file("AGI-1"));
    const folder = open();
    await folder.scan();
    write("FR-1/AGI-1.md", file("AGI-1", { status: "Blocked" }));
    write("FR-2/AGI-2.md", file("AGI-2"));
    expect((await folder.scan()).tickets.map(({ id, status }) => `${id} ${status}`)).toEqual([
      "AGI-1 Blocked",
      "AGI-2 Backlog",
    ]);
    rmSync(path("FR-1/AGI-1.md"));
    renameSync(path("FR-2"), path("FR-3"));
    expect((await folder.scan()).tickets.map(({ path: at }) => at)).toEqual(["feature_requests/FR-3/AGI-2.md"]);
  });

  test("an edit of the same length with the same times is seen", async () => {
    const { write, path, open } = project();
    const folder = open();
    const old = new Date("2026-01-01");
    for (const title of ["one", "two", "six"]) {
      write("FR-1/AGI-1.md", file("AGI-1", { title }));
      utimesSync(path("FR-1/AGI-1.md"), old, old);
      expect((await folder.scan()).tickets[0]?.title).toBe(title);
    }
  });

  test("those who ask at once all get what is there", async () => {
    const { write, open } = project();
    write("FR-1/AGI-1.md", file("AGI-1"));
    const folder = open();
    const scans = await Promise.all([folder.scan(), folder.scan(), folder.scan()]);
    expect(scans.map(ids)).toEqual([["AGI-1"], ["AGI-1"], ["AGI-1"]]);
  });
});

describe("R-004-34: a ticket without an id gets one, written back", () => {
  test("the number of its name, and the rest of the file stays", async () => {
    const { write, read, open } = project();
    write("FR-1/AGI-4.md", "---\r\ntitle: x # c\r\nstatus: Backlog\r\nrepo: .\r\n---\r\nBody");
    expect(ids(await open().scan())).toEqual(["AGI-4"]);
    expect(read("FR-1/AGI-4.md")).toBe("---\r\nid: AGI-4\r\ntitle: x # c\r\nstatus: Backlog\r\nrepo: .\r\n---\r\nBody");
  });

  test("a name without a number: the next one over all folders, and the file is named after it", async () => {
    const { write, read, open } = project();
    write("FR-1/AGI-9.md", file("AGI-9"));
    write("FR-2/AGI-login.md", "---\ntitle: Log in\nstatus: Backlog\nrepo: .\n---\n");
    const scan = await open().scan();
    expect(ids(scan)).toEqual(["AGI-9", "AGI-10"]);
    expect(scan.problems).toEqual([]);
    expect(read("FR-2/AGI-10.md")).toBe("---\nid: AGI-10\ntitle: Log in\nstatus: Backlog\nrepo: .\n---\n");
    expect(() => read("FR-2/AGI-login.md")).toThrow("ENOENT");
  });

  test("a name without a number but with an id is told, and left alone", async () => {
    const { write, read, open } = project();
    write("FR-1/AGI-login.md", file("AGI-3"));
    expect(told(await open().scan())).toEqual(["FR-1/AGI-login.md ticket_name"]);
    expect(read("FR-1/AGI-login.md")).toBe(file("AGI-3"));
  });

  test("two readers at once give no number twice", async () => {
    const { write, open } = project();
    for (const name of ["a", "b", "c", "d"])
      write(`FR-1/AGI-${name}.md`, "---\ntitle: x\nstatus: Backlog\nrepo: .\n---\n");
    await Promise.all([open().scan(), open().scan()]);
    const scan = await open().scan();
    expect(scan.problems).toEqual([]);
    expect(scan.tickets).toHaveLength(4);
  });

  test("a crash while a file was named leaves no double", async () => {
    const { write, path, open } = project();
    write("FR-1/AGI-login.md", "---\ntitle: x\nstatus: Backlog\nrepo: .\n---\n");
    linkSync(path("FR-1/AGI-login.md"), path("FR-1/AGI-1.md"));
    const scan = await open().scan();
    expect(scan.problems).toEqual([]);
    expect(ids(scan)).toEqual(["AGI-1"]);
  });
});

test("settings name the folder and the prefixes", async () => {
  const { root, open } = project({ folder: "work/tickets", request_prefix: "REQ", ticket_prefix: "TASK" });
  const folder = join(root, "work/tickets/REQ-1");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "TASK-1.md"), file("TASK-1"));
  expect(ids(await open().scan())).toEqual(["TASK-1"]);
});
