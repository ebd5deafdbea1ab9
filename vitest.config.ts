import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { contractTests } from "./test/contract/installed.ts";
import { PROGRAM_FOLDER } from "./test/harness/program.ts";

/**
 * The longest begin first, so that no long file starts when the others are done. Before all others come those with a process of their own:
 * a shared process is kept only if the next file can use it.
 */
const LONGEST = [
  "test/chaos/",
  "test/crash/failpoints",
  "test/crash/",
  "test/docs/",
  "test/mutants/",
  "test/contract/opencode",
  "test/contract/gemini",
  "test/scenarios/cli/cli.test",
  "test/browser/dashboard-tickets",
  "test/browser/dashboard-pages",
  "test/scenarios/sandbox/",
  "test/scenarios/build-plan/",
  "test/contract/",
  "test/browser/",
  "test/scenarios/worker/",
  "test/scenarios/engine/",
  "test/scenarios/ticket-land/",
  "test/scenarios/trust/",
  "test/scenarios/checks/",
  "test/scenarios/cli/",
  "test/scenarios/daemon/",
  "test/scenarios/ticket-files/",
  "test/scenarios/workspace/",
  "test/scenarios/upgrade/",
  "test/scenarios/",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const found = LONGEST.findIndex((part) => moduleId.includes(part));
      return found === -1 ? LONGEST.length : found;
    };
    const sorted = await super.sort(files);
    return sorted.toSorted((one, other) => rank(one) - rank(other));
  }
}

/**
 * What runs on a real Postgres, too: two flows and the holds with the real engine, lost answers of commits, kills of the whole program at
 * random moments and at some of the named places, a full disk. `PASSRAIL_TEST_STORE=postgres npm test -- --project postgres` does it
 * with all tests of the engine and of crashes.
 */
const IS_WHOLE = process.env["PASSRAIL_TEST_STORE"] === "postgres";
const ON_POSTGRES = IS_WHOLE
  ? ["test/scenarios/engine/*.test.ts", "test/scenarios/trust/lost-answer.test.ts", "test/crash/*.test.ts"]
  : [
      "test/scenarios/engine/story.test.ts",
      "test/scenarios/engine/build-plan-simple.test.ts",
      "test/scenarios/engine/holds.test.ts",
      "test/scenarios/trust/lost-answer.test.ts",
      "test/crash/kill.test.ts",
      "test/crash/failpoints.test.ts",
      "test/crash/full-disk.test.ts",
    ];
/** A run is answered, work leaves the machine, a process of an attempt starts: what was stored before is found. */
const PLACES = "answer-committed,outward-done,carrier-started";

/** These look at the whole machine, or change their process: each file has one of its own. */
const ALONE = ["chaos", "crash", "docs", "mutants"].map((folder) => `test/${folder}/**/*.test.ts`);

export default defineConfig({
  test: {
    // Against hanging, not for speed: on a machine that is busy with other things a whole run of a flow takes its time.
    testTimeout: 90_000,
    hookTimeout: 90_000,
    // For two cores: a file waits a third of its time and more, for a limit, a page or a process.
    maxWorkers: 5,
    // A process of tests keeps the source and grows anyway: below this size it does not look for garbage in all of its memory.
    execArgv: ["--initial-old-space-size=256"],
    // Tests start the program more than a thousand times; it is made once for all of them.
    globalSetup: ["test/harness/build-program.ts", "test/harness/postgres-server.ts", "test/harness/play-agents.ts"],
    // Its compiled code, too, is kept for all of them.
    env: { NODE_COMPILE_CACHE: `${PROGRAM_FOLDER}.compiled` },
    sequence: { sequencer: LongestFirst },
    // Node reads the source itself, as it does for `npm start`: vite would translate each file and turn each use of an import into a look
    // into an object. No test needs its loader, because none replaces a module.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    projects: [
      {
        // No test changes what its process shares (no mocks, no globals), so files need no process each: loading the source costs more
        // than most of them.
        extends: true,
        test: {
          name: "shared",
          isolate: false,
          setupFiles: ["test/harness/seed.ts"],
          include: ["src/**/*.test.ts", "web/src/**/*.test.ts", "test/**/*.test.ts", "scripts/**/*.test.ts"],
          exclude: [
            ...configDefaults.exclude,
            ...ALONE,
            ...(contractTests() === "left out" ? ["test/contract/**"] : []),
          ],
        },
      },
      {
        extends: true,
        test: {
          name: "alone",
          include: ALONE,
        },
      },
      {
        extends: true,
        test: {
          name: "postgres",
          setupFiles: ["test/harness/seed.ts"],
          include: ON_POSTGRES,
          // About the file itself: its syncs.
          exclude: ["test/scenarios/engine/synced-handoffs.test.ts"],
          env: {
            PASSRAIL_TEST_STORE: "postgres",
            ...(IS_WHOLE ? {} : { PASSRAIL_CRASH_SEEDS: "4", PASSRAIL_CRASH_POINTS: PLACES }),
          },
        },
      },
    ],
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      exclude: ["**/*.test.ts", "**/*.testsuite.ts"],
    },
  },
});
