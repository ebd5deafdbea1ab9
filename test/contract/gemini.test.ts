import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createGeminiRunner } from "../../src/runner/gemini/runner.ts";
import { type Bench, openBench } from "./bench.ts";
import { type Contract, describeContract, told } from "./contract.testsuite.ts";
import { gemini } from "./vendors.ts";

const common = {
  vendor: gemini,
  failures: {
    outage: "server_error",
    limits: [],
  },
  echoes: true,
  readsElsewhere: false,
  repository: "kept off",
  canary: "gemini-mcp",
  resumesAfterCancel: true,
} satisfies Omit<Contract, "create" | "usage">;

// The way that is taken unless somebody says otherwise has to show everything.
describeContract({ ...common, usage: told, create: () => createGeminiRunner({ transport: "native" }) });
describeContract(
  {
    ...common,
    way: "acp",
    create: () => createGeminiRunner({ transport: "acp" }),
    // The protocol does not tell cached tokens; a session is gone on with natively.
    usage: (tokens, which) => (which === "first" ? { ...told(tokens), cachedTokens: null } : told(tokens)),
  },
  "short",
);

describe("what only Gemini CLI has", { timeout: 60_000 }, () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openBench(gemini, () => createGeminiRunner());
  });
  afterAll(() => bench.close());

  test("a tool that is denied is not used, also when nobody is asked, and the desk is still there", async () => {
    const submitted: string[] = [];
    bench.play({
      denied: [
        { do: [{ bash: "echo x > by-shell.txt" }] },
        { do: [{ mcp: { server: "passrail", tool: "submit_verdict", args: { verdict: "REVISE" } } }] },
        { text: "Done." },
      ],
    });
    const end = await bench.run({
      prompt: "[denied]",
      options: { denyTools: ["run_shell_command"] },
      submit: async (text) => {
        submitted.push(text);
        return { accepted: true, text: "Recorded." };
      },
    });
    expect(existsSync(join(end.spec.cwd, "by-shell.txt"))).toBe(false);
    expect(submitted.length).toBe(1);
    expect(readFileSync(end.spec.outputPath, "utf8")).not.toContain("Policy file error");
  });
});
