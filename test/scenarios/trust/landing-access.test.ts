// A ticket whose finished work could not leave does not start: no stage is paid for that the last one would waste.

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { OK, openProject, type Project } from "../ticket-pick/project.ts";

let project: Project;
afterEach(() => project.remove());

const ENV = { GITHUB_TOKEN: "", GH_TOKEN: "", PATH: `${join(process.execPath, "..")}:/usr/bin:/bin` };
const git = (...args: readonly string[]): void => void execFileSync("git", ["-C", project.project, ...args]);

function open(address: (dir: string) => string): void {
  project = openProject();
  project.settings({ "*": [OK] });
  project.ticket(1, { status: "Needs Validate" });
  git("remote", "add", "origin", address(project.dir));
}

test("R-004-62: without a login at GitHub a ticket stays where it is, and work and explain say why and what helps", async () => {
  open(() => "https://github.com/org/app.git");
  const ended = await project.passrail(["work", "--once"], { env: ENV });
  expect(`${ended.out}${ended.err}`).toContain("AGI-1 cannot start: A pull request needs a login at GitHub");
  expect(`${ended.out}${ended.err}`).toContain("gh auth login, or set GITHUB_TOKEN");
  expect(ended.code).not.toBe(0);
  expect(project.status(1)).toBe("Needs Validate");
  const explained = await project.passrail(["explain", "AGI-1"], { env: ENV });
  expect(explained.out).toContain("its finished work could not leave, so it does not start");
  expect(explained.out).toContain("gh auth login");
  expect((await project.passrail(["runs", "list", "--json"], { env: ENV })).out).not.toContain("AGI-1");
});

test("R-004-62: a remote that does not answer keeps tickets from starting, and one that does lets them start", async () => {
  open((dir) => join(dir, "remote.git"));
  const refused = await project.passrail(["work", "--once"], { env: ENV });
  expect(`${refused.out}${refused.err}`).toContain("AGI-1 cannot start");
  expect(project.status(1)).toBe("Needs Validate");
  const bare = join(project.dir, "remote.git");
  execFileSync("git", ["clone", "-q", "--bare", project.project, bare], { stdio: "ignore" });
  const started = await project.passrail(["work", "--once"], { env: ENV });
  expect(`${started.out}${started.err}`).not.toContain("cannot start");
  expect(project.status(1)).not.toBe("Needs Validate");
});
