import type { Category } from "petstore-client";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { PETS } from "../animals/pets.ts";
import { useCategories } from "../categories/categories.ts";
import { CategoryName } from "../categories/category-name.tsx";
import { Names, NewCategories } from "../categories/new-categories.tsx";
import { Link } from "../router.tsx";
import { useCurrency } from "../selling/sale.ts";
import { type Action, useAction } from "../service/action.ts";
import { logNumber } from "../service/live.ts";
import { invalidate } from "../service/query.ts";
import { shopOf, useMay, useSession } from "../session/session.ts";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNote } from "../ui/error-note.tsx";
import { FormDialog } from "../ui/form/form-dialog.tsx";
import { type Money, moneyOf } from "../ui/money.ts";
import { Segments } from "../ui/segments.tsx";
import { Time } from "../ui/time.tsx";
import { countOf, numberOf, wordOf } from "../ui/words.ts";
import { useRerender, useWatchable, Watchable } from "../watchable.ts";
import { PetImport } from "./pet-import.ts";
import { type FileAnimals, type LineFault, readAnimals } from "./read-animals.ts";
import { digestOf, type ImportRecord, idsIn, importRecords, keepRecord, rangesOf } from "./records.ts";

/** How many different faults are shown, each with the lines that have it. */
const FAULTS_SHOWN = 20;
const ROWS_SHOWN = 5;
const TITLE = "Import animals";

type Started = { readonly kind: "file" } | { readonly kind: "undo"; readonly record: ImportRecord };

const open = new Watchable<Started | undefined>(undefined);

/** Opens the dialog in which a file is imported. */
export const startImport = (): void => open.set({ kind: "file" });

/** Takes an earlier import back. */
export const undoImport = (record: ImportRecord): void => open.set({ kind: "undo", record });

/** The dialog of the import, wherever it was started. */
export function Importing() {
  const started = useWatchable(open);
  const close = () => open.set(undefined);
  useEffect(() => close, []);
  if (!started) return null;
  return started.kind === "file" ? <ImportPets onClose={close} /> : <UndoImport of={started.record} onClose={close} />;
}

interface ChosenFile {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly digest: string;
}

/** Adds the animals of a CSV file, after the user has seen what it holds, and takes them back. */
function ImportPets({ onClose }: { readonly onClose: () => void }) {
  const { petstore, key } = useSession();
  const may = useMay();
  const rerender = useRerender();
  const query = useCategories();
  const { data: categories } = query;
  const currency = useCurrency();
  const [chosen, setChosen] = useState<ChosenFile>();
  const [updates, setUpdates] = useState(false);
  const file = useMemo(
    () => chosen && categories && readAnimals(chosen.bytes, categories, currency),
    [chosen, categories, currency],
  );
  const { current: running } = useRef<{ import?: PetImport; faults?: readonly LineFault[]; at: number }>({ at: 0 });
  useEffect(() => {
    const unwatch = logNumber.watch(onClose); // after a reset of the sandbox, the ids would name other animals
    return () => {
      unwatch();
      running.import?.leave();
    };
  }, []);

  const choose = async (picked: File | undefined) => {
    if (!picked) return;
    const bytes = new Uint8Array(await picked.arrayBuffer());
    setChosen({ name: picked.name, bytes, digest: digestOf(bytes) });
  };
  const keep = () => {
    invalidate(PETS);
    const { added } = running.import ?? {};
    if (!added || !chosen) return;
    const ids = rangesOf(added.map(({ id }) => id));
    const { name, digest } = chosen;
    keepRecord({ shop: shopOf(key), file: name, at: running.at, digest, ids, count: added.length });
  };
  const adding = useAction(async (isSkipping: boolean) => {
    running.faults ??= file?.faults ?? [];
    running.at ||= Date.now();
    running.import ??= new PetImport(petstore, file?.animals ?? [], () => rerender(), updates);
    await running.import.run(isSkipping).finally(keep);
  });
  const undoing = useAction(async () => {
    adding.clearError();
    await running.import?.undo().finally(keep);
  });

  const started = running.import;
  if (started && chosen) {
    const leave = () => (adding.isRunning ? started.stop() : undoing.isRunning || onClose());
    return (
      <Dialog title={TITLE} onClose={leave} ignoresEscape={!adding.isRunning && !undoing.isRunning}>
        <Outcome
          of={started}
          file={chosen.name}
          left={running.faults ?? []}
          adding={adding}
          undoing={undoing}
          close={onClose}
        />
      </Dialog>
    );
  }
  const faulty = new Set(file?.faults.map(({ line }) => line)).size;
  const count = file?.animals.length ?? 0;
  return (
    <Dialog title={TITLE} onClose={onClose}>
      <div class="import">
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
            The first line names the columns: name and category, and perhaps price, status and others of an exported
            file.
          </p>
        </div>
        {file && categories && chosen && (
          <>
            <SameContent as={chosen} />
            <FaultyLines of={file.faults} />
            {may("createCategory") && file.unknownNames.length > 0 && <NewCategories names={file.unknownNames} />}
            <UnknownIds of={[...file.unknownIds]} />
            {file.leftOut.length > 0 && (
              <p class="note">
                {file.leftOut.length === 1 ? "This column is left out: " : "These columns are left out: "}
                <Names of={file.leftOut} />
              </p>
            )}
            {file.animals.some(({ body }) => body.reference) && (
              <div class="filters">
                <span>Animals whose reference exists</span>
                <Segments
                  label="Animals whose reference exists"
                  choices={[
                    ["", "Leave as they are"],
                    ["update", "Update"],
                  ]}
                  chosen={updates ? "update" : ""}
                  choose={(how) => setUpdates(how === "update")}
                />
              </div>
            )}
            {count > 0 && <Preview of={file} categories={categories} />}
            <p role="status">
              {`${countOf(count, "animal")} to add${count > ROWS_SHOWN ? `, of which the first ${ROWS_SHOWN} are shown` : ""}`}
            </p>
          </>
        )}
        <ErrorNote error={query.error} retry={query.reload} />
        <footer>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button
            type="button"
            class="main"
            disabled={count === 0 || file?.isBroken}
            onClick={() => void adding.run(faulty > 0)}
          >
            {faulty > 0 && count > 0 && !file?.isBroken
              ? `Skip ${countOf(faulty, "faulty row")}, import ${numberOf(count)}`
              : "Import"}
          </button>
        </footer>
      </div>
    </Dialog>
  );
}

/** Takes an import back that was left. */
function UndoImport({ of: record, onClose }: { readonly of: ImportRecord; readonly onClose: () => void }) {
  const { petstore } = useSession();
  const rerender = useRerender();
  const { current: one } = useRef(PetImport.over(petstore, idsIn(record), () => rerender()));
  const [hasBegun, setBegun] = useState(false);
  const adding = useAction<boolean>(async () => {});
  const undoing = useAction(async () => {
    setBegun(true);
    await one.undo().finally(() => {
      invalidate(PETS);
      keepRecord({ ...record, ids: rangesOf(one.added.map(({ id }) => id)), count: one.added.length });
    });
  });
  useEffect(() => {
    const unwatch = logNumber.watch(onClose);
    return () => {
      unwatch();
      one.leave();
    };
  }, []);
  if (hasBegun) {
    return (
      <Dialog title="Undo the import" onClose={() => undoing.isRunning || onClose()} ignoresEscape>
        <Outcome of={one} file={record.file} left={[]} adding={adding} undoing={undoing} close={onClose} hasUndone />
      </Dialog>
    );
  }
  return (
    <FormDialog
      title="Undo the import?"
      fields={[]}
      action={undoing}
      submit={`Delete ${countOf(record.count, "animal")}`}
      isFinal
      staysOpen
      onClose={onClose}
    >
      <p class="intro">
        {countOf(record.count, "animal")} of <bdi>{record.file}</bdi> will be deleted. Those that are reserved or sold
        stay.
      </p>
    </FormDialog>
  );
}

/** Warns of a file whose content was imported in the last days. */
function SameContent({ as: { digest } }: { readonly as: ChosenFile }) {
  const { key } = useSession();
  const same = useWatchable(importRecords).findLast((one) => one.shop === shopOf(key) && one.digest === digest);
  if (!same) return null;
  return (
    <p class="note wait" role="alert">
      <strong>This file was imported before:</strong>{" "}
      <span>
        {countOf(same.count, "animal")} of <bdi>{same.file}</bdi>, <Time at={new Date(same.at)} />.
      </span>{" "}
      <button type="button" class="link" onClick={() => undoImport(same)}>
        Undo that import
      </button>
    </p>
  );
}

/** The faults of a file, each with its line. */
function FaultyLines({ of: faults }: { readonly of: readonly LineFault[] }) {
  if (faults.length === 0) return null;
  return (
    <div class="note bad" role="alert">
      <p>
        <strong>{countOf(faults.length, "error")}.</strong>
      </p>
      <Faults of={faults} />
    </div>
  );
}

function Faults({ of: faults }: { readonly of: readonly LineFault[] }) {
  const lines = new Map<string, string[]>();
  for (const { line, message } of faults) {
    const same = lines.get(message);
    if (same) same.push(String(line));
    else lines.set(message, [String(line)]);
  }
  const hidden = [...lines.values()].slice(FAULTS_SHOWN).flat().length;
  return (
    <>
      <ul>
        {[...lines].slice(0, FAULTS_SHOWN).map(([message, at]) => (
          <li key={message}>
            {at.length === 1 ? "Line" : "Lines"} <Names of={at} />: <bdi>{message}</bdi>
          </li>
        ))}
      </ul>
      {hidden > 0 && <p class="fine">and {numberOf(hidden)} more</p>}
    </>
  );
}

function UnknownIds({ of: ids }: { readonly of: readonly bigint[] }) {
  if (ids.length === 0) return null;
  return (
    <p class="note">
      {ids.length === 1 ? "No category has the number " : "No categories have the numbers "}
      <Names of={ids.map(String)} />. Their animals are shown with the number until a category gets it.
    </p>
  );
}

interface PreviewProps {
  readonly of: FileAnimals;
  readonly categories: ReadonlyMap<bigint, Category>;
}

/** The first animals of a file, as they would be added. */
function Preview({ of: { animals }, categories }: PreviewProps) {
  return (
    <table aria-label="First rows" class="preview">
      <thead>
        <tr>
          <th scope="col">Line</th>
          <th scope="col">Name</th>
          <th scope="col">Category</th>
          <th scope="col">Price</th>
          <th scope="col">Status</th>
        </tr>
      </thead>
      <tbody>
        {animals.slice(0, ROWS_SHOWN).map(({ line, body: { name, categoryId, price, status } }) => (
          <tr key={line}>
            <td class="fine">{line}</td>
            <td>
              <bdi>{name}</bdi>
            </td>
            <td>
              <CategoryName id={categoryId as bigint} of={categories} />
            </td>
            <td>{price && moneyOf(price as Money)}</td>
            <td>{status && wordOf(status)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface OutcomeProps {
  readonly of: PetImport;
  readonly file: string;
  /** The faults of the rows that were left out before. */
  readonly left: readonly LineFault[];
  readonly adding: Action<boolean>;
  readonly undoing: Action;
  readonly close: () => void;
  /** True if it was taken back before. */
  readonly hasUndone?: boolean;
}

/** What an import does or has done, and what can be done then: stop it, continue it, or take it back. */
function Outcome({ of: current, file, left, adding, undoing, close, ...given }: OutcomeProps) {
  const may = useMay();
  const [hasUndone, setUndone] = useState(given.hasUndone ?? false);
  const { added, existing, total, done, kept, refused, skipped, unknownLines } = current;
  const isRunning = adding.isRunning || undoing.isRunning;
  const undo = () => {
    setUndone(true);
    void undoing.run();
  };
  const faults = [...left, ...skipped];
  return (
    <div class="import">
      <div role="status">
        <p>
          {undoing.isRunning
            ? `${countOf(added.length, "animal")} left to delete`
            : hasUndone
              ? undoText(current)
              : current.isComplete
                ? `${countOf(added.length, "animal")} added from ${file}${existing > 0 ? `, ${numberOf(existing)} existed` : ""}`
                : `${numberOf(added.length)} of ${countOf(total, "animal")} added`}
        </p>
        {!isRunning && !hasUndone && !current.isComplete && added.length > 0 && (
          <p>
            In the shop are those of the lines {numberOf(added[0]!.line)} to {numberOf(added.at(-1)!.line)}.
          </p>
        )}
        {!isRunning && unknownLines && (
          <p>
            The service has not confirmed the lines {numberOf(unknownLines[0])} to {numberOf(unknownLines[1])}. To
            continue or to undo asks it again, and adds none twice.
          </p>
        )}
        {(isRunning || (!hasUndone && !current.isComplete)) && (
          <progress aria-label="Progress of the import" max={total} value={undoing.isRunning ? added.length : done} />
        )}
      </div>
      {kept.length > 0 && (
        <div class="note">
          <p>
            <strong>{countOf(kept.length, "animal")} stayed, because of an order:</strong>
          </p>
          <ul>
            {kept.map(({ id, name, reason }) => (
              <li key={id}>
                <Link to={`/animals/${id}`}>
                  <bdi>{name}</bdi>
                </Link>{" "}
                <span>{reason}</span>
              </li>
            ))}
          </ul>
        </div>
      )}
      {refused.length > 0 ? <FaultyLines of={refused} /> : <ErrorNote error={adding.error} />}
      <ErrorNote error={undoing.error} />
      {!isRunning && !hasUndone && faults.length > 0 && (
        <div class="note">
          <p>
            <strong>{countOf(new Set(faults.map(({ line }) => line)).size, "row")} skipped:</strong>
          </p>
          <Faults of={faults} />
        </div>
      )}
      <footer>
        {adding.isRunning ? (
          <button type="button" disabled={current.isStopping} onClick={() => current.stop()}>
            {current.isStopping ? "Stopping…" : "Stop"}
          </button>
        ) : (
          <>
            {(added.length > 0 || unknownLines) && may("deletePets") && (
              <button type="button" disabled={isRunning} onClick={undo}>
                Undo the import
              </button>
            )}
            {!hasUndone && !current.isComplete && (
              <button type="button" disabled={isRunning} onClick={() => void adding.run(refused.length > 0)}>
                {refused.length > 0 ? "Skip faulty rows" : adding.error ? "Try again" : "Continue"}
              </button>
            )}
            <button type="button" class="main" onClick={close}>
              Done
            </button>
          </>
        )}
      </footer>
    </div>
  );
}

function undoText({ added, kept }: PetImport): string {
  if (added.length > 0) return `${countOf(added.length, "animal")} not deleted yet`;
  return kept.length > 0 ? "The others were deleted again." : "The animals of the import were deleted again.";
}
