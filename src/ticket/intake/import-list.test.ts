import { expect, test } from "vitest";
import { issuesOfCsv, issuesOfJson, ticketsOf } from "./import-list.ts";

const from = { origin: "file:issues.csv", repo: "TBD" };

function csv(text: string) {
  const issues = issuesOfCsv(text);
  return issues.ok ? ticketsOf(issues.value, from) : issues;
}

function json(value: unknown) {
  const issues = issuesOfJson(JSON.stringify(value));
  return issues.ok ? ticketsOf(issues.value, from) : issues;
}

test("a table with all its columns becomes tickets; other items are meant by their id", () => {
  const read = csv(
    'ID,Title,Body,Labels,Depends On,Repo,Group,Priority\nA-1,"Login, with OAuth","two\nlines","bug; ui",,org/app,Login Auth!,2\nA-2,Logout,,,A-1,,,\n',
  );
  expect(read).toMatchObject({
    ok: true,
    value: [
      {
        title: "Login, with OAuth",
        description: "two\nlines\n\nLabels: bug, ui",
        repo: "org/app",
        group: "login-auth",
        priority: 2,
        dependsOn: [],
        source: "file:issues.csv#A-1",
      },
      { title: "Logout", description: "", repo: "TBD", dependsOn: [0], priority: null, source: "file:issues.csv#A-2" },
    ],
  });
});

test("without ids `#2` is the second of the list", () => {
  expect(json([{ title: "a", dependsOn: ["#2"] }, { title: "b" }])).toMatchObject({ value: [{ dependsOn: [1] }, {}] });
  expect(json({ issues: [{ title: "a", labels: [{ name: "x" }] }] })).toMatchObject({
    value: [{ description: "Labels: x", source: "file:issues.csv#1" }],
  });
});

test.each<[string, string]>([
  ["title,colour\nx,red", 'row 1, column 2: "colour" is not a column'],
  ["title,Title\nx,y", "row 1, column 2: title appears twice"],
  ["body\nx", "row 1: there is no column title"],
  ["title,body\nx,y,z", "row 2, column 3: there are more fields"],
  ["title,priority\nx,soon", 'row 2, priority: "soon" is not a whole number'],
  ["title,body\n,only a body", "row 2, title:"],
  ["title,dependsOn\na,#7", 'row 2, dependsOn: "#7" is not another issue'],
  ["title,dependsOn\na,#2\nb,#1", "row 2, row 3 wait for each other"],
  ["id,title\n1,a\n1,b", "row 3: the id 1 appears twice"],
  ["", "the file is empty"],
])("%j is refused with its place", (text, message) => {
  expect(csv(text)).toMatchObject({ ok: false, error: { message: expect.stringContaining(message) } });
});

test.each<[string, string]>([
  ["{", "it is not JSON"],
  ["12", "it holds no list"],
  ["[1]", "item 1 is not an object"],
])("%s is no list of issues", (text, message) => {
  expect(issuesOfJson(text)).toMatchObject({ ok: false, error: { message: expect.stringContaining(message) } });
});
