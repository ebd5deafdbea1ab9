import { execFile, execFileSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadSettings } from "../../settings/load.ts";
import { resolveFlow } from "../start-run/resolve-flow.ts";
import { approveNothing, approveProject, lookAtTrust, revokeTrust, type TrustState } from "./trust.ts";

let dir: string;
let place: { readonly home: string; readonly project: string };
beforeEach(() => {
  dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-trust-")));
  place = { home: join(dir, "home"), project: join(dir, "project") };
  mkdirSync(place.project);
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const NOW = "2026-01-01T00:00:00.000Z";
const write = (path: string, text: string): void => {
  mkdirSync(dirname(join(place.project, path)), { recursive: true });
  writeFileSync(join(place.project, path), text);
};
const look = (): TrustState => {
  const found = lookAtTrust(place);
  if (!found.ok) throw new Error(found.error.message);
  return found.value;
};
const approve = (hash = look().hash) => approveProject(place, { hash, by: "human:tester", now: NOW });
const settings = () => loadSettings({ ...place, environment: { XDG_CONFIG_HOME: dir }, flags: {} });
const slots = async () => {
  const read = await settings();
  return read.ok ? read.value.slots.value : read.error.code;
};

test("S10: settings take effect in the approved version only", async () => {
  expect(await slots()).toBe(3);
  write("passrail.yaml", "slots: 5\n");
  expect(look()).toMatchObject({ state: "new", approved: null });
  expect(await slots()).toBe("project_not_trusted");
  expect(approve()).toMatchObject({ ok: true, value: { state: "approved" } });
  expect(await slots()).toBe(5);
  write("passrail.yaml", "slots: 99\n");
  expect(look()).toMatchObject({ state: "changed", effects: [{ change: "removed" }, { change: "added" }] });
  expect(await slots()).toBe(5);
  rmSync(join(place.project, "passrail.yaml"));
  expect(await slots()).toBe(5);
  expect(look().files).toMatchObject([{ path: "passrail.yaml", change: "removed" }]);
  expect(revokeTrust(place)).toBe(true);
  expect(await slots()).toBe(3);
});

test("S10: flows, agents and prompts come from the approved copies; the messages name the project's files", () => {
  const flow = (more: string) =>
    `flow: own\nversion: 1\nsubject: task\nallow_ungated: true\nstages: [{ id: a, agent: worker }${more}]\n`;
  write(".passrail/flows/own.yaml", flow(", { id: ship, kind: gate }"));
  write(".claude/agents/worker.md", "---\nname: worker\ndescription: d\n---\nBe careful.\n");
  expect(resolveFlow(place, "own")).toMatchObject({ ok: false, error: { code: "project_not_trusted" } });
  approve();
  write(".passrail/flows/own.yaml", flow(""));
  write(".claude/agents/worker.md", "---\nname: worker\ndescription: d\n---\nBe careless.\n");
  const own = resolveFlow(place, "own");
  expect(own).toMatchObject({ ok: true, value: { flow: { stages: [{ id: "a" }, { id: "ship" }] } } });
  expect(JSON.stringify(own)).not.toContain("careless");
  expect(look().effects).toContainEqual({ change: "removed", text: "flow own: a person decides at ship" });
  write(".passrail/flows/own.yaml", "flow: own\nversion: x\n");
  approve();
  const broken = resolveFlow(place, "own");
  expect(broken.ok ? "" : broken.error.message).toContain(join(place.project, ".passrail/flows/own.yaml"));
});

test("S10: an approval is of the version that was shown; a newer one is refused", async () => {
  write("passrail.yaml", "slots: 5\n");
  const { hash } = look();
  write("passrail.yaml", "slots: 99\n");
  expect(approve(hash)).toMatchObject({ ok: false, error: { code: "trust_changed" } });
  expect(await slots()).toBe("project_not_trusted");
});

test("S10: work in a project without such files goes on when somebody adds them", async () => {
  approveNothing(place, { by: "human:tester", now: NOW });
  write("passrail.yaml", "slots: 99\n");
  expect(await slots()).toBe(3);
  expect(look()).toMatchObject({ state: "changed", files: [{ path: "passrail.yaml", change: "added" }] });
});

test("S10: a script of the repository that settings name is part of the approval", () => {
  write("tools/check.sh", "true\n");
  write("servers.json", '{"mcpServers":{}}');
  write(
    "passrail.yaml",
    JSON.stringify({
      merge: { checks: [["sh", "-c", "cd . && ./tools/check.sh"]] },
      agents: { a: { mcp_config: "servers.json" } },
    }),
  );
  approve();
  write("tools/check.sh", "rm -rf /\n");
  expect(look()).toMatchObject({ state: "changed" });
  expect(look().files.map(({ path, kind, change }) => [path, kind, change])).toEqual([
    ["tools/check.sh", "program", "changed"],
    ["passrail.yaml", "settings", "same"],
    ["servers.json", "mcp", "same"],
  ]);
});

test("S10: a change of what runs comes first, however many harmless files come with it", () => {
  write("passrail.yaml", JSON.stringify({ agents: { a: { command: ["honest"] } } }));
  write(".passrail/prompts/same.md", "same");
  approve();
  for (let at = 0; at < 50; at++) write(`.passrail/prompts/${at}.md`, "harmless");
  write("passrail.yaml", JSON.stringify({ agents: { a: { command: ["evil"] } } }));
  const { effects, files } = look();
  expect(effects.slice(0, 2)).toEqual([
    { change: "removed", text: "agent a runs: honest" },
    { change: "added", text: "agent a runs: evil" },
  ]);
  expect(files[0]).toMatchObject({ path: "passrail.yaml", change: "changed" });
  expect(files.at(-1)).toMatchObject({ path: ".passrail/prompts/same.md", change: "same" });
});

test("S10: servers of an MCP file and the switches of .env count as approved", async () => {
  write("servers.json", '{"mcpServers":{"docs":{"command":"honest"}}}');
  write("passrail.yaml", JSON.stringify({ agents: { a: { mcp_config: "servers.json" } } }));
  write(".env", "MERGE_MODE=pr\n");
  approve();
  write("servers.json", '{"mcpServers":{"docs":{"command":"evil"}}}');
  write(".env", "MERGE_MODE=merge\n");
  expect(JSON.stringify(await settings())).toContain("honest");
  expect(
    look()
      .files.filter(({ change }) => change !== "same")
      .map(({ path }) => path),
  ).toEqual([".env", "servers.json"]);
});

test("S13: a link that leaves the project cannot be approved, and a damaged copy or record is refused", async () => {
  write("passrail.yaml", "slots: 5\n");
  mkdirSync(join(place.project, ".passrail/flows"), { recursive: true });
  writeFileSync(join(dir, "outside.yaml"), "flow: x\n");
  symlinkSync(join(dir, "outside.yaml"), join(place.project, ".passrail/flows/x.yaml"));
  expect(lookAtTrust(place)).toMatchObject({ ok: false, error: { code: "link_leaves_folder" } });
  rmSync(join(place.project, ".passrail"), { recursive: true });
  approve();
  const [key = ""] = readdirSync(join(place.home, "trust"));
  const folder = join(place.home, "trust", key);
  expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(statSync(join(folder, "approval.json")).mode & 0o777).toBe(0o600);
  const copies = readdirSync(folder).find((name) => name !== "approval.json") ?? "";
  writeFileSync(join(folder, copies, "passrail.yaml"), "slots: 99\n");
  // A verified record stays verified in this process; a new one is verified again.
  writeFileSync(join(folder, "approval.json"), `${JSON.stringify({ version: 1, project: "elsewhere" })}\n`);
  expect(await slots()).toBe("trust_damaged");
  approve();
  expect(await slots()).toBe(5);
});

test("an approval belongs to one repository: the same folder with another one asks again", async () => {
  write("passrail.yaml", "slots: 5\n");
  approve();
  expect(await slots()).toBe(5);
  execFileSync("git", ["init", "-q", place.project]);
  expect(await slots()).toBe("project_not_trusted");
});

test("P2: many processes that record the same approval at once all succeed", async () => {
  write("passrail.yaml", "slots: 5\n");
  const trust = join(import.meta.dirname, "trust.ts");
  const program = `const { lookAtTrust, approveProject } = await import(${JSON.stringify(trust)});
const place = ${JSON.stringify(place)};
for (let time = 0; time < 10; time++)
  if (!approveProject(place, { hash: lookAtTrust(place).value.hash, by: "human:x", now: "" }).ok) process.exit(1);`;
  const ended = Array.from({ length: 3 }, () =>
    promisify(execFile)(process.execPath, ["--input-type=module", "-e", program]),
  );
  await expect(Promise.all(ended)).resolves.toHaveLength(3);
  expect(await slots()).toBe(5);
});
