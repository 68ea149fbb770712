import type { Input, Page, Resource, Success } from "../../contract/handler.ts";
import type { Operation } from "../../contract/operation.ts";
import { compileFillPath, hasEntityTag } from "../../contract/operation-properties.ts";
import { compileSerializer } from "../../contract/serialize.ts";
import { entityTag } from "./entity-tag.ts";
import type { PageLinks } from "./page-links.ts";

/** The expensive parts of a success, which are identical each time it is sent. */
export interface RenderedBody {
  readonly text: string;
  /** The value of `Link`; empty for none. */
  readonly link: string;
  /** The entity tag; empty for none. */
  readonly tag: string;
  /** The path of the created resource below the base address; empty for none. */
  readonly location: string;
}

/** Renders a success of one operation. `input` is the request's input. */
export type Render = (success: Success, input: Input) => RenderedBody;

/** `deprecationLink` is the part of `Link` that every response of a deprecated operation has; otherwise empty. */
export function compileRender(operation: Operation, pages: PageLinks | undefined, deprecationLink: string): Render {
  const { schema, location: path } = operation.response;
  const serialize = compileSerializer(schema);
  const fillLocation = path === undefined ? undefined : compileFillPath(path);
  const tagOf = hasEntityTag(operation) ? entityTag : () => "";
  if (!pages) {
    return (success) => {
      const { body } = success as Resource;
      const text = serialize(body);
      // The links of a deprecated operation are not part of the resource.
      const tag = tagOf(text, "");
      return { text, link: deprecationLink, tag, location: fillLocation?.(body as Record<string, unknown>) ?? "" };
    };
  }
  /** The property of a page for what was rendered of it: a cached page is rendered once. */
  const rendered = Symbol(operation.name);
  const render: Render = (success, input) => {
    const { items, next } = success as Page;
    const text = serialize(items);
    const toNext = next === undefined ? "" : pages.next(input, next);
    const link = toNext === "" || deprecationLink === "" ? toNext + deprecationLink : `${toNext}, ${deprecationLink}`;
    return { text, link, tag: tagOf(text, link), location: "" };
  };
  return (success, input) => {
    const page = success as { [rendered]?: RenderedBody };
    return (page[rendered] ??= render(success, input));
  };
}
