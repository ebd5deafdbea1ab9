// Variants of one thing: built side by side, compared, and one of them chosen.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { until } from "../../harness/until.ts";
import { OK, openHere, openShort, type Project } from "./project.ts";

vi.setConfig({ testTimeout: 120_000 });

let project: Project | undefined;
afterEach(() => {
  project?.remove();
  project = undefined;
});

test("R-004-30, R-004-44: independent variants know which one they are, work on branches of their own, can be compared, and one is chosen", async () => {
  const own = openShort({}, {});
  project = own;
  const checks = { there: ["test", "-f", "made.txt"] };
  own.settings(
    { "*": [OK], implement: [{ ...OK, write: { "made.txt": "one" }, commit: true }] },
    { tickets: { flow: "short" }, checks },
  );
  const git = (...args: readonly string[]) => execFileSync("git", ["-C", own.project, ...args], { encoding: "utf8" });
  const variant = (number: number, name: string) =>
    own.ticket(number, { group: "login", variantHint: `Variant ${number} of 2: ${name}`, status: "Needs Implement" });
  variant(1, "OAuth");
  variant(2, "Email");
  own.ticket(3, { group: "login", variantHint: "Variant 3: later", status: "Blocked" });
  expect((await own.passrail(["work", "--once"])).code).toBe(0);
  expect([own.status(1), own.status(2)]).toEqual(["Done", "Done"]);
  expect([own.key(1, "branch"), own.key(2, "branch")]).toEqual(["feat/login-AGI-1", "feat/login-AGI-2"]);
  expect(git("branch", "--list", "feat/*", "--format=%(refname:short)")).toBe("feat/login-AGI-1\nfeat/login-AGI-2\n");
  for (const stage of ["implement", "validate"])
    expect((await own.passrail(["runs", "show", "1", "--attempt", `${stage}#1`, "--prompt"])).out).toContain(
      "Variant 1 of 2: OAuth",
    );

  const shown = await own.passrail(["ticket", "compare", "login", "--json"]);
  const { variants } = JSON.parse(shown.out) as { variants: readonly Record<string, unknown>[] };
  expect(variants[0]).toMatchObject({
    id: "AGI-1",
    hint: "Variant 1 of 2: OAuth",
    word: "Done",
    branch: "feat/login-AGI-1",
    changes: { files: 1, added: 1, removed: 0 },
    verdicts: [
      { stage: "implement", verdict: expect.any(String) },
      { stage: "validate", verdict: expect.any(String) },
    ],
  });
  expect((await own.passrail(["ticket", "compare", "login"])).out).toMatch(
    /AGI-2\tVariant 2 of 2: Email\tDone\tfeat\/login-AGI-2\t1 files \+1 -0\t.*implement: .*\$0\.00/u,
  );
  expect((await own.passrail(["ticket", "compare", "logn"])).err).toContain('did you mean "login"?');

  // A variant that is Done stays: only what is open is canceled.
  const chosen = await own.passrail(["ticket", "choose", "AGI-2"]);
  expect(chosen).toMatchObject({
    code: 0,
    out: "AGI-2 is chosen.\nAGI-3: Blocked → Canceled. Its branch feat/login-AGI-3 stays.\n",
  });
  expect([own.status(1), own.status(2), own.status(3)]).toEqual(["Done", "Done", "Canceled"]);
  expect((await own.passrail(["ticket", "choose", "3"])).err).toContain("AGI-3 is Canceled");
  own.ticket(4);
  expect((await own.passrail(["ticket", "choose", "4"])).err).toContain("AGI-4 belongs to no group");
});

test("R-004-30: choosing a variant ends the agent that still works on another one; its commits and its unfinished work stay, and nothing of it lands", async () => {
  const own = openShort({}, {});
  project = own;
  const trace = join(own.dir, "trace.jsonl");
  const never = join(own.dir, "never");
  own.settings(
    {
      plan: [{ ...OK, write: { "committed.txt": "kept" }, commit: true }],
      // It has work that it did not commit, and does not end by itself.
      implement: [{ ...OK, write: { "half.txt": "half" }, hold: never, trace }],
      "*": [OK],
    },
    { tickets: { flow: "short" } },
  );
  const git = (...args: readonly string[]) => execFileSync("git", ["-C", own.project, ...args], { encoding: "utf8" });
  const main = git("rev-parse", "HEAD");
  own.ticket(1, { group: "login", variantHint: "OAuth", status: "Needs Plan" });
  own.ticket(2, { group: "login", variantHint: "Email", status: "Blocked" });
  const here = await openHere(own);
  try {
    await until("the agent works on AGI-1", () => (readTrace(trace).includes('"begin"') ? true : undefined), 60_000);
    const chosen = await own.passrail(["ticket", "choose", "AGI-2"]);
    expect(chosen.out).toBe(
      "AGI-2 is chosen.\nAGI-1: Implement In Progress → Canceled. Its branch feat/login-AGI-1 stays.\n",
    );
    const { id } = await here.newestRun("AGI-1");
    const isCanceled = async () => ((await here.newestRun("AGI-1")).status === "canceled" ? true : undefined);
    await until("the run is canceled", isCanceled, 60_000);
    const kept = `refs/passrail/keep/${id}`;
    const isKept = () => (git("for-each-ref", kept) === "" ? undefined : true);
    await until("its work is pinned", isKept, 60_000);
    expect(git("show", `${kept}:half.txt`).trim()).toBe("half");
    expect(git("show", "feat/login-AGI-1:committed.txt").trim()).toBe("kept");
    // The agent never came to its end, and the target is where it was.
    expect(readTrace(trace)).not.toContain('"end"');
    expect(git("rev-parse", "HEAD")).toBe(main);
    expect([own.status(1), own.status(2)]).toEqual(["Canceled", "Blocked"]);

    // Once more changes nothing.
    expect((await own.passrail(["ticket", "choose", "AGI-2"])).out).toBe(
      "AGI-2 is chosen; no other variant is open.\n",
    );
    expect(here.errors).toEqual([]);
  } finally {
    await here.close();
  }
});

function readTrace(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
