// The document says what the table says: every route, every reference, every scope.

import { afterAll, beforeAll, expect, test } from "vitest";
import type { ApiRoute } from "../../../src/http/contract/route.ts";
import { ROUTES } from "../../../src/http/contract/routes.ts";
import { type Served, serve } from "./served.ts";

type Operation = {
  operationId: string;
  security: unknown;
  description: string;
  parameters?: { name: string; in: string; required: boolean }[];
  responses: Record<string, { content: Record<string, unknown> }>;
  requestBody?: unknown;
};

let served: Served;
let document: { openapi: string; paths: Record<string, Record<string, Operation>>; components: unknown };
beforeAll(async () => {
  served = await serve();
  document = (await served.call("GET", "/api/openapi.json")).body as typeof document;
});
afterAll(() => served.close());

test("every route of the table is there, with its scope, its token and its parameters", () => {
  expect(document.openapi).toBe("3.1.0");
  const described = Object.values(document.paths).flatMap((methods) => Object.keys(methods));
  expect(described).toHaveLength(Object.keys(ROUTES).length);
  for (const [name, route] of Object.entries<ApiRoute>(ROUTES)) {
    const operation = document.paths[route.path]?.[route.method];
    expect(operation).toMatchObject({ operationId: name, security: [{ token: [] }] });
    expect(operation?.description).toContain(`Scope ${route.scope}`);
    expect(operation?.requestBody === undefined).toBe(route.body === undefined);
    expect(Object.keys(operation?.responses ?? {})).toEqual(
      expect.arrayContaining([String(route.answer.status), "401", "403"]),
    );
    const inPath = [...route.path.matchAll(/\{([a-z]+)\}/g)].map(([, part]) => String(part));
    const given = (operation?.parameters ?? []).filter((parameter) => parameter.in === "path");
    expect(given.map((parameter) => parameter.name).sort()).toEqual(inPath.sort());
    expect(given.every((parameter) => parameter.required)).toBe(true);
  }
});

test("every reference leads somewhere, every pattern is one", () => {
  const references = new Set<string>();
  const walk = (value: unknown): void => {
    if (value === null || typeof value !== "object") return;
    for (const [key, inner] of Object.entries(value)) {
      if (key === "$ref") references.add(String(inner));
      if (key === "pattern" && typeof inner === "string") expect(() => new RegExp(inner, "u")).not.toThrow();
      walk(inner);
    }
  };
  walk(document);
  expect(references.size).toBeGreaterThan(5);
  for (const reference of references) {
    const found = reference
      .slice(2)
      .split("/")
      .reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], document);
    expect({ reference, found: typeof found }).toEqual({ reference, found: "object" });
  }
});
