import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
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

test("a cloud account pays where the program is told to use one; codex' login file says whether it holds a key", () => {
  const home = mkdtempSync(join(tmpdir(), "passrail-account-"));
  try {
    expect(accountOf({ CLAUDE_CODE_USE_BEDROCK: "1", ANTHROPIC_API_KEY: "x" }, { programs: {} }, "claude")).toBe(
      "cloud",
    );
    mkdirSync(join(home, ".codex"));
    const logIn = (login: object): void => writeFileSync(join(home, ".codex/auth.json"), JSON.stringify(login));
    logIn({ OPENAI_API_KEY: "sk-x" });
    expect(accountOf({ HOME: home }, { programs: {} }, "codex")).toBe("API key");
    logIn({ OPENAI_API_KEY: null, tokens: { access_token: "x" } });
    expect(accountOf({ HOME: home }, { programs: {} }, "codex")).toBe("login");
  } finally {
    rmSync(home, { recursive: true });
  }
});
