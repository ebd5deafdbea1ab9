import { configDefaults, defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { contractTests } from "./test/contract/installed.ts";

/** The longest begin first, so that at the end nobody waits for one that has just begun. */
const LONGEST = [
  "test/crash/kill",
  "test/contract/opencode",
  "test/browser/",
  "test/crash/",
  "test/contract/",
  "test/scenarios/daemon/",
  "test/scenarios/cli/",
  "test/scenarios/engine/",
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

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "web/src/**/*.test.ts", "test/**/*.test.ts", "scripts/**/*.test.ts"],
    exclude: [...configDefaults.exclude, ...(contractTests() === "left out" ? ["test/contract/**"] : [])],
    // Against hanging, not for speed: on a machine that is busy with other things a whole run of a flow takes its time.
    testTimeout: 90_000,
    hookTimeout: 90_000,
    // Two cores: real processes are spawned by many tests, more workers would only make timings worse.
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      exclude: ["**/*.test.ts", "**/*.testsuite.ts"],
    },
  },
});
