import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { loadCatalog } from "./catalog.ts";

let base = "";
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "passrail-catalog-"));
});
afterEach(() => rmSync(base, { recursive: true }));

function write(path: string, text: string | Uint8Array): void {
  mkdirSync(dirname(join(base, path)), { recursive: true });
  writeFileSync(join(base, path), text);
}
const open = () => loadCatalog({ shippedDir: join(base, "shipped"), projectDir: join(base, "project") });
const agent = (name: string, body = "Do it.", more = "") => `---\nname: ${name}\n${more}---\n${body}\n`;
const flow = (name: string, builder = "builder") =>
  `flow: ${name}\nversion: 1\nsubject: task\nstages:\n  - { id: build, agent: ${builder} }\n  - { id: merge, kind: gate, route: { approve: end } }\n`;

describe("project over shipped", () => {
  test("a file of the project replaces the shipped one of the same path", () => {
    write("shipped/flows/a.yaml", flow("a"));
    write("shipped/flows/b.yaml", flow("b"));
    write("project/.passrail/flows/b.yaml", flow("b", "own"));
    write("project/.passrail/flows/c.yaml", flow("c"));
    write("shipped/agents/builder.md", agent("builder"));
    write("project/.passrail/agents/own.md", agent("own"));
    expect(
      open()
        .listFlows()
        .map(({ name, origin }) => `${name} ${origin}`),
    ).toEqual(["a shipped", "b project", "c project"]);
    expect(open().resolve("b")).toMatchObject({ ok: true, value: { agents: { own: { prompt: "Do it." } } } });
  });

  test("agents: .passrail before .claude before shipped, by name", () => {
    write("shipped/agents/x.md", agent("x", "shipped"));
    write("shipped/agents/y.md", agent("y", "shipped"));
    write("shipped/agents/z.md", agent("z", "shipped"));
    write("project/.claude/agents/x.md", agent("x", "claude"));
    write("project/.claude/agents/other-file.md", agent("Y", "claude"));
    write("project/.passrail/agents/x.md", agent("x", "project"));
    const { agents, problems } = open().agents();
    // A file made for another tool that takes a shipped agent's place is said; the project's own override is on purpose.
    expect(problems).toMatchObject([{ code: "agent_replaced", severity: "warning" }]);
    expect(problems[0]?.file).toContain(".claude/agents/other-file.md");
    expect([...agents.values()].map(({ name, prompt, origin }) => `${name} ${prompt} ${origin}`).sort()).toEqual([
      "x project project",
      "y claude claude",
      "z shipped shipped",
    ]);
  });

  test("prompts in folders have their path as name", () => {
    write("shipped/prompts/a.md", "\uFEFFone\r\n");
    write("shipped/prompts/fragments/b.md", "two");
    write("project/.passrail/prompts/fragments/b.md", "mine {{X}}");
    expect(open().listPrompts()).toEqual(["a", "fragments/b"]);
    expect(open().loadPrompt("a")).toEqual({ ok: true, value: "one\n" });
    expect(open().loadPrompt("fragments/b")).toEqual({ ok: true, value: "mine {{X}}" });
  });

  test("a flow, an agent, an agent of another tool or a prompt is the project's own; without any it holds none", () => {
    write("shipped/flows/f.yaml", "name: f\n");
    write("shipped/agents/a.md", "a");
    write("shipped/prompts/p.md", "p");
    expect(open().holdsOwn()).toBe(false);
    for (const path of [
      ".passrail/flows/g.yaml",
      ".passrail/agents/b.md",
      ".claude/agents/c.md",
      ".passrail/prompts/q.md",
    ]) {
      write(`project/${path}`, "own");
      expect(open().holdsOwn()).toBe(true);
      rmSync(join(base, "project", path));
      expect(open().holdsOwn()).toBe(false);
    }
  });

  test("folders that are not there are empty", () => {
    expect(open().listFlows()).toEqual([]);
    expect(open().agents()).toEqual({ agents: new Map(), problems: [] });
  });
});

describe("agent files", () => {
  const read = (text: string | Uint8Array, path = "project/.passrail/agents/some-agent.md") => {
    write(path, text);
    const { agents, problems } = open().agents();
    return { agent: [...agents.values()][0], problem: problems[0] };
  };

  test("names are compared in lower case, and the file's name counts where none is given", () => {
    expect(read(agent("IN1")).agent?.name).toBe("in1");
    expect(read("---\nmodel: opus\n---\nbody").agent).toMatchObject({
      name: "some-agent",
      model: "opus",
      file: ".passrail/agents/some-agent.md",
    });
  });
  test("description, else whenToUse, else the first line of the body", () => {
    expect(read(agent("x", "# Title\ntext", "description: d\nwhenToUse: w\n")).agent?.description).toBe("d");
    expect(read(agent("x", "# Title\ntext", "whenToUse: w\n")).agent?.description).toBe("w");
    expect(read(agent("x", "\n\n##  Title \ntext")).agent?.description).toBe("Title");
  });
  test("lists may be lists or words with commas; inherit is no model", () => {
    expect(read(agent("x", "b", "tools: Read, Grep\nskills: [a, b]\nmodel: inherit\n")).agent).toMatchObject({
      options: { tools: ["Read", "Grep"] },
      skills: ["a", "b"],
    });
    expect(read(agent("x", "b", "model: inherit\n")).agent).not.toHaveProperty("model");
  });
  test("how an agent is played stands in its file, by our names or Claude Code's", () => {
    expect(
      read(
        agent(
          "x",
          "b",
          "runner: codex\neffort: high\npermission: ask\nmax_cost: 2.5\nsession: resume\ndisallowedTools: WebFetch\nmaxTurns: 9\n",
        ),
      ).agent?.options,
    ).toEqual({
      runner: "codex",
      effort: "high",
      permission: "ask",
      max_cost: 2.5,
      session: "resume",
      deny_tools: ["WebFetch"],
      max_turns: 9,
    });
    expect(read(agent("x", "b", "permissionMode: plan\n")).agent?.options).toEqual({ permission: "read" });
    expect(read(agent("x", "b")).agent).not.toHaveProperty("options");
  });
  test("S10: a file for another tool cannot start programs, lift checks or choose its runner", () => {
    const text =
      "---\nname: r\ndescription: d\nrunner: command\nmcp: {a: {command: [x]}}\npermission: full\npermissionMode: bypassPermissions\nmcpServers: {a: {command: x}}\nhooks: {}\n---\nReview.\n";
    expect(read(text, "project/.claude/agents/r.md").agent).not.toHaveProperty("options");
  });
  test("a byte order mark and CRLF are accepted", () => {
    expect(read("\uFEFF---\r\nname: x\r\n---\r\none\r\ntwo\r\n").agent).toMatchObject({
      name: "x",
      prompt: "one\ntwo",
    });
  });
  test.each([
    ["no front matter", "# just text\n", "frontmatter_missing", 1],
    ["front matter in a language", "---js\nprocess.exit(1)\n---\nx", "frontmatter_language_unsupported", 1],
    ["a space after the dashes", "--- \nname: x\n---\nx", "frontmatter_language_unsupported", 1],
    ["unclosed front matter", "---\nname: x\nbody", "frontmatter_unclosed", 1],
    ["an empty body", "---\nname: x\n---\n\n", "agent_empty", 1],
    ["a name that is a path", "---\nmodel: x\nname: ../x\n---\nb", "invalid_name", 3],
    ["the reserved name", "---\nname: Pipeline\n---\nb", "reserved_name", 2],
    ["YAML that is none", "---\nname: x\ndescription: a: b: c\n---\nb", "yaml_syntax", 3],
    ["an alias", "---\nname: &x x\n---\nb", "yaml_alias_not_allowed", 2],
    ["a command that is a line of shell", '---\nname: x\ncommand: "a && b"\n---\nb', "command_must_be_list", 3],
    ["an unknown runner", "---\nname: x\nrunner: emacs\n---\nb", "invalid_option", 3],
    ["a cost that is no number", "---\nname: x\nmax_cost: much\n---\nb", "invalid_option", 3],
    ["more than 256 KiB", agent("x", "y".repeat(257 * 1024)), "agent_too_large", 1],
    ["binary data", agent("x", "a\0b"), "not_text", 1],
    ["bytes that are not UTF-8", new Uint8Array([0x2d, 0xff, 0xfe]), "not_text", 1],
  ])("%s is reported by the file's name", (_name, text, code, line) => {
    write("shipped/agents/other.md", agent("other"));
    write("project/.passrail/agents/bad.md", text);
    const { agents, problems } = open().agents();
    expect(problems).toMatchObject([{ code, line, file: join(base, "project/.passrail/agents/bad.md") }]);
    expect([...agents.keys()]).toEqual(["other"]);
  });
  test("files made for Claude Code are accepted as they are, with colons in the description", () => {
    const text =
      "---\nname: reviewer\ndescription: Use it when: code changed. Examples: <example>user: hi</example>\ntools: Read, Bash\ncommand: [x]\ncolor: red\n---\nReview.\n";
    const { agent: found, problem } = read(text, "project/.claude/agents/reviewer.md");
    expect(problem).toBeUndefined();
    expect(found).toMatchObject({
      name: "reviewer",
      description: expect.stringContaining("<example>user: hi"),
      options: { tools: ["Read", "Bash"] },
      origin: "claude",
    });
    expect(found).not.toHaveProperty("command");
  });
  test("two files of one folder with the same name: the first counts, the second is reported", () => {
    write("project/.passrail/agents/a.md", agent("x", "first"));
    write("project/.passrail/agents/b.md", agent("x", "second"));
    const { agents, problems } = open().agents();
    expect(agents.get("x")?.prompt).toBe("first");
    expect(problems).toMatchObject([{ code: "duplicate_agent", file: join(base, "project/.passrail/agents/b.md") }]);
  });
});

describe("what is not a plain file", () => {
  test("links may stay inside their folder but not lead out of it", () => {
    write("secret.md", agent("secret", "password"));
    write("project/note.md", agent("note", "private"));
    write("project/.passrail/agents/real.md", agent("real"));
    symlinkSync(join(base, "secret.md"), join(base, "project/.passrail/agents/out.md"));
    symlinkSync("../../note.md", join(base, "project/.passrail/agents/up.md"));
    symlinkSync("nowhere.md", join(base, "project/.passrail/agents/dangling.md"));
    const { agents, problems } = open().agents();
    expect([...agents.keys()]).toEqual(["real"]);
    expect(problems.map(({ code, file }) => `${code} ${file.split("/").at(-1)}`)).toEqual([
      "agent_not_found dangling.md",
      "link_leaves_folder out.md",
      "link_leaves_folder up.md",
    ]);
  });
  test("a folder that is a link out of the project is not read", () => {
    write("elsewhere/agents/x.md", agent("x"));
    mkdirSync(join(base, "project"), { recursive: true });
    symlinkSync(join(base, "elsewhere"), join(base, "project/.passrail"));
    const { agents, problems } = open().agents();
    expect([...agents.keys()]).toEqual([]);
    expect(problems).toMatchObject([{ code: "link_leaves_folder" }]);
  });
  test("a folder or a pipe with a file's name is reported and does not block", () => {
    write("project/.passrail/agents/ok.md", agent("ok"));
    mkdirSync(join(base, "project/.passrail/agents/dir.md"));
    execFileSync("mkfifo", [join(base, "project/.passrail/agents/pipe.md")]);
    const { agents, problems } = open().agents();
    expect([...agents.keys()]).toEqual(["ok"]);
    expect(problems.map(({ code }) => code)).toEqual(["not_a_file", "not_a_file"]);
  });
});

describe("prompts", () => {
  test.each(["../x", "a/../b", "/etc/passwd", "a\\b", "", ".", "a//b", "a\0", "a.md"])(
    "R-004-10: the name %j is refused",
    (name) => {
      expect(open().loadPrompt(name)).toMatchObject({ ok: false, error: { code: "invalid_prompt_name" } });
    },
  );
  test("R-004-08, R-004-09: a prompt and a fragment are read from their folders", () => {
    write("shipped/prompts/agent0-spec.md", "Ask {{USER_REQUEST}}.\n");
    write("shipped/prompts/fragments/merge-auto.md", "Shipped.\n");
    expect(open().loadPrompt("agent0-spec")).toMatchObject({ ok: true, value: "Ask {{USER_REQUEST}}.\n" });
    expect(open().loadPrompt("fragments/merge-auto")).toMatchObject({ ok: true, value: "Shipped.\n" });
  });
  test("R-004-08, R-004-09: a prompt or fragment that is missing is named with its path", () => {
    write("shipped/prompts/fragments/merge-auto.md", "x");
    const missing = open().loadPrompt("fragments/merge-atuo");
    expect(missing).toMatchObject({
      ok: false,
      error: { code: "prompt_not_found", hint: 'did you mean "fragments/merge-auto"?' },
    });
    expect(missing.ok ? "" : missing.error.message).toContain(join("prompts", "fragments/merge-atuo.md"));
  });
});

describe("flows", () => {
  test("an unknown flow is answered with the nearest one", () => {
    write("shipped/flows/feature.yaml", flow("feature"));
    for (const name of ["featrue", "../feature"]) {
      expect(open().requireFlow(name)).toMatchObject({ ok: false, error: [{ code: "unknown_flow" }] });
    }
    expect(open().resolve("featrue")).toMatchObject({ ok: false, error: [{ hint: 'did you mean "feature"?' }] });
  });
  test("the flow's name is the file's", () => {
    write("shipped/flows/a.yaml", `# a comment\n${flow("b")}`);
    write("shipped/agents/builder.md", agent("builder"));
    expect(open().requireFlow("a")).toMatchObject({
      ok: false,
      error: [{ code: "flow_name_mismatch", line: 2, text: "flow: b" }],
    });
  });
  test("a file that lies anywhere is checked with the agents around it, whatever it is called", () => {
    write("shipped/agents/builder.md", agent("builder"));
    write("draft/any-name.yaml", flow("mine"));
    expect(open().checkFile(join(base, "draft/any-name.yaml"))).toMatchObject({
      ok: true,
      value: { flow: { name: "mine" } },
    });
    write("draft/any-name.yaml", flow("mine", "bulider"));
    expect(open().checkFile(join(base, "draft/any-name.yaml"))).toMatchObject({
      ok: false,
      error: [{ code: "unknown_agent", line: 5 }],
    });
    expect(open().checkFile(join(base, "nowhere.yaml"))).toMatchObject({
      ok: false,
      error: [{ code: "flow_not_found" }],
    });
  });
  test("a broken flow does not hide the others, and a broken agent explains why it is unknown", () => {
    write("shipped/flows/bad.yaml", "flow: [\n");
    write("shipped/flows/good.yaml", flow("good", "fine"));
    write("shipped/flows/sad.yaml", flow("sad", "broken"));
    write("shipped/agents/fine.md", agent("fine"));
    write("shipped/agents/broken.md", "no front matter");
    const catalog = open();
    expect(catalog.listFlows().map(({ name }) => name)).toEqual(["bad", "good", "sad"]);
    expect(catalog.requireFlow("good").ok).toBe(true);
    expect(catalog.requireFlow("bad")).toMatchObject({ ok: false, error: [{ code: "yaml_syntax" }] });
    expect(catalog.requireFlow("sad")).toMatchObject({
      ok: false,
      error: [{ code: "unknown_agent" }, { code: "frontmatter_missing" }],
    });
  });
  test("a resolved flow holds what it can use, and its hash changes with that and with nothing else", () => {
    write("shipped/flows/a.yaml", flow("a"));
    write("shipped/agents/builder.md", agent("builder", "one"));
    write("shipped/agents/other.md", agent("other"));
    const hash = () => {
      const resolved = open().resolve("a");
      if (!resolved.ok) throw new Error(JSON.stringify(resolved.error));
      expect(Object.keys(resolved.value.agents)).toEqual(["builder"]);
      return resolved.value.hash;
    };
    const first = hash();
    expect(hash()).toBe(first);
    write("shipped/agents/other.md", agent("other", "changed"));
    write("project/.passrail/agents/builder.md", agent("builder", "one"));
    expect(hash()).toBe(first);
    write("project/.passrail/agents/builder.md", agent("builder", "two"));
    expect(hash()).not.toBe(first);
  });
  test("a dynamic flow for any agent holds all of them, else those of its templates", () => {
    const dynamic = (templates: string) =>
      `flow: d\nversion: 1\nsubject: task\nstages:\n  - { id: run, kind: dynamic, from: [input.agent], templates: ${templates} }\n  - { id: merge, kind: gate, route: { approve: end } }\n`;
    write("shipped/agents/a.md", agent("a"));
    write("shipped/agents/b.md", agent("b"));
    write("shipped/flows/d.yaml", dynamic("{ a: {} }"));
    const agentsOf = () => {
      const resolved = open().resolve("d");
      return resolved.ok ? Object.keys(resolved.value.agents) : resolved.error;
    };
    expect(agentsOf()).toEqual(["a"]);
    write("shipped/flows/d.yaml", dynamic('{ a: {}, "*": {} }'));
    expect(agentsOf()).toEqual(["a", "b"]);
  });
  test("what was read is kept: one catalog is one picture", () => {
    write("shipped/flows/a.yaml", flow("a"));
    write("shipped/agents/builder.md", agent("builder"));
    const catalog = open();
    const first = catalog.resolve("a");
    write("shipped/agents/builder.md", agent("builder", "changed"));
    expect(catalog.resolve("a")).toEqual(first);
  });
});
