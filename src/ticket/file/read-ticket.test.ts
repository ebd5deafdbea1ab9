import { describe, expect, test } from "vitest";
import { TICKET_STATUSES } from "../../core/ticket/status.ts";
import { readTicket } from "./read-ticket.ts";
import type { TicketSource } from "./ticket-fields.ts";

const HEAD = "id: AGI-7\ntitle: Log in\nrepo: shop\nstatus: Backlog\n";

function read(text: string, over: Partial<TicketSource> = {}) {
  return readTicket({
    text,
    hash: "0",
    path: "feature_requests/FR-1/AGI-7.md",
    request: "FR-1",
    id: "AGI-7",
    prefix: "AGI",
    unknownStatus: "block",
    allowsRepo: (repo) => repo === "shop",
    ...over,
  });
}

const matter = (keys: string, body = "\nDo it.\n") => `---\n${keys}---\n${body}`;
const codes = (text: string, over: Partial<TicketSource> = {}) =>
  read(text, over).problems.map(({ code, severity, line, column }) => `${line}:${column} ${code} ${severity}`);

test("a whole ticket is read, each key where it belongs", () => {
  const keys = `${HEAD}description: More words.\ndependsOn: [AGI-1, AGI-2]\ngroup: login/auth_2\nvariantHint: "Variant 1 of 2: OAuth"\npriority: 3\nworkflow: oneshot\nflow: ticket\n`;
  const { ticket, problems, lacksId } = read(matter(keys));
  expect(problems).toEqual([]);
  expect(lacksId).toBe(false);
  expect(ticket).toMatchObject({
    id: "AGI-7",
    number: 7,
    title: "Log in",
    description: "More words.",
    body: "\nDo it.\n",
    repo: "shop",
    status: "Backlog",
    dependsOn: ["AGI-1", "AGI-2"],
    group: "login/auth_2",
    variantHint: "Variant 1 of 2: OAuth",
    priority: 3,
    workflow: "oneshot",
    flow: "ticket",
    request: "FR-1",
  });
});

test("what is left out has its default, and without a repo it is TBD", () => {
  expect(read(matter("id: AGI-7\nstatus: Backlog\n", "\n# Log in\n\nDo it.\n")).ticket).toMatchObject({
    title: "Log in",
    description: "\n# Log in\n\nDo it.\n",
    repo: "TBD",
    dependsOn: [],
    group: null,
    variantHint: null,
    priority: null,
    workflow: null,
  });
});

describe("security 46: the front matter", () => {
  test.each([
    ["none", "Just text\n", ["1:1 ticket_no_frontmatter refused"]],
    ["an empty file", "", ["1:1 ticket_no_frontmatter refused"]],
    ["not closed", "---\nid: AGI-7\n", ["1:1 frontmatter_unclosed refused"]],
    ["empty", "---\n---\n", ["2:1 ticket_must_be_mapping refused"]],
    ["a list", "---\n- a\n---\n", ["2:1 ticket_must_be_mapping refused"]],
  ])("%s", (_, text, expected) => {
    expect(codes(text)).toEqual(expected);
    expect(read(text).ticket).toBeNull();
  });

  test("a byte order mark and CRLF are accepted", () => {
    const { ticket, problems } = read(`\uFEFF${matter(HEAD)}`.replaceAll("\n", "\r\n"));
    expect(problems).toEqual([]);
    expect(ticket).toMatchObject({ title: "Log in", status: "Backlog", body: "\nDo it.\n" });
  });
});

test.each(["---js", "---json", "---toml", "--- yaml"])(
  "security 47: %s is refused and nothing is executed",
  (first) => {
    expect(codes(`${first}\n{ "x": process.exit(1) }\n---\n`)).toEqual([
      "1:1 frontmatter_language_unsupported refused",
    ]);
  },
);

test.each([
  ["a tab as indentation", "id: AGI-7\ndependsOn:\n\t- AGI-1\n", "4:1 yaml_syntax refused"],
  ["a second colon", "id: AGI-7\ntitle: a: b\n", "3:8 yaml_syntax refused"],
  ["an unbalanced quote", 'id: AGI-7\ntitle: "a\nstatus: Backlog\n', "yaml_syntax refused"],
])("security 48: %s is a fault with its place", (_, keys, expected) => {
  expect(codes(matter(keys))[0]).toContain(expected);
});

test("security 49: a key that stands twice is refused", () => {
  expect(codes(matter(`${HEAD}status: Done\n`))).toEqual(["6:1 duplicate_key refused"]);
});

describe("security 50: a status that is none of the 18 words", () => {
  const words = ["done", "Dnoe", '""', "3", "[Done]", "~", "{}", "Done ish"];
  test.each(words)("%s blocks the ticket with the list of words", (word) => {
    const { ticket, problems } = read(matter(`id: AGI-7\nrepo: shop\nstatus: ${word}\n`));
    expect(ticket).toBeNull();
    expect(problems).toMatchObject([{ code: "unknown_status", severity: "refused", line: 4, column: 1 }]);
    for (const known of TICKET_STATUSES) expect(problems[0]?.message).toContain(known);
  });

  test("a missing status too", () => {
    expect(codes(matter("id: AGI-7\nrepo: shop\n"))).toEqual(["2:1 unknown_status refused"]);
  });

  test.each(words)("by setting %s is taken for Backlog, with a warning", (word) => {
    const { ticket, problems } = read(matter(`id: AGI-7\nrepo: shop\nstatus: ${word}\n`), { unknownStatus: "Backlog" });
    expect(ticket?.status).toBe("Backlog");
    expect(problems).toMatchObject([{ code: "unknown_status", severity: "warning" }]);
  });
});

test.each(["AGI-8", "agi-7", "7", "AGI-07", "../AGI-7", "[AGI-7]"])(
  "security 51: the id %s is not that of the file's name",
  (id) => {
    expect(codes(matter(`id: ${id}\ntitle: x\nrepo: shop\nstatus: Backlog\n`))).toEqual(["2:1 id_mismatch refused"]);
  },
);

test("R-004-34: a file without an id is told", () => {
  expect(read(matter("title: x\nrepo: shop\nstatus: Backlog\n")).lacksId).toBe(true);
});

test("R-004-36: dependsOn as one text is a list of one, and doubles count once", () => {
  expect(read(matter(`${HEAD}dependsOn: AGI-1\n`)).ticket?.dependsOn).toEqual(["AGI-1"]);
  expect(read(matter(`${HEAD}dependsOn: [AGI-1, " AGI-1 "]\n`)).ticket?.dependsOn).toEqual(["AGI-1"]);
});

test.each([
  "dependson: AGI-1",
  "depends_on: [AGI-1]",
  "dependOn: [AGI-1]",
  "Depends-On: AGI-1",
  "dependencies: [AGI-1]",
])("R-004-36: the misspelt key of %s keeps the ticket from starting and is mended by name", (line) => {
  const { problems } = read(matter(`${HEAD}${line}\n`));
  expect(problems).toMatchObject([
    { code: "misspelt_dependency", severity: "refused", line: 6, message: expect.stringContaining('"dependsOn"?') },
  ]);
});

test("R-004-36: dependsOn without a value, and an id that is nearly one, are refused with what was meant", () => {
  expect(codes(matter(`${HEAD}dependsOn:\n`))).toEqual(["6:1 invalid_dependency refused"]);
  expect(codes(matter(`${HEAD}dependsOn: ""\n`))).toEqual(["6:1 invalid_dependency refused"]);
  expect(codes(matter(`${HEAD}dependsOn: []\n`))).toEqual([]);
  const { problems } = read(matter(`${HEAD}dependsOn: [agi-1, AGI2, "#3", x]\n`));
  expect(problems.map(({ message }) => message.split("; ")[1])).toEqual([
    'did you mean "AGI-1"?',
    'did you mean "AGI-2"?',
    'did you mean "AGI-3"?',
    "a dependency is an id such as AGI-1",
  ]);
});

test("security 55: what is not an id among the dependencies is refused with its place", () => {
  const bad = ["1", "null", "{}", "AGI-0", "../AGI-1", "AGI-1/..", '"AGI-1\\0"', "agi-1", "AGI-1234567890"];
  const { problems } = read(matter(`${HEAD}dependsOn: [AGI-1, ${bad.join(", ")}]\n`));
  expect(problems.map(({ code }) => code)).toEqual(bad.map(() => "invalid_dependency"));
  expect(problems[0]).toMatchObject({ line: 6, column: 20, message: expect.stringContaining("dependsOn[1] is 1") });
});

test.each([
  '"../../x"',
  '"-f"',
  '"a b"',
  '"A;rm"',
  "x".repeat(300),
  "a..b",
  "a//b",
  "a.lock",
  "a/.b",
  "a.",
  "ä",
  "[a]",
])("security 56: the group %s is refused with the pattern", (group) => {
  const { problems } = read(matter(`${HEAD}group: ${group}\n`));
  expect(problems).toMatchObject([
    { code: "invalid_group", severity: "refused", line: 6, message: expect.stringContaining("letters, digits") },
  ]);
});

test.each(["file:///etc", "ext::sh -c id", "--upload-pack=x", "git@host:x", "https://host/o/r", "/etc"])(
  "security 57: the repository %s is not allowed",
  (repo) => {
    const found = codes(matter(`id: AGI-7\ntitle: x\nrepo: "${repo}"\nstatus: Backlog\n`));
    expect(found).toEqual(["4:1 repo_not_allowed refused"]);
  },
);

test("security 58: a key that nobody knows is a warning with a suggestion", () => {
  const { ticket, problems } = read(matter(`${HEAD}prioritee: 1\nx-mine: 1\n`));
  expect(ticket).not.toBeNull();
  expect(problems).toMatchObject([
    { code: "unknown_field", severity: "warning", line: 6, message: expect.stringContaining('"priority"') },
    { code: "unknown_field", severity: "warning", line: 7 },
  ]);
});

test("a priority, a workflow or a flow that means nothing is told", () => {
  expect(codes(matter(`${HEAD}priority: high\n`))).toEqual(["6:1 invalid_priority warning"]);
  expect(codes(matter(`${HEAD}workflow: one-shot\n`))).toEqual(["6:1 unknown_workflow refused"]);
  expect(codes(matter(`${HEAD}flow: "../x"\n`))).toEqual(["6:1 invalid_flow refused"]);
  expect(codes(matter(`${HEAD}variantHint: [a]\n`))).toEqual(["6:1 invalid_field refused"]);
});

test("what YAML could do beyond data is refused", () => {
  expect(codes(matter(`${HEAD}a: &x 1\n`))).toEqual(["6:4 yaml_alias_not_allowed refused"]);
  expect(codes(matter(`${HEAD}a: !!js/function x\n`))).toEqual(["6:4 yaml_tag_not_allowed refused"]);
  expect(codes(matter(`${HEAD}__proto__: {}\n`))).toEqual(["6:1 key_not_allowed refused"]);
});

test("a title is one line of at most 200 characters", () => {
  expect(read(matter(`id: AGI-7\nstatus: Backlog\ntitle: "a\\n  b"\n`)).ticket?.title).toBe("a b");
  expect(read(matter(`id: AGI-7\nstatus: Backlog\ntitle: ${"x".repeat(5000)}\n`)).ticket?.title).toHaveLength(200);
});
