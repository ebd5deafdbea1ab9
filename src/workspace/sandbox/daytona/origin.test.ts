import { expect, test } from "vitest";
import { publicOrigin } from "./origin.ts";

test.each([
  ["https://github.com/you/shop.git", "https://github.com/you/shop.git"],
  ["git@github.com:you/shop.git", "https://github.com/you/shop.git"],
  ["ssh://git@gitlab.com:22/group/sub/shop", "https://gitlab.com/group/sub/shop"],
  ["git://127.0.0.1:9418/shop.git", "git://127.0.0.1:9418/shop.git"],
])("%s can be asked without a login", (written, address) => {
  expect(publicOrigin(written)).toBe(address);
});

test.each([
  "https://user:s3cret@github.com/you/shop.git",
  "https://token@github.com/you/shop.git",
  "https://git.example/shop?private_token=s3cret",
  "git@git.corp.example:you/shop.git",
  "git@github.com:you/shop.git --upload-pack=x",
  "/srv/git/shop.git",
  "file:///srv/git/shop.git",
  "ext::sh -c id",
  "",
])("%s is sent nowhere", (written) => {
  expect(publicOrigin(written)).toBeUndefined();
});
