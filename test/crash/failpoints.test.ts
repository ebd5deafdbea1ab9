// The program ends itself at every named place between "persisted" and "performed", the first, second and third time it passes there;
// then it is started again and everything must have held. Random kills rarely hit these places: here each of them is hit. One life has
// all three crashes where it passes the place often enough after them, because a life without a crash proves nothing.

import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { FAILPOINTS, type Failpoint } from "../../src/attempt/failpoint.ts";
import { closeStage, drive, openStage, remoteOf } from "./drive.ts";
import { type Ending, inspect } from "./invariants.ts";
import { endings, scenarioOf } from "./seeds.ts";

type Try = {
  readonly scenario: string /** A crash that must come first for the place to be passed. */;
  readonly before?: string;
  /** Each attempt in a process of its own. */
  readonly own?: boolean;
};

/** Where a place is passed often enough; the first scenario is enough for most. */
const TRIES: readonly Try[] = [{ scenario: "feature" }, { scenario: "several" }];
const OWN_TRIES: Partial<Record<Failpoint, readonly Try[]>> = {
  // Between the store's knowledge of a carrier, its order, and its work.
  "carrier-noted": [{ scenario: "feature", own: true }],
  "carrier-started": [{ scenario: "feature", own: true }],
  // Only where each stage has a workspace of its own.
  "stage-workspace-closed": [{ scenario: "staged" }],
  "check-started": [{ scenario: "checked" }],
  "check-ended": [{ scenario: "checked" }],
  "work-undone": [{ scenario: "checked" }],
  // Only where work lands: three runs, one act each.
  "outward-intended": [{ scenario: "landing" }],
  "outward-done": [{ scenario: "landing" }],
  "outward-seen": [{ scenario: "landing" }],
  // Two tracks, joined once, and once more after the tester's bounce.
  "track-joined": [{ scenario: "complex" }],
  // Two tracks were running when the engine died.
  "interrupt-committed": [{ scenario: "complex", before: "process-noted:2" }],
};
/** How often each place must have been reached at least; more is tried, and checked where it is reached. */
const AT_LEAST: Partial<Record<Failpoint, number>> = {
  "workspace-released": 2,
  "interrupt-committed": 2,
  "stage-workspace-closed": 2,
  "work-undone": 1,
};

/** Only some of the places, for a second store: those where a commit is followed by an act. */
const SOME = process.env["PASSRAIL_CRASH_POINTS"]?.split(",");
const PLACES = FAILPOINTS.filter((name) => SOME?.includes(name) ?? true);
const ALL = ["feature", "several", "complex", "staged", "landing", "delivered", "checked"];
const NEEDED = new Set(PLACES.flatMap((name) => (OWN_TRIES[name] ?? TRIES).map(({ scenario }) => scenario)));

/** Left out where only some of the places are tried. */
const whole = (...cases: readonly string[]): readonly string[] => (SOME === undefined ? cases : []);

let expected: ReadonlyMap<string, Ending>;
beforeAll(async () => {
  expected = await endings(SOME === undefined ? ALL : NEEDED);
}, 240_000);

for (const name of PLACES) {
  test.concurrent(`R-X-05, R-000-16, R-001-40: killed at ${name}, the run goes on as if nothing had happened`, {
    // Several of these share the machine with other files.
    timeout: 400_000,
  }, async () => {
    const tries = OWN_TRIES[name] ?? TRIES;
    const tooShort = new Set<Try>();
    let reached = 0;
    let life: Life | undefined;
    for (let nth = 1; nth <= 3; nth++) {
      if (life !== undefined && (await life.crashAt(`${name}:${nth}`))) {
        reached = nth;
        continue;
      }
      await life?.end();
      life = undefined;
      for (const attempt of tries.filter((each) => !tooShort.has(each))) {
        const fresh = await beginLife(attempt);
        if (await fresh.crashAt(`${name}:${nth}`)) {
          [life, reached] = [fresh, nth];
          break;
        }
        tooShort.add(attempt);
        await fresh.end();
      }
    }
    await life?.end();
    expect(reached, `how often ${name} was reached`).toBeGreaterThanOrEqual(AT_LEAST[name] ?? 3);
  });
}

test.each(whole("staged"))(
  "R-X-05: killed between the folder of a workspace and its note, the branch is free again afterwards (%s)",
  {
    timeout: 120_000,
  },
  async (name) => {
    const stage = openStage(scenarioOf(name));
    try {
      expect(await drive(stage, { failpoint: "workspace-opened:2" })).toMatchObject({ end: "killed" });
      // The note is written right after the folder is made: without it everything is as if the crash had come in between.
      rmSync(join(stage.home, "workspaces"), { recursive: true });
      expect(await drive(stage)).toMatchObject({ end: "settled" });
      expect((await inspect(stage, expected.get("staged"))).violations).toEqual([]);
    } finally {
      await closeStage(stage);
    }
  },
);

test.each(whole("staged", "complex"))(
  "S07: killed between the commit of a stage's work and its record, the commit is neither lost nor doubled (%s)",
  { timeout: 120_000 },
  async (name) => {
    const stage = openStage(scenarioOf(name));
    try {
      expect(await drive(stage, { failpoint: "stage-work-committed:2" })).toMatchObject({ end: "killed" });
      const [run] = stage.scenario.runs;
      const branch = run?.branch ?? `passrail/${run?.runId}`;
      const log = (format: string): string[] =>
        execFileSync("git", ["log", `--format=${format}`, branch], { cwd: stage.project, encoding: "utf8" }).split(
          "\n",
        );
      const before = log("%H").filter((id) => id !== "");
      expect(await drive(stage)).toMatchObject({ end: "settled" });
      expect((await inspect(stage, expected.get(name))).violations).toEqual([]);
      const after = log("%H");
      for (const id of before) expect(after).toContain(id);
      const own = log("%s %T").filter((line) => /^\S+: /u.test(line));
      expect(new Set(own).size).toBe(own.length);
    } finally {
      await closeStage(stage);
    }
  },
);

test.each(
  whole(
    "track-joined:1",
    "track-joined:2",
    "answer-committed:2",
    "outward-intended:1",
    "outward-done:1",
    "outward-seen:1",
    "workspace-released:1",
  ),
)(
  "R-002-23, R-X-05: a build plan killed at %s is delivered once, with the work of both tracks",
  {
    timeout: 180_000,
  },
  async (failpoint) => {
    const stage = openStage(scenarioOf("delivered"));
    try {
      expect(await drive(stage, { failpoint })).toMatchObject({ end: "killed" });
      expect(await drive(stage)).toMatchObject({ end: "settled" });
      expect((await inspect(stage, expected.get("delivered"))).violations).toEqual([]);
      const files = execFileSync("git", ["-C", remoteOf(stage.dir), "ls-tree", "--name-only", "main"], {
        encoding: "utf8",
      });
      for (const name of ["be.txt", "fe.txt", "rdelivered.txt"]) expect(files.split("\n")).toContain(name);
    } finally {
      await closeStage(stage);
    }
  },
);

type Life = {
  /** Whether it was killed there; else everything is settled. */
  crashAt(failpoint: string): Promise<boolean>;
  /** Starts it once more unless it is settled, and looks at what has become of everything. */
  end(): Promise<void>;
};

async function beginLife({ scenario, before, own = false }: Try): Promise<Life> {
  const stage = openStage(scenarioOf(scenario));
  const crashes: string[] = [];
  let isSettled = false;
  const crashAt = async (failpoint: string): Promise<boolean> => {
    crashes.push(failpoint);
    const crashed = await drive(stage, { failpoint, own });
    if (crashed.end === "failed") {
      await closeStage(stage);
      throw new Error(`${scenario} failed at ${crashes.join(", ")}: ${crashed.output}`);
    }
    isSettled = crashed.end === "settled";
    return crashed.end === "killed";
  };
  if (before !== undefined) expect(await crashAt(before)).toBe(true);
  return {
    crashAt,
    async end() {
      try {
        if (!isSettled) expect(await drive(stage, { own })).toMatchObject({ end: "settled" });
        const { violations } = await inspect(stage, expected.get(scenario));
        expect(violations, `${scenario} after ${crashes.join(", ")}`).toEqual([]);
      } finally {
        await closeStage(stage);
      }
    },
  };
}
