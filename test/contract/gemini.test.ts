import { createGeminiRunner } from "../../src/agents/gemini/runner.ts";
import { type Contract, describeContract, told } from "./contract.testsuite.ts";
import { gemini } from "./vendors.ts";

const common = {
  vendor: gemini,
  failures: { outage: "server_error", limit: "rate_limit", resetsAt: false },
  repository: "kept off",
  canary: "gemini-mcp",
  resumesAfterCancel: true,
} satisfies Omit<Contract, "create" | "usage">;

describeContract({
  ...common,
  create: () => createGeminiRunner({ transport: "acp" }),
  // The protocol does not tell cached tokens; a session is gone on with natively.
  usage: (tokens, which) => (which === "first" ? { ...told(tokens), cachedTokens: null } : told(tokens)),
});
describeContract(
  { ...common, way: "native", usage: told, create: () => createGeminiRunner({ transport: "native" }) },
  "short",
);
