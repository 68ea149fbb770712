import { baseAddress } from "../app/web/base-address.ts";
import { openApiDocument } from "../app/web/documents.ts";
import { exactValue } from "../contract/serialize.ts";
import { openApiYaml } from "../derive/openapi.ts";
import type { ProgramCommand } from "./program-command.ts";

export const openapi: ProgramCommand = {
  name: "openapi",
  summary: "Print the OpenAPI document: YAML, or JSON with --json.",
  example: "openapi --json",
  run: async (_given, { config, operations }) => {
    const document = openApiDocument(operations, config, baseAddress(config, config.host, config.port));
    return { json: exactValue(document), text: (await openApiYaml(document)).trimEnd() };
  },
};
