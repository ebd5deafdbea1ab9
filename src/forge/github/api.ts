// The used part of GitHub's API: each call, with the fields that Passrail reads. Answers are untrusted: an unexpected form is an error,
// never a guess.

import { z } from "zod";
import type { Json } from "../../core/json.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { GitHubTransport } from "./transport.ts";

const sha = z.string().regex(/^[0-9a-f]{40,64}$/u);
const text = z.string().nullish();

const pull = z.object({
  number: z.int().positive(),
  html_url: z
    .string()
    .max(1000)
    .regex(/^https?:\/\//u),
  state: z.enum(["open", "closed"]),
  merged: z.boolean().optional(),
  merge_commit_sha: sha.nullish(),
  head: z.object({ sha }),
  base: z.object({ ref: z.string() }),
});
const review = z.object({
  id: z.int(),
  state: z.string(),
  body: text,
  commit_id: text,
  author_association: z.string().optional(),
  user: z.object({ login: z.string() }).nullish(),
});
const comment = z.object({ body: text, path: text, line: z.int().nullish(), original_line: z.int().nullish() });
const checkRun = z.object({
  id: z.int(),
  name: z.string(),
  status: z.string(),
  conclusion: text,
  details_url: text,
  output: z.object({ title: text, summary: text }).nullish(),
  app: z.object({ slug: text }).nullish(),
});
const status = z.object({ id: z.int(), context: z.string(), state: z.string(), description: text, target_url: text });

export type Pull = z.infer<typeof pull>;
export type PullRequestReview = z.infer<typeof review>;
export type CheckRun = z.infer<typeof checkRun>;
export type Status = z.infer<typeof status>;

export type GitHubApi = ReturnType<typeof createGitHubApi>;

/** `repository`: owner/name, checked. */
export function createGitHubApi(transport: () => Promise<Result<GitHubTransport>>, repository: string) {
  const base = `repos/${repository}`;

  async function ask<T>(
    schema: z.ZodType<T>,
    method: "GET" | "POST" | "PATCH",
    path: string,
    body?: Json,
  ): Promise<Result<T>> {
    const open = await transport();
    if (!open.ok) return open;
    const answer = await open.value.request(method, path === "" ? base : `${base}/${path}`, body);
    if (!answer.ok) return answer;
    const parsed = parse(answer.value.text);
    if (answer.value.status >= 300) return err(refused(method, path, answer.value.status, parsed));
    const read = schema.safeParse(parsed);
    if (read.success) return ok(read.data);
    return err({
      code: "forge_answer",
      message: `GitHub's answer to ${method} ${path} is not understood: ${z.prettifyError(read.error).slice(0, 300)}`,
    });
  }

  return {
    openPulls: (branch: string, target: string) => {
      const [owner = ""] = repository.split("/");
      const query = new URLSearchParams({ state: "open", head: `${owner}:${branch}`, base: target, per_page: "10" });
      return ask(z.array(pull), "GET", `pulls?${query.toString()}`);
    },
    createPull: (body: { title: string; body: string; head: string; base: string }) => ask(pull, "POST", "pulls", body),
    updatePull: (number: number, body: { title: string; body: string }) => ask(pull, "PATCH", `pulls/${number}`, body),
    closePull: (number: number) => ask(pull, "PATCH", `pulls/${number}`, { state: "closed" }),
    /** The repository itself: whether the login may read it, and write to it. */
    repository: () => ask(z.object({ permissions: z.object({ push: z.boolean() }).optional() }), "GET", ""),
    pull: (number: number) => ask(pull, "GET", `pulls/${number}`),
    reviews: (number: number) => ask(z.array(review), "GET", `pulls/${number}/reviews?per_page=100`),
    comments: (number: number, id: number) =>
      ask(z.array(comment), "GET", `pulls/${number}/reviews/${id}/comments?per_page=100`),
    async checkRuns(commit: string): Promise<Result<readonly CheckRun[]>> {
      const found = await ask(
        z.object({ check_runs: z.array(checkRun) }),
        "GET",
        `commits/${commit}/check-runs?filter=all&per_page=100`,
      );
      return found.ok ? ok(found.value.check_runs) : found;
    },
    async statuses(commit: string): Promise<Result<readonly Status[]>> {
      const found = await ask(z.object({ statuses: z.array(status) }), "GET", `commits/${commit}/status?per_page=100`);
      return found.ok ? ok(found.value.statuses) : found;
    },
    /** The raw log of one job; undefined if it no longer exists. */
    async log(job: number): Promise<string | undefined> {
      const open = await transport();
      const answer = open.ok ? await open.value.request("GET", `${base}/actions/jobs/${job}/logs`) : open;
      return answer.ok && answer.value.status < 300 ? answer.value.text : undefined;
    },
    rerun: (job: number) => ask(z.unknown(), "POST", `actions/jobs/${job}/rerun`, {}),
  };
}

function parse(body: string): unknown {
  if (body.trim() === "") return {};
  try {
    return JSON.parse(body) as unknown;
  } catch {
    return undefined;
  }
}

const complaint = z.object({
  message: z.string(),
  errors: z.array(z.object({ message: z.string().optional() })).optional(),
});

function refused(method: string, path: string, code: number, body: unknown) {
  const said = complaint.safeParse(body);
  const why = said.success
    ? [said.data.message, ...(said.data.errors ?? []).flatMap(({ message }) => message ?? [])].join("; ")
    : "";
  const shown = why.slice(0, 300).replace(/[\p{Cc}\p{Cf}]+/gu, " ");
  return { code: "forge_refused", message: `GitHub refused ${method} ${path.split("?")[0] ?? ""} (${code}): ${shown}` };
}
