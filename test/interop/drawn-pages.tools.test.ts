// Pages that tools of others draw from the document as it is, in a real browser: an operation can be found and read.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { hasBrowser, TestBrowser } from "../harness/browser.ts";
import { pageTool } from "../harness/interop-tools.ts";
import { TestService } from "../harness/service.ts";

/** Each tool with its default settings. Some list the operations of a tag after a click. */
const tools = {
  "rapidoc@9.3.8": {
    body: '<script type="module" src="/dist/rapidoc-min.js"></script><rapi-doc spec-url="/openapi.json"></rapi-doc>',
    opensTag: false,
  },
  "redoc@2.5.4": {
    body: '<redoc spec-url="/openapi.json"></redoc><script src="/bundles/redoc.standalone.js"></script>',
    opensTag: true,
  },
  "@stoplight/elements@9.0.25": {
    body:
      '<link rel="stylesheet" href="/styles.min.css"><script src="/web-components.min.js"></script>' +
      '<elements-api apiDescriptionUrl="/openapi.json" router="hash"></elements-api>',
    opensTag: true,
  },
  "swagger-ui-dist@5.35.0": {
    body:
      '<link rel="stylesheet" href="/swagger-ui.css"><div id="ui"></div><script src="/swagger-ui-bundle.js"></script>' +
      '<script>SwaggerUIBundle({ url: "/openapi.json", dom_id: "#ui" })</script>',
    opensTag: false,
  },
};

const folders = new Map(hasBrowser ? Object.keys(tools).map((tool) => [tool, pageTool(tool)]) : []);

describe.skipIf(!hasBrowser)("a page drawn by", () => {
  let browser: TestBrowser;
  let document: string;
  beforeAll(async () => {
    const service = await TestService.start();
    document = await (await fetch(new URL("/openapi.json", service.app.base))).text();
    await service.stop();
    browser = await TestBrowser.start();
  });
  afterAll(() => browser.stop());

  for (const [tool, { body, opensTag }] of Object.entries(tools)) {
    const folder = folders.get(tool);
    test.skipIf(folder === undefined)(`${tool} shows an operation, its parameters and its responses`, async () => {
      const server = Bun.serve({
        port: 0,
        fetch(request) {
          const { pathname } = new URL(request.url);
          if (pathname === "/")
            return new Response(`<!doctype html><body>${body}</body>`, { headers: { "Content-Type": "text/html" } });
          if (pathname === "/openapi.json") return Response.json(JSON.parse(document));
          return new Response(Bun.file(`${folder}${pathname}`));
        },
      });
      const page = await browser.open(server.url.href);
      if (opensTag) await page.getByText("animals", { exact: true }).first().click();
      await page.getByText("List all animals").first().click({ force: true }); // RapiDoc draws a frame over it
      await page.getByText("Maximum number of animals returned.").first().waitFor();
      await page.getByText("A page of animals.").first().waitFor();
      const path = process.env["PICTURES"] && `${process.env["PICTURES"]}/${tool.replaceAll("/", "-")}.png`;
      expect((await page.screenshot(path ? { path } : {})).length).toBeGreaterThan(40_000); // an empty page has less than 10,000
      await page.close();
      await server.stop(true);
    });
  }
});
