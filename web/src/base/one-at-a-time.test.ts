import { expect, test } from "vitest";
import { oneAtATime } from "./one-at-a-time.ts";

const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 10; turn++) await Promise.resolve();
};

test("it begins at once, and what comes meanwhile is done once more afterwards, however much it is", async () => {
  const ends: (() => void)[] = [];
  const again = oneAtATime(
    () => new Promise<void>((resolve) => ends.push(resolve)),
    () => Promise.resolve(),
  );
  again();
  expect(ends).toHaveLength(1);
  for (let times = 0; times < 1000; times++) again();
  await settled();
  expect(ends).toHaveLength(1);
  ends[0]?.();
  await settled();
  expect(ends).toHaveLength(2);
  ends[1]?.();
  await settled();
  expect(ends).toHaveLength(2);
  again();
  expect(ends).toHaveLength(3);
});

test("it rests in between, and goes on after a failure", async () => {
  let done = 0;
  const rests: (() => void)[] = [];
  const again = oneAtATime(
    () => {
      done += 1;
      return Promise.reject(new Error("away"));
    },
    () => new Promise<void>((resolve) => rests.push(resolve)),
  );
  again();
  again();
  await settled();
  expect(done).toBe(1);
  rests[0]?.();
  await settled();
  expect(done).toBe(2);
});
