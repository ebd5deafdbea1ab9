// One git call that talks to a remote, in a repository whose configuration only Passrail writes. The user's settings (credentials, ssh,
// addresses) apply, the system's and the project's do not. No hooks, no prompts, no shell, a time limit.

import { execFile } from "node:child_process";
import { err, ok, type Problem, type Result } from "../core/result.ts";

export type Network = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** In the environment of every git process: the next engine finds and ends those that a dead one left. */
  readonly marker: string | null;
  /** For https remotes of this host, if the user has no other login. Never part of an argument. */
  readonly token: { readonly host: string; readonly value: string } | null;
};

const TIMEOUT_MS = 300_000;
const MAX_BYTES = 16 * 1024 * 1024;
const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"].flatMap((name) => [name, name.toLowerCase()]);
const LOGIN = ["HOME", "XDG_CONFIG_HOME", "USER", "LOGNAME", "SSH_AUTH_SOCK", "GIT_CONFIG_GLOBAL"];
const PASSED = ["PATH", "TMPDIR", ...LOGIN, ...PROXIES, "SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO"];

const SETTINGS: readonly (readonly [string, string])[] = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.pager", "cat"],
  ["core.editor", "false"],
  ["protocol.ext.allow", "never"],
  ["protocol.file.allow", "always"],
  ["submodule.recurse", "false"],
  ["push.recurseSubmodules", "no"],
  ["push.gpgSign", "false"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
];

/** Only the git process that needs the token has it, in its environment. */
const TOKEN_HELPER = `!f() { test "$1" = get && echo username=x-access-token && echo "password=$PASSRAIL_FORGE_TOKEN"; }; f`;

export function remoteGit(network: Network, gitDir: string, args: readonly string[]): Promise<Result<string>> {
  return new Promise((resolve) => {
    const child = execFile(
      "git",
      ["--no-pager", ...args],
      {
        cwd: "/",
        env: environmentOf(network, gitDir),
        timeout: TIMEOUT_MS,
        killSignal: "SIGKILL",
        maxBuffer: MAX_BYTES,
      },
      (error, stdout, stderr) => {
        if (error === null) resolve(ok(stdout));
        else resolve(err(problemOf(args, error.killed === true, stderr.trim() === "" ? error.message : stderr)));
      },
    );
    child.stdin?.on("error", () => {});
    child.stdin?.end();
  });
}

function environmentOf({ environment, marker, token }: Network, gitDir: string): Record<string, string> {
  const env: Record<string, string> = {
    LC_ALL: "C",
    GIT_DIR: gitDir,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ASKPASS: "",
    SSH_ASKPASS: "",
    GIT_ALLOW_PROTOCOL: "https:ssh:file",
    GIT_PROTOCOL_FROM_USER: "0",
    GIT_NO_REPLACE_OBJECTS: "1",
    GIT_SSH_COMMAND: environment["GIT_SSH_COMMAND"] ?? "ssh -oBatchMode=yes",
  };
  for (const name of PASSED) {
    const value = environment[name];
    if (value !== undefined) env[name] = value;
  }
  if (marker !== null) env["PASSRAIL_MARKER"] = marker;
  const settings = [...SETTINGS];
  if (token !== null) {
    settings.push([`credential.https://${token.host}.helper`, TOKEN_HELPER]);
    env["PASSRAIL_FORGE_TOKEN"] = token.value;
  }
  env["GIT_CONFIG_COUNT"] = String(settings.length);
  for (const [index, [key, value]] of settings.entries()) {
    env[`GIT_CONFIG_KEY_${index}`] = key;
    env[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return env;
}

const AUTH = ["Authentication failed", "could not read Username", "Permission denied", "access denied", "HTTP 403"];
const UNREACHABLE = [
  "Could not resolve host",
  "Connection refused",
  "Connection timed out",
  "Connection reset",
  "Network is unreachable",
  "Operation timed out",
  "early EOF",
  "the remote end hung up",
  "HTTP 5",
  "returned error: 5",
];
const MOVED = ["stale info", "fetch first", "non-fast-forward", "cannot lock ref", "[rejected]"];

function problemOf(args: readonly string[], killed: boolean, said: string): Problem {
  const verb = `git ${args[0] ?? ""}`;
  const text = readable(said);
  if (killed) return { code: "unreachable", message: `${verb} took too long and was ended.` };
  if (AUTH.some((mark) => said.includes(mark))) {
    const hint =
      "Try it by hand with git push, and set up the login that works there (ssh key, credential helper, GITHUB_TOKEN).";
    return { code: "forge_auth", message: `The remote refused the login: ${text}`, hint };
  }
  if (UNREACHABLE.some((mark) => said.includes(mark))) {
    return { code: "unreachable", message: `The remote cannot be reached: ${text}` };
  }
  if (MOVED.some((mark) => said.includes(mark))) {
    return { code: "remote_moved", message: `The branch on the remote is not where it was: ${text}` };
  }
  return { code: "remote_refused", message: `${verb} failed: ${text}` };
}

/** Git's message on one line, without addresses that may contain a password. */
function readable(text: string): string {
  return text
    .slice(-1500)
    .replace(/\/\/[^/@\s]{1,300}@/gu, "//")
    .replace(/[\p{Cc}\p{Cf}]+/gu, " ")
    .trim()
    .slice(-600);
}
