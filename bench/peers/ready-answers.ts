/** An answer of the service, to be given by others byte by byte. */
export interface ReadyAnswer {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** One animal, and a page of them. */
export interface ReadyAnswers {
  readonly get: ReadyAnswer;
  readonly list: ReadyAnswer;
}

/** Asks a running service for the answers that the bare servers give. */
export async function readyAnswers(
  url: string,
  key: string,
  paths: { get: string; list: string },
): Promise<ReadyAnswers> {
  const ask = async (path: string): Promise<ReadyAnswer> => {
    const response = await fetch(url + path, { headers: { Authorization: `Bearer ${key}` } });
    const headers = Object.fromEntries([...response.headers].map(([name, value]) => [wireName(name), value]));
    // The servers write these two themselves.
    for (const name of ["Content-Length", "Date"]) delete headers[name];
    return { body: await response.text(), headers };
  };
  return { get: await ask(paths.get), list: await ask(paths.list) };
}

/** Header names as they are commonly written: `content-type` is `Content-Type`. */
function wireName(name: string): string {
  return name.replaceAll(/(^|-)[a-z]/g, (start) => start.toUpperCase());
}
