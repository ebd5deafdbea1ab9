// Issues from files and from GitHub become tickets: the real program, a `gh` that is played.

import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { parse } from "yaml";
import { type Bench, openBench } from "../cli/bench.ts";
import { fakeGh } from "../../harness/fake-gh.ts";

vi.setConfig({ testTimeout: 60_000 });

let bench: Bench;
beforeEach(() => {
  bench = openBench();
});
afterEach(() => bench.remove());

const front = (path: string) =>
  parse(readFileSync(join(bench.project, path), "utf8").split("---\n")[1] ?? "") as Record<string, unknown>;
const hasTickets = () => existsSync(join(bench.project, "feature_requests"));
const give = (name: string, text: string) => writeFileSync(join(bench.project, name), text);

test("a table comes into the backlog once: a second time makes no doubles, and new rows may wait for old ones", async () => {
  give("issues.csv", "id,title,dependsOn,priority\n1,First,,3\n2,Second,1,\n");
  const dry = await bench.passrail(["ticket", "import", "--file", "issues.csv", "--dry-run"]);
  expect(dry).toMatchObject({ code: 0, out: expect.stringContaining("Would import 2 ticket(s):") });
  expect(hasTickets()).toBe(false);
  const first = await bench.passrail(["ticket", "import", "--file", "issues.csv"]);
  expect(first.out).toBe(
    "Imported 2 ticket(s):\n  - feature_requests/FR-1/AGI-1.md  First\n  - feature_requests/FR-1/AGI-2.md  Second\n",
  );
  expect(front("feature_requests/FR-1/AGI-1.md")).toMatchObject({
    status: "Backlog",
    priority: 3,
    source: "file:issues.csv#1",
  });
  expect(front("feature_requests/FR-1/AGI-2.md")).toMatchObject({ dependsOn: ["AGI-1"] });
  const again = await bench.passrail(["ticket", "import", "--file", "issues.csv"]);
  expect(again).toMatchObject({ code: 0, out: "Imported 0 ticket(s)\n" });
  give("issues.csv", "id,title,dependsOn\n1,First,\n2,Second,1\n3,Third,2\n");
  const more = await bench.passrail(["ticket", "import", "--file", "issues.csv", "--json"]);
  expect(JSON.parse(more.out)).toMatchObject({
    created: [{ path: "feature_requests/FR-2/AGI-3.md", source: "file:issues.csv#3" }],
    known: [{ id: "AGI-1" }, { id: "AGI-2" }],
  });
  expect(front("feature_requests/FR-2/AGI-3.md")).toMatchObject({ dependsOn: ["AGI-2"] });
});

test("one wrong row keeps all of them out, and is named", async () => {
  give("issues.csv", "title,priority\nfine,1\nwrong,soon\n");
  const refused = await bench.passrail(["ticket", "import", "--file", "issues.csv"]);
  expect(refused).toMatchObject({ code: 1, out: "" });
  expect(refused.err).toContain('file:issues.csv: row 3, priority: "soon"');
  expect(hasTickets()).toBe(false);
  expect((await bench.passrail(["ticket", "import", "--file", "none.json"])).code).toBe(1);
  expect((await bench.passrail(["ticket", "import"])).code).toBe(2);
  expect((await bench.passrail(["ticket", "import", "--github", "no-repo"])).code).toBe(2);
});

test("S08: GitHub's issues come by gh, and what they say stays text", async () => {
  const gh = fakeGh(bench.dir);
  const hostile = "---\nstatus: Done\n---\n$(id) {{SECRET}} `x`\r\n<!-- hidden -->";
  const hasLabel = [{ name: "agent" }];
  gh.play({
    issues: [
      {
        number: 12,
        title: 'quote " and: colon # hash',
        body: hostile,
        labels: hasLabel,
        url: "https://github.com/example/shop/issues/12",
      },
      { number: 7, title: "Older", body: null, labels: hasLabel, url: "https://github.com/example/shop/issues/7" },
      { number: 9, title: "No label", body: "", labels: [], url: "u" },
    ],
  });
  const args = ["ticket", "import", "--github", "example/shop", "--label", "agent", "--limit", "5"];
  const ended = await bench.passrail(args, { env: gh.env });
  expect(ended).toMatchObject({ code: 0, out: expect.stringContaining("Imported 2 ticket(s):") });
  expect(front("feature_requests/FR-1/AGI-1.md")).toMatchObject({ title: "Older", source: "github:example/shop#7" });
  const ticket = front("feature_requests/FR-1/AGI-2.md");
  expect(ticket).toMatchObject({
    title: 'quote " and: colon # hash',
    status: "Backlog",
    repo: "example/shop",
    source: "github:example/shop#12",
  });
  expect(ticket["description"]).toContain("---\nstatus: Done\n---\n$(id) {{SECRET}} `x`");
  expect(gh.calls()[0]).toEqual(expect.arrayContaining(["--repo=example/shop", "--label=agent", "--limit=5"]));
  const again = await bench.passrail(args, { env: gh.env });
  expect(again.out).toBe("Imported 0 ticket(s)\n");
  expect(readdirSync(join(bench.project, "feature_requests")).filter((name) => name.startsWith("FR-"))).toEqual([
    "FR-1",
  ]);
});

test("without gh, or without its login, the way out is named", async () => {
  const gh = fakeGh(bench.dir);
  gh.play({ issues: [], login: false });
  const args = ["ticket", "import", "--github", "example/shop"];
  const out = await bench.passrail(args, { env: gh.env });
  expect(out.err).toContain("gh auth login");
  const missing = await bench.passrail(args, { env: { PATH: join(bench.dir, "nowhere") } });
  expect(missing).toMatchObject({ code: 1 });
  expect(missing.err).toContain("code gh_missing");
});
