import { useEffect, useRef, useState } from "preact/hooks";
import { BYTE_ORDER_MARK, csvLine } from "../../../csv/writer.ts";
import { useAction } from "../service/action.ts";
import { Dialog } from "./dialog.tsx";
import { ErrorNote } from "./error-note.tsx";
import { countOf, decimalMark } from "./words.ts";

/** How long a page may wait for the limits, in milliseconds: an hour. */
const REQUEST_TIMEOUT = 3_600_000;

interface ExportProps<T> {
  /** What one of them is called. */
  readonly what: string;
  /** The name of the file, without its ending. */
  readonly file: string;
  /** The columns, and what an item has in them. */
  readonly columns: Readonly<Record<string, (item: T) => string | bigint | undefined>>;
  readonly read: (options: { readonly timeout: number; readonly signal: AbortSignal }) => AsyncIterable<T>;
  readonly onClose: () => void;
}

/** Saves a list as a CSV file, as spreadsheets of the browser's language read it. */
export function Export<T>({ what, file, columns, read, onClose }: ExportProps<T>) {
  const [done, setDone] = useState(0);
  const stop = useRef(new AbortController());
  const action = useAction(async () => {
    const separator = decimalMark() === "," ? ";" : ",";
    const lines = [BYTE_ORDER_MARK + csvLine(Object.keys(columns), separator)];
    for await (const item of read({ timeout: REQUEST_TIMEOUT, signal: stop.current.signal })) {
      lines.push(
        csvLine(
          Object.values(columns).map((cell) => cell(item)),
          separator,
        ),
      );
      setDone(lines.length - 1); // the first line is the header
    }
    saveFile(new Blob(lines, { type: "text/csv" }), `${file}.csv`);
  });
  const start = () => void action.run().then((isDone) => isDone && onClose());
  useEffect(() => {
    start();
    return () => stop.current.abort();
  }, []);
  return (
    <Dialog title={`Export ${what}s`} onClose={onClose}>
      <p role="status">{countOf(done, what)} read so far…</p>
      <ErrorNote error={action.error} retry={start} />
      <footer>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </footer>
    </Dialog>
  );
}

/** Saves a file as a download of the browser. */
function saveFile(content: Blob, name: string): void {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(content), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}
