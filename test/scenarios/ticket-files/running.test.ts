// The commands for tickets beside a run that works.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { OK, openProject } from "../ticket-pick/project.ts";
import { until } from "../../harness/until.ts";

vi.setConfig({ testTimeout: 180_000 });

test("a ticket that an agent works on is listed so, and not moved without --force", async () => {
  const own = openProject();
  onTestFinished(() => own.remove());
  const go = join(own.dir, "go");
  own.settings({ "*": [{ ...OK, hold: go }] });
  own.ticket(1);
  const work = own.start(["work"]);
  await until("the first stage works", () => own.status(1) === "Research In Progress" || undefined, 60_000);
  expect((await own.passrail(["ticket", "list"])).out).toContain("\tworking\t");
  const refused = await own.passrail(["ticket", "move", "AGI-1", "Canceled"]);
  expect(refused.err).toContain("code ticket_working");
  expect(refused).toMatchObject({ code: 1 });
  expect(refused.err).toContain("passrail runs cancel");
  expect(own.status(1)).toBe("Research In Progress");
  expect((await own.passrail(["ticket", "show", "AGI-1"])).out).toMatch(/\nrun\tr\S+ \(running\)/u);
  expect((await own.passrail(["ticket", "move", "AGI-1", "Canceled", "--force"])).code).toBe(0);
  work.child.kill("SIGINT");
  writeFileSync(go, "");
  expect((await work.ended).code).toBe(0);
});
