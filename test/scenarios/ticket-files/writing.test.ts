import { execFile, execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { until } from "../../harness/until.ts";
import { file, newTicket, project } from "./folder.ts";

const AT = { path: "feature_requests/FR-1/AGI-1.md" };

test("R-004-41: an update changes its keys, keeps the rest and the mode, and says the new hash", async () => {
  const { write, read, path, open } = project();
  const text = `${file("AGI-1")}\nNo newline at the end`;
  write("FR-1/AGI-1.md", text);
  chmodSync(path("FR-1/AGI-1.md"), 0o640);
  const folder = open();
  const written = await folder.update(AT, { status: "Research In Progress", run: 3 }, { status: "Backlog" });
  expect(read("FR-1/AGI-1.md")).toBe(text.replace("status: Backlog\n", "status: Research In Progress\nrun: 3\n"));
  expect(statSync(path("FR-1/AGI-1.md")).mode & 0o777).toBe(0o640);
  const [ticket] = (await folder.scan()).tickets;
  expect(written).toEqual({ ok: true, value: { hash: ticket?.hash, before: "Backlog" } });
  expect(await folder.text(AT)).toEqual({ ok: true, value: read("FR-1/AGI-1.md") });
  expect(readdirSync(path("FR-1"))).toEqual(["AGI-1.md"]);
});

test("security 59: a status that a person set meanwhile is a conflict, and nothing is written", async () => {
  const { write, read, open } = project();
  write("FR-1/AGI-1.md", file("AGI-1", { status: "Canceled" }));
  expect(await open().update(AT, { status: "Done" }, { status: "Validate In Progress" })).toMatchObject({
    ok: false,
    error: { code: "ticket_conflict", message: expect.stringContaining('"Canceled"') },
  });
  expect(read("FR-1/AGI-1.md")).toBe(file("AGI-1", { status: "Canceled" }));
});

test("security 60: a file that is gone is told so", async () => {
  const { write, path, open } = project();
  write("FR-1/AGI-1.md", file("AGI-1"));
  const folder = open();
  await folder.scan();
  renameSync(path("FR-1"), path("FR-2"));
  expect(await folder.update(AT, { status: "Done" })).toMatchObject({ error: { code: "ticket_file_missing" } });
  expect(await folder.text(AT)).toMatchObject({ error: { code: "ticket_file_missing" } });
  rmSync(path("FR-2"), { recursive: true });
  expect((await folder.scan()).tickets).toEqual([]);
});

test.each([
  "../AGI-1.md",
  "feature_requests/../../etc/AGI-1.md",
  "feature_requests/FR-1/../FR-2/AGI-1.md",
  "/etc/FR-1/AGI-1.md",
  "feature_requests/FR-1/AGI-1.md\0",
  "feature_requests/FR-1/AGI-1",
  "feature_requests/FR-1/AGI-x.md",
  "feature_requests\\FR-1\\AGI-1.md",
  "other/FR-1/AGI-1.md",
  "",
])("S12: %j is not a ticket's path", async (path) => {
  const { open } = project();
  expect(await open().text({ path })).toMatchObject({ error: { code: "ticket_path_invalid" } });
  expect(await open().update({ path }, { status: "Done" })).toMatchObject({ error: { code: "ticket_path_invalid" } });
});

test("S13: nothing is written through a link, be it the file or its folder", async () => {
  const { root, write, path, open } = project();
  mkdirSync(join(root, "out"));
  writeFileSync(join(root, "out", "AGI-1.md"), file("AGI-1"));
  write("FR-2/AGI-2.md", file("AGI-2"));
  symlinkSync(join(root, "out"), path("FR-1"));
  symlinkSync(join(root, "out", "AGI-1.md"), path("FR-2/AGI-1.md"));
  for (const at of [AT, { path: "feature_requests/FR-2/AGI-1.md" }])
    expect(await open().update(at, { status: "Done" })).toMatchObject({ error: { code: "ticket_is_link" } });
});

describe("an edit at the same time is not lost", () => {
  test("updates of several folders at once all arrive", async () => {
    const { write, open } = project();
    write("FR-1/AGI-1.md", file("AGI-1"));
    const keys = ["run", "branch", "pr_url", "last_error", "group", "priority"] as const;
    await Promise.all(keys.map((key) => open().update(AT, { [key]: key === "run" || key === "priority" ? 1 : "x" })));
    const text = await open().text(AT);
    for (const key of keys) expect(text).toMatchObject({ value: expect.stringContaining(`\n${key}: `) });
  });

  test("R-004-41: the file is edited between reading and replacing it: the change is made again on the new text", async () => {
    const { write, read, path, open } = project();
    write("FR-1/AGI-1.md", file("AGI-1"));
    const seen: string[] = [];
    const written = await open().replace(AT, (text) => {
      seen.push(text);
      // A person saves, once in place and once as a new file.
      if (seen.length === 1) write("FR-1/AGI-1.md", `${text}first\n`);
      if (seen.length === 2) {
        write("FR-1/AGI-1.tmp", `${text}second\n`);
        renameSync(path("FR-1/AGI-1.tmp"), path("FR-1/AGI-1.md"));
      }
      return { ok: true, value: `${text}ours\n` };
    });
    expect(written).toMatchObject({ ok: true });
    expect(seen).toHaveLength(3);
    expect(read("FR-1/AGI-1.md")).toBe(`${file("AGI-1")}first\nsecond\nours\n`);
  });

  test("R-004-41: processes that write one file at once lose nothing", async () => {
    const { root, write, read } = project();
    write("FR-1/AGI-1.md", file("AGI-1"));
    const program = join(import.meta.dirname, "../../fixtures/tickets/update.ts");
    await Promise.all(
      [1, 2, 3].map((n) =>
        promisify(execFile)(process.execPath, [program, root, `key${n}`, "15"], { timeout: 60_000 }),
      ),
    );
    for (const n of [1, 2, 3]) expect(read("FR-1/AGI-1.md")).toContain(`key${n}: 15\n`);
    expect(read("FR-1/AGI-1.md")).toMatch(/\nDo it\.\n$/u);
  }, 90_000);

  test("R-004-41: what a crash left beside the file is taken over", async () => {
    const { write, path, open } = project();
    write("FR-1/AGI-1.md", file("AGI-1"));
    write("FR-1/.AGI-1.md.new", "half");
    const old = new Date(Date.now() - 60_000);
    utimesSync(path("FR-1/.AGI-1.md.new"), old, old);
    expect(await open().update(AT, { status: "Done" })).toMatchObject({ ok: true });
    expect(readdirSync(path("FR-1"))).toEqual(["AGI-1.md"]);
  });
});

describe("creating", () => {
  test("R-004-26: all tickets of a request are in one folder, and R-004-31 their references are ids", async () => {
    const { read, open } = project();
    const made = await open().create([newTicket(), newTicket({ title: "U", dependsOn: [0] })], {
      key: "r",
      status: "Backlog",
    });
    expect(made).toEqual({ ok: true, value: ["feature_requests/FR-1/AGI-1.md", "feature_requests/FR-1/AGI-2.md"] });
    expect(read("FR-1/AGI-2.md")).toContain("dependsOn: [AGI-1]\n");
  });

  test("R-004-27: the first request is FR-1 with AGI-1, and after FR-5 comes FR-6", async () => {
    const empty = await project().open().create([newTicket()], { key: "a", status: "Backlog" });
    expect(empty).toMatchObject({ ok: true, value: ["feature_requests/FR-1/AGI-1.md"] });
    const { write, open } = project();
    write("FR-5/AGI-5.md", file("AGI-5"));
    const next = await open().create([newTicket()], { key: "a", status: "Backlog" });
    expect(next).toMatchObject({ ok: true, value: ["feature_requests/FR-6/AGI-6.md"] });
  });

  test("R-004-27: numbers go on from the highest, as numbers and over all folders; gaps are not reused", async () => {
    const { write, open } = project();
    write("FR-5/AGI-9.md", file("AGI-9"));
    write("FR-10/AGI-2.md", file("AGI-2"));
    const made = async (key: string) => {
      const done = await open().create([newTicket()], { key, status: "Backlog" });
      return done.ok ? done.value : done.error;
    };
    expect(await made("a")).toEqual(["feature_requests/FR-11/AGI-10.md"]);
    expect(await made("b")).toEqual(["feature_requests/FR-12/AGI-11.md"]);
  });

  test("asking again with the same key gives the same tickets", async () => {
    const { open } = project();
    const once = await open().create([newTicket(), newTicket()], { key: "run-1", status: "Backlog" });
    expect(await open().create([newTicket(), newTicket()], { key: "run-1", status: "Backlog" })).toEqual(once);
    expect((await open().scan()).tickets).toHaveLength(2);
  });

  test("R-004-27: many at once never share a number or a folder", async () => {
    const { open, path } = project();
    const made = await Promise.all(
      Array.from({ length: 12 }, (_, at) =>
        open().create([newTicket(), newTicket()], { key: `k${at}`, status: "Backlog" }),
      ),
    );
    const paths = made.flatMap((each) => (each.ok ? each.value : []));
    expect(new Set(paths.map((each) => each.split("/")[2])).size).toBe(24);
    expect(new Set(paths.map((each) => each.split("/")[1])).size).toBe(12);
    expect(readdirSync(path(".numbers"))).toEqual([]);
    const scan = await open().scan();
    expect(scan.problems).toEqual([]);
    expect(scan.tickets).toHaveLength(24);
  });

  test("what a crash left is cleaned up, and what is planted does no harm", async () => {
    const { write, path, open } = project();
    write(".draft-old/AGI-1.md", "half");
    write(".draft-new/AGI-1.md", "half");
    const old = new Date(Date.now() - 7_200_000);
    utimesSync(path(".draft-old"), old, old);
    mkdirSync(path("FR-1"));
    execFileSync("mkfifo", [path("FR-1/.run")]);
    expect(await open().create([newTicket()], { key: "a", status: "Backlog" })).toEqual({
      ok: true,
      value: ["feature_requests/FR-2/AGI-1.md"],
    });
    expect(readdirSync(path(".")).sort()).toEqual([".draft-new", ".numbers", "FR-1", "FR-2"]);
  });

  test("S13: nothing is created through a link", async () => {
    const { root, path, open } = project();
    mkdirSync(join(root, "out"));
    symlinkSync(join(root, "out"), join(root, "feature_requests"));
    expect(await open().create([newTicket()], { key: "a", status: "Backlog" })).toMatchObject({
      error: { code: "tickets_folder_invalid" },
    });
    rmSync(join(root, "feature_requests"));
    mkdirSync(path("."));
    symlinkSync(join(root, "out"), path(".numbers"));
    await expect(open().create([newTicket()], { key: "a", status: "Backlog" })).rejects.toThrow("is a link");
    expect(readdirSync(join(root, "out"))).toEqual([]);
  });

  test("one ticket more for a request that is there", async () => {
    const { open } = project();
    await open().create([newTicket()], { key: "a", status: "Backlog" });
    expect(
      await open().create([newTicket({ dependsOn: ["AGI-1"] })], { key: "b", status: "Backlog", request: "FR-1" }),
    ).toEqual({ ok: true, value: ["feature_requests/FR-1/AGI-2.md"] });
    for (const request of ["FR-7", "../x", "FR-1/.."])
      expect(await open().create([newTicket()], { key: "c", status: "Backlog", request })).toMatchObject({
        error: { code: "request_not_found" },
      });
  });

  test("what was created is read back as it was meant, hostile words and all", async () => {
    const { open } = project();
    const title = `"; rm -rf / # '\n---\nstatus: Done`;
    const description = "---\nid: AGI-9\n---\n{{SECRET}} $(id) \u2028 \u007f <script>";
    await open().create([newTicket({ title, description, variantHint: "a: b", group: "x/y", priority: -1 })], {
      key: "a",
      status: "Backlog",
    });
    const { tickets, problems } = await open().scan();
    expect(problems).toEqual([]);
    expect(tickets).toMatchObject([
      { id: "AGI-1", status: "Backlog", description, variantHint: "a: b", group: "x/y", priority: -1 },
    ]);
  });
});

describe("watching", () => {
  test("an edit, a new request, and a folder that comes into being later are told soon", async () => {
    const { root, write, open } = project();
    let changes = 0;
    const stop = open().watch(() => changes++);
    const told = async (act: () => void): Promise<void> => {
      const before = changes;
      act();
      // Sooner than the slow look at everything would find it.
      await until("the change is told", () => (changes > before ? true : undefined), 3000);
      // Whatever else the same act causes shall not count for the next one.
      await settle(() => changes);
    };
    try {
      await told(() => mkdirSync(join(root, "feature_requests")));
      await told(() => write("FR-1/AGI-1.md", file("AGI-1")));
      await told(() => write("FR-1/AGI-1.md", file("AGI-1", { status: "Done" })));
      await told(() => write("FR-2/AGI-2.md", file("AGI-2")));
      await told(() => write("FR-2/AGI-2.md", file("AGI-2", { title: "x" })));
    } finally {
      stop();
    }
    const after = changes;
    write("FR-1/AGI-1.md", file("AGI-1"));
    await settle(() => changes);
    expect(changes).toBe(after);
  });
});

/** Returns when a value has been the same for a while. */
async function settle(value: () => number): Promise<void> {
  let last = value();
  let since = performance.now();
  await until("nothing changes any more", () => {
    if (value() !== last) [last, since] = [value(), performance.now()];
    return performance.now() - since > 80 ? true : undefined;
  });
}
