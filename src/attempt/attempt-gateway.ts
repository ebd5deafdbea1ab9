// The gateway of an attempt: opened where the settings want one and the program has a key that it can be relieved of. What it sees becomes
// usage, limits, refusals and notices of the attempt; what bypasses it is said.

import type { TapePlaces } from "../core/replay/exchange.ts";
import type { GatewayNews } from "../gateway/gateway.ts";
import type { Playback } from "../gateway/playback.ts";
import type { Tape, TapeOptions } from "../gateway/tape.ts";
import type { Startable, Variables } from "../runner/model-routes.ts";
import type { AgentEvent, AttemptEnd, Failure, Runner } from "../runner/runner.ts";
import type { ChosenRunner, Runners } from "../runner/runners.ts";
import type { WorkWatch } from "./watch-work.ts";

export type AttemptGateway = {
  /** What the attempt's program is started with. */
  readonly program: Startable;
  /** It adds the program's keys, which the program then does not have. */
  readonly hasKeys: boolean;
  /** What the program asks on this machine; null without a gateway. */
  readonly url: string | null;
  /** Runs it, unless it must not be started at all. */
  readonly run: Runner["run"];
  /** For the report: what bypassed the gateway, and what it refused. */
  warnings(): readonly string[];
  close(): Promise<void>;
};

export type GatewayWatch = {
  /** Told what each answer used, and asked before each request. */
  readonly work: () => Pick<WorkWatch, "counted" | "admit" | "limited">;
  readonly onEvent: (event: AgentEvent) => void;
  /** Where the attempt's desk is; null without one. */
  readonly deskUrl: () => string | null;
  /** Why the program cannot reach what listens on this machine; null: it can. */
  readonly apart: string | null;
};

/** What an attempt leaves of its requests, or, in a replay, where their answers come from. */
export type AttemptTape = {
  readonly path: string;
  readonly places: TapePlaces;
  readonly playback?: Playback;
};

export async function openAttemptGateway(
  runner: string,
  { path, places, playback }: AttemptTape,
  { gateway: settings, redact }: Runners,
  launch: ChosenRunner,
  watch: GatewayWatch,
): Promise<AttemptGateway> {
  const own: Startable = { argv: launch.argv, environment: launch.environment };
  const run: Runner["run"] = (spec, hooks) => launch.runner.run(spec, hooks);
  if (settings.mode === "off" || runner === "command") return unused(own, run, []);
  const routing = launch.routing();
  // A replay asks nobody, so no proxy is in its way.
  const trouble = playback === undefined ? proxyTrouble(own.environment) : undefined;
  const odd = routing.type === "bypassed" ? routing.why : trouble;
  const bypass = watch.apart ?? odd;
  if (bypass !== undefined && settings.mode === "required") {
    const fix =
      watch.apart === null ? "Give it an API key" : "Take another sandbox, or give this one the machine's network";
    const message = `${runner} does not go through the gateway, which the settings require: ${bypass}. ${fix}, or set \`gateway: { mode: on }\`.`;
    return unused(own, () => unstarted({ kind: "request_refused", message }), []);
  }
  const routes = routing.type === "routed" && bypass === undefined ? routing.routes : [];
  const said = bypass === undefined ? [] : [`gateway_bypassed: ${runner} does not go through the gateway: ${bypass}`];
  if (watch.apart !== null || (routes.length === 0 && settings.egress === null)) return unused(own, run, said);
  const refusals = new Map<string, number>();
  const { openGateway } = await import("../gateway/server.ts");
  const tape = settings.tape === "on" && routes.length > 0 ? await startTape(path, { redact, places }, watch) : null;
  const gateway = await openGateway({
    ...(playback === undefined ? {} : { answers: playback.open(places) }),
    record: tape === null ? null : (exchange) => tape.add(exchange),
    routes,
    egress: settings.egress === null ? null : { hosts: settings.egress, private: settings.private, own: deskOf(watch) },
    proxyEnv: proxyOf(own.environment),
    admit: () => watch.work().admit(),
    onNews: readNews(watch, refusals),
  });
  const pointed = routing.type === "routed" && routes.length > 0 ? routing.point(gateway.address) : own;
  return {
    program: { ...pointed, environment: { ...pointed.environment, ...gateway.proxyVariables } },
    hasKeys: routes.length > 0,
    url: gateway.address.url,
    run,
    warnings: () => [...said, ...[...refusals].slice(0, 20).map(refusalText)],
    async close() {
      await gateway.close();
      await tape?.close();
    },
  };
}

async function unstarted(failure: Failure): Promise<AttemptEnd> {
  const { refused } = await import("../runner/acp/runner.ts");
  return refused(failure);
}

/** Without a tape the attempt works all the same, and says so. */
async function startTape(
  path: string,
  options: Omit<TapeOptions, "onError">,
  watch: GatewayWatch,
): Promise<Tape | null> {
  const { openTape } = await import("../gateway/tape.ts");
  const onError = (error: Error): void =>
    watch.onEvent({ type: "notice", kind: "warning", text: `The tape of the attempt ends here: ${error.message}` });
  try {
    return openTape(path, { ...options, onError });
  } catch (error) {
    // An agent may have planted a file there.
    setImmediate(() => onError(error as Error));
    return null;
  }
}

function unused(program: Startable, run: Runner["run"], warnings: readonly string[]): AttemptGateway {
  return { program, hasKeys: false, url: null, run, warnings: () => warnings, close: async () => {} };
}

function readNews(watch: GatewayWatch, refusals: Map<string, number>): (news: GatewayNews) => void {
  return (news) => {
    switch (news.type) {
      case "answered":
        if (news.usage !== null) watch.work().counted(news.usage);
        return;
      case "limits":
        return watch.onEvent({ type: "limits", uses: news.uses });
      case "limited":
        return watch.work().limited(news.failure);
      case "refused": {
        const what = `${news.what}: ${news.why}`;
        const before = refusals.get(what) ?? 0;
        if (before === 0 && refusals.size >= MAX_REFUSALS) return;
        refusals.set(what, before + 1);
        if (before > 0) return;
        return watch.onEvent({ type: "notice", kind: "denied", text: `The gateway refused ${what}` });
      }
    }
  };
}

function deskOf({ deskUrl }: GatewayWatch): () => readonly string[] {
  return () => {
    const url = deskUrl();
    return url === null ? [] : [new URL(url).host];
  };
}

/** An agent that tries every name must not fill the log. */
const MAX_REFUSALS = 200;

function refusalText([what, times]: readonly [string, number]): string {
  return `gateway_refused: ${what}${times === 1 ? "" : ` (${times} times)`}`;
}

const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy"];

function proxyOf(environment: Variables): Variables {
  return Object.fromEntries(PROXIES.flatMap((name) => (environment[name] ? [[name, environment[name]]] : [])));
}

/** Node takes the user's proxy from 24.5 on; before, the gateway could not reach a vendor behind one. */
function proxyTrouble(environment: Variables): string | undefined {
  const isBehind = PROXIES.some((name) => /^https?_proxy$/iu.test(name) && (environment[name] ?? "") !== "");
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const isOld = major < 24 || (major === 24 && minor < 5);
  return isBehind && isOld ? "its requests need a proxy, which the gateway can use with Node 24.5 or newer" : undefined;
}
