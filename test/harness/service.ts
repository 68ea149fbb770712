import { App, type AppOptions } from "../../src/app/app.ts";
import { domains as allDomains } from "../../src/app/domains.ts";
import { openStorage } from "../../src/app/store/engines.ts";
import { type Config, readConfig } from "../../src/config.ts";
import { type Mode, type Quota, type Scope, type ShopNumber, shopNumber } from "../../src/contract/caller.ts";
import { internalError } from "../../src/contract/errors.ts";
import type { Operation } from "../../src/contract/operation.ts";
import type { Account, Agreement, Plan } from "../../src/domains/accounts/accounts.ts";
import type { ServedDomain } from "../../src/domains/callers.ts";
import { settingsOf } from "../../src/domains/domain.ts";
import { Log } from "../../src/telemetry/log.ts";
import { checkedChanges } from "./checked-changes.ts";
import { type CheckedResponse, DocumentCheck, type StoredEvent } from "./document-check.ts";
import { evidence } from "./evidence.ts";
import { ManualClock } from "./manual-clock.ts";
import { eventually } from "./program.ts";
import { newTestStore, type TestStore } from "./test-store.ts";

export interface Call {
  readonly key?: string | undefined;
  readonly headers?: Record<string, string>;
  /** Sent as JSON; text and bytes are sent unchanged. */
  readonly body?: unknown;
  readonly signal?: AbortSignal;
}

export interface TestResponse extends CheckedResponse {
  /** The body, parsed; undefined where there is none. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a test says what it expects of it
  readonly json: any;
}

/** The account whose keys share a shop, for each store. */
const sharedAccounts = new WeakMap<TestStore, Promise<Account>>();

/** The quota of an enterprise account unless a test gives another; pages of the console show it. */
const defaultQuota: Quota = { perMinute: 1_000_000, perDay: 1_000_000_000 };

/** A service under test: the real program, real HTTP on a free port, a real store in a separate folder. */
export class TestService {
  readonly app: App;
  readonly clock: ManualClock;
  readonly store: TestStore;
  /** Every line of the log so far. */
  readonly logLines: string[];
  readonly #options: TestOptions;
  readonly #check: DocumentCheck;

  static async start(options: TestOptions = {}): Promise<TestService> {
    const store = options.store ?? (await newTestStore());
    const clock = options.clock ?? new ManualClock();
    const domains = options.domains ?? allDomains;
    const logLines: string[] = [];
    const take = (text: string) => {
      evidence?.log(text); // test/leaks looks for keys in it
      logLines.push(...text.split("\n").filter(Boolean));
    };
    const log = new Log("info", async (text) => take(text));
    const app = await App.start(testConfig({ ...store.settings, ...options.settings }, domains), {
      clock,
      log,
      domains,
      openStore: async (...args) => checkedChanges(await (options.openStore ?? openStorage)(...args)),
      maxStreams: options.maxStreams,
    });
    return new TestService(app, clock, store, logLines, options, await checkFor(app.base, domains, options.settings));
  }

  private constructor(
    app: App,
    clock: ManualClock,
    store: TestStore,
    logLines: string[],
    options: TestOptions,
    check: DocumentCheck,
  ) {
    this.app = app;
    this.clock = clock;
    this.store = store;
    this.logLines = logLines;
    this.#options = options;
    this.#check = check;
  }

  /** Sends a request below the base address and checks the response against the document. */
  async call(method: string, path: string, { key, headers = {}, body, signal }: Call = {}): Promise<TestResponse> {
    const response = await fetch(this.app.base + path, {
      method,
      headers: {
        ...(key === undefined ? {} : { Authorization: `Bearer ${key}` }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: toBody(body) }),
      ...(signal && { signal }),
    });
    const received = {
      method,
      path: path.split("?")[0] as string,
      status: response.status,
      headers: response.headers,
      text: await textOf(response),
    };
    if (received.status === internalError.status) await this.#showCause(received);
    this.#check.check(received);
    return { ...received, json: received.text === "" || isStream(response) ? undefined : JSON.parse(received.text) };
  }

  /** Shows why a request failed, which the service tells only its log. */
  async #showCause({ headers }: CheckedResponse): Promise<void> {
    const id = `"requestId":"${headers.get("x-request-id")}"`;
    const lines = await eventually(
      () => this.logLines.filter((line) => line.includes(id)),
      (found) => found.length > 0,
    );
    for (const line of lines.filter((one) => one.includes('"level":"error"'))) console.error(line);
  }

  /** Checks a response that was not received by `call` against the document. */
  check(received: CheckedResponse): void {
    this.#check.check(received);
  }

  /** Checks the body of a webhook against the document. */
  checkMessage(text: string): void {
    this.#check.checkMessage(text);
  }

  /** A key of the account that all such keys of the store share, or of a new account if a plan or a quota is given. */
  async newKey(
    plan: Plan = "enterprise",
    quota?: Quota,
    scopes: readonly Scope[] = ["read", "write"],
  ): Promise<string> {
    if (plan !== "enterprise" || quota) return (await this.newAccountWithKey(plan, quota, scopes)).key;
    const { id } = await this.#sharedAccount();
    return (await this.app.keys.issueKey(id, "test", scopes, this.clock.now())).key;
  }

  async newAccountWithKey(plan: Plan, quota?: Agreement, scopes: readonly Scope[] = ["read", "write"], mode?: Mode) {
    const { accounts, keys } = this.app;
    const figures = plan === "enterprise" ? (quota ?? defaultQuota) : undefined;
    const account = await accounts.createAccount("Test", plan, figures, this.clock.now());
    const { key, record } = await keys.issueKey(account.id, "test", scopes, this.clock.now(), mode);
    return { account, key, record };
  }

  /** The number of an account's shop, by default the test shop of the account that keys share. */
  async shop(accountId?: string, mode: Mode = "test"): Promise<ShopNumber> {
    const id = accountId ?? (await this.#sharedAccount()).id;
    const sql = `SELECT shop FROM shops WHERE account_id = '${id}' AND mode = '${mode}'`;
    const [row] = (await this.store.rows(sql)) as { shop: number | bigint }[];
    return shopNumber(row?.shop as bigint);
  }

  #sharedAccount(): Promise<Account> {
    let account = sharedAccounts.get(this.store);
    if (!account) {
      account = this.app.accounts.createAccount("Test", "enterprise", defaultQuota, this.clock.now());
      sharedAccounts.set(this.store, account);
    }
    return account;
  }

  /** Stops the service gracefully and starts it again on the same store and clock. `between` runs while it is down. */
  async restart(between: () => void = () => {}): Promise<TestService> {
    await this.app.stop();
    between();
    return TestService.start({ ...this.#options, store: this.store, clock: this.clock });
  }

  /** Ends the service and removes its store, after a check of all events in it. */
  async stop(): Promise<void> {
    await this.app.stop();
    const events = await this.store.rows("SELECT DISTINCT type, data, previous FROM events");
    await this.store.remove();
    for (const event of events) this.#check.checkEvent(event as StoredEvent);
  }
}

export interface TestOptions {
  readonly settings?: Record<string, string>;
  readonly domains?: readonly ServedDomain[];
  readonly store?: TestStore;
  /** Replaces the store that the settings choose. */
  readonly openStore?: AppOptions["openStore"];
  readonly maxStreams?: number;
  readonly clock?: ManualClock;
}

/** The documents that services of this process have, by what they follow from. Making one takes longer than the start. */
const checks: { operations: readonly Operation[]; settings: string; check: DocumentCheck }[] = [];

/** The check for the document of a service. */
async function checkFor(base: string, domains: readonly ServedDomain[], given = {}): Promise<DocumentCheck> {
  const [operations, settings] = [domains.flatMap((domain) => domain.operations), JSON.stringify(given)];
  const known = checks.find(
    (one) =>
      one.settings === settings &&
      one.operations.length === operations.length &&
      one.operations.every((operation, index) => operation === operations[index]),
  );
  if (known) return known.check;
  const plain = { headers: { "Accept-Encoding": "identity" } }; // compressing it takes longer than all else
  const check = DocumentCheck.of(await (await fetch(new URL("/openapi.json", base), plain)).json());
  checks.push({ operations, settings, check });
  return check;
}

function testConfig(settings: Record<string, string>, domains: readonly ServedDomain[]): Config {
  return readConfig({ PETSTORE_PORT: "0", ...settings }, undefined, settingsOf(domains));
}

const isStream = ({ headers }: Response) => headers.get("content-type") === "text/event-stream";

/** The body, or the beginning of a stream. */
async function textOf(response: Response): Promise<string> {
  if (!isStream(response) || !response.body) return response.text();
  const reader = response.body.getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return new TextDecoder().decode(value);
}

type SentBody = string | Uint8Array<ArrayBuffer> | ReadableStream;

function toBody(body: unknown): SentBody {
  return typeof body === "string" || body instanceof Uint8Array || body instanceof ReadableStream
    ? (body as SentBody)
    : JSON.stringify(body);
}
