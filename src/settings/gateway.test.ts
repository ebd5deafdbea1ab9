import { describe, expect, test } from "vitest";
import { readSettings } from "./settings.ts";

function read(project: object, user: object = {}, environment: Record<string, string> = {}) {
  return readSettings({ environment, project, user, flags: {} });
}

describe("the gateway in settings", () => {
  test("it is off, and the nearer file wins key by key", () => {
    const none = read({});
    expect(none.ok && none.value.gateway).toEqual({
      mode: "off",
      egress: null,
      private: [],
      tape: "on",
      from: "default",
    });
    const both = read(
      { gateway: { egress: [], tape: "off" } },
      { gateway: { mode: "required", private: ["box.internal:4873"] } },
    );
    expect(both.ok && both.value.gateway).toEqual({
      mode: "required",
      egress: [],
      private: ["box.internal:4873"],
      tape: "off",
      from: "user",
    });
    const variable = read({ gateway: { mode: "on" } }, {}, { PASSRAIL_GATEWAY: "off" });
    expect(variable.ok && variable.value.gateway).toMatchObject({ mode: "off", from: "environment" });
  });

  test("hosts are names or groups, never addresses, and a project names no private ones", () => {
    for (const host of [
      "registry",
      "github",
      "registry.npmjs.org",
      "*.example.com",
      "box.example:8443",
      "localhost:80",
    ])
      expect(read({ gateway: { egress: [host] } }).ok).toBe(true);
    for (const host of [
      "10.0.0.7",
      "127.1",
      "0x7f000001",
      "[::1]",
      "https://x.example",
      "a b",
      "*",
      "x..y",
      "-x.example",
    ])
      expect(read({ gateway: { egress: [host] } }).ok).toBe(false);
    const foreign = read({ gateway: { private: ["box.internal"] } });
    expect(!foreign.ok && foreign.error.message).toContain("gateway.private is not taken from a project");
  });
});
