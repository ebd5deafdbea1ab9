import { expect, test } from "vitest";
import { withoutNonce } from "./reading.ts";

test.each(["nonce: n0", "**Nonce:** `n0`", "  - (nonce n0)", "n0", "Signed with n0"])(
  "S07: the line %j only signs, and is no part of what was said",
  (line) => {
    expect(withoutNonce(`first\n${line}\nlast\n`, "n0")).toBe("first\nlast\n");
    expect(withoutNonce(`first\n${line}`, "n0")).toBe("first\n");
  },
);

test("S07: a line that says more than the nonce keeps what it says", () => {
  const text = "Verdict: REVISE (nonce: n0)\n- the sum is wrong\n";
  expect(withoutNonce(text, "n0")).toBe(text);
  expect(withoutNonce("no nonce here", "")).toBe("no nonce here");
});
