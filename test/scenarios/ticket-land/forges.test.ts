// Every forge through the same suite: no remote, a bare remote, GitHub by `gh`, GitHub over HTTP.

import type { Forge } from "../../../src/forge/forge.ts";
import { type ForgeBench, forgeTestsuite } from "../../../src/forge/forge.testsuite.ts";
import { openForge } from "../../../src/forge/open.ts";
import { type FakeGitHub, openFakeGitHub } from "./fake-github.ts";
import { newRepositories, type Repositories } from "./repositories.ts";

type Kind = "local" | "remote" | "gh" | "rest";

for (const kind of ["local", "remote", "gh", "rest"] as const) forgeTestsuite(kind, () => openBench(kind));

async function openBench(kind: Kind): Promise<ForgeBench> {
  const repositories = newRepositories({ remote: kind !== "local" });
  const fake = kind === "gh" || kind === "rest" ? await openFakeGitHub(repositories, kind) : undefined;
  const forge = await openFor(repositories, fake);
  const { commit, somebody, plant, traces, there } = repositories;
  const tip = (branch: string): string => {
    try {
      return there("rev-parse", "--verify", "-q", `refs/heads/${branch}`);
    } catch {
      return "";
    }
  };
  return {
    forge,
    isElsewhere: kind !== "local",
    commit,
    somebody,
    tip,
    merge(branch) {
      const pull = fake?.pulls.find((each) => each.branch === branch);
      if (fake !== undefined && pull !== undefined) return fake.merge(pull.number, "merge");
      const made = there("commit-tree", `${tip(branch)}^{tree}`, "-p", tip("main"), "-p", tip(branch), "-m", "merge");
      there("update-ref", "refs/heads/main", made);
      return made;
    },
    plant,
    traces,
    async close() {
      await fake?.close();
      repositories.close();
    },
  };
}

async function openFor({ home, project }: Repositories, fake: FakeGitHub | undefined): Promise<Forge> {
  const environment = fake?.environment ?? { PATH: process.env["PATH"], HOME: home, GIT_CONFIG_GLOBAL: "/dev/null" };
  const forge = await openForge({ home, project, environment, own: [], settings: { forge: "auto", remote: "origin" } });
  if (!forge.ok) throw new Error(forge.error.message);
  return forge.value;
}
