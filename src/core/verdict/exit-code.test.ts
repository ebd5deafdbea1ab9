import { expect, test } from "vitest";
import { readExitCode } from "./exit-code.ts";

test.each([
  [0, "0"],
  [1, "1"],
  [137, "137"],
  [null, "1"],
])("R-004-18: exit code %j is the health word %j", (code, health) => {
  expect(readExitCode(code)).toEqual({ ok: true, value: { health } });
});
