import { expect, test } from "vitest";
import { chooseByRules } from "./router-rules.ts";

/** "A B+ R": initials, a plus for a team. */
const agents = (task: string) =>
  chooseByRules(task)
    .stages.map(({ agent, teams }) => `${agent.charAt(0).toUpperCase()}${teams ? "+" : ""}`)
    .join(" ");

test.each([
  ["fix the typo in the README", "small-change", "B R"],
  ["Rename a variable", "small-change", "B R"],
  ["Correct the wording of the footer", "small-change", "B R"],
  ["Add a settings page", "default", "A B R"],
  ["", "default", "A B R"],
  ["Research which queue fits", "research", "S A B R"],
  ["find out why the build is slow", "research", "S A B R"],
  ["investigate and fix the crash", "research", "S A B R"],
  ["Add search and filters, then export with charts, and also a report plus alerts", "many-parts", "A B+ R"],
])("R-001-06: %j fires the rule %s", (task, rule, stages) => {
  expect(chooseByRules(task).rule).toBe(rule);
  expect(agents(task)).toBe(stages);
});

test("words count as words, not as parts of others", () => {
  expect(chooseByRules("Add a prefix to the log and a suffix").rule).toBe("default");
  expect(chooseByRules("Add a fixture").rule).toBe("default");
});

test("whatever the rule, code that was built is reviewed last", () => {
  for (const task of ["fix it", "research it", "build it", "a and b and c and d and e"]) {
    expect(chooseByRules(task).stages.at(-1)).toEqual({ agent: "reviewer", teams: false });
  }
});
