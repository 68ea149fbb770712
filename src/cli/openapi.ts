import { baseAddress } from "../app/web/base-address.ts";
import { openApiDocument } from "../app/web/documents.ts";
import { openApiJson, openApiYaml } from "../derive/openapi.ts";
import type { ProgramCommand } from "./program-command.ts";

export const openapi: ProgramCommand = {
  name: "openapi",
  summary: "Print the OpenAPI document: YAML, or JSON with --json.",
  example: "openapi --json",
  run: async (_given, { config, operations }) => {
    const document = openApiDocument(operations, config, baseAddress(config, config.host, config.port));
    // Keeps integers beyond 2^53 exact.
    const json = JSON.parse(openApiJson(document), (_key, value: unknown, { source }) =>
      typeof value === "number" && source !== undefined ? JSON.rawJSON(source) : value,
    );
    return { json, text: (await openApiYaml(document)).trimEnd() };
  },
};
