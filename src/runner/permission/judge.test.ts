import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PermissionRequest } from "../runner.ts";
import { judge, type PermissionRules } from "./judge.ts";

let folder: string;
let rules: PermissionRules;
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "passrail-judge-")));
  const cwd = join(folder, "work");
  mkdirSync(join(cwd, "src"), { recursive: true });
  mkdirSync(join(folder, "else"));
  symlinkSync(join(folder, "else"), join(cwd, "link"));
  rules = {
    permission: "edit",
    cwd,
    folders: [cwd, join(folder, "report")],
    home: join(folder, "home"),
    temporary: "/var/tmp",
    isConfined: false,
    denyTools: [],
  };
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const command = (what: string): PermissionRequest => ({ tool: "Bash", kind: "command", what, paths: [] });
const write = (...paths: string[]): PermissionRequest => ({ tool: "Write", kind: "write", what: paths.join(), paths });

describe("edit", () => {
  test.each([
    "rm -rf build dist/*.js",
    "npm test && rm -f ./src/old.ts",
    "npm ci > /var/tmp/ci.log 2>&1; cat /var/tmp/ci.log",
    "echo done 2>/dev/null",
    "cd src && rm -rf generated && cd .. && rm x",
    "cp /etc/hosts hosts.txt",
    "git commit -m 'rm -rf / is bad; do not'",
    'echo "rm -rf /etc"',
    "grep -rn 'rm -rf' . # rm -rf /etc",
    "find . -name '*.o' -delete",
    "sed -i s/a/b/ src/a.ts",
    "node -e 'console.log(1 > 0)'",
    "ls / ~ $HOME",
  ])("allows %s", (what) => {
    expect(judge(command(what), rules)).toEqual({ type: "allow" });
  });

  test.each([
    "rm -rf /etc/passrail",
    "rm -rf ~/project",
    'rm -rf "$HOME/project"',
    "rm -rf ${HOME}",
    "rm -rf ..",
    "rm -rf ./src/../../else",
    "rm -rf $TARGET",
    "rm -rf $(cat target)",
    "rm -rf `cat target`",
    "rm -rf .",
    "rm -rf /",
    "rm -rf /*",
    "cd / && rm -rf etc",
    "cd $X; rm -rf etc",
    "cd ..\nrm -rf else",
    "sudo rm -rf /etc",
    "timeout 5 rm -rf /etc",
    "FORCE=1 env A=b rm -rf /etc",
    "bash -c 'rm -rf /etc'",
    `bash -lc "sh -c 'rm -rf /etc'"`,
    "eval rm -rf /etc",
    "echo $(rm -rf /etc)",
    'echo "`rm -rf /etc`"',
    "true || rm -rf /etc",
    "(rm -rf /etc)",
    "if true; then rm -rf /etc; fi",
    "echo /etc | xargs rm -rf /etc",
    "find /etc -delete",
    "find ~ -name x -exec rm {} +",
    "mv /etc/hosts hosts",
    "mv hosts ~/hosts",
    "echo x > ~/.bashrc",
    "echo x >>/etc/hosts",
    "echo x | tee -a /etc/hosts",
    "cp a /etc/hosts",
    "dd if=/dev/zero of=/etc/hosts",
    "chmod -R 777 /etc",
    "rm -rf link/x",
    "rm -rf /var/tmp/other",
    "\\rm -rf /etc",
    "/bin/rm -rf /etc",
    "r''m -rf /etc",
  ])("refuses %s", (what) => {
    expect(judge(command(what), rules)).toMatchObject({ type: "refuse", why: expect.stringContaining("outside") });
  });

  test("files inside are written, those outside are not, whichever way the path goes", () => {
    expect(judge(write("src/a.ts", join(rules.cwd, "b.ts"), join(folder, "report", "verdict.json")), rules).type).toBe(
      "allow",
    );
    const outside = ["../x", "/etc/hosts", "~/x", "link/x", join(folder, "work-of-others", "x")];
    expect(outside.filter((path) => judge(write("src/a.ts", path), rules).type !== "refuse")).toEqual([]);
  });

  test("in a sandbox the paths are not this machine's", () => {
    expect(judge(command("rm -rf /tmp/other"), { ...rules, isConfined: true }).type).toBe("allow");
  });

  test("a list of tools and the denied ones hold", () => {
    expect(judge(command("ls"), { ...rules, tools: ["Read", "Bash(git *)"] }).type).toBe("refuse");
    expect(judge(command("ls"), { ...rules, tools: ["Bash"] }).type).toBe("allow");
    expect(judge(command("ls"), { ...rules, denyTools: ["Bash"] }).type).toBe("refuse");
  });
});

test("ask asks for commands, for what is outside and for what is unknown; it allows edits inside and looking", () => {
  const asking = { ...rules, permission: "ask" as const };
  expect(judge(command("npm test"), asking).type).toBe("ask");
  expect(judge(write("src/a.ts"), asking).type).toBe("allow");
  expect(judge(write("/etc/hosts"), asking)).toMatchObject({ type: "ask", why: expect.stringContaining("/etc/hosts") });
  expect(judge(write(), asking).type).toBe("ask");
  expect(judge({ tool: "mcp__x__y", kind: "other", what: "{}", paths: [] }, asking).type).toBe("ask");
  expect(judge({ tool: "Read", kind: "look", what: "/etc/hosts", paths: [] }, asking).type).toBe("allow");
  expect(judge(command("ls"), { ...asking, denyTools: ["Bash"] }).type).toBe("refuse");
});

test("read refuses every change; full checks nothing", () => {
  expect(judge(command("ls"), { ...rules, permission: "read" }).type).toBe("refuse");
  expect(judge(write("a"), { ...rules, permission: "read" }).type).toBe("refuse");
  expect(judge(command("rm -rf /"), { ...rules, permission: "full" }).type).toBe("allow");
});

test("a hostile command is judged in linear time", () => {
  const begun = performance.now();
  for (const what of [
    "rm ".repeat(30_000),
    "$(".repeat(45_000),
    `bash -c '${"(".repeat(90_000)}'`,
    "x".repeat(1_000_000),
  ])
    judge(command(what), rules);
  expect(performance.now() - begun).toBeLessThan(2_000);
});
