// Why something is or is not at work, as the command tells it.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { until } from "../../harness/until.ts";
import { OK, type Opened, openHere, openShort, type Project } from "./project.ts";

let project: Project | undefined;
let here: Opened | undefined;
afterEach(async () => {
  await here?.close();
  project?.remove();
  [project, here] = [undefined, undefined];
});

type Told = {
  readonly reasons: readonly { readonly code: string; readonly text: string; readonly commands: string[] }[];
};

async function explain(own: Project, what: string): Promise<Told["reasons"]> {
  const { out, err, code } = await own.passrail(["explain", what, "--json"]);
  expect({ err, code }).toEqual({ err: "", code: 0 });
  return (JSON.parse(out) as Told).reasons;
}

test("a ticket waits for others, for its branch, for a slot or for a person, and each is said with what helps", async () => {
  const own = openShort({});
  project = own;
  const gate = join(own.dir, "go");
  const fails = { via: "text", text: "boom", exit: 3 };
  own.settings({ "*": [{ ...OK, hold: gate }], validate: [fails] }, { tickets: { flow: "short" } });
  own.ticket(1, { status: "Needs Plan", group: "one", priority: 1 });
  own.ticket(2, { status: "Needs Plan", priority: 2 });
  own.ticket(3, { dependsOn: ["AGI-1", "AGI-99"] });
  own.ticket(4, { group: "one" });
  const opened = await openHere(own, { slots: 1 });
  here = opened;
  await until("the first works", () => own.status(1) === "Plan In Progress" || undefined);
  const text = (reasons: Told["reasons"]) => reasons.map((each) => each.text).join("\n");
  expect(text(await explain(own, "AGI-1"))).toContain("plan attempt 1 is on record as running");
  const second = await explain(own, "agi-2");
  expect(second).toContainEqual(expect.objectContaining({ code: "slots" }));
  const third = await explain(own, "AGI-3");
  expect(text(third)).toContain("depends on AGI-1: Plan In Progress");
  expect(text(third)).toContain("depends on AGI-99: unknown dependency");
  expect(third[0]?.commands).toContain("passrail explain AGI-1");
  expect(text(await explain(own, "AGI-4"))).toContain("AGI-1 works on the same branch (feat/one)");
  const { id } = await opened.newestRun("AGI-2");
  expect(text(await explain(own, id))).toContain("AGI-2");
});

test("a blocked ticket names its error and the command that goes on, and one that nobody picks says so", async () => {
  const own = openShort({ "*": [{ via: "text", text: "boom", exit: 3 }] });
  project = own;
  own.ticket(1, { status: "Needs Validate" });
  expect(await explain(own, "AGI-1")).toContainEqual(
    expect.objectContaining({ code: "nobody", commands: ["passrail work"] }),
  );
  expect((await own.passrail(["work", "--once"])).code).toBe(5);
  const reasons = await explain(own, "AGI-1");
  expect(reasons[0]).toMatchObject({ code: "intervention" });
  expect(reasons).toContainEqual(
    expect.objectContaining({ code: "stopped", commands: expect.arrayContaining(["passrail runs retry 1"]) }),
  );
  const plain = await own.passrail(["explain", "AGI-1"]);
  expect(plain.out).toContain("    passrail runs retry 1");
  const unknown = await own.passrail(["explain", "AGI-2"]);
  expect(unknown.code).toBe(1);
  expect(unknown.err).toContain("Did you mean AGI-1?");
});

test("a stage that is played outside is not called ready to start", async () => {
  const own = openShort({});
  project = own;
  writeFileSync(join(own.project, "passrail.yaml"), "{}");
  const { out } = await own.passrail(["run", "short", "Do it", "--agent", "*=outside", "--json"]);
  const last = JSON.parse(out.trim().split("\n").at(-1) ?? "") as { why: string; id: string };
  expect(last.why).toBe("plan waits for an agent outside to take it (worker)");
  expect((await explain(own, last.id)).map(({ code }) => code)).toContain("outside");
});
