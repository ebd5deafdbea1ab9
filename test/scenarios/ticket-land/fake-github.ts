// GitHub as far as landing needs it: an HTTP server over a real bare repository, and a program `gh` that asks the same server. What it was
// asked is kept, arguments and headers included.

import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Repositories } from "./repositories.ts";

export const TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
const REPOSITORY = "org/app";

type Pull = {
  number: number;
  title: string;
  body: string;
  branch: string;
  base: string;
  state: "open" | "closed";
  merged: boolean;
  commit: string | null;
  head: string | null;
  reviews: object[];
  comments: Record<string, object[]>;
};

export type FakeGitHub = {
  readonly pulls: Pull[];
  /** "GET /repos/org/app/pulls/1", in order. */
  readonly requests: string[];
  /** Environment with which openForge finds this GitHub. */
  readonly environment: Record<string, string | undefined>;
  /** The arguments of every call of gh, one line each; empty where it is not used. */
  ghCalls(): readonly string[];
  checks: { sha?: string; [key: string]: unknown }[];
  statuses: object[];
  readonly logs: Map<number, string>;
  /** Answers the next requests with this status. */
  outage: { status: number; times: number; headers?: Record<string, string> } | null;
  merge(number: number, how: "merge" | "squash"): string;
  close(): Promise<void>;
};

export async function openFakeGitHub(repositories: Repositories, way: "gh" | "rest"): Promise<FakeGitHub> {
  const { dir, bare, there } = repositories;
  repositories.git("remote", "set-url", "origin", `https://github.com/${REPOSITORY}.git`);
  const config = join(dir, "global.gitconfig");
  writeFileSync(config, `[url "${bare}"]\n\tinsteadOf = https://github.com/${REPOSITORY}.git\n`);
  const head = (branch: string): string => there("rev-parse", `refs/heads/${branch}`);
  const shown = (pull: Pull) => ({
    number: pull.number,
    html_url: `https://github.com/${REPOSITORY}/pull/${pull.number}`,
    state: pull.state,
    merged: pull.merged,
    merge_commit_sha: pull.commit,
    head: { sha: pull.head ?? head(pull.branch), ref: pull.branch },
    base: { ref: pull.base },
    title: pull.title,
  });
  const fake: FakeGitHub = {
    pulls: [],
    requests: [],
    checks: [],
    statuses: [],
    logs: new Map(),
    outage: null,
    environment: {},
    ghCalls: () =>
      existsSync(join(dir, "gh.log")) ? readFileSync(join(dir, "gh.log"), "utf8").trim().split("\n") : [],
    merge(number, how) {
      const pull = pullOf(number);
      const work = head(pull.branch);
      const made = there(
        "commit-tree",
        `${work}^{tree}`,
        "-p",
        head(pull.base),
        ...(how === "merge" ? ["-p", work] : []),
        "-m",
        `${pull.title} (#${number})`,
      );
      there("update-ref", `refs/heads/${pull.base}`, made);
      there("update-ref", `refs/pull/${number}/head`, work);
      Object.assign(pull, { state: "closed", merged: true, commit: made, head: work });
      return made;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  const pullOf = (number: number): Pull => {
    const found = fake.pulls.find((pull) => pull.number === number);
    if (found === undefined) throw new Error(`no pull request ${number}`);
    return found;
  };

  function answer(method: string, url: URL, body: Record<string, string>): { status: number; body: unknown } {
    const path = url.pathname.replace(`/repos/${REPOSITORY}/`, "");
    if (url.pathname === `/repos/${REPOSITORY}`) return { status: 200, body: { permissions: { push: true } } };
    const number = Number(/^pulls\/(\d+)/u.exec(path)?.[1] ?? 0);
    if (path === "pulls" && method === "GET") {
      const open = fake.pulls.filter(
        (pull) =>
          pull.state === "open" &&
          `org:${pull.branch}` === url.searchParams.get("head") &&
          pull.base === url.searchParams.get("base"),
      );
      return { status: 200, body: open.map(shown) };
    }
    if (path === "pulls") {
      const { title = "", body: text = "", head: branch = "", base = "" } = body;
      const next: Pull = {
        number: fake.pulls.length + 1,
        title,
        body: text,
        branch,
        base,
        state: "open",
        merged: false,
        commit: null,
        head: null,
        reviews: [],
        comments: {},
      };
      fake.pulls.push(next);
      return { status: 201, body: shown(next) };
    }
    if (/^pulls\/\d+$/u.test(path)) {
      if (!fake.pulls.some((pull) => pull.number === number)) return { status: 404, body: { message: "Not Found" } };
      if (method === "PATCH") Object.assign(pullOf(number), body);
      return { status: 200, body: shown(pullOf(number)) };
    }
    const review = /^pulls\/\d+\/reviews\/(\d+)\/comments$/u.exec(path)?.[1];
    if (review !== undefined) return { status: 200, body: pullOf(number).comments[review] ?? [] };
    if (path.endsWith("/reviews")) return { status: 200, body: pullOf(number).reviews };
    const sha = /^commits\/([0-9a-f]+)\//u.exec(path)?.[1];
    if (path.endsWith("/check-runs"))
      return {
        status: 200,
        body: { check_runs: fake.checks.filter((check) => check.sha === undefined || check.sha === sha) },
      };
    if (path.endsWith("/status")) return { status: 200, body: { statuses: fake.statuses } };
    if (path.endsWith("/rerun")) return { status: 201, body: {} };
    return { status: 404, body: { message: "Not Found" } };
  }

  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const url = new URL(request.url ?? "/", "http://localhost");
    fake.requests.push(`${request.method} ${url.pathname}`);
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const send = (status: number, body: string, headers: Record<string, string> = {}): void => {
        response.writeHead(status, { "content-type": "application/json", ...headers });
        response.end(body);
      };
      if (url.pathname.startsWith("/storage/")) return send(200, fake.logs.get(Number(url.pathname.slice(9))) ?? "");
      if (fake.outage !== null && fake.outage.times > 0) {
        fake.outage.times -= 1;
        return send(fake.outage.status, '{"message":"no"}', fake.outage.headers);
      }
      if (request.headers.authorization !== `Bearer ${TOKEN}`) return send(401, '{"message":"Bad credentials"}');
      const job = /\/actions\/jobs\/(\d+)\/logs$/u.exec(url.pathname)?.[1];
      if (job !== undefined)
        return fake.logs.has(Number(job))
          ? send(302, "", { location: `/storage/${job}` })
          : send(404, '{"message":"Not Found"}');
      const text = Buffer.concat(chunks).toString("utf8");
      const { status, body } = answer(
        request.method ?? "GET",
        url,
        text === "" ? {} : (JSON.parse(text) as Record<string, string>),
      );
      send(status, JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const bin = join(dir, "bin");
  mkdirSync(bin);
  const git = execFileSync("sh", ["-c", "command -v git"], { encoding: "utf8" }).trim();
  const base = { HOME: dir, GIT_CONFIG_GLOBAL: config, PATH: `${bin}:${join(git, "..")}:/usr/bin:/bin` };
  if (way === "gh") {
    writeFileSync(join(bin, "gh"), ghProgram(address, join(dir, "gh.log")));
    chmodSync(join(bin, "gh"), 0o755);
    Object.assign(fake.environment, base);
  } else Object.assign(fake.environment, base, { GITHUB_TOKEN: TOKEN, GITHUB_API_URL: address });
  return fake;
}

/**
 * `gh auth status` and `gh api --include`, with the login that the real one keeps for itself. By curl, because Node needs ten times as much of
 * the processor to start and ask. After a redirection only the last answer is shown.
 */
function ghProgram(address: string, log: string): string {
  return `#!/bin/sh
printf '%s\\n' "$*" >> '${log}'
[ "$1" = auth ] && exit 0
for word; do
  [ "$last" = --method ] && method=$word
  [ "$last" = --input ] && body='--data-binary @-'
  last=$word
done
answer=$(curl -sS -i -L --fail-with-body -X "$method" $body -H 'authorization: Bearer ${TOKEN}' '${address}/'"$last"; echo " $?")
end=$(printf '\\r\\n\\r\\nHTTP/')
case $answer in 'HTTP/1.1 3'*) answer=HTTP/\${answer#*"$end"} ;; esac
printf %s "\${answer% *}"
[ "\${answer##* }" = 0 ]
`;
}
