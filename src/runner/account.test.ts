import { expect, test } from "vitest";
import { accountOf } from "./account.ts";

test("the login that pays: a key of the settings or of the environment, else what the program is logged in with", () => {
  expect(accountOf({}, { programs: {} }, "claude")).toBe("login");
  expect(accountOf({ ANTHROPIC_API_KEY: "x" }, { programs: {} }, "claude")).toBe("API key");
  expect(accountOf({}, { programs: { claude: { env: { ANTHROPIC_API_KEY: "x" } } } }, "claude")).toBe("API key");
  // An empty variable of the settings takes the key away.
  expect(accountOf({ CODEX_API_KEY: "x" }, { programs: { codex: { env: { CODEX_API_KEY: "" } } } }, "codex")).toBe(
    "login",
  );
  expect(accountOf({ OPENAI_API_KEY: "x" }, { programs: {} }, "opencode")).toBe("");
  expect(accountOf({}, { programs: {} }, "constructor")).toBe("");
});
