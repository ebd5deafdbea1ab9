// The contract for readers: as OpenAPI for programs, as a plain page for people. The page is built once and has no script and no style.

import { ROUTES } from "../../contract/routes.ts";
import { holdersOf, SCOPES } from "../../contract/scopes.ts";
import { ok } from "../../../core/result.ts";
import type { App } from "../app-env.ts";
import type { MountRoute } from "../mount.ts";
import type { ServerDeps } from "../deps.ts";

type Document = ReturnType<App["getOpenAPI31Document"]>;

/** Call it after every other route is mounted: the document lists the routes of that moment. */
export function mountDocs(app: App, mount: MountRoute, { version }: ServerDeps): void {
  let made: { readonly document: Document; readonly page: string } | undefined;
  const make = () => {
    if (made !== undefined) return made;
    const document = app.getOpenAPI31Document({
      openapi: "3.1.0",
      info: { title: "Passrail", version, description: "Runs coding agents as a self-driving pipeline." },
      security: [{ token: [] }],
    });
    made = { document, page: pageOf(document) };
    return made;
  };
  app.openAPIRegistry.registerComponent("securitySchemes", "token", { type: "http", scheme: "bearer" });
  mount.json(ROUTES.openapi, async () => ok(make().document as unknown as { openapi: string }));
  mount.response(ROUTES.docs, async (_call, context) => context.html(make().page));
}

type Parameter = { name: string; in: string; required?: boolean };
type Schema = { $ref?: string; properties?: Record<string, unknown>; required?: readonly string[] };
type Operation = {
  summary?: string;
  parameters?: Parameter[];
  requestBody?: { content?: Record<string, { schema?: Schema }> };
  description?: string;
  tags?: string[];
  responses?: Record<string, { description?: string }>;
};

function pageOf({ info, paths = {}, components = {} }: Document): string {
  const schemas = (components.schemas ?? {}) as Record<string, Schema>;
  const rows = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods as Record<string, Operation>).map(([method, operation]) => ({ method, path, operation })),
  );
  const groups = Map.groupBy(rows, ({ operation }) => operation.tags?.[0] ?? "");
  const sections = [...groups].map(
    ([tag, group]) => `<h2>${text(tag)}</h2>\n${group.map((row) => operationOf(row, schemas)).join("\n")}`,
  );
  const scopes = SCOPES.map((scope) => `<tr><td>${scope}</td><td>${holdersOf(scope).join(", ") || "nobody"}</td></tr>`);
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>${text(info.title)} API</title><meta name="viewport" content="width=device-width"></head>
<body>
<h1>${text(info.title)} API ${text(info.version)}</h1>
<p>Every request needs <code>Authorization: Bearer TOKEN</code>. Errors are <code>application/problem+json</code> with a stable <code>code</code>.
The same as data: <code>GET /api/openapi.json</code>.</p>
<h2>scopes</h2>
<table><thead><tr><th>scope</th><th>who has it</th></tr></thead><tbody>${scopes.join("")}</tbody></table>
${sections.join("\n")}
</body>
</html>
`;
}

type Row = { readonly method: string; readonly path: string; readonly operation: Operation };

function operationOf({ method, path, operation }: Row, schemas: Record<string, Schema>): string {
  const answers = Object.entries(operation.responses ?? {}).map(
    ([status, { description = "" }]) => `<tr><td>${text(status)}</td><td>${text(description)}</td></tr>`,
  );
  return `<h3><code>${method.toUpperCase()} ${text(path)}</code></h3>
<p>${text(operation.summary ?? "")}. ${text(operation.description ?? "")}</p>
${given(operation, schemas)}<table><tbody>${answers.join("")}</tbody></table>`;
}

/** The parameters and the body of a request; an asterisk marks required ones. */
function given({ parameters = [], requestBody }: Operation, schemas: Record<string, Schema>): string {
  const written = requestBody?.content?.["application/json"]?.schema ?? {};
  const body = written.$ref === undefined ? written : (schemas[written.$ref.split("/").at(-1) ?? ""] ?? {});
  const fields = Object.keys(body.properties ?? {}).map((name) => ({
    name,
    in: "body",
    required: body.required?.includes(name) === true,
  }));
  const places = Map.groupBy([...parameters, ...fields], (each) => each.in);
  const lines = [...places].map(
    ([place, names]) =>
      `${place}: ${names.map(({ name, required }) => `<code>${text(name)}</code>${required === true ? "*" : ""}`).join(", ")}`,
  );
  return lines.length === 0 ? "" : `<p>${lines.join("<br>")}</p>\n`;
}

function text(value: string): string {
  return value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
}
