// Where the store is: read strictly, and never shown with its password.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { databaseOf, readAddress, withoutDatabase } from "./database.ts";
import { readSettings } from "./settings.ts";

const read = (text: string) => {
  const found = readAddress(text, "it");
  return found.ok ? found.value : found.error.message;
};

test("an address has a user, a host and a database; the shown one has no password", () => {
  expect(read("postgres://ann:p%40ss@db.example:6543/app")).toMatchObject({
    host: "db.example",
    port: 6543,
    user: "ann",
    password: "p@ss",
    database: "app",
    shown: "postgres://ann@db.example:6543/app",
  });
  expect(read("postgresql://ann@localhost/app")).toMatchObject({ port: 5432, password: undefined });
  expect(read("postgres://ann@x/app?host=/run/postgresql")).toMatchObject({ host: "/run/postgresql", tls: "off" });
});

test("S09: what leaves the machine is encrypted and verified unless the address says otherwise", () => {
  const tls = (text: string) => {
    const found = readAddress(text, "it");
    return found.ok ? found.value.tls : "wrong";
  };
  expect(tls("postgres://a@db.example/x")).toBe("verified");
  expect(tls("postgres://a@127.0.0.1/x")).toBe("off");
  expect(tls("postgres://a@localhost/x?sslmode=require")).toBe("unverified");
  expect(tls("postgres://a@db.example/x?sslmode=disable")).toBe("off");
  expect(tls("postgres://a@db.example/x?sslmode=verify-full")).toBe("verified");
});

test("an address that cannot be used is refused with its reason, and its password is not repeated", () => {
  const wrong = [
    "secret",
    "mysql://u:secret@h/x",
    "postgres://:secret@h/x",
    "postgres://u:secret@h/",
    "postgres://u:secret%@h/x",
    "postgres://u:secret@h/x?sslmode=maybe",
    "postgres://u:secret@h/x?options=-c",
    "postgres://u:secret@h/x?sslrootcert=/nowhere",
  ];
  for (const text of wrong) {
    const found = readAddress(text, "it");
    expect(found).toMatchObject({ ok: false, error: { code: "database_invalid" } });
    expect(JSON.stringify(found)).not.toContain("secret");
  }
});

test("the environment wins over the user's file; a project cannot name a database", async () => {
  const config = mkdtempSync(join(tmpdir(), "passrail-config-"));
  try {
    mkdirSync(join(config, "passrail"));
    const environment = { XDG_CONFIG_HOME: config };
    expect(await databaseOf(environment)).toEqual({ ok: true, value: null });
    writeFileSync(join(config, "passrail", "passrail.yaml"), "slots: 2\ndatabase: postgres://u@h/file\n");
    expect(await databaseOf(environment)).toMatchObject({ value: { database: "file" } });
    const both = { ...environment, PASSRAIL_DATABASE_URL: "postgres://u@h/variable" };
    expect(await databaseOf(both)).toMatchObject({ value: { database: "variable" } });
    expect(withoutDatabase(both)).toEqual(environment);
    writeFileSync(join(config, "passrail", "passrail.yaml"), "database: 7\n");
    expect(await databaseOf(environment)).toMatchObject({ ok: false, error: { code: "invalid_setting" } });
  } finally {
    rmSync(config, { recursive: true });
  }
  const project = { database: "postgres://u@h/x" };
  expect(readSettings({ environment: {}, project, user: undefined, flags: {} })).toMatchObject({ ok: false });
});
