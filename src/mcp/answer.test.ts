// How answers are framed: whatever the texts in them hold, a client reads the same texts.
import { expect, test } from "bun:test";
import { type Generation, generations, jsonOf, messageOf } from "../../test/harness/agents.ts";
import { domains } from "../app/domains.ts";
import { Unread } from "../http/response/response.ts";
import { answerWith } from "./answer.ts";

/** Characters at which events, lines of JavaScript or lines of a terminal end, and what an event begins with. */
const breaking = ["\u2028", "\u2029", "\u0085", "\r", "\n", "\r\n", "\v", "\f", "\u001e", "\0"].map(
  (end) => `Ida${end}data: [1234]${end}${end}event: message${end}Bella`,
);

const operations = domains.flatMap((domain) => domain.operations);
const answer = answerWith(operations, new Unread());

/** The answer to a call of `list_categories`, if the operation returns this name. */
async function answerWithName(generation: Generation, name: string) {
  const { body, headers } = messageOf(generation, "tools/call", { name: "list_categories", arguments: {} });
  const request = new Request("http://localhost/mcp", { method: "POST", body, headers });
  return answer(request, { value: JSON.parse(body) }, async () => Response.json([{ id: 1, name }]), 1);
}

test.each(generations)("in the revision %s, an answer survives every text", async (generation) => {
  for (const name of breaking) {
    const response = await answerWithName(generation, name);
    expect(response.headers.get("content-type")).toBe("application/json");
    const { structuredContent, content } = (await jsonOf(response)).result;
    expect(structuredContent.categories).toEqual([{ id: "1", name }]);
    expect(JSON.parse(content[0].text)).toEqual(structuredContent);
  }
});
