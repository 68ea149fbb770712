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
])("%s is not a base address", (text) => {
  expect(() => readConfig({ PETSTORE_BASE_URL: text })).toThrow(ConfigError);
});

test.each([
  [undefined, `${process.cwd()}/data`],
  ["", `${process.cwd()}/data`],
  ["store", "/somewhere/store"],
  ["../store", "/store"],
  ["/store", "/store"],
])("the data folder %p, typed in /somewhere, is parsed as %s", (text, folder) => {
  expect(readConfig({ PETSTORE_DATA_DIR: text }, "/somewhere").dataDir).toBe(folder);
});

test("all faults are reported at once", () => {
  const environment = { PETSTORE_PORT: "http", PETSTORE_DATA_DIR: "a\0b", PETSTORE_HSOT: "::" };
  expect(() => readConfig(environment)).toThrow(
    [
      "PETSTORE_HSOT is not a setting. Did you mean PETSTORE_HOST?",
      'PETSTORE_PORT is "http", but must be a whole number from 0 to 65535.',
      'PETSTORE_DATA_DIR is "a\\u0000b", but must be the path of a folder.',
    ].join("\n"),
  );
});

test.each([
  ["PETSTORE_DB", "PETSTORE_DATABASE_URL"],
  ["PETSTORE_LOG", "PETSTORE_LOG_LEVEL"],
  ["PETSTORE_REDIS_URL", "PETSTORE_VALKEY_URL"],
  ["PETSTORE_POSTGRES", "PETSTORE_DATABASE_URL"],
  ["PETSTORE_ENVIRONMENT", "PETSTORE_ENV"],
  ["PETSTORE_FOLDER", "PETSTORE_DATA_DIR"],
])("%s is taken for %s", (name, meant) => {
  expect(() => readConfig({ [name]: "1" })).toThrow(`${name} is not a setting. Did you mean ${meant}?`);
});

test("the variables that Kubernetes sets for a Service are explained", () => {
  const environment = { PETSTORE_SERVICE_HOST: "10.96.0.12", PETSTORE_PORT: "tcp://10.96.0.12:8080" };
  expect(() => readConfig(environment)).toThrow(
    [
      "PETSTORE_SERVICE_HOST is not a setting. Kubernetes sets it and others for a Service: set `enableServiceLinks: false` in the specification of the pod.",
      'PETSTORE_PORT is "tcp://10.96.0.12:8080", but must be a whole number from 0 to 65535.',
    ].join("\n"),
  );
});

test.each([
  ["PETSTORE_DATABASE_URL", "postgres://petstore:hunter2@db.test:99999/petstore", "an address such as "],
  ["PETSTORE_VALKEY_URL", "redis://petstore:hunter2@cache.test:99999", "an address such as "],
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "http://petstore:hunter2@traces.test:4318", "an absolute http or https address"],
  ["OTEL_EXPORTER_OTLP_ENDPOINT", "https://traces.test/?key=hunter2", "an absolute http or https address"],
  ["OTEL_EXPORTER_OTLP_HEADERS", "Authorization: hunter2", "name=value"],
  ["PETSTORE_BASE_URL", "https://me:hunter2@shop.test/v1", "an absolute http or https address"],
  ["PETSTORE_BASE_URL", "postgres://petstore:hunter2/3@db.test/petstore", "an absolute http or https address"],
  ["PETSTORE_HOST", "petstore:hunter2@db.test:5432", "a host name or an IP address"],
  ["PETSTORE_HOST", "//hunter2@db.test", "a host name or an IP address"],
  ["PETSTORE_PORT", "postgres://petstore:hunter2@db.test/petstore", "a whole number"],
])("a fault of %s does not show the password in %s", (name, text, expected) => {
  const read = () => readConfig({ [name]: text });
  expect(read).toThrow(`${name} must be ${expected}`);
  expect(read).not.toThrow("hunter2");
});

test.each(["127.0.0.1", "::", "::ffff:127.0.0.1", "localhost", "shop_1.internal", "a-b.test"])(
  "%s is a host",
  (host) => {
    expect(readConfig({ PETSTORE_HOST: host }).host).toBe(host);
  },
);

test.each(["999.1.1.1", ":", "::g", "1:2", "fe80::1%eth0", "a b", "a/b", "[::1]"])("%s is not a host", (host) => {
  expect(() => readConfig({ PETSTORE_HOST: host })).toThrow("but must be a host name or an IP address");
});
