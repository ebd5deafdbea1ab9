import { expect, test } from "vitest";
import { readAddress } from "./address.ts";

const wish = { port: "7377", host: "127.0.0.1", open: false, allow: [] };

test.each(["127.0.0.1", "127.8.8.8", "::1", "localhost"])("S01: %s is loopback", (host) => {
  expect(readAddress({ ...wish, host })).toMatchObject({ ok: true });
});

test.each(["0.0.0.0", "::", "192.168.1.5", "10.0.0.1", "169.254.1.1", "::ffff:10.0.0.1", "8.8.8.8"])(
  "S01: %s is refused until it is asked for in so many words",
  (host) => {
    expect(readAddress({ ...wish, host })).toMatchObject({ ok: false, error: { code: "host_not_loopback" } });
    expect(readAddress({ ...wish, host, open: true })).toMatchObject({ ok: true, value: { host } });
  },
);

test.each([
  [{ host: "example.com" }, "host_invalid"],
  [{ host: "2130706433" }, "host_invalid"],
  [{ port: "65536" }, "port_invalid"],
  [{ port: "-1" }, "port_invalid"],
  [{ port: "1e3" }, "port_invalid"],
  [{ allow: ["box:7377", "evil host"] }, "host_invalid"],
])("%j is refused", (more, code) => {
  expect(readAddress({ ...wish, ...more })).toMatchObject({ ok: false, error: { code } });
});
