import type { ListPetsQuery, Pet } from "petstore-client";
import { useEffect, useRef, useState } from "preact/hooks";
import { useAction } from "../service/action.ts";
import { useSession } from "../session/session.ts";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { countOf } from "../ui/words.ts";
import { csvLine } from "./csv.ts";

const columns = ["id", "name", "categoryId", "status", "metadata"] as const satisfies readonly (keyof Pet)[];
/** How long a page may wait for the limits, in milliseconds: an hour. */
const REQUEST_TIMEOUT = 3_600_000;

/** Saves the animals that match the filters as a CSV file. */
export function ExportPets({ filters, onClose }: { readonly filters: ListPetsQuery; readonly onClose: () => void }) {
  const { petstore } = useSession();
  const [done, setDone] = useState(0);
  const stop = useRef(new AbortController());
  const action = useAction(async () => {
    const lines = [csvLine(columns)];
    const pets = petstore.listPets(
      { ...filters, limit: 100 },
      { timeout: REQUEST_TIMEOUT, signal: stop.current.signal },
    );
    for await (const pet of pets) {
      lines.push(csvLine(columns.map((name) => textOf(pet[name]))));
      setDone(lines.length - 1); // the first line is the header
    }
    save(new Blob(lines, { type: "text/csv" }), "animals.csv");
  });
  const start = () => void action.run().then((isDone) => isDone && onClose());
  useEffect(() => {
    start();
    return () => stop.current.abort();
  }, []);
  return (
    <Dialog title="Export animals" onClose={onClose}>
      <p role="status">{countOf(done, "animal")} read so far…</p>
      <ErrorNote error={action.error} retry={start} />
      <footer>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </footer>
    </Dialog>
  );
}

/** Metadata is written as JSON, because a field is one text. */
function textOf(value: Pet[keyof Pet]) {
  return typeof value === "object" ? JSON.stringify(value) : value;
}

function save(content: Blob, name: string): void {
  const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(content), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}
