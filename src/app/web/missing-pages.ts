import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathNotFound } from "../../contract/errors.ts";
import type { WebContent } from "../../http/response/web-content.ts";
import { isBuilt } from "../is-built.ts";

const modules = join(import.meta.dir, "../../../node_modules");

/** True if the packages that pages are built from are not there, as after `npm ci --omit=dev`. A built program needs none. */
export const arePagesMissing =
  !isBuilt && !["preact", "@scalar/api-reference"].every((name) => existsSync(join(modules, name)));

/** What is there instead of a page. */
export const missingPage: WebContent = {
  type: "application/json",
  content: () => {
    const { code, status } = pathNotFound;
    const message = "This page needs packages that are not installed. Run npm ci without --omit=dev, or use a release.";
    return { body: JSON.stringify({ code, message, status }), status };
  },
};
