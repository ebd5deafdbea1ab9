// The shop in the pictures of README: its code, and what its agents do.

export type Step = Readonly<Record<string, unknown>>;
type Script = Readonly<Record<string, readonly (readonly Step[])[]>>;

const PRICES = `export type Line = { readonly price: number; readonly count: number };

/** The sum of all lines, in francs. */
export function total(lines: readonly Line[]): number {
  return lines.reduce((sum, { price, count }) => sum + price * count, 0);
}
`;
const ROUNDED = `export type Line = { readonly price: number; readonly count: number };

const STEP = 0.05;

/** The sum of all lines, in francs, as it is paid in cash. */
export function total(lines: readonly Line[]): number {
  return round(lines.reduce((sum, { price, count }) => sum + price * count, 0));
}

export function round(amount: number): number {
  return Math.round(amount / STEP) * STEP;
}
`;
const TEST = `import assert from "node:assert/strict";
import { test } from "node:test";
import { round } from "./prices.ts";

test("an amount is rounded to five cents", () => {
  assert.equal(round(1.02).toFixed(2), "1.00");
  assert.equal(round(1.03).toFixed(2), "1.05");
});
`;

export const PROJECT: Readonly<Record<string, string>> = {
  "README.md": "# Shop\n",
  "package.json": '{ "name": "shop", "type": "module", "private": true }\n',
  "src/prices.ts": PRICES,
  "src/cart.ts": 'import { total } from "./prices.ts";\n\nexport const sum = total;\n',
};

/** `after`: the number of the ticket in this list that comes first. */
export const TICKETS: readonly { readonly title: string; readonly body: string; readonly after?: number }[] = [
  { title: "Vouchers at the checkout", body: "A voucher takes an amount off the total." },
  { title: "Vouchers in the monthly report", body: "How many were used, and how much they took off.", after: 0 },
  { title: "Remember the last delivery address", body: "Per customer, until they change it." },
];

const costs = (usd: number, input: number, output: number): Step => ({
  result: {
    total_cost_usd: usd,
    usage: { input_tokens: input, output_tokens: output, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
  },
});
const submits = (verdict: string, summary: string, more: object = {}): Step => ({
  submit: { verdict, summary, ...more },
});
const writes = (path: string, text: string): Step => ({ write: { path, text } });
const says = (text: string): Step => ({ say: text });
const assistant = (id: string, ...content: readonly object[]): Step => ({
  print: {
    type: "assistant",
    parent_tool_use_id: null,
    message: { id, model: "claude-opus", content, usage: { input_tokens: 18_400, output_tokens: 310 } },
  },
});
const thinks = (id: string, thinking: string): Step => assistant(id, { type: "thinking", thinking });
const calls = (id: string, name: string, input: object): Step => assistant(id, { type: "tool_use", id, name, input });
const did = (id: string, name: string, input: object, output = "ok", isError = false): readonly Step[] => [
  calls(id, name, input),
  {
    print: {
      type: "user",
      message: { content: [{ type: "tool_result", tool_use_id: id, content: output, is_error: isError }] },
    },
  },
];

const SPEC = [[submits("APPROVED", "The criteria can be tested."), costs(0.21, 18_200, 900)]];
const DESIGN = [[submits("APPROVED", "One function, used in one place."), costs(0.34, 26_100, 1400)]];
const UNTESTED = {
  severity: "major",
  description: "Nothing tests an amount that is rounded up",
  file: "src/prices.ts",
  line: 11,
};
const QUOTES = {
  severity: "critical",
  description: "A quote in a product's name breaks the row",
  file: "src/export.ts",
  line: 2,
};

const FIXED = { id: "F1", state: "fixed", reason: "src/prices.test.ts rounds 1.03 up to 1.05." };
const NOT_FIXED = { id: "F1", state: "not_fixed", reason: "A name with a quote still ends its cell early." };

export const SCRIPTS: Readonly<Record<"rounds" | "asks" | "works" | "designs" | "straight" | "escalates", Script>> = {
  rounds: {
    spec: SPEC,
    design: DESIGN,
    build: [
      [writes("src/prices.ts", ROUNDED), submits("COMPLETE", "Rounded to five cents."), costs(0.87, 61_000, 4200)],
      [
        writes("src/prices.test.ts", TEST),
        submits("COMPLETE", "A test for each direction."),
        costs(0.42, 33_000, 2100),
      ],
    ],
    qa: [
      [submits("REVISE", "The rounding has no test.", { issues: [UNTESTED] }), costs(0.18, 14_000, 700)],
      [submits("SHIP", "Both directions are tested.", { findings: [FIXED] }), costs(0.2, 15_500, 800)],
    ],
  },
  asks: {
    spec: [
      [
        { ask: { question: "Which list does the opt-in belong to: the newsletter or the product news?" } },
        costs(0.08, 7100, 300),
      ],
    ],
  },
  works: {
    spec: SPEC,
    design: DESIGN,
    build: [
      [
        thinks("t1", "The tax depends on the kind of line.\nI look at the cart and at its callers first."),
        says("I'll look at the cart and its tests first."),
        ...did(
          "b1",
          "Bash",
          { command: "git log --oneline -5 && ls src" },
          "3f2a1bc Set up the shop\ncart.ts  prices.ts",
        ),
        ...["cart", "prices", "orders", "tax"].flatMap((name) =>
          did(`r-${name}`, "Read", { file_path: `src/${name}.ts` }),
        ),
        ...did("e1", "Edit", {
          file_path: "src/cart.ts",
          old_string: "export const sum = total;\n",
          new_string:
            "export function sum(lines: readonly Line[], rate: number): number {\n  const net = total(lines);\n  return net + tax(net, rate);\n}\n",
        }),
        ...did(
          "b2",
          "Bash",
          { command: "node --test" },
          "✖ src/cart.test.ts: expected 108.10, received 108.1049\n1 of 14 tests failed",
          true,
        ),
        says("The tax has to be rounded as well; I round it with the same function."),
        ...did("e2", "Edit", {
          file_path: "src/cart.ts",
          old_string: "  return net + tax(net, rate);\n",
          new_string: "  return net + round(tax(net, rate));\n",
        }),
        calls("b3", "Bash", { command: "node --test" }),
        { hang: true },
      ],
    ],
  },
  designs: {
    spec: SPEC,
    design: [
      [
        says("The names are in one table of 4,000 products, so an index over lower-cased words is enough."),
        { hang: true },
      ],
    ],
  },
  straight: {
    spec: SPEC,
    design: DESIGN,
    build: [
      [
        writes("src/sku.ts", "export const sku = (id: number): string => `SKU-${id}`;\n"),
        submits("COMPLETE", "The SKU is below the title."),
        costs(0.6, 40_000, 2000),
      ],
    ],
    qa: [[submits("SHIP", "As specified."), costs(0.15, 12_000, 500)]],
  },
  escalates: {
    spec: SPEC,
    design: DESIGN,
    build: [
      [
        writes(
          "src/export.ts",
          'export const row = (cells: readonly string[]): string =>\n  cells.map((cell) => `"${cell}"`).join(",");\n',
        ),
        submits("COMPLETE", "Orders as rows."),
        costs(0.52, 37_000, 1900),
      ],
    ],
    qa: [
      [submits("REVISE", "Quotes are not escaped.", { issues: [QUOTES] }), costs(0.17, 13_000, 600)],
      [submits("REVISE", "Quotes are still not escaped.", { findings: [NOT_FIXED] }), costs(0.16, 12_400, 500)],
    ],
  },
};
