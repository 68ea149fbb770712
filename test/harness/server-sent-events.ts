/** A server-sent event as a client receives it. */
export interface ServerSentEvent {
  readonly id: string;
  readonly event: string;
  readonly data: string;
}

/** What a stream has sent so far: the complete events, the ids to resume after, and the time to wait. */
export interface StreamState {
  readonly events: ServerSentEvent[];
  /** The id after which a client resumes that follows the standard: that of the last event. */
  readonly lastId: string;
  /** The id after which a client resumes that takes each id at once, or with the whole event. */
  readonly newestId: string;
  readonly retry: number | undefined;
  readonly comments: string[];
}

/** Reads text of the type `text/event-stream` as the HTML standard says (section 9.2.6). The last event may be cut off. */
export function readStream(text: string): StreamState {
  const events: ServerSentEvent[] = [];
  const comments: string[] = [];
  let [id, event, retry] = ["", "", undefined as number | undefined];
  let data: string[] = [];
  let lastId = "";
  const complete = text.slice(0, text.lastIndexOf("\n") + 1);
  for (const line of complete.split(/\r\n|\n|\r/).slice(0, -1)) {
    const colon = line.indexOf(":");
    const [name, value] = colon < 0 ? [line, ""] : [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, "")];
    if (line === "") {
      lastId = id;
      if (data.length > 0) events.push({ id, event: event || "message", data: data.join("\n") });
      [event, data] = ["", []];
    } else if (name === "") comments.push(value);
    else if (name === "id" && !value.includes("\0")) id = value;
    else if (name === "event") event = value;
    else if (name === "data") data.push(value);
    else if (name === "retry" && /^[0-9]+$/.test(value)) retry = Number(value);
  }
  return { events, lastId, newestId: data.length > 0 ? lastId : id, retry, comments };
}

export function parseServerSentEvents(text: string): ServerSentEvent[] {
  return readStream(text).events;
}
