import { useRef, useState } from "preact/hooks";
import { useAction } from "../service/action.ts";
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
  /** Lines that were added. A second try skips them and reuses the idempotency keys of the others: none is added twice. */
  const added = useRef({ run: "", lines: new Set<number>() });

  const read = async (chosen: File | undefined) => {
    if (!chosen || !categories) return;
    const text = await chosen.text();
    added.current = { run: uniqueText(), lines: new Set() };
    setDone(0);
    setFile({ name: chosen.name, ...readAnimals(text, categories.values()) });
  };
  const action = useAction(async () => {
    const { run, lines } = added.current;
    const rest = file?.animals.filter(({ line }) => !lines.has(line)) ?? [];
    const stop = new AbortController();
    running.current = stop;
    const worker = async () => {
      for (let next = rest.shift(); next && !stop.signal.aborted; next = rest.shift()) {
        await petstore.createPet(next.body, {
          idempotencyKey: `${run}-${next.line}`,
          timeout: REQUEST_TIMEOUT,
          signal: stop.signal,
        });
        lines.add(next.line);
        setDone(lines.size);
      }
    };
    try {
      await Promise.all(Array.from({ length: CONCURRENCY }, worker));
    } catch (error) {
      const isCancelled = stop.signal.aborted;
      stop.abort();
      if (!isCancelled) throw error;
    } finally {
      invalidate(PETS);
    }
    say(`${countOf(lines.size, "animal")} added from ${file?.name}`);
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
              onChange={({ currentTarget }) => void read(currentTarget.files?.[0])}
            />
            <p id="csv-hint" class="fine">
              The first line names the columns: name, category or categoryId, and optionally status and metadata.
            </p>
          </div>
        )}
        {faults.length > 0 && (
          <div class="note bad" role="alert">
            <p>
              <strong>{countOf(faults.length, "error")}.</strong> Correct the file, then choose it again. Nothing was
              added.
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
