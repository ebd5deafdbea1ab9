// GitHub through its own program: `gh` has the person's login. Called with a list of arguments, never through a shell; its output is
// untrusted.

import { execFile } from "node:child_process";
import { err, ok, type Problem, type Result } from "../../core/result.ts";
import { optional } from "../../core/optional.ts";

/** Runs `gh` and returns its output. */
export type Gh = (args: readonly string[], signal?: AbortSignal) => Promise<Result<string>>;

type Environment = Readonly<Record<string, string | undefined>>;

const TIMEOUT_MS = 60_000;
const OUTPUT_BYTES = 32 * 1024 * 1024;
/** Variables for its login, the network and the repository; it gets no agents' keys. */
const PASSED = [
  "PATH",
  "HOME",
  "USER",
  "LANG",
  "TMPDIR",
  "XDG_CONFIG_HOME",
  "XDG_STATE_HOME",
  "XDG_RUNTIME_DIR",
  "DBUS_SESSION_BUS_ADDRESS",
  "GH_TOKEN",
  "GITHUB_TOKEN",
  "GH_ENTERPRISE_TOKEN",
  "GH_HOST",
  "GH_CONFIG_DIR",
  "HTTPS_PROXY",
  "HTTP_PROXY",
  "NO_PROXY",
  "SSL_CERT_FILE",
];

export function openGh(environment: Environment, cwd: string): Gh {
  const passed = PASSED.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]]));
  const env = { ...Object.fromEntries(passed), GH_PROMPT_DISABLED: "1", GH_NO_UPDATE_NOTIFIER: "1", NO_COLOR: "1" };
  return (args, signal) =>
    new Promise((resolve) => {
      const options = {
        cwd,
        env,
        timeout: TIMEOUT_MS,
        maxBuffer: OUTPUT_BYTES,
        ...optional({ signal }),
      };
      execFile("gh", [...args], options, (error, stdout, stderr) =>
        resolve(error === null ? ok(stdout) : err(problemOf(error, stderr, args))),
      );
    });
}

/** `gh … --json`: its output as a value. */
export async function readJson(gh: Gh, args: readonly string[]): Promise<Result<unknown>> {
  const printed = await gh(args);
  if (!printed.ok) return printed;
  try {
    return ok(JSON.parse(printed.value));
  } catch {
    return err({
      code: "gh_unreadable",
      message: `gh ${args.slice(0, 2).join(" ")} printed something that is not JSON.`,
    });
  }
}

type Failure = Error & { readonly code?: string | number | null; readonly killed?: boolean };

function problemOf(error: Failure, stderr: string, args: readonly string[]): Problem {
  const what = `gh ${args.slice(0, 2).join(" ")}`;
  if (error.code === "ENOENT")
    return {
      code: "gh_missing",
      message: "The program gh (GitHub CLI) is not installed or not on the PATH.",
      hint: "Install it from https://cli.github.com, then: gh auth login",
    };
  if (error.killed === true)
    return { code: "gh_timeout", message: `${what} did not end within ${TIMEOUT_MS / 1000} seconds.` };
  const said = stderr.trim().split("\n")[0]?.slice(0, 300) ?? "";
  if (error.code === 4 || /auth login|authentication/iu.test(said))
    return { code: "gh_login", message: `${what} is not logged in: ${said}`, hint: "gh auth login" };
  return { code: "gh_failed", message: `${what} failed: ${said === "" ? `exit code ${String(error.code)}` : said}` };
}
