import { mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeCertificate } from "../../../test/harness/certificate.ts";
import { until } from "../../../test/harness/until.ts";
import { readCertificate, watchCertificate } from "./certificate.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "passrail-certificate-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("a renewed certificate is taken, and a broken one leaves the earlier one", async () => {
  const files = makeCertificate(folder, "DNS:box.test", "DNS:*.box.test", "IP:::1");
  const first = readCertificate(files);
  expect(first).toMatchObject({ ok: true, value: { names: ["box.test", "[::1]"] } });
  const taken: (readonly string[])[] = [];
  const problems: string[] = [];
  const stop = watchCertificate(
    files,
    ({ names }) => taken.push(names),
    (text) => problems.push(text),
    5,
  );
  try {
    makeCertificate(folder, "DNS:new.test");
    utimesSync(files.cert, new Date(), new Date(Date.now() + 5000));
    await until("the new one is taken", () => (taken.at(-1)?.[0] === "new.test" ? true : undefined));
    writeFileSync(files.cert, "nothing");
    utimesSync(files.cert, new Date(), new Date(Date.now() + 9000));
    await until("the broken one is told", () => (problems.length > 0 ? true : undefined));
    expect(taken.at(-1)).toEqual(["new.test"]);
  } finally {
    stop();
  }
});
