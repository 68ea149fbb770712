// What a browser has cached for a page with a key is not given to a page without one. Origins of one site share a cache.
import { expect, test } from "bun:test";
import { hasBrowser, TestBrowser } from "../harness/browser.ts";
import { TestService } from "../harness/service.ts";

/** An empty page on a free port: another origin of the same site. */
function emptyPage() {
  return Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response("<!doctype html>", { headers: { "Content-Type": "text/html" } }),
  });
}

/** Sends a request from the open page. */
function fetchInPage(page: Awaited<ReturnType<TestBrowser["open"]>>, url: string, key?: string) {
  const options = { cache: "force-cache", headers: key === undefined ? {} : { Authorization: `Bearer ${key}` } };
  const script = `fetch("${url}", ${JSON.stringify(options)}).then(async (response) => [response.status, await response.text()])`;
  return page.evaluate<[status: number, text: string]>(script);
}

test.skipIf(!hasBrowser)("a page without a key does not get the cached response to a page with one", async () => {
  const service = await TestService.start();
  const [own, other] = [emptyPage(), emptyPage()];
  const browser = await TestBrowser.start();
  try {
    const key = await service.newKey();
    await service.call("POST", "/pets", { key, body: { name: "Rex", categoryId: 1 } });
    const url = `${service.app.base}/pets`;
    const withKey = await browser.open(String(own.url));
    const [status, text] = await fetchInPage(withKey, url, key);
    expect([status, text]).toEqual([200, expect.stringContaining("Rex")]);
    const withoutKey = await browser.open(String(other.url));
    const [refused, error] = await fetchInPage(withoutKey, url);
    expect([refused, JSON.parse(error)]).toEqual([401, expect.objectContaining({ code: "missing_api_key" })]);
  } finally {
    await browser.stop();
    await Promise.all([own.stop(true), other.stop(true)]);
    await service.stop();
  }
});
