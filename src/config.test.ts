import { expect, test } from "bun:test";
import { ConfigError, readConfig } from "./config.ts";

test.each([
  ["https://shop.test/v1", "https://shop.test/v1"],
  ["https://shop.test/api/v1", "https://shop.test/api/v1"],
  ["HTTP://Shop.Test:8443/v1", "http://shop.test:8443/v1"],
  ["https://shop.test:443/v1", "https://shop.test/v1"],
  ["https://[2001:db8::1]/v1", "https://[2001:db8::1]/v1"],
  ["https://shop.test/v1?", "https://shop.test/v1"],
  ["https://shop.test/v1#", "https://shop.test/v1"],
  ["https://shop.test/v1?#", "https://shop.test/v1"],
])("the base address %s is read as %s", (text, address) => {
  expect(readConfig({ PETSTORE_BASE_URL: text }).baseUrl).toBe(address);
});

test.each([
  "shop.test/v1",
  "ftp://shop.test/v1",
  "https://shop.test",
  "https://shop.test/v1/",
  "https://shop.test/v2",
  "https://shop.test/a//v1",
  "https://shop.test/v1?key=1",
  "https://shop.test/v1#top",
  "https://me@shop.test/v1",
])("%s is no base address", (text) => {
  expect(() => readConfig({ PETSTORE_BASE_URL: text })).toThrow(ConfigError);
});
