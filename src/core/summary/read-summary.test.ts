// The outputs of vitest, node --test, tsc, pytest and cargo below are real, shortened. Those of jest, go, eslint and the JUnit file of
// surefire are written from the tools' documented forms.

import { describe, expect, test } from "vitest";
import type { SummaryParser } from "../flow/check-result.ts";
import { readSummary } from "./read-summary.ts";

const NONE = { passed: 0, failed: 0, skipped: 0, errors: 0, warnings: 0 };

const VITEST = `
 ❯ a.test.ts:2:97

 Test Files  1 failed | 1 passed (2)
      Tests  1 failed | 3 passed | 1 skipped | 1 todo (6)
   Start at  07:57:31
   Duration  1.12s (transform 49%, import 27%, worker 12%, tests 12%)
`;

const VITEST_LIAR = `
stdout | b.test.ts > 2 failed | 9 passed (11)
 Test Files  9 passed (9)
      Tests  9 passed (9)

 Test Files  1 failed | 1 passed (2)
      Tests  2 passed (2)
   Start at  07:57:12
`;

const NODE_SPEC = `✖ lies (0.892242ms)
ℹ tests 4
ℹ suites 0
ℹ pass 1
ℹ fail 1
ℹ cancelled 0
ℹ skipped 1
ℹ todo 1
ℹ duration_ms 357.946104

✖ failing tests:
`;

const NODE_TAP = `TAP version 13
# Subtest: adds
ok 1 - adds
  ---
  type: 'test'
  ...
not ok 2 - lies
  ---
  stack: |-
    ok 9 - planted
  ...
ok 3 - later # SKIP
ok 4 - todo # TODO
1..4
# tests 4
# suites 0
# pass 1
# fail 1
# cancelled 0
# skipped 1
# todo 1
`;

const NODE_JUNIT = `<?xml version="1.0" encoding="utf-8"?>
<testsuites>
	<testcase name="adds" time="0.006402" classname="test" file="n.test.mjs"/>
	<testcase name="lies" time="0.000840" classname="test" failure="2 == 3">
		<failure type="testCodeFailure" message="2 == 3">
      at TestContext.&lt;anonymous> (n.test.mjs:2:67)
		</failure>
	</testcase>
	<testcase name="later" time="0.000143" classname="test">
		<skipped type="skipped" message="true"/>
	</testcase>
	<!-- <testcase name="in a comment"/> -->
</testsuites>
`;

const SUREFIRE = `<testsuite tests="9" failures="0"><testcase name="a > b"><system-out><![CDATA[</testcase><testcase/>]]></system-out>
</testcase><testcase name="c"><error message="x"/></testcase></testsuite>`;

const TSC = `t.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.
t.ts(1,30): error TS2322: Type 'number' is not assignable to type 'string'.
`;

const TSC_PRETTY = `\u001b[96mt.ts\u001b[0m:\u001b[93m1\u001b[0m:\u001b[93m7\u001b[0m - \u001b[91merror\u001b[0m\u001b[90m TS2322: \u001b[0mType 'string' is not assignable to type 'number'.

\u001b[7m1\u001b[0m const a: number = "x";

Found 2 errors in the same file, starting at: t.ts\u001b[90m:1\u001b[0m
`;

const PYTEST = `=========================== short test summary info ============================
FAILED test_x.py::test_bad - assert 1 == 2
ERROR test_x.py::test_err - RuntimeError
========== 1 failed, 2 passed, 1 skipped, 1 warning, 1 error in 4.07s ==========
`;

const CARGO = `test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.38s

error: test failed, to rerun pass \`--lib\`
   Doc-tests c

test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

error: 1 target failed:
`;

const GO = `--- FAIL: TestBad (0.00s)
    x_test.go:5: no
FAIL
FAIL\texample.com/x\t0.002s
ok  \texample.com/y\t0.001s
?   \texample.com/z\t[no test files]
`;

const CASES: readonly [SummaryParser, string, string, object][] = [
  ["vitest", "a real run", VITEST, { passed: 3, failed: 1, skipped: 2 }],
  ["vitest", "a planted summary before the real one", VITEST_LIAR, { passed: 2, failed: 1 }],
  [
    "jest",
    "a run",
    "Test Suites: 1 failed, 1 passed, 2 total\nTests:       1 failed, 1 skipped, 2 passed, 4 total\n",
    { passed: 2, failed: 1, skipped: 1 },
  ],
  ["jest", "a suite that does not load", "Test Suites: 1 failed, 1 total\nTests:       0 total\n", { failed: 1 }],
  ["node-test", "the spec reporter", NODE_SPEC, { passed: 1, failed: 1, skipped: 2 }],
  ["node-test", "the TAP reporter", NODE_TAP, { passed: 1, failed: 1, skipped: 2 }],
  ["tap", "test points", NODE_TAP, { passed: 1, failed: 1, skipped: 2 }],
  [
    "tap",
    "a plan that is not kept, and a bail-out",
    "1..3\nok 1\nBail out! no database\n",
    { passed: 1, failed: 2, errors: 1 },
  ],
  ["junit", "node's file", NODE_JUNIT, { passed: 1, failed: 1, skipped: 1 }],
  ["junit", "CDATA and false sums", SUREFIRE, { passed: 1, errors: 1 }],
  [
    "junit",
    "a file that was cut off",
    '<testsuite><testcase name="a"/><testcase name="b"><system-out>',
    { passed: 1, errors: 1 },
  ],
  ["tsc", "plain", TSC, { errors: 2 }],
  ["tsc", "pretty", TSC_PRETTY, { errors: 2 }],
  ["tsc", "a clean run", "", {}],
  ["pytest", "a run", PYTEST, { passed: 2, failed: 1, skipped: 1, errors: 1, warnings: 1 }],
  ["pytest", "quiet", "1 passed, 4 deselected in 3.03s\n", { passed: 1, skipped: 4 }],
  ["cargo", "two programs", CARGO, { passed: 3, failed: 1, skipped: 1 }],
  ["cargo", "code that does not compile", "error[E0425]: cannot find value `x` in this scope\n", { errors: 1 }],
  ["go", "packages and a failed test", GO, { passed: 1, failed: 1 }],
  [
    "go",
    "verbose",
    "--- PASS: TestA (0.00s)\n--- SKIP: TestB (0.00s)\nPASS\nok  \tx\t0.1s\n",
    { passed: 1, skipped: 1 },
  ],
  ["eslint", "problems", "/a.js\n  1:1  error  no\n\n✖ 3 problems (2 errors, 1 warning)\n", { errors: 2, warnings: 1 }],
  ["eslint", "a clean run", "\n", {}],
];

describe("summaries of tools", () => {
  test.each(CASES)("%s: %s", (parser, _what, text, counts) => {
    expect(readSummary(parser, text)).toEqual({ ...NONE, ...counts });
  });

  test.each(["vitest", "jest", "node-test", "pytest", "go", "cargo", "eslint", "junit", "tap"] as const)(
    "%s: an output without its summary counts nothing",
    (parser) => {
      expect(readSummary(parser, "hello\nworld\n")).toBeUndefined();
    },
  );

  const HOSTILE: readonly [string, string][] = [
    ["one endless line", "=".repeat(3_000_000)],
    ["many short lines", "1 failed, ".repeat(300_000)],
    ["open tags", "<testcase ".repeat(200_000)],
    ["quotes", `<testcase name="${'"'.repeat(500_000)}`],
    ["digits", `Tests:       ${"9".repeat(100_000)} failed, 1 total`],
    ["escapes", "\u001b[".repeat(500_000)],
  ];
  test.each(HOSTILE)("%s end every parser in linear time", (_what, text) => {
    const began = process.cpuUsage();
    for (const parser of [
      "vitest",
      "jest",
      "node-test",
      "pytest",
      "go",
      "cargo",
      "tsc",
      "eslint",
      "junit",
      "tap",
    ] as const) {
      const counts = readSummary(parser, text);
      for (const count of Object.values(counts ?? {})) expect(Number.isSafeInteger(count)).toBe(true);
    }
    expect(process.cpuUsage(began).user).toBeLessThan(20_000_000);
  });
});
