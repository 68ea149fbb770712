import { useRef, useState } from "preact/hooks";
import { isCertain, useAction } from "../service/action.ts";
import { invalidate } from "../service/query.ts";
import { uniqueText } from "../service/unique-text.ts";
import { useSession } from "../session/session.ts";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { say } from "../ui/toasts.tsx";
import { countOf, numberOf } from "../ui/words.ts";
import { useCategories } from "./categories.ts";
import { PETS } from "./pets.ts";
import { type FileAnimals, readAnimals } from "./read-animals.ts";

/** Concurrent requests. The client paces them within the limits. */
const CONCURRENCY = 8;
/** How long an animal may wait for the limits, in milliseconds: a day. */
const REQUEST_TIMEOUT = 86_400_000;
const FAULTS_SHOWN = 20;

/** Adds the animals of a CSV file, if there is no fault in any of its lines. */
export function ImportPets({ onClose }: { readonly onClose: () => void }) {
  const { petstore } = useSession();
  const query = useCategories();
  const { data: categories } = query;
  const [file, setFile] = useState<FileAnimals & { readonly name: string }>();
  const [done, setDone] = useState(0);
  const running = useRef<AbortController>(undefined);
  /**
   * The idempotency key of each animal that was sent, and those that were added, by content and not by line: another try
   * adds none twice, also with a corrected file.
   */
  const { keys, added } = useRef({ keys: new Map<string, string>(), added: new Set<string>() }).current;

  const choose = async (chosen: File | undefined) => {
    if (!chosen || !categories) return;
    const text = await chosen.text();
    action.clearError();
    const read = readAnimals(text, categories.values());
    setDone(read.animals.filter(({ id }) => added.has(id)).length);
    setFile({ name: chosen.name, ...read });
  };
  const action = useAction(async () => {
    const rest = file?.animals.filter(({ id }) => !added.has(id)) ?? [];
    const stop = new AbortController();
    running.current = stop;
    const worker = async () => {
      for (let next = rest.shift(); next && !stop.signal.aborted; next = rest.shift()) {
        const { id, line, body } = next;
        const idempotencyKey = keys.get(id) ?? uniqueText();
        keys.set(id, idempotencyKey);
        try {
          await petstore.createPet(body, { idempotencyKey, timeout: REQUEST_TIMEOUT, signal: stop.signal });
        } catch (error) {
          if (isCertain(error)) keys.delete(id);
          if (stop.signal.aborted) return; // another one has failed, or the user has stopped it
          stop.abort();
          (error as Error).message = `Line ${line}: ${(error as Error).message}`;
          throw error;
        }
        added.add(id);
        setDone((count) => count + 1);
      }
    };
    try {
      await Promise.all(Array.from({ length: CONCURRENCY }, worker));
    } finally {
      invalidate(PETS);
    }
    say(`${countOf(added.size, "animal")} added from ${file?.name}`);
  });
  const start = async () => (await action.run()) && onClose();
  const close = () => {
    running.current?.abort();
    onClose();
  };

  const faults = file?.faults ?? [];
  const total = file?.animals.length ?? 0;
  return (
    <Dialog title="Import animals" onClose={close}>
      <div class="import">
        {!action.isRunning && (
          <div class="field">
            <label for="csv">CSV file</label>
            <input
              id="csv"
              type="file"
              accept=".csv,text/csv"
              disabled={!categories}
              aria-describedby="csv-hint"
              onClick={({ currentTarget }) => (currentTarget.value = "")} // so that the same file can be chosen again
              onChange={({ currentTarget }) => void choose(currentTarget.files?.[0])}
            />
            <p id="csv-hint" class="fine">
              The first line names the columns: name, category or categoryId, and optionally status and metadata.
            </p>
          </div>
        )}
        {faults.length > 0 && (
          <div class="note bad" role="alert">
            <p>
              <strong>{countOf(faults.length, "error")}.</strong> Correct the file, then choose it again. Until then
              nothing is added.
            </p>
            <ul>
              {faults.slice(0, FAULTS_SHOWN).map(({ line, message }) => (
                <li key={`${line} ${message}`}>
                  Line {line}: <bdi>{message}</bdi>
                </li>
              ))}
            </ul>
            {faults.length > FAULTS_SHOWN && <p class="fine">and {numberOf(faults.length - FAULTS_SHOWN)} more</p>}
          </div>
        )}
        {file && faults.length === 0 && (
          <div role="status">
            <p>
              {done > 0
                ? `${numberOf(done)} of ${countOf(total, "animal")} added`
                : `${countOf(total, "animal")} to add`}
            </p>
            <progress aria-label="Progress of the import" max={total} value={done} />
          </div>
        )}
        <ErrorNote error={query.error} retry={query.reload} />
        <ErrorNote error={action.error} />
        <footer>
          <button type="button" onClick={close}>
            {action.isRunning ? "Stop" : "Cancel"}
          </button>
          <button
            type="button"
            class="main"
            disabled={total === 0 || faults.length > 0 || action.isRunning}
            onClick={() => void start()}
          >
            {action.error === undefined ? "Import" : "Try again"}
          </button>
        </footer>
      </div>
    </Dialog>
  );
}
