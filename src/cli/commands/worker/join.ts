// `worker --join`: this machine carries out attempts of a node until it is stopped or drained. It has a state folder of its own, so a node
// and a worker can share a machine.

import { mkdirSync, realpathSync } from "node:fs";
import { hostname } from "node:os";
import { join, resolve } from "node:path";
import { WORKER_NAME_PATTERN } from "../../../core/worker/wire.ts";
import { readPrivate } from "../../../http/server/token-file.ts";
import { loadUserSettings } from "../../../settings/load.ts";
import { stateFolderProblem } from "../../../settings/real-folder.ts";
import { takeEngineLock } from "../../../store/sqlite/lock.ts";
import { createNodeLink } from "../../../worker/node-link.ts";
import { runWorker } from "../../../worker/run-worker.ts";
import { CliError, EXIT, problemError, usageError } from "../../errors.ts";
import { catchSignals } from "../../interrupt.ts";
import { requireOperator } from "../../operator.ts";
import type { Io } from "../../terminal/io.ts";
import { plainText } from "../../terminal/plain-text.ts";
import { labelsIn } from "./labels.ts";

export type JoinFlags = {
  readonly join: readonly string[];
  readonly tokenFile?: string;
  readonly slots: string;
  readonly labels?: string;
  readonly name?: string;
  readonly project: readonly string[];
  readonly dangerouslyUnencrypted: boolean;
};

export async function joinNode(io: Io, version: string, flags: JoinFlags): Promise<number> {
  requireOperator(io, "worker");
  const urls = addressesOf(flags);
  const tokenFile = flags.tokenFile;
  if (tokenFile === undefined)
    throw usageError(
      "token_missing",
      "A worker needs a token of its node.",
      "--token-file FILE, from: passrail key create NAME --scope worker",
    );
  const token = (): string => readPrivate(tokenFile)?.trim() ?? "";
  if (token() === "")
    throw new CliError("token_file_missing", `${tokenFile} holds no token.`, "passrail key create NAME --scope worker");
  if (!/^([1-9][0-9]?|100)$/u.test(flags.slots)) throw usageError("slots_invalid", "--slots: a number from 1 to 100.");
  const name = nameOf(flags);
  process.umask(0o077);
  const folder = join(io.home, "worker");
  const unusable = stateFolderProblem(io.home);
  if (unusable !== undefined) throw problemError(unusable, EXIT.usage);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const home = realpathSync(folder);
  const settings = await loadUserSettings({ environment: io.environment, flags: {} });
  if (!settings.ok) throw problemError(settings.error, EXIT.usage);
  const lock = takeEngineLock(home);
  if ("heldBy" in lock)
    throw new CliError(
      "worker_running",
      `A worker runs on ${home} already: ${lock.heldBy}.`,
      "Another one needs another PASSRAIL_HOME.",
    );
  const stop = new AbortController();
  const signals = catchSignals(async () => {});
  void signals.caught.then(() => stop.abort("stopped"));
  const log = (line: string): void => {
    if (!io.quiet) io.err(plainText(`${new Date().toISOString()} ${line}`));
  };
  try {
    log(`worker ${name} joins ${urls.join(", ")}: ${flags.slots} slots`);
    const ended = await runWorker({
      home,
      link: createNodeLink(urls, token),
      name,
      slots: Number(flags.slots),
      labels: flags.labels === undefined ? [] : labelsIn(flags.labels),
      projects: projectsOf(flags.project),
      environment: io.environment,
      settings: settings.value,
      version,
      log,
      signal: stop.signal,
    });
    if (!ended.ok) throw problemError(ended.error, EXIT.error);
    log(ended.value === "drained" ? "drained: nothing is left to do" : "stopped");
    return EXIT.ok;
  } finally {
    signals.release();
    lock.release();
  }
}

function addressesOf({ join: given, dangerouslyUnencrypted }: JoinFlags): [string, ...string[]] {
  const [first, ...others] = given.map((url) => addressOf(url, dangerouslyUnencrypted));
  if (first === undefined)
    throw usageError(
      "node_missing",
      "Name the node to join.",
      "passrail worker --join https://host:port --token-file FILE",
    );
  return [first, ...others];
}

/** A token is not sent over a network in the clear. */
function addressOf(url: string, dangerouslyUnencrypted: boolean): string {
  if (!URL.canParse(url)) throw usageError("url_invalid", `${url} is not an address.`, "https://host:port");
  const { protocol, hostname: host, username, password } = new URL(url);
  const isHere = ["127.0.0.1", "localhost", "[::1]"].includes(host);
  if (username !== "" || password !== "" || (protocol !== "https:" && protocol !== "http:"))
    throw usageError("url_invalid", `${url} is not the address of a node.`, "https://host:port");
  if (protocol === "http:" && !isHere && !dangerouslyUnencrypted)
    throw usageError(
      "url_not_encrypted",
      `The token would be sent to ${host} in the clear.`,
      "https://…, or --dangerously-unencrypted in a network that you trust",
    );
  return url;
}

function nameOf({ name }: JoinFlags): string {
  const chosen = name ?? hostname().toLowerCase().split(".")[0] ?? "";
  if (!WORKER_NAME_PATTERN.test(chosen))
    throw usageError(
      "name_invalid",
      `"${chosen}" is no name for a worker: lower-case letters, digits, dots and dashes.`,
      "--name box-2",
    );
  return chosen;
}

function projectsOf(given: readonly string[]): ReadonlyMap<string, string> {
  return new Map(
    given.map((each) => {
      const [id = "", ...path] = each.split("=");
      if (id === "" || path.join("=") === "")
        throw usageError("project_invalid", `"${each}" is not id=path.`, "--project shop-1a2b3c4d=/src/shop");
      return [id, resolve(path.join("="))];
    }),
  );
}
