/* oxlint-disable typescript/no-explicit-any -- a document is what it is */

/**
 * What a client may rely on, as lines: `takes` is accepted by the service, `gives` is in a response, `needs` is a demand
 * on a request, `has` is the name of a component. Operations that are not stable promise nothing but their components.
 */
export function promisesOf(document: any): string[] {
  const lines = new Set<string>();
  const resolve = (part: any): any =>
    part.$ref
      ? part.$ref
          .slice(2)
          .split("/")
          .reduce((node: any, token: string) => node[token], document)
      : part;

  /** Adds the lines of a schema, which is either at a place or a component that several places share. */
  const add = (schema: any, place: string, direction: "takes" | "gives"): void => {
    if (schema.$ref) {
      const name = schema.$ref.split("/").at(-1);
      lines.add(`${direction} ${place} ${name}`);
      if (lines.has(`${direction} ${name}`)) return; // its lines are there
      lines.add(`${direction} ${name}`);
      return add(resolve(schema), name, direction);
    }
    const { type, format, enum: values = [], required = [], properties = {}, items, ...combined } = schema;
    const { allOf = [], oneOf = [] } = combined;
    lines.add(`${direction} ${place} is ${[type, format].flat().filter(Boolean).join(" ")}`);
    for (const value of values) lines.add(`${direction} ${place} "${value}"`);
    if (direction === "takes") {
      for (const [keyword, value] of Object.entries(schema)) {
        if (/^(min|max|pattern$)/.test(keyword)) lines.add(`needs ${place}: ${keyword} ${value}`);
      }
    }
    for (const [name, property] of Object.entries<any>(properties)) {
      const isRequired = required.includes(name) && property.default === undefined;
      if (direction === "takes" && isRequired) lines.add(`needs ${place}.${name}: required`);
      if (direction === "gives" && required.includes(name)) lines.add(`gives ${place}.${name} always`);
      add(property, `${place}.${name}`, direction);
    }
    if (items) add(items, `${place}[]`, direction);
    if (typeof schema.additionalProperties === "object") add(schema.additionalProperties, `${place}.*`, direction);
    for (const part of [...allOf, ...oneOf]) add(part, place, direction);
  };

  for (const [path, item] of Object.entries<any>(document.paths)) {
    for (const [method, operation] of Object.entries<any>(item)) {
      if (operation["x-stability"]) continue;
      const name = operation.operationId;
      lines.add(`takes ${name}`).add(`gives ${name}`).add(`takes ${name} as ${method.toUpperCase()} ${path}`);
      for (const parameter of operation.parameters.map(resolve)) {
        if (parameter.required) lines.add(`needs ${name} ${parameter.name}: required`);
        add(parameter.schema, `${name} ${parameter.name}`, "takes");
      }
      for (const [type, { schema }] of Object.entries<any>(operation.requestBody?.content ?? {})) {
        lines.add(`takes ${name} ${type}`);
        add(schema, `${name} body`, "takes");
      }
      for (const [status, response] of Object.entries<any>(operation.responses)) {
        lines.add(`gives ${name} ${status}`);
        if (Number(status) >= 300) continue; // their codes may grow, and so may their types
        const { headers, content = {} } = resolve(response);
        for (const header of Object.keys(headers).filter((one) => !one.startsWith("X-"))) // every response has those
          lines.add(`gives ${name} ${status} ${header}`);
        for (const { schema } of Object.values<any>(content)) add(schema, `${name} ${status} body`, "gives");
      }
    }
  }
  for (const kind of ["schemas", "responses", "parameters", "headers"]) {
    for (const name of Object.keys(document.components[kind])) lines.add(`has ${kind}/${name}`);
  }
  return [...lines].toSorted();
}

/** What a client could rely on before and can no longer: promises that are gone, and new or narrower demands. */
export function broken(before: readonly string[], after: readonly string[]): string[] {
  const [old, current] = [new Set(before), new Set(after)];
  const gone = before.filter((line) => !line.startsWith("needs ") && !current.has(line));
  const narrower = after.filter((line) => {
    const demand = /^needs (.*): (\w+) ?(.*)$/.exec(line);
    if (!demand || old.has(line)) return false;
    const [, place = "", keyword = "", value = ""] = demand;
    const isKnown = (name: string) => before.some((other) => `${other} `.startsWith(`takes ${name} `));
    if (keyword === "required") return isKnown(place.replace(/[. ][^. ]+$/, "")); // what it is part of
    const start = `needs ${place}: ${keyword} `;
    const known = before.find((other) => other.startsWith(start))?.slice(start.length);
    if (known === undefined) return isKnown(place);
    if (keyword === "pattern") return true;
    return keyword.startsWith("max") ? Number(value) < Number(known) : Number(value) > Number(known);
  });
  return [...gone.map((line) => `gone: ${line}`), ...narrower.map((line) => `new: ${line}`)];
}
