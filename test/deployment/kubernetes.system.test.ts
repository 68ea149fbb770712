// The manifests for Kubernetes fit the program, its image and each other. No cluster runs here.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { parse } from "yaml";
import { domains } from "../../src/app/domains.ts";
import { readConfig } from "../../src/config.ts";
import { settingsOf } from "../../src/domains/domain.ts";
import { version } from "../../src/telemetry/version.ts";
import { TestService } from "../harness/service.ts";
import { dockerInstructions, read, STOPS_WITHIN } from "./files.ts";

const manifest = (file: string) => parse(read(`deploy/kubernetes/${file}`));
const kustomization = manifest("kustomization.yaml");
const resources: readonly { readonly kind: string }[] = kustomization.resources.map(manifest);
// oxlint-disable-next-line typescript/no-explicit-any -- the tests say what they expect of it
const the = (kind: string): any => resources.find((resource) => resource.kind === kind);

const deployment = the("Deployment");
const { metadata, spec: pod } = deployment.spec.template;
const [container, ...others] = pod.containers;
const probes = ["startupProbe", "readinessProbe", "livenessProbe"] as const;
const instructions = dockerInstructions();
const last = (instruction: string) => instructions.findLast(([name]) => name === instruction)?.[1];

/** A value for each secret, by its setting. */
const secrets: Readonly<Record<string, string>> = {
  PETSTORE_DATABASE_URL: "postgres://petstore:secret@postgres/petstore",
  PETSTORE_VALKEY_URL: "redis://:secret@valkey",
  PETSTORE_SECRET_KEY: randomBytes(32).toString("base64"),
};

function configWith(more: Readonly<Record<string, string>> = {}) {
  const [{ literals }] = kustomization.configMapGenerator;
  const plain = literals.map((line: string) => line.split("=") as [string, string]);
  const secret = container.env.map(({ name }: { name: string }) => [name, secrets[name]]);
  return readConfig({ ...Object.fromEntries([...plain, ...secret]), ...more }, undefined, settingsOf(domains));
}

test("the resources find each other by their labels and names", () => {
  expect(resources.map(({ kind }) => kind)).toEqual(["Deployment", "Service", "PodDisruptionBudget"]);
  const { labels } = metadata;
  const selectors = [
    deployment.spec.selector.matchLabels,
    the("Service").spec.selector,
    the("PodDisruptionBudget").spec.selector.matchLabels,
    pod.topologySpreadConstraints[0].labelSelector.matchLabels,
  ];
  expect(selectors).toEqual(selectors.map(() => labels));
  expect(others).toEqual([]);
  expect(container.envFrom).toEqual([{ configMapRef: { name: kustomization.configMapGenerator[0].name } }]);
  expect(kustomization.images).toMatchObject([{ name: container.image, newTag: version }]);
});

test("the settings are those of the program, and what is secret is only named", () => {
  const config = configWith();
  expect(config).toMatchObject({ environment: "production", baseUrl: "https://petstore.example.com/v1" });
  expect([config.database, config.valkey].includes(undefined)).toBe(false);
  for (const { name, value, valueFrom } of container.env) {
    expect([value, valueFrom]).toEqual([undefined, { secretKeyRef: { name: "petstore", key: name } }]);
  }
  const [, command = ""] =
    /kubectl [^`]* create secret generic petstore ([^`]*?)\n[^ ]/.exec(read("deploy/README.md")) ?? [];
  const made = [...command.matchAll(/--from-literal=(\w+)=/g)].map(([, name = ""]) => name);
  expect(made.toSorted()).toEqual(Object.keys(secrets).toSorted());
});

test("the Service sets no setting, because its address would be no port", () => {
  expect(() => configWith({ PETSTORE_PORT: "tcp://10.96.0.1:80" })).toThrow("PETSTORE_PORT");
  expect(pod.enableServiceLinks).toBe(false);
});

test("the ports, the user and the folder are those of the image", () => {
  const [{ name, containerPort }] = container.ports;
  expect(String(containerPort)).toBe(last("EXPOSE") as string);
  expect(containerPort).toBe(configWith().port);
  expect(the("Service").spec.ports[0].targetPort).toBe(name);
  const { runAsUser, runAsGroup } = pod.securityContext;
  expect(`${runAsUser}:${runAsGroup}`).toBe(last("USER") as string);
  expect(container.volumeMounts).toEqual([{ name: pod.volumes[0].name, mountPath: last("VOLUME") }]);
});

test("one process at least is there while others are restarted or moved, and each has the time to stop", () => {
  expect(deployment.spec.strategy.rollingUpdate.maxUnavailable).toBe(0);
  expect(the("PodDisruptionBudget").spec.minAvailable).toBeLessThan(deployment.spec.replicas);
  const waits = container.lifecycle.preStop.sleep.seconds;
  expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(waits + STOPS_WITHIN);
});

describe("the probes", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start();
  });
  afterAll(() => service.stop());

  test.each(probes)("%s asks for a path of the service", async (probe) => {
    const { path, port } = container[probe].httpGet;
    expect(port).toBe(container.ports[0].name);
    expect((await fetch(`http://127.0.0.1:${service.app.port}${path}`)).status).toBe(200);
  });

  test("restart a process that hangs, and not one whose store is down", () => {
    expect(container.livenessProbe.httpGet.path).toBe("/healthz");
    expect(container.readinessProbe.httpGet.path).toBe("/readyz");
  });
});
