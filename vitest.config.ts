import { configDefaults, defineConfig } from "vitest/config";
import { contractTests } from "./test/contract/installed.ts";

export default defineConfig({
  test: {
    include: ["src/**/*.test.ts", "web/src/**/*.test.ts", "test/**/*.test.ts", "scripts/**/*.test.ts"],
    exclude: [...configDefaults.exclude, ...(contractTests() === "left out" ? ["test/contract/**"] : [])],
    // Against hanging, not for speed: on a machine that is busy with other things a whole run of a flow takes its time.
    testTimeout: 90_000,
    hookTimeout: 90_000,
    // Two cores: real processes are spawned by many tests, more workers would only make timings worse.
    maxWorkers: 2,
    coverage: {
      provider: "v8",
      include: ["src/**/*.ts"],
      exclude: ["**/*.test.ts", "**/*.testsuite.ts"],
    },
  },
});
