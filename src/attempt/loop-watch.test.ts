import { expect, test } from "vitest";
import { watchLoops } from "./loop-watch.ts";

type Step = { readonly name?: string; readonly input: string; readonly output?: string };

/** The number of the call at which it is a loop; undefined if it never is. */
function loopAt(steps: readonly Step[], sameCalls?: number): { readonly at: number; readonly why: string } | undefined {
  const watch = watchLoops(sameCalls);
  for (const [index, { name = "Bash", input, output = "" }] of steps.entries()) {
    const why = watch.note({ type: "tool.called", id: `${index}`, name, input });
    if (why !== undefined) return { at: index + 1, why };
    watch.note({ type: "message", text: "hm" });
    watch.note({ type: "tool.returned", id: `${index}`, ok: true, output });
  }
  return undefined;
}
const times = <T>(count: number, step: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => step(at));

test("the same call with the same answer is a loop at the twelfth time, and named", () => {
  const found = loopAt(times(50, () => ({ input: '{"command":"npm test"}', output: "1 failed" })));
  expect(found?.at).toBe(12);
  expect(found?.why).toBe('it called the same tool with the same input 12 times in a row: Bash {"command":"npm test"}');
});

test("two calls in turn are a loop as well", () => {
  const found = loopAt(times(50, (at) => (at % 2 === 0 ? { name: "Read", input: "a" } : { name: "Edit", input: "b" })));
  expect(found?.at).toBe(24);
  expect(found?.why).toContain("12 times in a row: Read a, then Edit b");
});

test("a call whose answer changes may wait for something: three times as often", () => {
  expect(loopAt(times(35, (at) => ({ input: "status", output: `${at} %` })))).toBeUndefined();
  expect(loopAt(times(50, (at) => ({ input: "status", output: `${at} %` })))?.at).toBe(36);
});

test("work is no loop: other inputs, other tools, or a change in between", () => {
  expect(loopAt(times(200, (at) => ({ input: `${at}` })))).toBeUndefined();
  expect(
    loopAt(times(200, (at) => ({ input: "npm test", name: at % 3 === 0 ? "Bash" : `Edit${at}` }))),
  ).toBeUndefined();
  expect(
    loopAt([...times(11, () => ({ input: "a" })), { input: "b" }, ...times(11, () => ({ input: "a" }))]),
  ).toBeUndefined();
  // Three in turn are work on several files.
  expect(loopAt(times(90, (at) => ({ input: `${at % 3}` })))).toBeUndefined();
});

test("the flow says how often", () => {
  expect(
    loopAt(
      times(50, () => ({ input: "a" })),
      3,
    )?.at,
  ).toBe(3);
  expect(
    loopAt(
      times(99, () => ({ input: "a" })),
      100,
    ),
  ).toBeUndefined();
  expect(
    loopAt(
      times(2000, () => ({ input: "a" })),
      1000,
    )?.at,
  ).toBe(1000);
});

test("a call without an answer counts like one with the same answer", () => {
  const watch = watchLoops(4);
  const found = times(4, (at) => watch.note({ type: "tool.called", id: `${at}`, name: "x", input: "" }));
  expect(found.map((why) => why !== undefined)).toEqual([false, false, false, true]);
});
