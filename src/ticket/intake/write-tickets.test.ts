import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { parse } from "yaml";
import { ok } from "../../core/result.ts";
import type { BuiltinContext } from "../../attempt/builtins.ts";
import { openTicketFolder } from "../file/open-folder.ts";
import { ticketSettings } from "../../settings/tickets.ts";
import { createWriteTickets } from "./write-tickets.ts";

let project: string;
beforeEach(() => {
  project = mkdtempSync(join(tmpdir(), "passrail-write-"));
});
afterEach(() => rmSync(project, { recursive: true }));

const settings = ticketSettings([{ folder: "work/requests", request_prefix: "REQ", ticket_prefix: "SHOP" }]);
const write = createWriteTickets(async () => openTicketFolder({ project, settings }));
/** The part of the builtin's context that it uses. */
const context = (text: string | null, runId = "r0000000001") =>
  ({
    run: { id: runId },
    stage: { settings: {} },
    project,
    attempts: text === null ? [] : [{ status: "done", outcome: { payload: { text } } }],
    readYaml: (yaml: string) => ok(parse(yaml) as unknown),
  }) as unknown as BuiltinContext;

test("R-004-26: the folder and the prefixes are the settings'; a crash after writing does not write twice", async () => {
  const list = '- title: a\n- title: b\n  dependsOn: ["#1"]\n';
  const first = await write(context(list));
  expect(first).toMatchObject({
    payload: { paths: ["work/requests/REQ-1/SHOP-1.md", "work/requests/REQ-1/SHOP-2.md"] },
  });
  expect(await write(context(list))).toEqual(first);
  expect(readdirSync(join(project, "work/requests")).filter((name) => name.startsWith("REQ-"))).toEqual(["REQ-1"]);
  expect(readFileSync(join(project, "work/requests/REQ-1/SHOP-2.md"), "utf8")).toContain("SHOP-1");
  const other = await write(context(list, "r0000000002"));
  expect(other).toMatchObject({
    payload: { paths: ["work/requests/REQ-2/SHOP-3.md", "work/requests/REQ-2/SHOP-4.md"] },
  });
});

test("R-004-23: without a list, or with one that does not hold, nothing is written", async () => {
  expect(await write(context(null))).toMatchObject({ cause: "tickets_missing" });
  expect(await write(context("- title: ''"))).toMatchObject({ cause: "tickets_invalid" });
  expect(readdirSync(project)).toEqual([]);
});

test("R-004-28: a ticket without a repository gets the project's own, or TBD where tickets may name several; a dot is the project's own", async () => {
  const repos = async (list: string, allowed: Readonly<Record<string, string>>, run: string) => {
    const folder = openTicketFolder({ project, settings: ticketSettings([{ repos: allowed }]) });
    const { payload } = await createWriteTickets(async () => folder)(context(list, run));
    const paths = (payload as { paths: readonly string[] }).paths;
    return paths.map((path) => /^repo: "(.*)"$/mu.exec(readFileSync(join(project, path), "utf8"))?.[1]);
  };
  const own = basename(project);
  const list = '- title: a\n- title: b\n  repo: ""\n- title: c\n  repo: "."\n- title: d\n  repo: TBD\n';
  expect(await repos(list, {}, "r0000000001")).toEqual([own, own, own, "TBD"]);
  expect(await repos(list, { other: "/x" }, "r0000000002")).toEqual(["TBD", "TBD", own, "TBD"]);
});
