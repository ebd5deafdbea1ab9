// A pull request names the changes that a reviewer should look at first, on a stand-in for GitHub and real repositories.

import { afterEach, expect, test } from "vitest";
import { markedWork } from "../../../src/app/marked-work.ts";
import { openWorkbench, type Workbench } from "../../harness/workbench.ts";
import { type FakeGitHub, openFakeGitHub } from "../ticket-land/fake-github.ts";
import { newRepositories, type Repositories } from "../ticket-land/repositories.ts";

let repositories: Repositories;
let fake: FakeGitHub | undefined;
let bench: Workbench | undefined;
afterEach(async () => {
  await bench?.close();
  await fake?.close();
  repositories.close();
});

test("S10: the text of a pull request names changes to CI, Passrail's own files, hooks, submodules and lockfiles; their names stay text", async () => {
  repositories = newRepositories({ remote: true });
  fake = await openFakeGitHub(repositories, "gh");
  const { dir, project } = repositories;
  const settings = () => ({ merge: { poll: "100ms" } });
  bench = await openWorkbench({ place: { dir, project, environment: fake.environment }, settings });
  const files = {
    ".github/workflows/[x](http:evil) @all #1.yml": "on: push",
    ".gitmodules": "",
    ".husky/pre-commit": "true",
    "passrail.yaml": "slots: 9",
    "package-lock.json": "{}",
    "plain.txt": "1",
  };
  await bench.run(
    "ticket",
    {
      "*": [{ via: "text", text: "done" }],
      implement: [{ via: "text", text: "done", write: files, commit: true }],
    },
    {
      subject: "AGI-7",
      title: "Do it",
      facts: { ticket: { repo: "org/app", status: "Needs Implement", terminal: true }, config: { merge_mode: "pr" } },
    },
  );
  const body = fake.pulls[0]?.body ?? "";
  const [, list = ""] = body.split("**Look at these changes first:**");
  expect(
    list
      .trim()
      .split("\n")
      .slice(0, 5)
      .map((line) => line.split(" ")[1]),
  ).toEqual([
    "passrail.yaml",
    ".github/workflows/\\[x\\](http:evil)",
    ".husky/pre-commit",
    ".gitmodules",
    "package-lock.json",
  ]);
  expect(list).not.toMatch(/@all|#1/u);
  expect(list).not.toContain("plain.txt");
});

test("S10: a submodule is marked by its mode in git, whatever its name", async () => {
  repositories = newRepositories({ remote: false });
  const { git, project } = repositories;
  const from = git("rev-parse", "HEAD");
  git("update-index", "--add", "--cacheinfo", `160000,${from},vendor/innocent.txt`);
  const to = git("commit-tree", git("write-tree"), "-p", from, "-m", "a submodule");
  const marked = await markedWork(project, [{ facts: { from } }], to);
  expect(marked.map(({ path, kind }) => [path, kind])).toEqual([["vendor/innocent.txt", "submodule"]]);
});
