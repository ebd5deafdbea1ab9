// Every setting with its value in force and where it came from: what `passrail settings` and the API list. Nothing in it is secret.

import { ladderWords } from "../core/flow/ladder.ts";
import type { Flow } from "../core/flow/flow.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { createRedaction } from "../core/secrets/redaction.ts";
import type { Setting, Settings, SettingsFile } from "./settings.ts";
import { workLimits } from "./workspaces.ts";

/** `name`: the key in passrail.yaml, with dots. */
export type ListedSetting = { readonly name: string; readonly value: Json; readonly from: string };

/** The limits that each flow has in force; `flow`: as its file says. */
export function listFlowLimits(flows: readonly Flow[], config: Settings): readonly ListedSetting[] {
  return flows.flatMap((flow) => {
    const said = config.flows[flow.name];
    const row = (key: string, own: Json, set: Json | undefined): ListedSetting => ({
      name: `flows.${flow.name}.${key}`,
      value: set ?? own,
      from: set === undefined ? "flow" : (config.writtenKeys[`flows.${flow.name}`] ?? "flow"),
    });
    const loops = Object.entries(flow.counters)
      .filter(([, { isRounds }]) => isRounds !== true)
      .map(([name, { maxLoops }]) => {
        const set = said?.loops[name];
        return row(`loops.${name}`, maxLoops ?? "none", set === null ? "none" : set);
      });
    const time = (key: string, own: number | undefined, set: number | undefined): ListedSetting[] =>
      own === undefined && set === undefined
        ? []
        : [row(key, durationText(own ?? 0), set === undefined ? undefined : durationText(set))];
    const { staleAfterMs, leaseMs } = flow.handoffs;
    return [
      ...loops,
      ...time("stale_after", flow.handoffs.entry === undefined ? undefined : staleAfterMs, said?.staleAfterMs),
      ...time("lease", leaseMs, said?.leaseMs),
    ];
  });
}

/** Values in a program's environment may be secret, so only the names are shown. Text that looks like a key is removed everywhere. */
export function listSettings(config: Settings): readonly ListedSetting[] {
  const { text } = createRedaction(
    Object.values(config.programs).flatMap(({ env }) => Object.entries(env).map(([name, value]) => ({ name, value }))),
  );
  const rows = [...chosen(config), ...tickets(config), ...work(config), ...merging(config), ...others(config)];
  return rows.map(({ value, ...row }) => ({ ...row, value: withoutSecrets(value, text) }));
}

function one(name: string, { value, from }: Setting<Json>): ListedSetting {
  return { name, value, from };
}

/** A setting that only files have, as a whole. */
function whole(config: Settings, name: string, key: keyof SettingsFile, value: Json): ListedSetting {
  return { name, value, from: config.written[key] ?? "default" };
}

/** A key inside a group that only files have. */
function inGroup(config: Settings, group: keyof SettingsFile, values: Readonly<Record<string, Json>>): ListedSetting[] {
  return Object.entries(values).map(([key, value]) => {
    const name = `${group}.${key}`;
    return { name, value, from: config.writtenKeys[name] ?? "default" };
  });
}

function chosen(config: Settings): readonly ListedSetting[] {
  return [
    one("slots", config.slots),
    one("daemon.port", config.port),
    one("workspace", config.workspace),
    one("verdict_repair", config.verdictRepair),
    one("memo", { value: config.memo.value ? "on" : "off", from: config.memo.from }),
    one("check_cache", { value: config.checkCache.value ? "on" : "off", from: config.checkCache.from }),
    one("attempts.process", config.attemptProcess),
    one("attempts.enclosure", config.enclosure),
    one("attempts.limit_near", config.limitNear),
    one("gateway.mode", { value: config.gateway.mode, from: config.gateway.from }),
    ...inGroup(config, "gateway", {
      egress: config.gateway.egress ?? "any host, without the gateway",
      private: config.gateway.private,
      tape: config.gateway.tape,
    }),
    one("runner", {
      value: config.runner.value === "none" ? "none" : ladderWords(config.runner.value),
      from: config.runner.from,
    }),
    one("repository_settings", config.repositorySettings),
    whole(config, "model", "model", config.model ?? "the program's own"),
    whole(config, "budgets", "budgets", config.budgets),
    whole(config, "agents", "agents", config.agents),
    whole(config, "agent_limits", "agents", config.agentLimits),
  ];
}

function tickets(config: Settings): readonly ListedSetting[] {
  const { tickets: said } = config;
  return inGroup(config, "tickets", {
    folder: said.folder,
    request_prefix: said.requestPrefix,
    ticket_prefix: said.ticketPrefix,
    dispatch: said.dispatch,
    unknown_status: said.unknownStatus,
    backlog_entry: said.backlogEntry,
    test_writer: said.testWriter,
    idle_sleep: durationText(said.idleSleepMs),
    flow: said.flow,
    intake_flow: said.intakeFlow,
    repos: said.repos,
  });
}

function work(config: Settings): readonly ListedSetting[] {
  const { workspaces: said, limits, heartbeat } = config;
  const { fileBytes, workBytes } = workLimits(said);
  const stages = Object.keys(limits).filter((stage) => stage !== "*");
  const texts = Object.fromEntries(
    ["*", ...stages].map((stage) => {
      const { totalMs, idleMs, startupMs, permissionMs, questionMs } = limits[stage] ?? {};
      const given = {
        total: totalMs,
        idle: idleMs,
        startup: startupMs,
        permission: permissionMs,
        question: questionMs,
      };
      const shown = Object.entries(LIMITS_OF_FLOWS).map(([name, otherwise]) => {
        const ms = given[name as keyof typeof given];
        return [name, ms === undefined ? `as the flow says, or ${otherwise}` : durationText(ms)];
      });
      return [stage, Object.fromEntries(shown)];
    }),
  );
  return [
    ...inGroup(config, "workspaces", {
      sandbox: said.sandbox,
      setup: said.setup ?? [],
      setup_cache: said.setup_cache ?? null,
      copy: said.copy ?? [],
      ports: said.ports ?? null,
      caches: said.caches ?? {},
      max_file: sizeText(fileBytes),
      max_work: sizeText(workBytes),
      keep: said.keep ?? false,
      bubblewrap: said.bubblewrap ?? null,
      docker: said.docker ?? null,
      daytona: said.daytona ?? null,
    }),
    ...inGroup(config, "limits", texts),
    ...inGroup(config, "workers", {
      place: config.workers.place,
      lease: durationText(config.workers.leaseMs),
      labels: config.workers.labels,
    }),
    ...inGroup(config, "heartbeat", {
      tick: durationText(heartbeat.tickMs),
      stalled_after: durationText(heartbeat.stalledAfterMs),
    }),
  ];
}

/** The defaults of flows that say nothing; a flow's own are shown by `passrail flow show`. */
const LIMITS_OF_FLOWS = { total: "30m", idle: "15m", startup: "2m", permission: "1h", question: "45s" } as const;

function merging(config: Settings): readonly ListedSetting[] {
  const { merge: said } = config;
  return [
    one("merge.mode", said.mode),
    ...inGroup(config, "merge", {
      forge: said.forge,
      remote: said.remote,
      target: said.target,
      checks: said.checks,
      check_timeout: durationText(said.checkTimeoutMs),
      strategy: said.strategy,
      delete_branch: said.deleteBranch,
      poll: durationText(said.pollMs),
    }),
    whole(
      config,
      "checks",
      "checks",
      Object.fromEntries(
        Object.entries(config.checks).map(([name, { run, timeoutMs }]) => [
          name,
          { run, timeout: durationText(timeoutMs) },
        ]),
      ),
    ),
  ];
}

function others(config: Settings): readonly ListedSetting[] {
  return [
    whole(config, "retention", "retention", retentionText(config.retention)),
    whole(config, "flows", "flows", config.flows),
    whole(config, "standards", "standards", config.standards),
    whole(config, "test_files", "test_files", config.testFiles ?? "the usual names"),
    whole(config, "repositories", "repositories", config.repositories),
    whole(
      config,
      "hooks",
      "hooks",
      Object.fromEntries(Object.entries(config.hooks).map(([on, run]) => [on, run.length])),
    ),
    whole(config, "router.fallback", "router", config.routerFallback ?? "as the flow says"),
    whole(
      config,
      "triggers",
      "triggers",
      config.triggers.map(({ name }) => name),
    ),
    whole(config, "environment.pass", "environment", config.passEnvironment),
    whole(config, "notify.command", "notify", config.notifyCommand === null ? null : (config.notifyCommand[0] ?? null)),
    // Not the address: it may hold a password.
    whole(config, "database", "database", config.written.database === undefined ? "sqlite" : "postgres"),
    whole(config, "status_mirror", "status_mirror", mirrorText(config.statusMirror)),
    whole(
      config,
      "trackers",
      "trackers",
      config.trackers.map((each) =>
        "github" in each ? `github:${each.github}` : "linear" in each ? `linear:${each.linear}` : `jira:${each.jira}`,
      ),
    ),
    whole(config, "public_url", "public_url", config.publicUrl),
    // Names only: a URL may be a secret.
    whole(
      config,
      "notify.endpoints",
      "notify",
      config.notifyEndpoints.map(({ name, format }) => `${name} (${format})`),
    ),
    whole(
      config,
      "webhooks",
      "webhooks",
      Object.entries(config.webhooks).map(([name, { kind, rights }]) => `${name} (${kind}, ${rights ?? "request"})`),
    ),
    ...Object.entries(config.programs).map(([name, program]) =>
      whole(config, `runners.${name}`, "runners", {
        command: program.command ?? null,
        env: Object.keys(program.env),
        pass: program.pass,
        models: program.models,
        user_features: program.userFeatures ?? null,
      }),
    ),
  ];
}

function mirrorText(mirror: Settings["statusMirror"]): JsonObject | null {
  if (mirror === null) return null;
  const { url, url_file, url_env, schema, features, handoffs } = mirror;
  return { to: url ?? url_file ?? `$${url_env}`, schema, features, handoffs: handoffs ?? "none" };
}

function retentionText({ files, logs, runs }: Settings["retention"]): JsonObject {
  const age = (ms: number | null): string => (ms === null ? "none" : durationText(ms));
  return {
    files: {
      age: age(files.ageMs),
      count: files.count ?? "none",
      size: files.bytes === null ? "none" : sizeText(files.bytes),
    },
    logs: { age: age(logs.ageMs) },
    runs: { age: age(runs.ageMs) },
  };
}

const UNITS = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["m", 60_000],
  ["s", 1000],
] as const;

/** As a file would say it: 30s, 15m. */
function durationText(ms: number): string {
  const [unit, size] = UNITS.find(([, each]) => ms % each === 0) ?? ["ms", 1];
  return `${ms / size}${unit}`;
}

const SIZES = [
  ["gb", 1024 ** 3],
  ["mb", 1024 ** 2],
] as const;

function sizeText(bytes: number): string {
  const [unit, size] = SIZES.find(([, each]) => bytes % each === 0) ?? ["kb", 1024];
  return `${bytes / size}${unit}`;
}

function withoutSecrets(value: Json, text: (value: string) => string): Json {
  if (typeof value === "string") return text(value);
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((each: Json) => withoutSecrets(each, text));
  const entries = Object.entries(value as JsonObject);
  return Object.fromEntries(
    entries.flatMap(([key, each]) => (each === undefined ? [] : [[key, withoutSecrets(each, text)]])),
  );
}
