import { expect, test } from "vitest";
import { titleOf } from "./title.ts";

test("the tab says which page it shows, and how much waits", () => {
  expect(titleOf("/", 0)).toBe("Now · Passrail");
  expect(titleOf("/", 3)).toBe("(3) Now · Passrail");
  expect(titleOf("/runs", 0)).toBe("Runs · Passrail");
  expect(titleOf("/runs/12", 1)).toBe("(1) Run #12 · Passrail");
  expect(titleOf("/tickets/v0.1%3A1.1", 0)).toBe("v0.1:1.1 · Passrail");
  expect(titleOf("/g/r0a1b2c3d4e.1", 0)).toBe("Decision · Passrail");
});

test("hostile and unknown addresses make no strange titles", () => {
  expect(titleOf("/tickets/%E2%80%AEtxt", 0)).toBe("txt · Passrail");
  expect(titleOf("/tickets/%E0%A4%A", 0)).toBe("Work · Passrail");
  expect(titleOf("/no/such/page", 0)).toBe("Passrail");
});
