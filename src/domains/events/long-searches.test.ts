// Clients that search a long log for few events.
import { expect, test } from "bun:test";
import { endlessSearch } from "../../../test/harness/endless-search.ts";
import { Listener } from "../../../test/harness/listener.ts";
import { TestService } from "../../../test/harness/service.ts";

test("other requests are answered while a stream searches a long log", async () => {
  const service = await TestService.start();
  try {
    const { key } = await service.newAccountWithKey("enterprise");
    using search = endlessSearch();
    const listener = await Listener.open(`${service.app.base}/events/stream?after=0&type=pet.deleted`, key);
    const { status } = await service.call("GET", "/pets", { key });
    expect([status, search.isGoingOn]).toEqual([200, true]);
    listener.close();
  } finally {
    await service.stop();
  }
});
