import { expect, test } from "vitest";
import { serviceFile } from "./service-file.ts";

const service = {
  command: ["/opt/node 24/bin/node", "/a/main.js", "--home", '/data/"x" %h $HOME \\ & <y>', "up"],
  cwd: "/my project/50%",
  environment: { PATH: "/bin:/usr/bin", HOME: "/home/a b%u" },
};

test("a unit of systemd holds every word as it is, whatever characters it has", () => {
  const text = serviceFile("systemd", service);
  expect(text).toContain(
    String.raw`ExecStart="/opt/node 24/bin/node" "/a/main.js" "--home" "/data/\"x\" %%h $$HOME \\ & <y>" "up"`,
  );
  expect(text).toContain("WorkingDirectory=/my project/50%%\n");
  expect(text).toContain('Environment="HOME=/home/a b%%u"\n');
  expect(text).toContain("UMask=0077\n");
  expect(text).toContain("WantedBy=default.target\n");
});

test("a launch agent is XML that gives the same words back", () => {
  const text = serviceFile("launchd", service);
  expect(text).toContain('<string>/data/"x" %h $HOME \\ &amp; &lt;y&gt;</string>');
  expect(text).toContain("<key>WorkingDirectory</key>\n  <string>/my project/50%</string>");
  expect(text).toContain("<key>HOME</key>\n    <string>/home/a b%u</string>");
});
