/** A response of the service, to be given by others byte by byte. */
export interface RecordedResponse {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** One animal, a page of them, and a new one. */
export interface RecordedResponses {
  readonly get: RecordedResponse;
  readonly list: RecordedResponse;
  readonly create: RecordedResponse;
}

/** Asks a running service for the responses that the bare servers give. */
export async function recordResponses(
  url: string,
  key: string,
  paths: { get: string; list: string; create: string; body: string },
): Promise<RecordedResponses> {
  const authorization = { Authorization: `Bearer ${key}` };
  const ask = async (path: string, request: RequestInit = { headers: authorization }): Promise<RecordedResponse> => {
    const response = await fetch(url + path, request);
    if (!response.ok) throw new Error(`${path} was answered with ${response.status}: ${await response.text()}`);
    const headers = Object.fromEntries([...response.headers].map(([name, value]) => [wireName(name), value]));
    // The servers write these two themselves.
    for (const name of ["Content-Length", "Date"]) delete headers[name];
    return { body: await response.text(), headers };
  };
  const headers = { ...authorization, "Content-Type": "application/json" };
  const create = await ask(paths.create, { method: "POST", headers, body: paths.body });
  return { get: await ask(paths.get), list: await ask(paths.list), create };
}

/** Header names as they are commonly written: `content-type` is `Content-Type`. */
function wireName(name: string): string {
  return name.replaceAll(/(^|-)[a-z]/g, (start) => start.toUpperCase());
}
