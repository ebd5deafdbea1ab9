import { expect, test } from "vitest";
import { err, ok } from "../core/result.ts";
import { patiently } from "./patiently.ts";

const failing = (message: string, times: number) => {
  let calls = 0;
  const call = async () => (++calls > times ? ok(null) : err({ code: "git_failed", message }));
  return { call, calls: () => calls };
};

test("a clone that misses an object which git packs in the background is repeated; another failure is not", async () => {
  const packed = failing("fatal: failed to copy file to '/c/.git/objects/d5/f9': No such file or directory", 2);
  expect(await patiently(packed.call)).toEqual(ok(null));
  expect(packed.calls()).toBe(3);
  const other = failing("fatal: not a git repository", 2);
  expect(await patiently(other.call)).toMatchObject({ ok: false, error: { code: "git_failed" } });
  expect(other.calls()).toBe(1);
});
