// The shipped agents and prompts are data that others rely on by name: front matter, headings, variables, words and curl lines.
// These checks read the files as they ship. They say nothing about how good a prompt is.

import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { z } from "zod";

const root = join(import.meta.dirname, "../..");

const frontMatterSchema = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9-]*$/),
  description: z
    .string()
    .min(20)
    .max(200)
    .regex(/^[^\n]+\.$/),
  model: z.enum(["haiku", "sonnet", "opus"]).optional(),
  tools: z.array(z.string().regex(/^[A-Z][A-Za-z]+$/)).optional(),
  skills: z.array(z.string()).optional(),
  /** For those that no program plays. */
  runner: z.literal("outside").optional(),
  reads: z.array(z.string()).optional(),
  writes: z.array(z.string()).optional(),
  judges: z.literal(true).optional(),
});

const agentsByFlow = {
  "000": ["in1", "in5", "in2", "in6"],
  "001": ["router", "scout", "architect", "builder", "reviewer"],
  "002": [
    "devops",
    "developer",
    "backend-developer",
    "frontend-developer",
    "developer-tester",
    "dod-checker",
    "reviewer",
    "backend-reviewer",
    "frontend-reviewer",
    "tester",
    "update-specs",
  ],
  "003": ["analyst", "implementer", "reviewer", "refactorer", "documenter"],
  "004": ["spec", "worker", "test-writer", "forge"],
};

const ticketVars = ["BRANCH_NAME", "REPO", "TASK_DESCRIPTION", "TASK_ID", "TASK_TITLE"];

/** Every shipped prompt with the variables it must use: no more, no fewer. */
const promptVars: Record<string, readonly string[]> = {
  "agent0-spec.md": ["NONCE", "REPOS", "USER_REQUEST"],
  "agent2-worker-research.md": ticketVars,
  "agent2-worker-spec.md": ticketVars,
  "agent2-worker-plan.md": ticketVars,
  "agent2-worker-implement.md": ticketVars,
  "agent2-worker-validate.md": ticketVars,
  "agent2-worker-oneshot.md": ticketVars,
  "agent2-worker-test.md": ticketVars,
  "fragments/assume-and-write.md": [],
  "fragments/constraints.md": [],
  "fragments/findings-build.md": ["FINDINGS", "HOW"],
  "fragments/findings-review.md": ["FINDINGS", "HOW"],
  "fragments/inline-dod-gate.md": [],
  "fragments/merge-auto.md": ["BRANCH_NAME", "TASK_ID"],
  "fragments/merge-direct.md": ["BRANCH_NAME"],
  "fragments/merge-pr.md": ["BRANCH_NAME", "TASK_ID"],
  "fragments/output-file-verdict.md": ["NONCE", "PATH", "WORDS"],
  "fragments/output-handoff-api.md": ["AGENT", "BRANCH", "DASHBOARD_URL", "NEXT_AGENT", "STORY_ID", "TOKEN"],
  "fragments/output-handoff-file.md": ["ASKING", "ITERATION", "NONCE", "PATH", "WORDS"],
  "fragments/output-json-tail.md": ["AGENT", "LOOP", "NONCE", "SUBJECT_ID", "SUBJECT_KEY", "WORDS"],
  "fragments/output-prefix.md": ["NONCE"],
  "fragments/output-program.md": ["NONCE", "VERDICT_FILE"],
  "fragments/output-router.md": ["AGENTS", "NONCE"],
  "fragments/output-submit.md": ["ASK", "FIRST_FIELD", "NONCE"],
  "fragments/output-verdict-file.md": ["NONCE", "PATH", "WORDS"],
  "fragments/output-work-result.md": ["BRANCH_NAME", "NONCE"],
  "fragments/repair.md": ["REASON"],
};

const handoffSections = [
  "## Status",
  "## Status reason",
  "## Abstract",
  "## Iteration",
  "## Files Created",
  "## Files Modified",
  "## Quality-Gate Results",
  "## DoD coverage",
  "## Key Decisions",
  "## For the Next Agent",
  "## Open Questions",
];

describe("agent files", async () => {
  const files = (await readdir(join(root, "agents"))).sort();

  test("every agent that a flow of the sources names is shipped, and no other", () => {
    const wanted = [...new Set(Object.values(agentsByFlow).flat())].map((name) => `${name}.md`).sort();
    expect(files).toEqual(wanted);
  });

  test.each(files)(
    "%s has front matter that parses, its own name, one sentence of description and a body",
    async (file) => {
      const { front, body } = splitFrontMatter(await read(`agents/${file}`));
      const agent = frontMatterSchema.parse(parse(front, { strict: true, uniqueKeys: true }));
      expect(`${agent.name}.md`).toBe(file);
      expect(body.trim().split("\n").length).toBeGreaterThan(8);
    },
  );

  test.each(files)(
    "R-002-50: %s holds no template variable, so that its text is the same in every attempt",
    async (file) => {
      expect(await read(`agents/${file}`)).not.toContain("{{");
    },
  );

  test("R-002-10: the roles of the build-plan flows have their model tier", async () => {
    const tiers = {
      opus: ["devops", "developer", "backend-developer", "frontend-developer", "developer-tester", "update-specs"],
    };
    const all = {
      ...tiers,
      sonnet: ["reviewer", "backend-reviewer", "frontend-reviewer", "tester"],
      haiku: ["dod-checker"],
    };
    for (const [model, names] of Object.entries(all)) {
      for (const name of names) {
        const { front } = splitFrontMatter(await read(`agents/${name}.md`));
        expect([name, frontMatterSchema.parse(parse(front)).model]).toEqual([name, model]);
      }
    }
  });

  test.each([
    ["in1", ["APPROVED", "REJECT"], ["SHIP", "COMPLETE"]],
    ["in5", ["APPROVED", "REJECT"], ["SHIP", "COMPLETE"]],
    ["in2", ["COMPLETE", "REJECT"], ["SHIP", "APPROVED"]],
    ["in6", ["SHIP", "REVISE", "REJECT"], ["APPROVED", "COMPLETE"]],
    ["dod-checker", ["APPROVED", "BLOCKED"], ["REQUEST_CHANGES"]],
    ["backend-reviewer", ["APPROVED", "REQUEST_CHANGES", "ESCALATED"], ["SHIP"]],
    ["frontend-reviewer", ["APPROVED", "REQUEST_CHANGES", "ESCALATED"], ["SHIP"]],
    ["tester", ["APPROVED", "REQUEST_CHANGES"], ["SHIP"]],
  ])("R-000-03: %s is told its own verdict words and no others", async (name, own, others) => {
    const text = await read(`agents/${name}.md`);
    for (const word of own) expect(text).toContain(`\`${word}\``);
    for (const word of others) expect(text).not.toContain(`\`${word}\``);
  });

  test("R-001-28: the agents of the routed flow name the files that they read and write", async () => {
    const paths = {
      scout: [".brain/PROJECT.md", ".brain/RESEARCH.md"],
      architect: [".brain/PROJECT.md", ".brain/RESEARCH.md", ".brain/PLAN.md"],
      builder: [".brain/PROJECT.md", ".brain/PLAN.md", "ommit"],
    };
    for (const [name, named] of Object.entries(paths)) {
      const { body } = splitFrontMatter(await read(`agents/${name}.md`));
      for (const path of named) expect(body).toContain(path);
    }
    expect(await read("agents/reviewer.md")).toContain("diff of the latest changes");
  });
});

describe("build-plan contracts", () => {
  test.each(["developer", "backend-developer", "frontend-developer", "developer-tester"])(
    "R-002-58: %s has the headings Quality-Gate Results and DoD coverage",
    async (name) => {
      const lines = (await read(`agents/${name}.md`)).split("\n");
      expect(lines).toContain("## Quality-Gate Results");
      expect(lines).toContain("## DoD coverage");
    },
  );

  test("R-002-58: the tester has the section on running gates again, with both outcomes", async () => {
    const text = await read("agents/tester.md");
    expect(text.split("\n")).toContain("## Quality-gate re-execution policy");
    expect(text).toContain("**Trusted**");
    expect(text).toContain("**Not trusted**");
  });

  test("R-002-58: the handoff form names every section in its order, and the four words of Status", async () => {
    const text = await read("prompts/fragments/output-handoff-file.md");
    const places = handoffSections.map((section) => text.indexOf(`\`${section}\``));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    for (const word of ["complete", "blocked", "failed", "incomplete"]) expect(text).toContain(`\`${word}\``);
  });

  test("the inline gate of the simple flow asks for both sections", async () => {
    const text = await read("prompts/fragments/inline-dod-gate.md");
    expect(text).toContain("`## DoD coverage`");
    expect(text).toContain("`## Quality-Gate Results`");
  });
});

describe("prompts", () => {
  test("R-004-11: the shipped prompts are exactly the known ones", async () => {
    const entries = await readdir(join(root, "prompts"), { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    const paths = files.map((entry) => join(entry.parentPath, entry.name).slice(join(root, "prompts").length + 1));
    expect(paths.sort()).toEqual(Object.keys(promptVars).sort());
  });

  test.each(Object.entries(promptVars))("%s uses its variables and no others", async (path, vars) => {
    const text = await read(`prompts/${path}`);
    expect([...new Set(namesInBraces(text))].sort()).toEqual([...vars].sort());
    expect(text.split("{{").length, "every {{ belongs to a variable").toBe(namesInBraces(text).length + 1);
  });

  test("R-004-12: agent0-spec lists the five criteria, the two forms, the limit and the variant rule", async () => {
    const text = await read("prompts/agent0-spec.md");
    for (const criterion of ["Clarity", "Scope", "Testability", "Completeness", "No ambiguity"]) {
      expect(text).toContain(`**${criterion}**`);
    }
    for (const part of [
      "`QUESTIONS:`",
      "`TICKETS:`",
      "at most 5",
      "`group`",
      "`variantHint",
      "Variant 1 of 2: OAuth",
    ]) {
      expect(text).toContain(part);
    }
  });

  test("R-004-31: the example of tickets in agent0-spec is YAML whose dependencies survive parsing", async () => {
    const [block] = fences(await read("prompts/agent0-spec.md"), "yaml");
    const tickets = z
      .strictObject({
        TICKETS: z.array(
          z.strictObject({
            title: z.string(),
            description: z.string(),
            repo: z.string().optional(),
            dependsOn: z.array(z.string()),
          }),
        ),
      })
      .parse(parse(block ?? ""));
    expect(tickets.TICKETS.map((ticket) => ticket.dependsOn)).toEqual([[], ["#1"]]);
  });

  test("R-004-13: agent2-worker-test asks to read the diff, test public methods in the project's style, run and fix", async () => {
    const text = await read("prompts/agent2-worker-test.md");
    for (const part of [
      /git diff/,
      /new or changed public method/,
      /unit tests/,
      /project's framework/,
      /Run the new tests/,
      /Fix failures/,
    ]) {
      expect(text).toMatch(part);
    }
  });

  test("R-004-45: each merge fragment says how the work is delivered", async () => {
    expect(await read("prompts/fragments/merge-auto.md")).toMatch(
      /no other ticket builds on[\s\S]*pull request[\s\S]*only pushes/,
    );
    expect(await read("prompts/fragments/merge-direct.md")).toContain("without a pull request");
    expect(await read("prompts/fragments/merge-pr.md")).toMatch(
      /opens a pull request[\s\S]*also when\s+other tickets build on it/,
    );
  });

  test("R-000-28: the verdict block is JSON with this run's values and all keys, and cannot be mistaken for a verdict", async () => {
    const values = {
      SUBJECT_KEY: "feature_id",
      SUBJECT_ID: "f-1",
      AGENT: "IN6",
      NONCE: "n0",
      WORDS: "SHIP | REVISE",
      LOOP: "2",
    };
    const [block] = fences(fill(await read("prompts/fragments/output-json-tail.md"), values), "json");
    expect(JSON.parse(block ?? "")).toEqual({
      verdict: "<one of: SHIP | REVISE>",
      nonce: "n0",
      feature_id: "f-1",
      agent: "IN6",
      handoff_path: expect.any(String),
      revision_loop: 2,
      issues: [],
      next_agent: expect.any(String),
      status_update: expect.any(String),
    });
  });

  test("R-001-24: the review file's form gives each word its scores and asks for a fresh file", async () => {
    const text = await read("prompts/fragments/output-file-verdict.md");
    for (const part of [
      "Verdict: WORD",
      "8–10 is APPROVE",
      "5–7 is REVISE",
      "1–4 is REDESIGN",
      "Write the whole file now",
    ]) {
      expect(text).toContain(part);
    }
  });

  test("R-001-02: the router's example is a list of agent and teams", async () => {
    const [block] = fences(await read("prompts/fragments/output-router.md"), "json");
    const stages = z.array(z.strictObject({ agent: z.string(), teams: z.boolean() })).parse(JSON.parse(block ?? ""));
    expect(stages.length).toBeGreaterThan(0);
  });
});

const payloadKeys = {
  analyst: ["plan", "files_to_modify", "approach", "risks", "questions_resolved"],
  implementer: ["files_changed", "summary", "tests_added", "build_passes", "discoveries"],
  reviewer: ["approved", "files_changed", "discoveries", "review_notes"],
  refactorer: ["files_changed", "summary", "approved"],
  documenter: ["files_changed", "summary", "discoveries"],
};

describe("story agents", () => {
  test.each(Object.entries(payloadKeys))(
    "R-003-37: %s has role, responsibilities, handoff format and context note",
    async (name, keys) => {
      const text = await read(`agents/${name}.md`);
      const lines = text.split("\n");
      for (const heading of ["## Role", "## Responsibilities", "## Handoff format"]) expect(lines).toContain(heading);
      expect(text).toContain("> **Context:**");
      for (const variable of ["$DASHBOARD_URL", "$STORY_ID", "$BRANCH", "$PASSRAIL_TOKEN"])
        expect(text).toContain(variable);
      const format = text.slice(text.indexOf("## Handoff format"));
      for (const key of keys) expect(format).toContain(`\`${key}\``);
    },
  );

  test("the execution context is NAME = value lines", async () => {
    const lines = fill(await read("prompts/fragments/output-handoff-api.md"), storyValues("http://127.0.0.1:1")).split(
      "\n",
    );
    expect(lines).toContain("DASHBOARD_URL = http://127.0.0.1:1");
    expect(lines).toContain("STORY_ID = v0.1:1.1.1");
    expect(lines).toContain("BRANCH = feat/story-1.1.1");
  });

  describe("curl lines", () => {
    let dir = "";
    beforeAll(async () => {
      dir = await mkdtemp(join(tmpdir(), "passrail-texts-"));
    });
    afterAll(() => rm(dir, { recursive: true, force: true }));

    const next = {
      analyst: "implementer",
      implementer: "reviewer",
      refactorer: "documenter",
      documenter: "orchestrator",
    };

    test.each(Object.entries(next))(
      "R-003-39: those of %s work as typed and carry the token",
      async (name, toAgent) => {
        const calls = await callsOf(await read(`agents/${name}.md`), dir);
        expect(calls.every((call) => call.authorization === "Bearer t0k")).toBe(true);
        expect(calls[0]).toMatchObject({
          url: "/api/handoffs",
          body: { action: "create", storyId: "v0.1:1.1.1", fromAgent: name, toAgent },
        });
        expect(calls[1]).toMatchObject({ url: "/api/handoffs?storyId=v0.1:1.1.1" });
        expect(calls[2]).toMatchObject({
          url: "/api/handoffs",
          body: { action: "reject", handoffId: 1, reason: expect.any(String) },
        });
        const keys = z
          .record(z.string(), z.unknown())
          .parse(z.object({ payload: z.unknown() }).parse(calls[0]?.body).payload);
        expect(Object.keys(keys)).toEqual(expect.arrayContaining(payloadKeys[name as keyof typeof next]));
      },
    );

    test("the implementer's way to say that it is stuck is a signal", async () => {
      const calls = await callsOf(await read("agents/implementer.md"), dir);
      expect(calls[3]).toMatchObject({ url: "/api/signal", body: { action: "blocked", storyId: "v0.1:1.1.1" } });
    });

    test("R-003-39: those of the reporting form work as typed and carry the token", async () => {
      const calls = await callsOf(await read("prompts/fragments/output-handoff-api.md"), dir);
      expect(calls.map((call) => call.authorization)).toEqual(["Bearer t0k", "Bearer t0k", "Bearer t0k"]);
      expect(calls[0]?.body).toEqual({
        action: "create",
        storyId: "v0.1:1.1.1",
        fromAgent: "reviewer",
        toAgent: "refactorer",
        payload: {},
      });
      expect(calls[2]?.body).toMatchObject({ action: "reject", handoffId: 1 });
    });
  });
});

type Call = { readonly url: string; readonly authorization: string; readonly body: unknown };

/** Runs every shell block of a text, one after another, against a server that writes down what it is sent. */
async function callsOf(text: string, dir: string): Promise<Call[]> {
  const calls: Call[] = [];
  const server = createServer((request, response) => {
    let sent = "";
    request.setEncoding("utf8");
    request.on("data", (chunk: string) => {
      sent += chunk;
    });
    request.on("end", () => {
      const body: unknown = sent === "" ? null : JSON.parse(sent);
      calls.push({
        url: decodeURIComponent(request.url ?? ""),
        authorization: request.headers.authorization ?? "",
        body,
      });
      response.end('{"success":true}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address() as AddressInfo;
  const values = storyValues(`http://127.0.0.1:${address.port}`);
  try {
    for (const block of fences(fill(text, values), "sh")) {
      const env = { PATH: process.env["PATH"] ?? "", TMPDIR: dir, PASSRAIL_TOKEN: "t0k", ...values };
      await promisify(execFile)("sh", ["-e", "-c", block], { env, timeout: 20_000 });
    }
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
  return calls;
}

function storyValues(url: string) {
  return {
    DASHBOARD_URL: url,
    STORY_ID: "v0.1:1.1.1",
    BRANCH: "feat/story-1.1.1",
    AGENT: "reviewer",
    NEXT_AGENT: "refactorer",
    TOKEN: "t0k",
  };
}

function read(path: string): Promise<string> {
  return readFile(join(root, path), "utf8");
}

/** Strict: the file begins with `---`, and the first line that is `---` again ends the front matter. */
function splitFrontMatter(text: string): { readonly front: string; readonly body: string } {
  const end = text.indexOf("\n---\n");
  if (!text.startsWith("---\n") || end < 0) throw new Error("no front matter between --- lines");
  return { front: text.slice(4, end + 1), body: text.slice(end + 5) };
}

function namesInBraces(text: string): string[] {
  return [...text.matchAll(/\{\{([A-Z_]{1,40})\}\}/g)].map((match) => match[1] ?? "");
}

function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{\{([A-Z_]{1,40})\}\}/g, (whole, name: string) => values[name] ?? whole);
}

/** The contents of the fenced blocks of one language. */
function fences(text: string, language: string): string[] {
  const parts = text.split(`\n\`\`\`${language}\n`).slice(1);
  return parts.map((part) => part.slice(0, part.indexOf("\n```") + 1));
}
