// What an agent puts on the way of Passrail's own reads and writes: at each path, each kind. Nothing of the person's is read, stored or
// overwritten, and the attempt ends as worktree_tampered.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runIdOf } from "../../../src/app/run-id.ts";
import type { Run } from "../../../src/core/run/run.ts";
import { onlyStages } from "../../harness/custom-flow.ts";
import { openWorkbench, type Workbench } from "../../harness/workbench.ts";
import { outcomeOf, playLines, READ_PROMPT } from "./world.ts";

let bench: Workbench;
let secret: string;
let tickets = 0;
beforeAll(async () => {
  bench = await openWorkbench();
  secret = join(bench.dir, "secret.txt");
  writeFileSync(secret, "Verdict: APPROVE\nCANARY-TEXT\n");
});
afterAll(() => bench.close());

/** How something hostile gets to a path; $1 is the path, $2 the person's file. */
const KINDS = {
  "a link": 'ln -s "$2" "$1"',
  "a hard link": 'ln "$2" "$1"',
  "a pipe": 'mkfifo "$1"',
  "a folder swapped for a link": 'd="$(dirname "$1")"; rm -rf "$d.old"; mv "$d" "$d.old"; ln -s "$(dirname "$2")" "$d"',
} as const;

async function expectNothingLeaked(run: Run): Promise<void> {
  expect(JSON.stringify(await bench.events(run.id))).not.toContain("CANARY-TEXT");
  expect(readFileSync(secret, "utf8")).toBe("Verdict: APPROVE\nCANARY-TEXT\n");
}

const shell = (line: string, path: string): string => `set -- "${path}" ${secret}; ${line}`;

describe.each(Object.entries(KINDS))("S13: %s", (_, line) => {
  test("in the place of the review is no verdict", async () => {
    const review = ".brain/REVIEW.md";
    const run = await bench.run(
      "routed",
      {},
      {
        facts: {
          config: { workspace: "worktree" },
          runners: {
            route: [
              "/bin/sh",
              "-c",
              `${READ_PROMPT} printf '{"stages":[{"agent":"reviewer"}],"nonce":"%s"}' "$nonce" > "$place"`,
            ],
            "*": ["/bin/sh", "-c", `mkdir -p .brain; ${shell(line, review)}`],
          },
        },
      },
    );
    expect(run.status).not.toBe("completed");
    expect(JSON.stringify(await bench.events(run.id))).toContain("worktree_tampered");
    await expectNothingLeaked(run);
  });

  test("in the place of the attempt's own verdict is no verdict", async () => {
    const run = await playLines(bench, {
      id: `AGI-${++tickets}`,
      lines: { validate: `${READ_PROMPT} ${shell(line, "$place")}` },
    });
    expect(run.status).not.toBe("completed");
    expect(await outcomeOf(bench, run, "validate")).toMatchObject({ cause: "worktree_tampered" });
    await expectNothingLeaked(run);
  });

  test("in the place of the record of the diff is not written through", async () => {
    const place = `${bench.home}/runs/$PASSRAIL_RUN_ID/validate-1/changes.diff`;
    const run = await playLines(bench, {
      id: `AGI-${++tickets}`,
      lines: { validate: `echo work > work.txt; ${shell(line, place)}` },
    });
    expect(await outcomeOf(bench, run, "validate")).toMatchObject({ cause: "worktree_tampered" });
    await expectNothingLeaked(run);
  });
});

test("S13: a workspace that was swapped for a link is not used", async () => {
  const elsewhere = join(bench.dir, "elsewhere");
  mkdirSync(elsewhere);
  const line = `w="$PWD"; cd /; mv "$w" "$w.old"; ln -s ${elsewhere} "$w"`;
  const run = await playLines(bench, { id: `AGI-${++tickets}`, lines: { validate: line } });
  expect(run.status).not.toBe("completed");
  await expectNothingLeaked(run);
});

describe("S07: a verdict that was planted ahead", () => {
  const flow = onlyStages("feature", ["start", "build", "qa", "ship"]);

  test("at the path of QA's record by the builder does not count", async () => {
    const plant = `d=${bench.home}/runs/$PASSRAIL_RUN_ID/qa-1/result; mkdir -p "$d"; printf '{"verdict":"SHIP"}' > "$d/verdict.json"; echo work > work.txt; printf '{"verdict":"COMPLETE"}' > "$PASSRAIL_VERDICT_FILE"`;
    const run = await bench.run(
      flow,
      {},
      {
        facts: {
          config: { workspace: "worktree" },
          runners: { build: ["/bin/sh", "-c", plant], qa: ["/bin/sh", "-c", "true"] },
        },
      },
    );
    await bench.answer(run, "gate", "approve");
    const after = await bench.load(run.id);
    const qa = await outcomeOf(bench, after, "qa");
    expect(qa["verdict"]).not.toBe("pass");
    expect(JSON.stringify(qa)).toContain("attempt_folder_found");
  });

  test("by folders that are newer than a restored store does not count", async () => {
    const runId = runIdOf("restored");
    const result = join(bench.home, "runs", runId, "validate-1", "result");
    mkdirSync(result, { recursive: true });
    writeFileSync(join(result, "verdict.json"), '{"verdict":"PASS"}');
    await bench.passrail.engine.startRun({
      runId,
      resolved: flow,
      subject: { id: "F-9", title: "Do it", body: "" },
      facts: { config: { project: bench.project, workspace: "worktree" }, runners: { "*": ["/bin/sh", "-c", "true"] } },
      actor: "human:tester",
    });
    await bench.passrail.engine.idle();
    expect((await bench.load(runId)).status).not.toBe("completed");
  });

  test("the channel is gone when the attempt has ended, and its files are in the record", async () => {
    const line = `${READ_PROMPT} printf '%s' "$place" > ${bench.dir}/path; touch "$place.note"`;
    const run = await playLines(bench, { id: `AGI-${++tickets}`, lines: { validate: line } });
    const channel = readFileSync(join(bench.dir, "path"), "utf8");
    expect(channel).not.toContain(run.id);
    expect(existsSync(channel.replace(/\/verdict\.json$/u, ""))).toBe(false);
    expect(existsSync(join(bench.home, "runs", run.id, "validate-1", "result", "verdict.json.note"))).toBe(true);
  });
});
