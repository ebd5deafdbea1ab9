// Reaches GitHub's API through the user's `gh` if it is installed and logged in, else over HTTP with GITHUB_TOKEN. Callers cannot see which
// one was used. The token is in no argument.

import { execFile } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";
import type { Json } from "../../core/json.ts";
import { err, messageOf, ok, type Problem, type Result } from "../../core/result.ts";
import { optional } from "../../core/optional.ts";

export type GithubAnswer = { readonly status: number; readonly text: string };

export type GitHubTransport = {
  readonly name: "gh" | "rest";
  request(method: "GET" | "POST" | "PATCH", path: string, body?: Json): Promise<Result<GithubAnswer>>;
};

export type TransportOptions = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly host: string;
};

const TIMEOUT_MS = 60_000;
const MAX_BYTES = 8 * 1024 * 1024;

export async function openTransport(options: TransportOptions): Promise<Result<GitHubTransport>> {
  const { environment, host } = options;
  const program = findGh(environment["PATH"] ?? "");
  if (program !== undefined && (await runGh(program, options, ["auth", "status", "--hostname", host])).code === 0)
    return ok(createGh(program, options));
  const token = environment["GITHUB_TOKEN"] || environment["GH_TOKEN"];
  if (token === undefined || token === "") {
    return err({
      code: "token_missing",
      message: "A pull request needs a login at GitHub: gh is not logged in, and GITHUB_TOKEN is not set.",
      hint: "gh auth login, or set GITHUB_TOKEN in the environment or in .env",
    });
  }
  const base = apiAddress(environment, host);
  return base.ok ? ok(createRest(base.value, token)) : base;
}

function apiAddress(environment: TransportOptions["environment"], host: string): Result<string> {
  const named = environment["GITHUB_API_URL"];
  const address = named ?? (host === "github.com" ? "https://api.github.com" : `https://${host}/api/v3`);
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isNear = url?.hostname === "127.0.0.1" || url?.hostname === "localhost";
  if (url?.protocol === "https:" || (url?.protocol === "http:" && isNear)) return ok(address.replace(/\/+$/u, ""));
  return err({ code: "invalid_setting", message: `GITHUB_API_URL: "${address}" is not an https address.` });
}

function createRest(base: string, token: string): GitHubTransport {
  return {
    name: "rest",
    async request(method, path, body) {
      try {
        const response = await fetch(`${base}/${path}`, {
          method,
          headers: {
            accept: "application/vnd.github+json",
            authorization: `Bearer ${token}`,
            "user-agent": "passrail",
            "x-github-api-version": "2022-11-28",
            ...(body === undefined ? {} : { "content-type": "application/json" }),
          },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          signal: AbortSignal.timeout(TIMEOUT_MS),
        });
        const text = await readCapped(response);
        const spent = response.headers.get("x-ratelimit-remaining") === "0" || response.headers.has("retry-after");
        return answered({ status: response.status, text }, spent);
      } catch (error) {
        const why = messageOf(error);
        return err({ code: "unreachable", message: `GitHub cannot be reached: ${why}` });
      }
    },
  };
}

/** Keeps the end of a long answer: only logs are long. */
async function readCapped(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    bytes += chunk.length;
    while (bytes > MAX_BYTES && chunks.length > 1) bytes -= chunks.shift()?.length ?? 0;
  }
  return Buffer.concat(chunks).toString("utf8");
}

function createGh(program: string, options: TransportOptions): GitHubTransport {
  return {
    name: "gh",
    async request(method, path, body) {
      const input = body === undefined ? [] : ["--input", "-"];
      const args = ["api", "--include", "--hostname", options.host, "--method", method, ...input, path];
      const { stdout, stderr } = await runGh(program, options, args, body === undefined ? "" : JSON.stringify(body));
      // With --include the status line comes first, even when gh exits with an error because of that status.
      const head = /^HTTP\/[0-9.]+ ([0-9]{3})/u.exec(stdout);
      const end = /\r?\n\r?\n/u.exec(stdout);
      if (head === null || end === null)
        return err({
          code: "unreachable",
          message: `gh gave no answer: ${stderr.slice(-300).replace(/[\p{Cc}\p{Cf}]+/gu, " ")}`,
        });
      const spent = /^(x-ratelimit-remaining: 0|retry-after: .{1,40})\r?$/imu.test(stdout.slice(0, end.index));
      return answered({ status: Number(head[1]), text: stdout.slice(end.index + end[0].length) }, spent);
    },
  };
}

const PASSED = [
  "PATH",
  "HOME",
  "XDG_CONFIG_HOME",
  "GH_CONFIG_DIR",
  "GH_TOKEN",
  "GITHUB_TOKEN",
  "GH_ENTERPRISE_TOKEN",
  "GITHUB_ENTERPRISE_TOKEN",
];
const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"].flatMap((name) => [name, name.toLowerCase()]);

type Ended = { readonly code: number; readonly stdout: string; readonly stderr: string };

function runGh(
  program: string,
  { environment }: TransportOptions,
  args: readonly string[],
  input = "",
): Promise<Ended> {
  const env: Record<string, string> = { GH_PROMPT_DISABLED: "1", GH_NO_UPDATE_NOTIFIER: "1", NO_COLOR: "1" };
  for (const name of [...PASSED, ...PROXIES]) {
    const value = environment[name];
    if (value !== undefined) env[name] = value;
  }
  return new Promise((resolve) => {
    const child = execFile(
      program,
      [...args],
      // Not the project: gh would use the repository there.
      { cwd: "/", env, timeout: TIMEOUT_MS, killSignal: "SIGKILL", maxBuffer: MAX_BYTES },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === "number" ? error.code : 1;
        resolve({ code, stdout, stderr });
      },
    );
    child.stdin?.on("error", () => {});
    child.stdin?.end(input);
  });
}

function findGh(path: string): string | undefined {
  const folders = path.split(delimiter).filter((folder) => isAbsolute(folder));
  return folders
    .map((folder) => join(folder, "gh"))
    .find((file) => {
      try {
        accessSync(file, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

/** Handles GitHub's own errors about login, limits and outages; every other status goes to the caller. */
function answered(answer: GithubAnswer, spent: boolean): Result<GithubAnswer> {
  const { status, text } = answer;
  const problem = (code: string, message: string, hint?: string): Problem => ({
    code,
    message,
    ...optional({ hint }),
  });
  if (status === 401)
    return err(problem("forge_auth", "GitHub refused the login.", "gh auth login, or a new GITHUB_TOKEN"));
  if (status === 429 || (status === 403 && (spent || text.includes("rate limit"))))
    return err(problem("rate_limit", "GitHub's limit of requests is used up."));
  if (status === 403) {
    const hint = "The token needs to read and write contents and pull requests, and to read checks and actions.";
    return err(problem("forge_auth", "GitHub does not allow this with the login that is used.", hint));
  }
  if (status >= 500) return err(problem("server_error", `GitHub answered with ${status}.`));
  return ok(answer);
}
