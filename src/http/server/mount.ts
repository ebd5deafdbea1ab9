// Mounts a route of the table on the app: scope, input, idempotency, answer. A handler sees only requests that passed all checks and
// returns a value or a refusal; it never touches the request itself.

import { createHash } from "node:crypto";
import type { Context } from "hono";
import type { Refusal } from "../contract/problem.ts";
import type { AnswerOf, BodyOf, ParamsOf, QueryOf, ApiRoute } from "../contract/route.ts";
import { grants, holdersOf } from "../contract/scopes.ts";
import { canonicalJson } from "../../core/json.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { App, AppEnv } from "./app-env.ts";
import type { Reach } from "./agent-reach.ts";
import { describe } from "./describe.ts";
import { readBody, refuseBody } from "./guard/body.ts";
import { readFields, readParams, readQuery } from "./guard/input.ts";
import type { Principal } from "./principal.ts";
import { problem } from "./answer-problem.ts";
import type { Idempotency } from "./idempotency.ts";

export type Call<R extends ApiRoute> = {
  readonly params: ParamsOf<R>;
  readonly query: QueryOf<R>;
  readonly body: BodyOf<R>;
  readonly principal: Principal;
  readonly requestId: string;
  /** The address that the caller used, `http://127.0.0.1:4317`. */
  readonly origin: string;
  /** The version that the caller saw; "*" for any. */
  readonly ifMatch?: string;
  /** Names the request; stays the same when the caller repeats it, also after a restart. Ids derived from it are the same, too. */
  readonly key?: string;
  /** The Idempotency-Key as the caller sent it. */
  readonly idempotencyKey?: string;
  /** Sets a header of the answer. */
  readonly header: (name: string, value: string) => void;
};

export type Handler<R extends ApiRoute> = (call: Call<R>) => Promise<Result<AnswerOf<R>, Refusal>>;
/** For pages and streams. */
export type ResponseHandler<R extends ApiRoute> = (call: Call<R>, context: Context<AppEnv>) => Promise<Response>;

export type MountRoute = {
  /** Answers with JSON. */
  json<R extends ApiRoute>(route: R, handle: Handler<R>): void;
  /** Makes the whole response itself, behind the same guards. */
  response<R extends ApiRoute>(route: R, handle: ResponseHandler<R>): void;
  /** The methods of this path; empty if it does not exist. */
  methodsAt(path: string): readonly string[];
};

export function createMount(app: App, once: Idempotency, reach: Reach): MountRoute {
  const mounted: ApiRoute[] = [];

  function add<R extends ApiRoute>(
    route: R,
    answer: (call: Call<R>, context: Context<AppEnv>) => Promise<Response>,
  ): void {
    mounted.push(route);
    describe(app, route);
    app.on(route.method.toUpperCase(), route.path.replaceAll(/\{([a-z]+)\}/g, ":$1"), async (context) => {
      const call = await readCall(route, context, reach);
      return call.ok ? answer(call.value, context) : problem(context, spoken(route, call.error));
    });
  }

  return {
    json(route, handle) {
      add(route, async (call, context) => {
        const { idempotencyKey: key, principal } = call;
        const act = () => handle(call);
        const request = fingerprint(route, call);
        const result =
          key === undefined
            ? await act()
            : await once({ caller: principal.id, key, request, repeat: route.repeat, act });
        if (!result.ok) return problem(context, spoken(route, result.error));
        return context.json(result.value as object, route.answer.status);
      });
    },
    response: add,
    methodsAt(path) {
      const found = mounted.filter((route) => matches(route.path, path));
      const methods = found.map(({ method }) => method.toUpperCase());
      return methods.includes("GET") ? [...methods, "HEAD"] : methods;
    },
  };
}

/** Clients of a source read the detail from `error`. */
function spoken({ plain }: ApiRoute, refusal: Refusal): Refusal {
  return plain === true ? { ...refusal, error: refusal.detail } : refusal;
}

async function readCall<R extends ApiRoute>(
  route: R,
  context: Context<AppEnv>,
  reach: Reach,
): Promise<Result<Call<R>, Refusal>> {
  const principal = context.get("principal");
  const request = context.req.raw;
  if (!grants(principal.kind, route.scope)) return err(notGranted(route, principal));
  const hasBody = route.body !== undefined;
  const isPlain = route.plain === true;
  if (!hasBody && (request.headers.has("transfer-encoding") || Number(request.headers.get("content-length") ?? 0) > 0))
    return err({ code: "body_not_allowed", detail: "This request takes no body.", headers: { connection: "close" } });
  const refused = hasBody ? refuseBody(request, { isPlain }) : undefined;
  if (refused !== undefined) return err(refused);
  const given = context.req.param();
  const params = route.params === undefined ? ok({}) : readParams(route.params, given);
  if (!params.ok) return params;
  // An attempt gets the same refusal for another's run and for one that does not exist.
  const isForeign = route.owner === undefined && principal.kind === "attempt" && given["run"] !== principal.runId;
  if (isForeign) return err(notGranted(route, principal));
  const run = route.owner === undefined ? given["run"] : undefined;
  if (run !== undefined && !(await reach(principal, run)))
    return err({ code: "run_not_found", detail: `There is no run ${run}.` });
  const query = readQuery(route.query, new URL(request.url).searchParams);
  if (!query.ok) return query;
  const names = readNames(route, request, principal);
  if (!names.ok) return names;
  let body: unknown = {};
  if (route.body !== undefined) {
    invite(context);
    const read = await readBody(request, { isPlain });
    if (!read.ok) return read;
    const fields = readFields(route.body, read.value);
    if (!fields.ok) return isPlain ? err({ ...fields.error, code: "invalid_request" }) : fields;
    body = fields.value;
  }
  return ok({
    params: params.value as ParamsOf<R>,
    query: query.value as QueryOf<R>,
    body: body as BodyOf<R>,
    principal,
    requestId: context.get("requestId"),
    origin: new URL(request.url).origin,
    ...names.value,
    header: (name, value) => context.header(name, value),
  });
}

function notGranted({ method, path, scope }: ApiRoute, { kind }: Principal): Refusal {
  return {
    code: "scope_missing",
    detail: `${method.toUpperCase()} ${path} is not open to this ${kind} token.`,
    hint: `It needs the scope ${scope}, which these have: ${holdersOf(scope).join(", ")}`,
  };
}

/** Entity tags and keys of a request, if its route uses them. */
function readNames(
  { headers = [], method, path }: ApiRoute,
  request: Request,
  principal: Principal,
): Result<Pick<Call<ApiRoute>, "ifMatch" | "key" | "idempotencyKey">, Refusal> {
  const version = headers.includes("If-Match") ? request.headers.get("if-match") : null;
  if (version !== null && !/^(\*|"[A-Za-z0-9.-]{1,80}")$/.test(version))
    return err({ code: "invalid_version", detail: "If-Match takes one version in double quotes, or *." });
  const key = headers.includes("Idempotency-Key") ? request.headers.get("idempotency-key") : null;
  if (key !== null && !/^[\x21-\x7e]{1,200}$/.test(key))
    return err({
      code: "invalid_idempotency_key",
      detail: "An Idempotency-Key has 1 to 200 visible ASCII characters.",
    });
  const params = new URL(request.url).pathname;
  return ok({
    ...(version === null ? {} : { ifMatch: version.replaceAll('"', "") }),
    ...(key === null ? {} : { idempotencyKey: key, key: digest([principal.id, method, path, params, key]) }),
  });
}

function fingerprint<R extends ApiRoute>({ method, path }: R, { params, query, body, ifMatch }: Call<R>): string {
  return digest([method, path, canonicalJson(params), canonicalJson(query), canonicalJson(body), ifMatch ?? ""]);
}

function digest(values: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(values)).digest("hex");
}

/** Answers `Expect: 100-continue` only after all other checks have passed. */
function invite({ env, req }: Context<AppEnv>): void {
  if (req.header("expect") !== undefined) env?.outgoing?.writeContinue();
}

function matches(pattern: string, path: string): boolean {
  const [wanted, given] = [pattern.split("/"), path.split("/")];
  return (
    wanted.length === given.length &&
    wanted.every((part, at) => part === given[at] || (part.startsWith("{") && given[at] !== ""))
  );
}
