import { expect, test } from "vitest";
import { firstSteps, placeLines, type SeenPlace } from "./place-text.ts";

const ready: SeenPlace = {
  project: "/work/shop",
  branch: "main",
  changes: false,
  problem: null,
  ready: [
    { runner: "claude", version: "2.1.0" },
    { runner: "codex", version: "0.9" },
  ],
  gaps: [],
  hasSettings: false,
  tickets: { all: 3, canStart: 2 },
};
const commands = (place: SeenPlace): readonly string[] => firstSteps(place).map(({ command }) => command);

test("a repository with agents and tickets is told with all of them, and a task is the first step", () => {
  expect(placeLines(ready)).toEqual([
    "/work/shop: a git repository on main.",
    "claude 2.1.0 is ready, also codex.",
    "3 tickets, 2 can start.",
  ]);
  expect(commands(ready)).toEqual([
    'passrail "Fix the typo in the README"',
    "passrail work",
    "passrail init",
    "passrail demo",
  ]);
  expect(commands({ ...ready, hasSettings: true, tickets: null })).not.toContain("passrail init");
});

test("without a repository and without an agent the lines say how to get them, and only the demo is proposed", () => {
  const place: SeenPlace = {
    ...ready,
    problem: { message: "/work/shop is not a git repository.", hint: "git init" },
    ready: [],
    gaps: [{ runner: "claude", fix: "npm install -g @anthropic-ai/claude-code" }],
    tickets: { all: 1, canStart: 0 },
  };
  expect(placeLines(place)).toEqual([
    "/work/shop is not a git repository.",
    "  git init",
    "No coding agent is ready.",
    "  Make one ready:",
    "    claude  npm install -g @anthropic-ai/claude-code",
    "  or let a program of your own play: --agent '*=COMMAND'",
    "  or look first, without any agent:  passrail demo",
    "1 ticket, none can start now.",
  ]);
  expect(commands(place)).toEqual(["passrail demo"]);
});
