import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ModelRouting, Startable } from "./model-routes.ts";
import { routingOf } from "./routing.ts";

const AT = { url: "http://127.0.0.1:4000", token: "pr_gw_x" };
let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "passrail-routing-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function file(path: string, text: string): void {
  mkdirSync(join(home, path, ".."), { recursive: true });
  writeFileSync(join(home, path), text);
}

function route(name: Parameters<typeof routingOf>[0], env: Record<string, string>, model?: string): ModelRouting {
  return routingOf(name, { argv: [name], environment: { HOME: home, ...env } }, model);
}

function pointed(routing: ModelRouting): Startable {
  if (routing.type === "bypassed") throw new Error(routing.why);
  return routing.point(AT);
}

const upstreams = (routing: ModelRouting) => (routing.type === "routed" ? routing.routes : routing.why);

describe("the way of requests to models", () => {
  test("Claude's key, token and headers stay outside; a login and a cloud go their own way", () => {
    const routing = route("claude", { ANTHROPIC_API_KEY: "k", ANTHROPIC_CUSTOM_HEADERS: "X-Org: secret\nbad" });
    expect(upstreams(routing)).toEqual([
      { name: "anthropic", upstream: "https://api.anthropic.com", headers: { "x-api-key": "k", "x-org": "secret" } },
    ]);
    expect(pointed(routing).environment).toEqual({
      HOME: home,
      ANTHROPIC_API_KEY: "pr_gw_x",
      ANTHROPIC_BASE_URL: "http://127.0.0.1:4000/anthropic",
    });
    expect(route("claude", {}).type).toBe("bypassed");
    expect(route("claude", { ANTHROPIC_API_KEY: "k", CLAUDE_CODE_USE_BEDROCK: "1" }).type).toBe("bypassed");
    expect(route("claude", { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: "https://u:p@x" }).type).toBe("bypassed");
  });

  test("Codex: the provider of config.toml, OpenAI with a key, and neither", () => {
    const openai = route("codex", { CODEX_API_KEY: "k", OPENAI_API_KEY: "other" });
    expect(upstreams(openai)).toMatchObject([{ upstream: "https://api.openai.com/v1" }]);
    expect(pointed(openai).environment).toEqual({ HOME: home, PASSRAIL_GATEWAY_TOKEN: "pr_gw_x" });
    expect(pointed(openai).argv.join(" ")).toContain('model_provider="passrail"');
    file(".codex/auth.json", JSON.stringify({ OPENAI_API_KEY: "stored", tokens: null }));
    expect(upstreams(route("codex", {}))).toMatchObject([{ headers: { authorization: "Bearer stored" } }]);
    file(".codex/auth.json", JSON.stringify({ OPENAI_API_KEY: null, tokens: { access_token: "t" } }));
    expect(route("codex", {}).type).toBe("bypassed");
    file(
      ".codex/config.toml",
      [
        "# mine",
        'model_provider = "box" # here',
        'notes = """',
        "[model_providers.box]",
        '"""',
        "[model_providers.box]",
        'name = "Box"',
        'base_url = "https://models.example/v1/"',
        "env_key = 'BOX_KEY'",
        "list = [",
        '  "a",',
        "]",
      ].join("\n"),
    );
    const chosen = route("codex", { BOX_KEY: "b" });
    expect(upstreams(chosen)).toEqual([
      { name: "openai", upstream: "https://models.example/v1", headers: { authorization: "Bearer b" } },
    ]);
    expect(pointed(chosen).environment["BOX_KEY"]).toBeUndefined();
    file(".codex/config.toml", 'profile = "work"\n');
    expect(route("codex", { CODEX_API_KEY: "k" }).type).toBe("bypassed");
    file(".codex/config.toml", "{{ nonsense\n");
    expect(route("codex", { CODEX_API_KEY: "k" }).type).toBe("bypassed");
  });

  test("Gemini: a key, unless its settings choose a person's login", () => {
    const routing = route("gemini", { GEMINI_API_KEY: "k", GOOGLE_API_KEY: "other" });
    expect(upstreams(routing)).toMatchObject([{ headers: { "x-goog-api-key": "k" } }]);
    expect(pointed(routing).environment["GOOGLE_API_KEY"]).toBeUndefined();
    file(".gemini/settings.json", '{ // mine\n "security": { "auth": { "selectedType": "oauth-personal" } } }');
    expect(route("gemini", { GEMINI_API_KEY: "k" }).type).toBe("bypassed");
  });

  test("opencode: every provider with a key, known or of the user's file; none of the keys is left", () => {
    const provider = { box: { options: { baseURL: "https://box.example/v1", apiKey: "{env:BOX_KEY}" } } };
    file(".config/opencode/opencode.jsonc", `// mine\n${JSON.stringify({ provider })}`);
    const keys = { BOX_KEY: "b", ANTHROPIC_API_KEY: "a", GROQ_API_KEY: "" };
    const routing = route("opencode", keys, "box/model");
    expect(upstreams(routing)).toEqual([
      { name: "anthropic", upstream: "https://api.anthropic.com/v1", headers: { "x-api-key": "a" } },
      { name: "box", upstream: "https://box.example/v1", headers: { authorization: "Bearer b" } },
    ]);
    const { environment } = pointed(routing);
    expect(Object.keys(environment).toSorted()).toEqual(["HOME", "OPENCODE_CONFIG_CONTENT", "PASSRAIL_GATEWAY_TOKEN"]);
    expect(JSON.parse(environment["OPENCODE_CONFIG_CONTENT"] ?? "")).toMatchObject({
      provider: { box: { options: { baseURL: `${AT.url}/box`, apiKey: "{env:PASSRAIL_GATEWAY_TOKEN}" } } },
    });
    expect(route("opencode", keys, "elsewhere/model").type).toBe("bypassed");
  });
});
