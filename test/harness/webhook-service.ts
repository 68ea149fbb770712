import { domains, webhooksOver } from "../../src/app/domains.ts";
import { scopes } from "../../src/contract/caller.ts";
import { LONGEST_DELAY } from "../../src/domains/webhooks/sending/backoff.ts";
import { type Network, systemNetwork } from "../../src/domains/webhooks/sending/send.ts";
import { ManualTasks } from "./manual-tasks.ts";
import { metric } from "./metrics.ts";
import { type Call, type TestOptions, type TestResponse, TestService } from "./service.ts";
import { type Received, Receiver, type ReceiverOptions } from "./webhooks.ts";

/** PETSTORE_SECRET_KEY: the embedded store can make one; PostgreSQL needs it set. */
export const secretKey = Buffer.from(Array.from({ length: 32 }, (_, index) => index * 7)).toString("base64");

/** The parts of a received message that tests look at. */
export interface WebhookMessage {
  readonly id: string;
  readonly type: string;
  readonly eventId: number;
  readonly subjectId: string;
}

export function messageOf({ body }: Received): WebhookMessage {
  const { id, type, data } = JSON.parse(body);
  return { id, type, eventId: data.id, subjectId: data.subject.id };
}

/** A service that delivers webhooks when a test runs a round, to receivers on this machine. */
export class WebhookService {
  service: TestService;
  key = "";
  /** The account of the key. */
  accountId = "";
  readonly tasks: ManualTasks;
  readonly #receivers: Receiver[] = [];

  /** `network` replaces parts of the machine's network. */
  static async start(network: Partial<Network> = {}, options: TestOptions = {}): Promise<WebhookService> {
    const over = webhooksOver((policy, clock) => ({ ...systemNetwork(policy, clock), ...network }));
    const tasks = new ManualTasks(domains.map((domain) => (domain.name === over.name ? over : domain)));
    const service = await TestService.start({
      ...options,
      domains: tasks.domains,
      settings: { PETSTORE_SECRET_KEY: secretKey, ...options.settings },
    });
    const started = new WebhookService(service, tasks);
    await started.newShop();
    return started;
  }

  private constructor(service: TestService, tasks: ManualTasks) {
    [this.service, this.tasks] = [service, tasks];
  }

  /** Continues with the key of a new account without endpoints, and deletes the endpoints of all others. */
  async newShop(): Promise<void> {
    for (const table of ["endpoints", "attempts", "redeliveries"]) {
      await this.service.store.run(`DELETE FROM webhook_${table}`);
    }
    await this.addShop();
  }

  /** Continues with the key of a new account. */
  async addShop(): Promise<void> {
    const { account, key } = await this.service.newAccountWithKey("enterprise", undefined, [...scopes]);
    [this.accountId, this.key] = [account.id, key];
  }

  call(method: string, path: string, body?: unknown): Promise<TestResponse> {
    const call: Call = { key: this.key, ...(body !== undefined && { body }) };
    return this.service.call(method, path, call);
  }

  receiver(respond?: ReceiverOptions["respond"]): Receiver {
    const receiver = new Receiver(respond ? { respond } : {});
    this.#receivers.push(receiver);
    return receiver;
  }

  /** A new endpoint at a receiver. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a test says what it expects of it
  async endpoint({ port }: { readonly port: number }, more: object = {}): Promise<any> {
    const { json } = await this.call("POST", "/webhook-endpoints", { url: `http://127.0.0.1:${port}/hook`, ...more });
    return json;
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- a test says what it expects of it
  async getEndpoint(id: string): Promise<any> {
    return (await this.call("GET", `/webhook-endpoints/${id}`)).json;
  }

  /** The last hundred deliveries of an endpoint, the newest first. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a test says what it expects of it
  async deliveries(id: string, query = ""): Promise<any[]> {
    return (await this.call("GET", `/webhook-endpoints/${id}/deliveries?limit=100${query}`)).json;
  }

  async addPet(name = "Rex"): Promise<number> {
    return (await this.call("POST", "/pets", { name, categoryId: 1, status: "available" })).json.id;
  }

  async rename(petId: number, name: string): Promise<void> {
    await this.call("PATCH", `/pets/${petId}`, { name });
  }

  /** Runs rounds until everything that is due is delivered and stored. */
  async deliver(): Promise<void> {
    do await this.round();
    while (await this.#hasWork());
  }

  /** Runs one round. Deliveries may still be in progress at its end. Lets network events be processed. */
  async round(): Promise<void> {
    await this.tasks.run();
    const { promise, resolve } = Promise.withResolvers<void>();
    setImmediate(resolve);
    await promise;
  }

  /** Time passes, and what is due then is delivered. */
  async after(milliseconds: number): Promise<void> {
    this.service.clock.advance(milliseconds);
    await this.deliver();
  }

  /** Ends the service gracefully and starts it again. */
  async restart(): Promise<void> {
    this.service = await this.service.restart();
  }

  async stop(): Promise<void> {
    await this.service.stop();
    for (const receiver of this.#receivers) await receiver.stop();
    for (const { body } of this.#receivers.flatMap(({ received }) => received)) this.service.checkMessage(body);
  }

  /** True while a delivery is in progress, or an endpoint has events that are not dealt with. */
  async #hasWork(): Promise<boolean> {
    if ((await metric(this.service.app.base, "petstore_webhooks_in_progress")) > 0) return true;
    const now = this.service.clock.now();
    const isDue = (column: string) => `(${column} <= ${now} OR ${column} > ${now + LONGEST_DELAY})`;
    const attempts =
      "webhook_attempts JOIN shops USING (shop) JOIN webhook_endpoints AS endpoint USING (account_id, mode)";
    const ofEndpoint = "endpoint_id = endpoint.id";
    const mayGet = `state = 'enabled' AND (waits_until IS NULL OR ${isDue("waits_until")})`;
    const rows = await this.service.store.rows(`
      SELECT 1 FROM webhook_endpoints AS endpoint JOIN shops USING (account_id, mode)
        WHERE ${mayGet} AND (followed_shop <> shop OR position < last_event_id)
          AND (SELECT count(*) FROM webhook_attempts WHERE ${ofEndpoint}) < 1000
      UNION ALL SELECT 1 FROM ${attempts} WHERE ${ofEndpoint} AND (event_id < 0 OR (${mayGet} AND ${isDue("due_at")}))
      UNION ALL SELECT 1 FROM webhook_redeliveries`);
    return rows.length > 0;
  }
}
