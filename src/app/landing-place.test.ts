import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findLandingPlace, type LandingSettings } from "./landing-place.ts";

const AUTO: LandingSettings = { mode: "auto", forge: "auto", remote: "origin", target: null };

test("where work lands is known without a network: the settings, the remote, and the branch that the repository remembers", async () => {
  const project = mkdtempSync(join(tmpdir(), "passrail-place-"));
  const git = (...args: readonly string[]) => execFileSync("git", ["-C", project, ...args]);
  try {
    git("init", "-q", "-b", "main");
    const own = { mode: "auto", remote: null, hasPullRequests: false, target: "main" };
    expect(await findLandingPlace(project, AUTO)).toEqual(own);
    git("remote", "add", "origin", "https://github.com/ann/shop.git");
    const there = { mode: "auto", remote: "origin", hasPullRequests: true, target: null };
    expect(await findLandingPlace(project, AUTO)).toEqual(there);
    git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/release/next");
    expect(await findLandingPlace(project, AUTO)).toEqual({ ...there, target: "release/next" });
    expect(await findLandingPlace(project, { ...AUTO, target: "stable" })).toEqual({ ...there, target: "stable" });
    // A remote that the settings do not treat as GitHub has no pull requests; another GitHub server is named by its host.
    expect(await findLandingPlace(project, { ...AUTO, forge: "remote" })).toMatchObject({ hasPullRequests: false });
    expect(await findLandingPlace(project, AUTO, "git.example.com")).toMatchObject({ hasPullRequests: false });
    expect(await findLandingPlace(project, { ...AUTO, forge: "local" })).toEqual(own);
  } finally {
    rmSync(project, { recursive: true });
  }
});
