import { createOpencodeRunner } from "../../src/runner/opencode/runner.ts";
import { UNKNOWN_USAGE } from "../../src/core/budget/usage.ts";
import { type Contract, describeContract, type Tokens, told } from "./contract.testsuite.ts";
import { OPENCODE_PRICES, opencode } from "./vendors.ts";

const common = {
  vendor: opencode,
  // It tries again for ever and prints nothing; its log has the words of the failure, and not when it asks again.
  failures: {
    outage: "server_error",
    limits: [{ seconds: 10_800, kind: "quota", ends: false }],
  },
  echoes: false,
  readsElsewhere: false,
  repository: "refused",
  canary: "opencode-plugin",
  resumesAfterCancel: true,
} satisfies Omit<Contract, "create" | "usage">;

// The way that is taken unless somebody says otherwise has to show everything.
describeContract({
  ...common,
  create: () => createOpencodeRunner({ transport: "native" }),
  usage: (tokens) => ({ ...told(tokens), usd: dollars(tokens) }),
});
describeContract(
  {
    ...common,
    way: "acp",
    create: () => createOpencodeRunner({ transport: "acp" }),
    // The protocol tells the tokens of the last step only; with tools that is not the attempt. Dollars it tells of the session.
    usage: (tokens, which) => ({ ...(which === "first" ? told(tokens) : UNKNOWN_USAGE), usd: dollars(tokens) }),
  },
  "short",
);

function dollars({ input, output, cached }: Tokens): number {
  const { input: fresh, cache_read, output: said } = OPENCODE_PRICES;
  return ((input - cached) * fresh + cached * cache_read + output * said) / 1_000_000;
}
