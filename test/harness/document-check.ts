import type { ValidateFunction } from "ajv/dist/2020.js";
import { newSchemaCheck } from "./schema-check.ts";
import { parseServerSentEvents } from "./server-sent-events.ts";

type Json = Record<string, unknown>;

/** Headers that any HTTP response may have without the document saying so. */
const undeclared =
  /^(date|content-length|content-type|x-content-type-options|connection|access-control-.*|vary|transfer-encoding|cache-control|x-accel-buffering)$/;
const limitHeaders = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "x-request-id"];

export interface CheckedResponse {
  readonly method: string;
  /** Path below the base address, without the query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

/** An event in the store; its fields are JSON. */
export interface StoredEvent {
  readonly type: string;
  readonly data: string | null;
  readonly previous: string | null;
}

/**
 * Checks responses against an OpenAPI document, more strictly than a client would: no status, header or
 * field that the document does not declare, and none missing that it requires.
 */
export class DocumentCheck {
  static readonly #known = new Map<string, DocumentCheck>();
  readonly #document: Json;
  /** The path items, each with a pattern of the paths that it matches. The first match counts. */
  readonly #paths: readonly (readonly [pattern: RegExp, item: Json])[];
  /** The tests of the document check that the schemas themselves are valid. */
  readonly #ajv = newSchemaCheck({
    allErrors: true,
    validateSchema: false,
    meta: false,
    discriminator: true,
  });
  readonly #validators = new Map<unknown, ValidateFunction>();

  /** The check for a document: one for all services with the same operations, because compiling it takes long. */
  static of(document: unknown): DocumentCheck {
    const [{ url }] = (document as Json)["servers"] as [{ url: string }];
    const text = JSON.stringify(document).replaceAll(new URL(url).origin, "");
    const known = DocumentCheck.#known.get(text) ?? new DocumentCheck(document as Json);
    DocumentCheck.#known.set(text, known);
    return known;
  }

  private constructor(document: Json) {
    this.#document = document;
    // A path without parameters has priority over one whose parameter would match it (OpenAPI 3.1, "Path Templating Matching").
    this.#paths = Object.entries(this.#document["paths"] as Record<string, Json>)
      .toSorted(([one], [other]) => +one.includes("{") - +other.includes("{"))
      .map(([template, item]) => [new RegExp(`^${template.replaceAll(/\{[^}]*\}/g, "[^/]+")}$`), item]);
    const schemas = close(structuredClone((this.#document["components"] as Json)["schemas"]));
    this.#ajv.addSchema({ $id: "document", components: { schemas } });
  }

  /** Throws an error that names every deviation. */
  check(received: CheckedResponse): void {
    const faults = this.#faults(received);
    if (faults.length > 0) {
      const { method, path, status, text } = received;
      throw new Error(`${method} ${path} → ${status} does not fit the document:\n  ${faults.join("\n  ")}\n${text}`);
    }
  }

  /** Like `check`, for the body of a webhook. */
  checkMessage(text: string): void {
    const faults = this.#validate({ $ref: "#/components/schemas/WebhookMessage" }, text);
    if (faults.length > 0) throw new Error(`A message does not fit the document:\n  ${faults.join("\n  ")}\n${text}`);
  }

  /** Like `check`, for an event as it is stored. */
  checkEvent({ type, data, previous }: StoredEvent): void {
    if (!("Event" in ((this.#document["components"] as Json)["schemas"] as Json))) return;
    const head = `{"id":1,"type":"${type}","at":"2026-11-21T12:00:00.000Z","actor":{"kind":"system"},"subject":{"type":"","id":""}`;
    const text = `${head}${data ? `,"data":${data}` : ""}${previous ? `,"previous":${previous}` : ""}}`;
    const faults = this.#validate({ $ref: "#/components/schemas/Event" }, text);
    if (faults.length > 0) throw new Error(`An event does not fit the document:\n  ${faults.join("\n  ")}\n${text}`);
  }

  #faults(received: CheckedResponse): string[] {
    const faults = limitHeaders
      .filter((name) => !received.headers.has(name))
      .map((name) => `header ${name} is missing`);
    if (received.headers.get("access-control-allow-origin") !== "*") faults.push("CORS is not open");
    if (received.headers.get("x-content-type-options") !== "nosniff") faults.push("its type may be guessed");
    // Otherwise a browser gives what it has cached to a page without the key.
    if (received.headers.get("vary") !== "Authorization") faults.push("caches do not tell keys apart");
    const exposed = received.headers.get("access-control-expose-headers")?.toLowerCase().split(", ") ?? [];
    for (const name of received.headers.keys()) {
      if (!undeclared.test(name) && !exposed.includes(name)) faults.push(`scripts of other sites cannot read ${name}`);
    }
    const operation = this.#operation(received);
    if (received.method === "OPTIONS") return faults;
    if (!operation) return [...faults, ...this.#errorFaults(received)];
    const responses = operation["responses"] as Record<string, Json>;
    const declared = responses[received.status];
    if (!declared) return [...faults, `status ${received.status} is not declared`];
    const response = this.#resolve(declared);
    return [...faults, ...this.#headerFaults(received, response), ...this.#bodyFaults(received, response)];
  }

  /** Paths and methods without an operation answer with an error. */
  #errorFaults(received: CheckedResponse): string[] {
    if (received.status < 400) return ["a response of no operation is not an error"];
    if (received.method === "HEAD") return [];
    return this.#validate({ $ref: "#/components/schemas/Error" }, received.text);
  }

  #headerFaults({ headers }: CheckedResponse, response: Json): string[] {
    const declared = new Map(
      Object.entries((response["headers"] ?? {}) as Record<string, Json>).map(([name, header]) => [
        name.toLowerCase(),
        this.#resolve(header),
      ]),
    );
    const faults: string[] = [];
    for (const [name, header] of declared) {
      const value = headers.get(name);
      if (value === null) {
        if (header["required"]) faults.push(`header ${name} is required and missing`);
      } else if ((header["schema"] as Json)["type"] === "integer" && !/^[0-9]+$/.test(value)) {
        faults.push(`header ${name} is no whole number: ${value}`);
      }
    }
    for (const name of headers.keys()) {
      if (!declared.has(name) && !undeclared.test(name)) faults.push(`header ${name} is not declared`);
    }
    return faults;
  }

  #bodyFaults(received: CheckedResponse, response: Json): string[] {
    const content = response["content"] as Record<string, Json> | undefined;
    if (!content) return received.text === "" ? [] : ["a body is not declared"];
    const type = received.headers.get("content-type") ?? "";
    const media = content[type];
    if (!media) return [`content type ${type} is not declared`];
    if (received.method === "HEAD") return received.text === "" ? [] : ["the response to HEAD has a body"];
    if (type !== "text/event-stream") return this.#validate(media["schema"], received.text);
    return parseServerSentEvents(received.text).flatMap(({ data }) => this.#validate(media["schema"], data));
  }

  #validate(schema: unknown, text: string): string[] {
    const { $ref } = schema as { $ref?: string };
    let validator = this.#validators.get($ref ?? schema);
    if (!validator) {
      validator = this.#ajv.compile($ref ? { $ref: `document${$ref}` } : (close(structuredClone(schema)) as object));
      this.#validators.set($ref ?? schema, validator);
    }
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      return ["the body is not JSON"];
    }
    if (validator(value)) return [];
    return (validator.errors ?? []).map((error) => `${error.instancePath || "body"} ${error.message}`);
  }

  #operation({ method, path }: CheckedResponse): Json | undefined {
    const [, item] = this.#paths.find(([pattern]) => pattern.test(path)) ?? [];
    return item?.[(method === "HEAD" ? "GET" : method).toLowerCase()] as Json | undefined;
  }

  #resolve(part: Json): Json {
    const { $ref } = part as { $ref?: string };
    if (!$ref) return part;
    return $ref
      .slice(2)
      .split("/")
      .reduce((node, token) => node[token] as Json, this.#document);
  }
}

/**
 * Makes every object schema refuse properties that it does not name. In a combination, one schema names them all. Of a
 * discriminator, Ajv knows only the name.
 */
function close(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(close);
  if (typeof schema !== "object" || schema === null || "allOf" in schema) return schema;
  const closed = Object.fromEntries(
    Object.entries(schema)
      .filter(([key]) => key !== "mapping")
      .map(([key, part]) => [key, close(part)]),
  );
  return "properties" in closed ? { additionalProperties: false, ...closed } : closed;
}
