// A separate program that represents an agent's program in a Daytona sandbox: it sends the work, starts the program, streams its output,
// brings work and verdict back, and exits with the program's code. Any error gives a failing exit code.

import { rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { messageOf, type Problem, type Result } from "../../../core/result.ts";
import { connectDaytona, type Daytona, type DaytonaSandbox } from "./api.ts";
import { type Carried, pull, push } from "./carry.ts";
import { openRelay, RELAY_INSIDE } from "./relay.ts";
import { fetchFolders, folderInside, sendFolders } from "./folders.ts";
import { type DaytonaJob, jobSchema, KEY_VARIABLE } from "./job.ts";
import { plainStream } from "./plain.ts";
import { endProgram, lookAtProgram, NO_NODE, quote, remoteOf, startProgram } from "./scripts.ts";
import { optional } from "../../../core/optional.ts";

const PROMPT_BYTES = 20 * 1024 * 1024;
const POLL_MS = 400;
/** The time after which Passrail gives up on a sandbox that does not answer. */
const SILENCE_MS = 60_000;
/** The time between TERM and KILL; less than an attempt has. */
const PATIENCE_MS = 2_000;
/** The sandbox, or the way to it: the next try may work. */
const FAILED = 70;
/** Somebody has to change something. */
const REFUSED = 77;

const NO_WAY = {
  code: "daytona_no_node",
  message: "Passrail cannot be reached from the sandbox, because its image has no node.",
  hint: "Take an image with node, or workspaces.daytona.reach_passrail: off",
};

/** The file that says that the program has begun, from then on. */
let begun: string | undefined;
/** Set when the program is asked to end. */
let ending: number | undefined;
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.on(signal, () => (ending ??= performance.now()));

await main().catch((error: unknown) => stop({ code: "bug", message: messageOf(error) }));

async function main(): Promise<void> {
  const job = jobSchema.parse(JSON.parse(await readFile(process.argv[2] ?? "", "utf8")));
  const prompt = await readPrompt();
  const daytona = connectDaytona({ url: job.url, key: process.env[KEY_VARIABLE] ?? "" });
  const remote = remoteOf(job.name);
  const sandbox = valueOf(await openSandbox(daytona, job));
  const carried: Carried = { daytona, sandbox, remote, top: job.top, branch: job.branch, own: job.own };
  const inside = pathsInside(job, remote);
  valueOf(await push(carried, job.origin));
  valueOf(await sendFolders(daytona, sandbox, remote, [...job.folders, ...job.reads]));
  const variables = job.variables.map((name) => `${name}=${quote(inside(process.env[name] ?? ""))}\n`).join("");
  // An image may know only root, as whom Claude Code works unasked only in a sandbox.
  valueOf(await daytona.upload(sandbox, `${remote.root}/env`, Buffer.from(`IS_SANDBOX=1\n${variables}`)));
  valueOf(await daytona.upload(sandbox, `${remote.root}/prompt`, Buffer.from(inside(prompt))));
  const relay = job.ports.length === 0 ? undefined : { file: RELAY_INSIDE.name, ports: job.ports };
  if (relay !== undefined)
    valueOf(await daytona.upload(sandbox, `${remote.root}/${relay.file}`, await readFile(RELAY_INSIDE.path)));
  const starting = startProgram(remote, inside(job.cwd), job.argv.map(inside), relay);
  const started = valueOf(await daytona.run(sandbox, starting, 60));
  if (started.exitCode === NO_NODE) stop(NO_WAY);
  if (started.exitCode !== 0)
    stop({ code: "daytona_start", message: `The program was not started: ${started.output}` });
  const way = relay === undefined ? undefined : openRelay({ daytona, sandbox, remote, ports: job.ports });
  begun = job.begun;
  writeFileSync(begun, "");
  const code = await follow(daytona, sandbox, remote);
  way?.close();
  valueOf(await pull(carried));
  valueOf(await fetchFolders(daytona, sandbox, remote, job.folders));
  process.exit(code);
}

/** The sandbox of this workspace: the existing one, or a new one. */
async function openSandbox(daytona: Daytona, job: DaytonaJob): Promise<Result<DaytonaSandbox>> {
  const { name, machine, labels } = job;
  let found: Result<DaytonaSandbox | null> = await daytona.find(name);
  if (found.ok && found.value === null) found = await daytona.create({ name, labels, ...optional(machine) });
  // It stops when nobody has asked it for a while; its files are still there.
  if (found.ok && found.value?.state === "stopped") found = await daytona.start(found.value);
  for (const deadline = performance.now() + job.startMs; ; await delay(POLL_MS)) {
    if (!found.ok) return found;
    const state = found.value?.state ?? "gone";
    if (found.value !== null && state === "started") return { ok: true, value: found.value };
    if (["error", "build_failed", "destroyed", "destroying", "archived", "stopped", "gone"].includes(state)) {
      return { ok: false, error: { code: "daytona_sandbox", message: `The sandbox ${name} is ${state}.` } };
    }
    if (ending !== undefined || performance.now() > deadline) {
      return {
        ok: false,
        error: { code: "daytona_sandbox", message: `The sandbox ${name} did not start: it is still ${state}.` },
      };
    }
    found = await daytona.find(name);
  }
}

/** Copies the program's output until it has ended; returns its exit code. */
async function follow(daytona: Daytona, sandbox: DaytonaSandbox, remote: ReturnType<typeof remoteOf>): Promise<number> {
  const seen = { out: 0, err: 0 };
  const plain = { out: plainStream(), err: plainStream() };
  let asked: "TERM" | "KILL" | undefined;
  for (let heard = performance.now(); ; ) {
    const wanted = ending === undefined ? undefined : performance.now() - ending > PATIENCE_MS ? "KILL" : "TERM";
    if (wanted !== undefined && wanted !== asked) {
      await daytona.run(sandbox, endProgram(remote, wanted), 10);
      asked = wanted;
    }
    const looked = await daytona.run(sandbox, lookAtProgram(remote, seen), 30);
    if (!looked.ok) {
      if (performance.now() - heard > SILENCE_MS) stop(looked.error);
      await delay(POLL_MS);
      continue;
    }
    heard = performance.now();
    const [out = "", errors = "", code = "-"] = looked.value.output.split("\n");
    const news = { out: Buffer.from(out, "base64"), err: Buffer.from(errors, "base64") };
    process.stdout.write(plain.out(news.out));
    process.stderr.write(plain.err(news.err));
    seen.out += news.out.length;
    seen.err += news.err.length;
    const isQuiet = news.out.length === 0 && news.err.length === 0;
    if (isQuiet && /^\d+$/u.test(code)) return Math.min(Number(code), 255);
    // A killed program cannot report its exit code.
    if (isQuiet && asked === "KILL") return 137;
    if (isQuiet) await delay(POLL_MS);
  }
}

/** Translates paths of this machine to paths in the sandbox. */
function pathsInside(job: DaytonaJob, remote: ReturnType<typeof remoteOf>): (text: string) => string {
  const folders = [...job.folders, ...job.reads];
  const known = [[job.top, remote.workspace], ...folders.map((path, index) => [path, folderInside(remote, index)])];
  return (text) => known.reduce((renamed, [path = "", inside = ""]) => renamed.replaceAll(path, inside), text);
}

async function readPrompt(): Promise<string> {
  const chunks: Buffer[] = [];
  let total = 0;
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    total += chunk.length;
    if (total > PROMPT_BYTES) stop({ code: "daytona_prompt", message: "The prompt is larger than 20 MiB." });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function valueOf<T>(result: Result<T>): T {
  return result.ok ? result.value : stop(result.error);
}

function stop({ code, message, hint }: Problem): never {
  if (begun !== undefined) rmSync(begun, { force: true });
  process.stderr.write(`passrail: ${message}${hint === undefined ? "" : ` (${hint})`}\n`);
  process.exit(["daytona_401", "daytona_403", NO_WAY.code].includes(code) ? REFUSED : FAILED);
}
