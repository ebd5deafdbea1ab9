import { mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { agent, openBench } from "../../test/fixtures/agents/try-agent.ts";
import { createCommandRunner } from "./command.ts";
import { runnerSuite, sceneMark } from "./runner.testsuite.ts";

runnerSuite("command", { conversation: false, readyMs: 1_000 }, async () => {
  const bench = openBench();
  let workspaces = 0;
  const heardFile = (cwd: string): string => `${cwd}.heard`;
  return {
    create: createCommandRunner,
    spec: (scene, overrides) => {
      workspaces += 1;
      const cwd = bench.path(`workspace-${workspaces}`);
      mkdirSync(cwd);
      return bench.spec({
        argv: agent("conforming", heardFile(cwd)),
        cwd,
        prompt: sceneMark(scene),
        env: { PATH: dirname(process.execPath), HOME: bench.folder },
        ...overrides,
      });
    },
    heard: ({ cwd }) => {
      try {
        return readFileSync(heardFile(cwd), "utf8");
      } catch {
        return "";
      }
    },
    close: async () => bench.close(),
  };
});
