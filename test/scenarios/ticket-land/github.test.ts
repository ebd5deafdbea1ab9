// GitHub's own side: what a squash, a review, a failed check and an outage mean, by `gh` and over HTTP alike; and where the token never is.

import { afterEach, describe, expect, test } from "vitest";
import type { Forge, PullRequest } from "../../../src/forge/forge.ts";
import { openForge } from "../../../src/forge/open.ts";
import { type FakeGitHub, openFakeGitHub, TOKEN } from "./fake-github.ts";
import { newRepositories, type Repositories } from "./repositories.ts";

let repositories: Repositories;
let fake: FakeGitHub;
let forge: Forge;
afterEach(async () => {
  await fake.close();
  repositories.close();
});

const settings = { forge: "auto", remote: "origin" } as const;
const WORK = { branch: "feat/AGI-1", target: "main", title: "AGI-1: do it", body: "done" };

async function open(way: "gh" | "rest"): Promise<void> {
  repositories = newRepositories({ remote: true });
  fake = await openFakeGitHub(repositories, way);
  const { home, project } = repositories;
  const opened = await openForge({ home, project, environment: fake.environment, own: [], settings });
  if (!opened.ok) throw new Error(opened.error.message);
  forge = opened.value;
}

async function proposed(): Promise<PullRequest> {
  const commit = repositories.commit("feat/AGI-1", { "a.txt": "1" });
  const request = await forge.propose({ ...WORK, commit });
  if (!request.ok) throw new Error(request.error.message);
  return request.value;
}

describe.each(["gh", "rest"] as const)("by %s", (way) => {
  test("R-004-46: one pull request per branch: it is opened once, then updated", async () => {
    await open(way);
    const request = await proposed();
    expect(request).toMatchObject({ number: 1, url: "https://github.com/org/app/pull/1" });
    const commit = repositories.commit("feat/AGI-1", { "b.txt": "2" });
    const again = await forge.propose({ ...WORK, commit, title: "AGI-1: better", body: "again" });
    expect(again).toMatchObject({ ok: true, value: { number: 1, commit } });
    expect(fake.pulls).toHaveLength(1);
    expect(fake.pulls[0]).toMatchObject({ title: "AGI-1: better", body: "again", branch: "feat/AGI-1", base: "main" });
  });

  test("R-004-51: a squash is proven by what the request was at, and what came in is reachable", async () => {
    await open(way);
    const request = await proposed();
    const made = fake.merge(1, "squash");
    expect(await forge.look(request)).toEqual({ ok: true, value: { state: "merged", commit: made } });
    expect(await forge.keep(made)).toMatchObject({ ok: true });
    expect(repositories.git("cat-file", "-t", made)).toBe("commit");
  });

  test("a person's commit on top of the approved one may be squashed with it", async () => {
    await open(way);
    const request = await proposed();
    repositories.somebody("feat/AGI-1", { "fixup.txt": "x" });
    const made = fake.merge(1, "squash");
    expect(await forge.look(request)).toEqual({ ok: true, value: { state: "merged", commit: made } });
  });

  test("what GitHub calls merged and the target does not hold is not believed", async () => {
    await open(way);
    const request = await proposed();
    const other = repositories.somebody("other", { "x.txt": "x" });
    Object.assign(fake.pulls[0] ?? {}, { state: "closed", merged: true, commit: other, head: request.commit });
    expect(await forge.look(request)).toMatchObject({
      ok: true,
      value: { state: "open", note: expect.stringContaining("does not hold") },
    });
  });

  test("a request that was merged without the approved commit is a person's decision", async () => {
    await open(way);
    const request = await proposed();
    const theirs = repositories.somebody("evil", { "evil.txt": "x" });
    repositories.there("update-ref", "refs/heads/feat/AGI-1", theirs);
    fake.merge(1, "squash");
    expect(await forge.look(request)).toMatchObject({
      ok: true,
      value: { state: "closed", reason: expect.stringContaining("approved") },
    });
  });

  test("a request that is closed, or merged elsewhere, is closed", async () => {
    await open(way);
    const request = await proposed();
    Object.assign(fake.pulls[0] ?? {}, { state: "closed" });
    expect(await forge.look(request)).toMatchObject({
      ok: true,
      value: { state: "closed", reason: expect.stringContaining("#1") },
    });
    Object.assign(fake.pulls[0] ?? {}, { merged: true, base: "develop", head: request.commit, commit: request.commit });
    expect(await forge.look(request)).toMatchObject({
      ok: true,
      value: { state: "closed", reason: expect.stringContaining("develop") },
    });
  });

  test("a failed check comes back with the real end of its log, once per commit", async () => {
    await open(way);
    const request = await proposed();
    fake.checks = [
      { id: 7, name: "test", status: "completed", conclusion: "failure", app: { slug: "github-actions" } },
    ];
    const times = "2026-02-14T10:00:00.1234567Z ";
    fake.logs.set(
      7,
      `${times}npm test\n${times}\u001b[31mFAIL a.test.ts\u001b[0m\n${times}##[error]Process completed with exit code 1.\n${times}Cleaning up\n`,
    );
    const seen = await forge.look(request);
    if (!seen.ok || seen.value.state !== "revise") throw new Error(JSON.stringify(seen));
    const [issue] = seen.value.issues;
    expect(issue).toMatchObject({ severity: "major" });
    expect((issue as { description: string }).description).toContain(
      "npm test\nFAIL a.test.ts\n##[error]Process completed",
    );
    expect(JSON.stringify(issue)).not.toMatch(/Cleaning up|2026-02-14/u);
    const again = await forge.look(request);
    expect(again).toMatchObject({ ok: true, value: { key: seen.value.key } });
  });

  test("while others are still working a failure waits; what was only said in a status comes too", async () => {
    await open(way);
    const request = await proposed();
    const failed = {
      id: 7,
      name: "test",
      status: "completed",
      conclusion: "failure",
      output: { title: "2 errors", summary: "in a.ts" },
    };
    fake.checks = [failed, { id: 8, name: "lint", status: "in_progress", conclusion: null }];
    expect(await forge.look(request)).toMatchObject({ ok: true, value: { state: "open" } });
    fake.checks = [failed];
    fake.statuses = [{ id: 1, context: "ci/old", state: "error", description: "no luck", target_url: null }];
    const seen = await forge.look(request);
    expect(seen).toMatchObject({ ok: true, value: { state: "revise", summary: "test failed; ci/old failed" } });
    expect(JSON.stringify(seen)).toContain("2 errors");
  });

  test.each(["cancelled", "timed_out", "startup_failure"])(
    "a check that was %s is not the work's fault: it is run once more",
    async (conclusion) => {
      await open(way);
      const request = await proposed();
      const cut = { name: "test", status: "completed", conclusion, app: { slug: "github-actions" } };
      fake.checks = [{ id: 7, ...cut }];
      expect(await forge.look(request)).toMatchObject({
        ok: true,
        value: { state: "open", note: expect.stringContaining("run again") },
      });
      expect(fake.requests.filter((each) => each.endsWith("/actions/jobs/7/rerun"))).toHaveLength(1);
      fake.checks = [
        { id: 7, ...cut },
        { id: 9, ...cut },
      ];
      expect(await forge.look(request)).toMatchObject({
        ok: true,
        value: { state: "open", note: expect.stringContaining("look at it") },
      });
      expect(fake.requests.filter((each) => each.endsWith("/rerun"))).toHaveLength(1);
      fake.checks = [
        { id: 7, ...cut },
        { ...cut, id: 10, conclusion: "success" },
      ];
      expect(await forge.look(request)).toEqual({ ok: true, value: { state: "open", note: null } });
    },
  );

  test("a reviewer's wish comes with its lines; a stranger's, an older and a withdrawn one do not", async () => {
    await open(way);
    const request = await proposed();
    const [pull] = fake.pulls;
    if (pull === undefined) throw new Error("there is none");
    const review = (id: number, login: string, state: string, more: object = {}) => ({
      id,
      state,
      body: `by ${login}`,
      commit_id: request.commit,
      author_association: "MEMBER",
      user: { login },
      ...more,
    });
    pull.reviews = [
      review(1, "stranger", "CHANGES_REQUESTED", { author_association: "NONE" }),
      review(2, "late", "CHANGES_REQUESTED", { commit_id: "0".repeat(40) }),
      review(3, "mild", "CHANGES_REQUESTED"),
      review(4, "mild", "APPROVED"),
      review(5, "ann", "CHANGES_REQUESTED"),
      review(6, "ann", "COMMENTED"),
    ];
    pull.comments = { 5: [{ body: "rename this", path: "src/a.ts", line: 12 }] };
    expect(await forge.look(request)).toMatchObject({
      ok: true,
      value: {
        state: "revise",
        summary: "ann asks for changes",
        issues: [{ description: "by ann" }, { description: "rename this", file: "src/a.ts", line: 12 }],
      },
    });
  });

  test("outages, limits and a refused login are told apart", async () => {
    await open(way);
    const request = await proposed();
    const seen = async (status: number, headers: Record<string, string> = {}) => {
      fake.outage = { status, times: 1, headers };
      const looked = await forge.look(request);
      return looked.ok ? "ok" : looked.error.code;
    };
    expect(await seen(502)).toBe("server_error");
    expect(await seen(429)).toBe("rate_limit");
    expect(await seen(403, { "x-ratelimit-remaining": "0" })).toBe("rate_limit");
    expect(await seen(403)).toBe("forge_auth");
    expect(await seen(401)).toBe("forge_auth");
    expect(await seen(404)).toBe("forge_refused");
  });

  test("the token is in no argument", async () => {
    await open(way);
    const request = await proposed();
    await forge.look(request);
    expect(fake.ghCalls().length > 0).toBe(way === "gh");
    expect(fake.ghCalls().join("\n")).not.toContain(TOKEN);
  });
});

test("a login is asked for only where a pull request is opened, and the missing one is named", async () => {
  await open("rest");
  const { home, project } = repositories;
  const { GITHUB_TOKEN: _token, ...environment } = fake.environment;
  const opened = await openForge({ home, project, environment, own: [], settings });
  if (!opened.ok) throw new Error(opened.error.message);
  const commit = repositories.commit("feat/AGI-1", { "a.txt": "1" });
  expect(await opened.value.push({ branch: "feat/AGI-1", commit })).toMatchObject({ ok: true });
  expect(await opened.value.propose({ ...WORK, commit })).toMatchObject({
    ok: false,
    error: { code: "token_missing", message: expect.stringContaining("GITHUB_TOKEN"), hint: expect.any(String) },
  });
});

test("a remote whose address changed after it was first seen gets nothing", async () => {
  await open("rest");
  repositories.git("remote", "set-url", "origin", "https://github.com/attacker/app.git");
  const { home, project } = repositories;
  expect(await openForge({ home, project, environment: fake.environment, own: [], settings })).toMatchObject({
    ok: false,
    error: { code: "remote_changed", hint: expect.stringContaining("rm ") },
  });
});

test.each([
  "ext::sh -c id",
  "--upload-pack=id",
  "http://github.com/a/b",
  "git://x/y",
  "-oProxyCommand=id",
  "../elsewhere",
])("S11: the remote address %j is refused", async (address) => {
  await open("rest");
  repositories.git("config", "remote.origin.url", address);
  const { home, project } = repositories;
  expect(await openForge({ home, project, environment: fake.environment, own: [], settings })).toMatchObject({
    ok: false,
    error: { code: "remote_unusable" },
  });
});
