// How the command line takes what it is given: wrong words, odd texts, closed pipes, hostile output, and the shapes that scripts read.

import { execFile, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type Bench, CLI, openBench } from "./bench.ts";

vi.setConfig({ testTimeout: 120_000 });

let bench: Bench;
beforeAll(() => {
  bench = openBench();
});
afterAll(() => bench.remove());

const ESCAPE = "\u001b";
/** Of util-linux: gives a program a terminal. Where it is missing, the test has nothing to look at. */
const TERMINAL = "script";

describe("words that are not understood", () => {
  test.each([
    [["rnu"], "unknown_command", 'did you mean "run"?'],
    [["runs", "lst"], "unknown_command", 'did you mean "list"?'],
    [["runs", "list", "--jsno"], "unknown_option", "Did you mean --json?"],
    [["runs"], "command_missing", "list, show, diff, watch"],
    [["run"], "missing_argument", "flow"],
    [["run", "feature"], "task_missing", "--ticket"],
    [["run", "feature", "x", "y", "z"], "excess_arguments", ""],
    [["run", "feature", "  "], "task_empty", ""],
    [["run", "feature", "x", "--slots", "0"], "invalid_setting", "docs/settings.md"],
    [["run", "feature", "x", "--workspace", "moon"], "invalid_setting", ""],
    [["run", "feature", "x", "--wait", "--detach"], "conflicting_option", ""],
    [["run", "feature", "x", "--agent", "build=a && b"], "command_must_be_list", ""],
    [["run", "feature", "x", "--agent", "build"], "agent_invalid", ""],
    [["run", "feature", "x", "--input", "runners.x=1", "--agent", "*=x"], "input_reserved", ""],
    [["runs", "list", "--limit", "-3"], "number_invalid", ""],
    [["runs", "show", ""], "run_missing", ""],
    [["help", "nonsense"], "unknown_topic", ""],
  ])("%j ends with 2 and code %s", async (args, code, hint) => {
    const ended = await bench.passrail(args);
    expect(ended).toMatchObject({ code: 2, out: "" });
    expect(ended.err).toContain(`code ${code}`);
    expect(ended.err).toContain(hint);
    expect(ended.err).not.toContain("    at ");
  });

  test.each([
    [["run", "featur", "x"], "unknown_flow", 'did you mean "feature"?'],
    [["run", "feature", "x", "--agent", "spec=y"], "agent_not_configured", "design (IN5), build (IN2), qa (IN6)"],
    [["run", "feature", "x", "--agent", "bild=x"], "unknown_agent", 'did you mean "build"?'],
    [["run", "routed", "x", "--input", "agent=nobody", "--agent", "*=x"], "unknown_agent", "known agents: "],
    [["run", "feature", "--ticket", "none.md"], "ticket_not_found", ""],
    [["runs", "show", "12"], "run_not_found", "passrail runs list"],
    [["gate", "approve"], "gate_not_waiting", "passrail inbox"],
    [["runs", "list", "--cwd", "/no/such/folder"], "cwd_not_found", ""],
  ])("%j ends with 1 and code %s, and says what is known", async (args, code, hint) => {
    const ended = await bench.passrail(args);
    expect(ended).toMatchObject({ code: 1, out: "" });
    expect(ended.err).toContain(`code ${code}`);
    expect(ended.err).toContain(hint);
  });

  test("with --json every error is one JSON object with code, message, hint and docs", async () => {
    for (const args of [
      ["rnu", "--json"],
      ["--json", "runs", "show", "7"],
      ["runs", "list", "--nope", "--json"],
    ]) {
      const { code, out, err } = await bench.passrail(args);
      expect(code).not.toBe(0);
      expect(out).toBe("");
      expect(JSON.parse(err)).toEqual({
        error: {
          code: expect.any(String),
          message: expect.any(String),
          hint: expect.any(String),
          docs: expect.stringContaining("docs/errors.md#"),
        },
      });
    }
  });

  test("help and version answer, and help lists the exit codes", async () => {
    expect(await bench.passrail(["--version"])).toMatchObject({
      code: 0,
      err: "",
      out: expect.stringMatching(/^\d+\.\d+\.\d+\n$/u),
    });
    const help = await bench.passrail(["--help"]);
    expect(help).toMatchObject({ code: 0 });
    for (const word of ["run <flow> [words...]", "runs <command>", "gate <command>", "inbox", "demo"])
      expect(help.out).toContain(word);
    expect((await bench.passrail(["runs", "cancel", "--help"])).out).toContain("--reason");
    const codes = await bench.passrail(["help", "exit-codes"]);
    for (const code of ["0", "1", "2", "3", "4", "5", "6", "8", "130"])
      expect(codes.out).toMatch(new RegExp(`^${code} `, "mu"));
  });

  test("with nothing stored yet every look is friendly and creates nothing", async () => {
    const home = join(bench.dir, "never");
    for (const args of [[], ["runs", "list"], ["inbox"], ["verify"]]) {
      expect(await bench.passrail([...args, "--home", home])).toMatchObject({ code: 0 });
    }
    expect(spawnSync("ls", [home]).status).not.toBe(0);
  });
});

describe("the task", () => {
  const title = async (number: number): Promise<string> => {
    const { out } = await bench.passrail(["runs", "list", "--json"]);
    const { runs } = JSON.parse(out) as { runs: { number: number; subject: { title: string; id: string } }[] };
    return runs.find((run) => run.number === number)?.subject.title ?? "";
  };
  const start = async (args: readonly string[], input?: string): Promise<number> => {
    const ended = await bench.passrail(
      ["run", "feature", "--json", "--agent", "*=true", ...args],
      input === undefined ? {} : { input },
    );
    expect(ended.code).toBe(3);
    const last = ended.out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string; number?: number })
      .at(-1);
    expect(last).toMatchObject({ type: "run.settled", status: "waiting", exit: 3 });
    return last?.number ?? 0;
  };

  test("text behind -- is taken as it is", async () => {
    expect(await title(await start(["--", "--help"]))).toBe("--help");
  });

  test("a megabyte from standard input is taken, nothing is not", async () => {
    expect(await title(await start(["-"], `# A big one\n${"x".repeat(1_000_000)}`))).toBe("A big one");
    expect(await bench.passrail(["run", "feature", "-", "--agent", "*=true"], { input: "" })).toMatchObject({
      code: 2,
    });
  });

  test("a ticket gives title, id and body; front matter that is not YAML is refused", async () => {
    const file = join(bench.project, "ticket.md");
    writeFileSync(file, "\uFEFF---\r\nid: FR-7\r\ntitle: From the ticket\r\n---\r\n\r\n# Another heading\r\n");
    const number = await start(["--ticket", "ticket.md"]);
    expect(await title(number)).toBe("From the ticket");
    const shown = await bench.passrail(["runs", "show", String(number), "--json"]);
    expect(JSON.parse(shown.out)).toMatchObject({ subject: { id: "FR-7" } });
    for (const [text, code] of [
      ["---js\nmodule.exports = {}\n---\n", "frontmatter_language_unsupported"],
      ["---\nid: a\n", "frontmatter_unclosed"],
      ["---\na: 1\na: 2\n---\n", "duplicate_key"],
      ["\0binary", "ticket_not_text"],
      ["x".repeat(300 * 1024), "ticket_too_large"],
      ["", "task_empty"],
    ] as const) {
      writeFileSync(file, text);
      const refused = await bench.passrail(["run", "feature", "--ticket", "ticket.md", "--agent", "*=true"]);
      expect(refused.err).toContain(`code ${code}`);
    }
    mkdirSync(join(bench.project, "folder.md"));
    expect((await bench.passrail(["run", "feature", "--ticket", "folder.md"])).err).toContain("ticket_not_a_file");
  });

  test("outside of a repository a run works in place and says so; a wanted worktree is refused", async () => {
    const plain = join(bench.dir, "plain");
    mkdirSync(plain);
    const ended = await bench.passrail(["run", "feature", "x", "--agent", "*=true", "--cwd", plain]);
    expect(ended.err).toContain("is not a git repository");
    expect(ended.err).toContain("without a sandbox");
    const refused = await bench.passrail([
      "run",
      "feature",
      "x",
      "--agent",
      "*=true",
      "--cwd",
      plain,
      "--workspace",
      "worktree",
    ]);
    expect(refused.err).toContain("code not_a_git_repository");
  });
});

describe("what is printed", () => {
  beforeAll(async () => {
    for (const task of ["One", "Two"]) await bench.passrail(["run", "feature", task, "--agent", "*=true"]);
  }, 60_000);

  test("on a pipe there are tab-separated lines and no escape codes; -q prints ids only", async () => {
    const listed = await bench.passrail(["runs", "list"], { env: { FORCE_COLOR: "1" } });
    expect(listed.out).not.toContain(ESCAPE);
    const rows = listed.out.trim().split("\n");
    for (const row of rows) expect(row.split("\t")).toHaveLength(10);
    const ids = await bench.passrail(["runs", "list", "-q"]);
    expect(ids.out.trim().split("\n")).toEqual(rows.map((row) => row.split("\t")[0]));
  });

  test("a reader that closes early ends the program quietly", async () => {
    const run = promisify(execFile);
    const script = `"${process.execPath}" "${CLI}" runs events 1 --json | head -1; echo "code \${PIPESTATUS[0]}"`;
    const { stdout, stderr } = await run("bash", ["-c", script], {
      cwd: bench.project,
      env: { ...process.env, PASSRAIL_HOME: bench.home },
    });
    expect(stderr).toBe("");
    expect(stdout).toMatch(/code 0\n$/u);
  });

  test("on a terminal colours follow NO_COLOR, TERM=dumb and --no-color, and narrow windows are no problem", () => {
    if (spawnSync(TERMINAL, ["--version"]).status !== 0) return;
    const inTerminal = (settings: string, flags: string): string => {
      const command = `stty cols 20 rows 10; ${settings} "${process.execPath}" "${CLI}" runs show 1 ${flags}`;
      return spawnSync(TERMINAL, ["-qec", command, "/dev/null"], {
        env: { ...process.env, PASSRAIL_HOME: bench.home, TERM: "xterm" },
        encoding: "utf8",
        cwd: bench.project,
      }).stdout;
    };
    expect(inTerminal("env -u NO_COLOR", "")).toContain(ESCAPE);
    expect(inTerminal("NO_COLOR=1", "")).not.toContain(ESCAPE);
    expect(inTerminal("TERM=dumb", "")).not.toContain(ESCAPE);
    expect(inTerminal("", "--no-color")).not.toContain(ESCAPE);
  });

  test("hostile words of an agent reach no terminal as control characters", async () => {
    const own = openBench();
    try {
      await own.passrail([
        "run",
        "feature",
        "\u001b]0;title\u0007 \u202eevil",
        "--agent",
        `*=${own.scripted("hostile.mjs")}`,
      ]);
      const shown = await own.passrail(["gate", "approve"]);
      const looks = [
        shown,
        ...(await Promise.all(
          [["inbox"], ["runs", "list"], ["runs", "show", "1"], ["runs", "logs", "1"], ["runs", "events", "1"], []].map(
            (args) => own.passrail(args),
          ),
        )),
      ];
      for (const { out, err } of looks) {
        // oxlint-disable-next-line no-control-regex -- finding control characters is the point
        expect(`${out}${err}`).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u202e]/u);
      }
      expect(looks[4]?.out).toContain("evil");
    } finally {
      own.remove();
    }
  });

  test("a run is found by number, by #number, by id and by the beginning of its id; several matches are listed", async () => {
    const { out } = await bench.passrail(["runs", "show", "1", "--json"]);
    const { id } = JSON.parse(out) as { id: string };
    for (const name of ["#1", id, id.slice(0, 8)])
      expect((await bench.passrail(["runs", "show", name, "-q"])).out.trim()).toBe(id);
    const many = await bench.passrail(["runs", "show", "r"]);
    expect(many).toMatchObject({ code: 2 });
    expect(many.err).toContain("run_ambiguous");
    expect(many.err).toContain(`#1 ${id}`);
  });

  test("the whole history is verified", async () => {
    expect(await bench.passrail(["verify"])).toMatchObject({ code: 0, out: expect.stringMatching(/^ok\t/u) });
    expect(JSON.parse((await bench.passrail(["verify", "--json"])).out)).toMatchObject({ ok: true, damages: [] });
  });
});
