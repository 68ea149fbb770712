import type { TObject } from "typebox";
import type { Operation } from "../contract/operation.ts";
import { pathParameters } from "../contract/operation-properties.ts";
import type { Components, Json } from "./openapi-components.ts";

/**
 * What a client can do next with a success response, as OpenAPI links: operations on the resource that it holds, and
 * operations that get a resource whose id it holds in a field with the name of the path parameter, such as `petId`.
 */
export function linksOf(operation: Operation, operations: readonly Operation[], components: Components): Json {
  const fields = Object.keys((operation.response.schema as TObject).properties ?? {});
  const collection = collectionOf(operation, operations);
  const targets = operations.filter(({ name }) => name !== operation.name);
  return Object.fromEntries(
    targets.flatMap((target) => {
      const [parameter, ...others] = pathParameters(target.path);
      if (parameter === undefined || others.length > 0) return [];
      const isOnResource = collection !== undefined && `${target.path}/`.startsWith(`${collection}/{${parameter}}/`);
      const isReference =
        target.method === "GET" && target.path.endsWith(`/{${parameter}}`) && fields.includes(parameter);
      const field = isOnResource ? "id" : isReference ? parameter : undefined;
      return field === undefined ? [] : [[target.name, link(target, parameter, field, components)]];
    }),
  );
}

/** The path to which a POST adds a resource like that of the response, and returns its `id`; undefined if there is none. */
function collectionOf({ response }: Operation, operations: readonly Operation[]): string | undefined {
  const adding = operations.find(
    (other) =>
      other.method === "POST" &&
      other.response.status === 201 &&
      other.response.schema === response.schema &&
      "id" in ((response.schema as TObject).properties ?? {}),
  );
  return adding?.path;
}

function link({ name }: Operation, parameter: string, field: string, components: Components) {
  const part = field.charAt(0).toUpperCase() + field.slice(1);
  return components.add("links", `${name}By${part}`, {
    operationId: name,
    parameters: { [parameter]: `$response.body#/${field}` },
  });
}
