// How answers are framed: whatever the texts in them hold, a client reads the same texts.

import { expect, test } from "bun:test";
import { type Generation, generations, jsonOf, messageOf } from "../../test/harness/agents.ts";
import { domains } from "../app/domains.ts";
import { shopNumber } from "../contract/caller.ts";
import { Unread } from "../http/response/response.ts";
import { answerWith } from "./answer.ts";

/** Characters at which events, lines of JavaScript or lines of a terminal end, and what an event begins with. */
const breaking = ["\u2028", "\u2029", "\u0085", "\r", "\n", "\r\n", "\v", "\f", "\u001e", "\0"].map(
  (end) => `Ida${end}data: [1234]${end}${end}event: message${end}Bella`,
);

const operations = domains.flatMap((domain) => domain.operations);
const answer = answerWith(operations, new Unread());

/** The answer to a call of a tool, if its operation returns this. */
async function answerOf(generation: Generation, name: string, returned: unknown) {
  const { body, headers } = messageOf(generation, "tools/call", { name, arguments: {} });
  const request = new Request("http://localhost/mcp", { method: "POST", body, headers });
  return answer(request, { value: JSON.parse(body) }, async () => Response.json(returned), shopNumber(1));
}

test.each(generations)("in the revision %s, an answer survives every text", async (generation) => {
  for (const name of breaking) {
    const response = await answerOf(generation, "list_categories", [{ id: 1, name }]);
    expect(response.headers.get("content-type")).toBe("application/json");
    const { structuredContent, content } = (await jsonOf(response)).result;
    expect(structuredContent.categories).toEqual([{ id: "1", name }]);
    expect(JSON.parse(content[0].text)).toEqual(structuredContent);
  }
});

test.each(generations)(
  "in the revision %s, an answer has at most 64 KiB, and says what it leaves out",
  async (generation) => {
    const amounts = Array.from({ length: 20 }, () => ({ currency: "EUR", sold: 49_800, returned: 24_900 }));
    const figures = { sold: 2, returned: 1, amounts };
    const of = (length: number, entry: (index: number) => object) =>
      Array.from({ length }, (_, index) => ({ ...entry(index), ...figures }));
    const sales = {
      timeZone: "UTC",
      total: { ...figures, sold: 7 },
      days: of(366, () => ({ date: "2026-11-21" })),
      sellers: of(500, (index) => ({ name: `"\\ Seller ${index} 🐹` })),
    };
    const shown = async (given: object) => {
      const text = await (await answerOf(generation, "show_sales", given)).text();
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(65_536);
      const { structuredContent, content } = JSON.parse(text).result;
      expect(JSON.parse(content[0].text)).toEqual(structuredContent);
      return structuredContent;
    };
    const all = await shown(sales);
    expect(all.sales).toEqual({ ...sales, days: sales.days.slice(0, all.sales.days.length), sellers: [] });
    expect(all.sales.days.length).toBeGreaterThan(15);
    const left = 366 - all.sales.days.length;
    expect(all.omitted).toBe(`Too long: without the last ${left} of 366 days, 500 of 500 sellers. Ask for less.`);
    const few = await shown({ ...sales, days: sales.days.slice(0, 5) });
    expect([few.sales.days.length, few.sales.sellers.length > 8]).toEqual([5, true]);
    expect(few.omitted).toMatch(/^Too long: without the last 4\d\d of 500 sellers\./);
    const small = { ...sales, days: [], sellers: [] };
    expect(await shown(small)).toEqual({ notice: all.notice, sales: small });
  },
);
