import { expect, test } from "vitest";
import { WORKSPACE_MODES } from "../flow/workspace-mode.ts";
import { type Containment, containedStages, containmentOf } from "./containment.ts";

const of = (mode: string | null): Containment | null => containmentOf({ mode, runner: "claude", enclosure: null });

test("S06: every kind of workspace has a label that says whether it is a sandbox", () => {
  expect(WORKSPACE_MODES.map((mode) => of(mode)?.label)).toEqual([
    "no sandbox: the project's folder",
    "no sandbox: worktree",
    "no sandbox: clone",
    "sandbox: bubblewrap",
    "sandbox: docker container",
    "sandbox: podman container",
    "sandbox: daytona",
  ]);
});

test("R-X-05: a program without a sandbox says what held its processes together; in a sandbox the sandbox does", () => {
  const held = (mode: string, enclosure: "cgroup" | "markers") =>
    containmentOf({ mode, runner: "claude", enclosure })?.label;
  expect(held("worktree", "cgroup")).toBe("no sandbox: worktree, processes held by a cgroup");
  expect(held("clone", "markers")).toBe("no sandbox: clone, processes held by markers");
  expect(held("bubblewrap", "cgroup")).toBe("sandbox: bubblewrap");
});

test("S06: nothing is claimed where no program ran or where the record does not say in what", () => {
  expect(containmentOf({ mode: "bubblewrap", runner: null, enclosure: null })).toBeNull();
  expect(of(null)).toBeNull();
  expect(of("<b>bubblewrap</b>")).toBeNull();
});

test("S06: of several attempts the missing sandbox comes first, each kind once", () => {
  const ran = [
    { stage: "spec", containment: of("bubblewrap") },
    { stage: "land", containment: null },
    { stage: "build", containment: of("worktree") },
    { stage: "qa", containment: of("bubblewrap") },
    { stage: "qa", containment: of("bubblewrap") },
  ];
  expect(containedStages(ran).map(({ label, stages }) => [label, stages])).toEqual([
    ["no sandbox: worktree", ["build"]],
    ["sandbox: bubblewrap", ["spec", "qa"]],
  ]);
});
