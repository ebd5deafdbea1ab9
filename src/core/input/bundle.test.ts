import { expect, test } from "vitest";
import { composeBundle } from "./bundle.ts";
import { namedIn, sectionsIn } from "./sections.ts";

const file = (path: string, text: string) => ({ path, sha256: "0".repeat(64), text });
const ticket = { id: "P-1", title: "Show names", body: "" };

test("R-002-06: most static first: rules, spec, plan, task; the same copies give the same bytes", () => {
  const sources = {
    rules: [file("CLAUDE.md", "Use tabs.\n")],
    spec: file("spec.md", "# Names\n\nSecret sauce.\n"),
    plan: file("plan.md", "# Plan\n\n## Work\n\nDo it.\n"),
    task: file("task.md", "- [ ] it works\n"),
    ticket,
  };
  const text = composeBundle("dev", sources);
  expect(composeBundle("dev", sources)).toBe(text);
  expect(text).not.toContain("Secret sauce.");
  const parts = ["Use tabs.", "## The spec: spec.md", "## The plan: plan.md", "Do it.", "## The task: task.md"];
  const places = parts.map((part) => text.indexOf(part));
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
});

test("the sections that the task refers to are chosen by the words of a heading or by its anchor", () => {
  const plan =
    "# Plan\n## Data model\nA\n## Routing (HTTP)\nB\n```\n## Not a heading\n```\n## API\nC\n## Rollout plan\nD\n";
  const sections = sectionsIn(plan);
  expect(sections.map(({ title }) => title)).toEqual(["Plan", "Data model", "Routing (HTTP)", "API", "Rollout plan"]);
  expect(sections[1]).toMatchObject({ line: 2, lastLine: 3 });
  const named = (text: string) => namedIn(sections, text).map(({ title }) => title);
  expect(named("Follow the **data model**.")).toEqual(["Data model"]);
  expect(named("See plan.md#routing-http")).toEqual(["Routing (HTTP)"]);
  expect(named("Use the API as it is.")).toEqual([]);
  expect(named("See plan.md#api")).toEqual(["API"]);
  const bundle = composeBundle("dev", {
    rules: [],
    plan: file("plan.md", plan),
    task: file("task.md", "Follow the data model.\n"),
    ticket,
  });
  expect(bundle).toContain("## Data model\nA");
  // Both roles get what the parts promise each other.
  expect(bundle).toContain("## API\nC");
  expect(bundle).not.toContain("## Rollout plan\nD");
  expect(bundle).toContain("Not for this role: Plan; Routing (HTTP); Rollout plan");
});

test("a row is the tester's if it says so or is under a heading about tests; ticked and other lists do not matter", () => {
  const task =
    "# T\n- a remark\n## Definition of Done\n- [ ] route exists\n- [x] done already\n- [ ] covered (Tester)\n## Tests\n* [ ] login fails\n```\n- [ ] in code\n```\n> - [ ] quoted\n";
  const rows = (role: "dev" | "tester") =>
    composeBundle(role, { rules: [], task: file("task.md", task), ticket })
      .split("\n")
      .filter((line) => line.startsWith("- [ ] "));
  expect(rows("dev")).toEqual(["- [ ] route exists", "- [ ] done already"]);
  expect(rows("tester")).toEqual(["- [ ] covered (Tester)", "- [ ] login fails"]);
});

test("hostile texts stay bounded: many headings, long lines, no structure", () => {
  const many = "## heading number\n".repeat(14_000);
  const long = `# ${"x".repeat(250_000)}`;
  const sources = {
    rules: [],
    spec: file("spec.md", many),
    plan: file("plan.md", many),
    task: file("task.md", long),
    ticket,
  };
  const start = process.cpuUsage().user;
  const text = composeBundle("tester", sources);
  expect(process.cpuUsage().user - start).toBeLessThan(5_000_000);
  expect(text.split("\n").length).toBeLessThan(400);
  expect(text.length).toBeLessThan(60_000);
});
