// Where the commands of one page run: a home folder, a project with one commit, and on the PATH `passrail` and programs that stand in for
// coding agents. One shell executes all commands of a page, so variables and files of one block are there in the next.

import { execFileSync, spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer as createHttpServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { approveFiles } from "../harness/approve-files.ts";
import type { Step } from "./pages.ts";
import { PROGRAM } from "../harness/program.ts";
import { freePort } from "../harness/free-port.ts";

export const ROOT: string = join(import.meta.dirname, "../..");
/** The port that the pages show. Each page gets a free one instead. */
const SHOWN_PORT = "7377";
const TIMEOUT_MS = 200_000;
const MARK = "\u001e";

export type Place = {
  readonly project: string;
  /** Programs of the page, and files that belong to them. */
  readonly bin: string;
  /** PASSRAIL_HOME, below the home folder as it is without that variable. */
  readonly state: string;
  readonly write: (path: string, text: string) => void;
  /** Makes a program on the PATH of the page. */
  readonly program: (name: string, ...command: readonly string[]) => void;
  readonly run: (before: string, steps: readonly Step[]) => Promise<readonly Ran[]>;
  /** Starts an HTTP server that accepts everything; returns its address. */
  readonly serve: () => Promise<string>;
  readonly remove: () => void;
};

/** How one step went. `output` is what it printed on both streams. */
export type Ran = { readonly step: Step; readonly code: number; readonly output: string };

export async function openPlace(): Promise<Place> {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-docs-")));
  const [home, project, bin] = [join(dir, "home"), join(dir, "project"), join(dir, "bin")];
  const state = join(home, ".local/state/passrail");
  for (const folder of [home, project, bin]) mkdirSync(folder, { recursive: true });
  const port = String(await freePort());
  // Compiled code of the starts before is there from the first command on.
  const cache = process.env["NODE_COMPILE_CACHE"] ?? join(tmpdir(), "passrail-docs-cache");
  const env = environmentOf({ home, bin, state, port, cache });
  const git = (...args: readonly string[]): void => void execFileSync("git", ["-C", project, ...args], { env });
  git("init", "-q", "-b", "main");
  git("commit", "-q", "--allow-empty", "-m", "first");
  const program = (name: string, ...command: readonly string[]): void => {
    const words = command.map((word) => `'${word}'`).join(" ");
    writeFileSync(join(bin, name), `#!/bin/sh\nexec ${words} "$@"\n`);
    chmodSync(join(bin, name), 0o755);
  };
  program("passrail", process.execPath, PROGRAM);
  let sink: Server | undefined;
  return {
    project,
    bin,
    state,
    program,
    async serve() {
      sink = createHttpServer((request, response) => request.resume().once("end", () => response.end("ok")));
      await new Promise<void>((resolve) => sink?.listen(0, "127.0.0.1", resolve));
      return `http://127.0.0.1:${(sink.address() as AddressInfo).port}/hook`;
    },
    write(path, text) {
      mkdirSync(dirname(join(project, path)), { recursive: true });
      writeFileSync(join(project, path), text);
      // Files that a setup writes are there already when the page begins; a page approves what it writes itself.
      approveFiles(state, project);
    },
    async run(before, steps) {
      const text = await runShell(scriptOf(before, steps, port), project, env);
      return readSteps(text, steps).map((ran) => ({ ...ran, output: ran.output.replaceAll(port, SHOWN_PORT) }));
    },
    remove() {
      sink?.close();
      rmSync(dir, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function environmentOf(place: Readonly<Record<"home" | "bin" | "state" | "port" | "cache", string>>) {
  const who = { NAME: "ann", EMAIL: "ann@localhost" };
  return {
    PATH: [place.bin, dirname(process.execPath), "/usr/local/bin", "/usr/bin", "/bin"].join(delimiter),
    HOME: place.home,
    LANG: "C.UTF-8",
    PASSRAIL_HOME: place.state,
    PASSRAIL_PORT: place.port,
    NODE_COMPILE_CACHE: place.cache,
    GH_CONFIG_DIR: place.bin,
    // The reader is logged in; stand-ins of the programs send it nowhere.
    ANTHROPIC_API_KEY: "stand-in",
    CODEX_API_KEY: "stand-in",
    GEMINI_API_KEY: "stand-in",
    GIT_AUTHOR_NAME: who.NAME,
    GIT_AUTHOR_EMAIL: who.EMAIL,
    GIT_COMMITTER_NAME: who.NAME,
    GIT_COMMITTER_EMAIL: who.EMAIL,
  };
}

/** `echo $?` is not executed: the exit code of the step before is compared with it. */
function scriptOf(before: string, steps: readonly Step[], port: string): string {
  const parts = steps.map(({ command }, index) =>
    [
      `printf '${MARK}%s\\n' '${index}'`,
      command === "echo $?" ? ":" : command.replaceAll(SHOWN_PORT, port),
      `printf '${MARK}exit %s\\n' "$?"`,
    ].join("\n"),
  );
  return [
    `trap 'test -e "$PASSRAIL_HOME/daemon.json" && passrail down' EXIT`,
    "set -e",
    before.replaceAll(SHOWN_PORT, port),
    "set +e",
    ...parts,
  ].join("\n");
}

function runShell(script: string, cwd: string, env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn("sh", ["-c", `exec 2>&1\n${script}`], { cwd, env, stdio: ["ignore", "pipe", "ignore"] });
  const timer = setTimeout(() => child.kill("SIGTERM"), TIMEOUT_MS);
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", () => {
      clearTimeout(timer);
      setImmediate(() => resolve(text));
    });
  });
}

/** A step without an exit code was cut off; it counts as failed, with all that was printed. */
function readSteps(text: string, steps: readonly Step[]): Ran[] {
  return steps.map((step, index) => {
    const [, own = `it was never reached. Before it:\n${text}`] = text.split(`${MARK}${index}\n`);
    const [output = "", rest = ""] = own.split(`${MARK}exit `);
    return { step, output, code: rest === "" ? -1 : Number.parseInt(rest, 10) };
  });
}
