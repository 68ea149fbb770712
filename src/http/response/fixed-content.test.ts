import { expect, test } from "bun:test";
import { FixedContent } from "./fixed-content.ts";

test.each(["identity", "gzip", "br"])(
  "content that could not be created is created by the next request: %s",
  async (coding) => {
    let attempts = 0;
    const content = new FixedContent(async () => {
      attempts++;
      if (attempts === 1) throw new Error("The disk is full.");
      return "Hello";
    });
    const request = new Request("http://petstore/console", { headers: { "Accept-Encoding": coding } });
    const failed = await content.respond(request, {}).catch((error: Error) => error.message);
    expect(failed).toBe("The disk is full.");
    const response = await content.respond(request, {});
    expect([response.status, response.headers.get("content-encoding") ?? "identity"]).toEqual([200, coding]);
    await content.respond(request, {});
    expect(attempts).toBe(2);
  },
);
